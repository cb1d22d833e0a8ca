import type { CatalogueDeps } from '../catalogue/deps.ts';
import type { EsimDeps } from '../esims/read-esims.ts';
import type { PaymentDeps } from '../payments/deps.ts';
import type { WebhookDeps } from '../webhooks/deps.ts';
import type { PurchaseTimings, PurchaseInput } from './purchase.ts';
import type { PaymentEngine, EngineAnswer } from '../payments/engine.ts';

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

/** Runs purchases and payments to their end. The API waits for the first answer only. */
export interface PurchaseEngine extends PaymentEngine {
  /**
   * Starts the purchase, or attaches to the one already running or ended under the same transactionId, and waits for its first answer.
   * `no-answer-yet`: the deadline passed; the purchase continues, so its caller gets PROCESSING and never a failure. `unknown`: the connection broke, and
   * only a retry under the same transactionId is safe. Throws EngineUnavailable when nothing was started. `title`: for operations, without personal data.
   */
  purchase(input: PurchaseInput, deadlineMs: number, title?: string): Promise<EngineAnswer>;
}

export interface BatchRef {
  readonly batchId: string;
  readonly accountId: string;
}

/** Has the rows of a batch bought. */
export interface BatchEngine {
  /** Starts the batch's workflow where it does not run. Never rejects: the sweep starts what could not be started now. */
  begin(batch: BatchRef): Promise<void>;
}

export interface BatchDeps extends PurchaseDeps {
  readonly batchEngine: BatchEngine;
  readonly settings: PurchaseDeps['settings'] & {
    readonly travellerEmails: {
      /** A mail server is set, and there are links to send. */
      readonly isAvailable: boolean;
      /** Of one account; null: any number, each with an eSIM that was paid for. */
      readonly maxADay: number | null;
    };
  };
}
