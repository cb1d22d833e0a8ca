import type { Environment } from '../src/domain/account.ts';
import type { RefundTimings, UnpaidLimits } from '../src/payments/rules.ts';
import type { ReconcileSummary } from '../src/reconciliation/payment-rules.ts';
import type { Events } from '../src/platform/telemetry/events.ts';
import type { Clock } from '../src/domain/clock.ts';
import type { InstallData } from '../src/esims/install-data.ts';
import type { EsimSupplier } from '../src/esims/port.ts';
import type { MailStops } from '../src/accounts/mail-stops.ts';
import type { Mailer } from '../src/accounts/port.ts';
import type { JobEngine } from '../src/jobs/engine.ts';
import type { PurchaseEngine, ReturnEngine } from '../src/purchases/engine.ts';
import type { PurchaseTimings } from '../src/purchases/purchase.ts';
import type { Pacer } from '../src/platform/rate-limiter.ts';
import type { PaymentGateway } from '../src/payments/port.ts';
import type { RateSource } from '../src/catalogue/port.ts';
import type { PriceLimits } from '../src/catalogue/pricing.ts';
import type { TermsSigner } from '../src/platform/frozen-terms.ts';
import type { WorldDb } from '../src/platform/database/tables.ts';
import type { AttemptDeps } from '../src/webhooks/attempts.ts';
import type { ConditionLimits } from '../src/operations/alerts/conditions.ts';
import type { AlertSending } from '../src/operations/alerts/send.ts';
import type { RowRepairDeps } from '../src/operations/batch-repairs.ts';

export interface ActivityDeps {
  readonly db: WorldDb;
  /** For orders, and for finding out what became of them. */
  readonly supplier: EsimSupplier;
  /** For scheduled work, which can wait: it gets a small part of the supplier's allowance. */
  readonly backgroundSupplier: EsimSupplier;
  /** For operators' checks: as small a part, so that no number of them takes what orders need. */
  readonly checksSupplier: EsimSupplier;
  readonly installData: InstallData;
  readonly gateway: PaymentGateway;
  /** Where the hosted page of this payment sends its buyer back to. */
  readonly returnUrl: (reference: string) => string;
  /** Sandbox only: the gateway's scenario for a package. */
  readonly scenarioOf?: (packageCode: string) => string | undefined;
  /** Sandbox only: a package whose refusals are wanted, so that they say nothing about the next purchase. */
  readonly forgetsShortageOf?: (packageCode: string) => boolean;
  readonly refundTimings: RefundTimings;
  /** A supplier that does not say for so long will hardly answer soon: a person looks at it. */
  readonly returnReviewAfterMs: number;
  /**
   * Of replacements on one account within a day, by currency: what we pay above it, a person decides. A
   * currency without one is not limited.
   */
  readonly replacementLimits: Readonly<Record<string, bigint>>;
  readonly unpaidLimits: UnpaidLimits;
  readonly priceLimits: PriceLimits;
  /** Applies the events left in the gateway's inbox; returns their number. */
  readonly applyInbox: () => Promise<number>;
  /**
   * Compares our books with the gateway and the supplier. May be aborted and resumed under the same `runKey`.
   */
  readonly reconcile: (request: {
    readonly runKey: string;
    readonly askedBy: string;
    /** Not by a person. */
    readonly isScheduled: boolean;
    readonly range?: { readonly from: Date; readonly to: Date };
    readonly signal: AbortSignal;
  }) => Promise<ReconcileSummary | null>;
  readonly rateSources: readonly RateSource[];
  readonly webhooks: AttemptDeps;
  readonly notices: {
    readonly environment: Environment;
    /** undefined: mail is not configured, so notices wait. */
    readonly mailer: Mailer | undefined;
    /** What mail to travellers calls us. */
    readonly us: string;
    readonly mailStops: Pick<MailStops, 'urlFor'>;
  };
  readonly alerts: AlertSending;
  /** What an alert is judged by. */
  readonly alertLimits: ConditionLimits;
  /** For the purchases of batches and of replacements, and for what wakes a purchase or a payment. */
  readonly engine: Pick<PurchaseEngine, 'purchase' | 'checkSoon' | 'supplierAnnounced'>;
  readonly jobEngine: JobEngine;
  readonly returnEngine: Pick<ReturnEngine, 'begin'>;
  readonly replacementEngine: Pick<ReturnEngine, 'begin'>;
  /** Of the purchases of replacements: no caller waits for them. */
  readonly purchaseTimings: PurchaseTimings;
  /** Limits how fast an account's batches begin purchases, so that the supplier has room for others. */
  readonly batchPacer: (accountId: string) => Pacer;
  /** For batch repairs: what an operator may do, done by the workers. */
  readonly repairs: Pick<RowRepairDeps, 'actions' | 'replayDeps'>;
  /** Of an eSIM, for its traveller. */
  readonly installUrl: (esimId: string) => Promise<string>;
  /** Recognises what the API has frozen. */
  readonly terms: Pick<TermsSigner, 'verify'>;
  readonly clock: Clock;
  readonly events: Events;
}
