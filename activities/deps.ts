import type { Environment } from '../src/domain/account.ts';
import type { RefundTimings } from '../src/payments/rules.ts';
import type { ReconcileSummary } from '../src/reconciliation/payment-rules.ts';
import type { Events } from '../src/platform/telemetry/events.ts';
import type { Clock } from '../src/domain/clock.ts';
import type { EsimSupplier } from '../src/esims/port.ts';
import type { Mailer, WebhookSweeper } from '../src/webhooks/ports.ts';
import type { PaymentGateway } from '../src/payments/port.ts';
import type { RateSource } from '../src/catalogue/port.ts';
import type { SecretBox } from '../src/platform/secret-box-port.ts';
import type { WebhookSender } from '../src/platform/outbound/webhook-sender.ts';
import type { WorldDb } from '../src/platform/database/tables.ts';
import type { EndpointLimits } from './webhooks/endpoint-limiter.ts';
import type { ApprovalLimits } from '../src/operations/rules.ts';

export interface ActivityDeps {
  readonly db: WorldDb;
  readonly supplier: EsimSupplier;
  readonly gateway: PaymentGateway;
  /** Where hosted pages send buyers back to. */
  readonly returnUrl: string;
  /** Sandbox only: the gateway's scenario for a package. */
  readonly scenarioOf?: (packageCode: string) => string | undefined;
  readonly refundTimings: RefundTimings;
  /** Applies the events left in the gateway's inbox; returns their number. */
  readonly applyInbox: () => Promise<number>;
  /** Compares our books with the gateway and the supplier. May be aborted and resumed under the same `runKey`. */
  readonly reconcile: (request: {
    readonly runKey: string;
    readonly askedBy: string;
    readonly range?: { readonly from: Date; readonly to: Date };
    readonly signal: AbortSignal;
  }) => Promise<ReconcileSummary | null>;
  readonly rateSources: readonly RateSource[];
  readonly webhooks: WebhookDeps;
  readonly notices: {
    readonly environment: Environment;
    /** undefined: mail is not configured, so notices wait. */
    readonly mailer: Mailer | undefined;
  };
  /** Amounts above which an operator action needs a second approval. */
  readonly approvalLimits: ApprovalLimits;
  readonly clock: Clock;
  readonly events: Events;
}

export interface WebhookDeps {
  readonly sender: WebhookSender;
  readonly secretBox: SecretBox;
  readonly sweeper: WebhookSweeper;
  readonly limits: EndpointLimits;
  /** The wait before each attempt, counted from the one before. */
  readonly waitsMs: readonly number[];
  /** An endpoint that has only failed for this long is disabled. */
  readonly failingLimitMs: number;
  /** At least 0, below 1. */
  readonly random: () => number;
}
