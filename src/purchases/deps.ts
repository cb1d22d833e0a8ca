import type { CatalogueDeps } from '../catalogue/deps.ts';
import type { EsimDeps } from '../esims/deps.ts';
import type { PaymentDeps } from '../payments/deps.ts';
import type { WebhookDeps } from '../webhooks/deps.ts';
import type { PurchaseEngine } from './engine.ts';
import type { PurchaseTimings } from './purchase.ts';

/** What the use cases of purchases work with, in one world. */
export interface PurchaseDeps extends CatalogueDeps, EsimDeps, PaymentDeps, Pick<WebhookDeps, 'secretBox'> {
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
