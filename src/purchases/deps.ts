import type { CatalogueDeps } from '../catalogue/deps.ts';
import type { EsimDeps } from '../esims/read-esims.ts';
import type { JobEngine } from '../jobs/engine.ts';
import type { PaymentDeps } from '../payments/deps.ts';
import type { PurchaseEngine } from './engine.ts';
import type { PurchaseTimings } from './purchase.ts';

/** What the use cases of purchases work with, in one environment. */
export interface PurchaseDeps extends CatalogueDeps, EsimDeps, PaymentDeps {
  readonly supplier: EsimDeps['supplier'];
  readonly engine: PurchaseEngine;
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
  readonly settings: PurchaseDeps['settings'] & {
    readonly travellerEmails: {
      /** A mail server is set, and there are links to send. */
      readonly isAvailable: boolean;
      /** Of one account. */
      readonly maxADay: number;
    };
  };
}
