import type { CatalogueDeps } from '../catalogue/deps.ts';
import type { EsimDeps } from '../esims/read-esims.ts';
import type { JobEngine } from '../jobs/engine.ts';
import type { PaymentDeps } from '../payments/deps.ts';
import type { Turns } from '../platform/turns.ts';
import type { PurchaseEngine, ReturnEngine } from './engine.ts';
import type { PurchaseTimings } from './purchase.ts';
import type { ReplacementPolicy } from './replacements/rules.ts';
import type { ReturnPolicy } from './returns/rules.ts';

/** What the use cases of purchases work with, in one environment. */
export interface PurchaseDeps extends CatalogueDeps, EsimDeps, PaymentDeps {
  readonly supplier: EsimDeps['supplier'];
  readonly engine: PurchaseEngine;
  /** By account, so that no one's purchases keep another's waiting. */
  readonly turns: Turns;
  readonly settings: CatalogueDeps['settings'] &
    EsimDeps['settings'] &
    Omit<PaymentDeps['settings'], 'timings'> & {
      readonly timings: PurchaseTimings;
      /** A closed payment is checked again for a caller only after this. */
      readonly closedPaymentFreshMs: number;
    };
}

export interface BatchDeps extends PurchaseDeps {
  readonly jobEngine: JobEngine;
  readonly returnEngine: ReturnEngine;
  readonly replacementEngine: ReturnEngine;
  readonly settings: PurchaseDeps['settings'] & {
    /** Where nothing else was agreed with an account. */
    readonly returns: ReturnPolicy;
    readonly replacements: ReplacementPolicy;
    readonly travellerEmails: {
      /** A mail server is set, and there are links to send. */
      readonly isAvailable: boolean;
      /** Of one account. */
      readonly maxADay: number;
    };
  };
}
