/**
 * Names and types that workflows, activities and the Temporal client share. Workflow, activity, update and
 * signal names, and JSON fields, are part of every open purchase's history: once released, never change one.
 */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AttentionReason, PaymentPurpose } from '../src/domain/states.ts';
import type { Opened, OpenedFunding, Vendors } from '../src/payments/opened.ts';
import type { FundingInput, PaymentTimings, RefundTimings } from '../src/payments/rules.ts';
import type { ActionQueue } from '../src/accounts/operators/action-table.ts';
import type { PurchaseInput, PurchaseTimings } from '../src/purchases/purchase.ts';
import type { ReconcileSummary } from '../src/reconciliation/payment-rules.ts';
import type { FailureReason, Refusal } from '../src/domain/refusals.ts';
import type { PurchaseAnswer } from '../src/payments/engine.ts';

export const PURCHASE_WORKFLOW = 'purchase';
export const FUND_WALLET_WORKFLOW = 'fundWallet';
export const SYNC_CATALOGUE_WORKFLOW = 'syncCatalogue';
export const REFRESH_RATES_WORKFLOW = 'refreshRates';
export const REFRESH_USAGE_WORKFLOW = 'refreshUsage';
export const SWEEP_WORKFLOW = 'sweep';
export const APPLY_INBOX_WORKFLOW = 'applyInbox';
export const RECONCILE_WORKFLOW = 'reconcile';
export const SWEEP_WEBHOOKS_WORKFLOW = 'sweepWebhooks';
export const TIDY_WEBHOOKS_WORKFLOW = 'tidyWebhooks';
export const RUN_JOB_WORKFLOW = 'runJob';
export const SWEEP_JOBS_WORKFLOW = 'sweepJobs';
export const RAISE_ALERTS_WORKFLOW = 'raiseAlerts';
export const RETURN_ESIM_WORKFLOW = 'returnEsim';
export const REPLACE_ESIM_WORKFLOW = 'replaceEsim';
export const DELIVER_WEBHOOK_WORKFLOW = 'deliverWebhook';
/** A delivery's title in the Temporal UI. */
export const DELIVERY_SUMMARY = 'A message to a merchant: sent, and sent again, until it has arrived';

export const AFTER_CLOSING_WORKFLOW = 'afterClosing';

export const ORDERS_QUEUE = 'orders';
export const OPS_QUEUE = 'ops';
/** Each vendor has a queue of its own, so that a slow one delays no other step. */
export const supplierQueue = (name: string): string => `supplier-${name}`;
export const gatewayQueue = (name: string): string => `gateway-${name}`;
/** Webhook deliveries and their attempts: endpoints may be slow, dead or hostile. */
export const WEBHOOKS_QUEUE = 'webhooks';

export interface DeliverWebhookInput {
  readonly messageId: string;
}

/** The result of one attempt. */
export type DeliveryStep =
  | { readonly state: 'closed'; readonly status: string }
  /** Attempt again after `waitMs`; `why` is for people. */
  | { readonly state: 'waiting'; readonly waitMs: number; readonly why: string };

/** Headers that propagate log ids and the trace. */
export const CONTEXT_HEADER = 'simway-about';
export const TRACE_HEADER = 'simway-traceparent';

export interface LogContext {
  readonly requestId?: string | undefined;
  readonly transactionId?: string | undefined;
}

/** A finished workflow run, for the tracer. */
interface EndedRun {
  readonly traceparent: string;
  readonly spanId: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: string;
  readonly logContext: LogContext;
}

/** A type, since the SDK's own type does not accept an interface. */
export type TraceSinks = { trace: { workflowEnded(run: EndedRun): void } };

/**
 * Asked again after `waitMs`, or earlier when a message wakes the workflow. The step has flagged the row
 * where `attention` is set.
 */
export interface Waiting {
  readonly state: 'waiting';
  readonly waitMs: number;
  /** For people, after the word "Waiting": "for the refund to be sent". */
  readonly why: string;
  readonly attention?: AttentionReason;
  /** The gateway's reference, once the payment is open. */
  readonly reference?: string;
}

/**
 * What every step answers. It has read the rows first, and has written what it decided: a purchase that
 * `failed` is closed, and its money is on its way back.
 */
export type StepResult<Done = unknown> = StepEnd<Done> | Waiting;

export type StepEnd<Done = unknown> =
  ({ readonly state: 'done' } & Done) | ({ readonly state: 'failed' } & Refusal & Partial<Done>);

/** Whether refunds may be under way, or a dispute may need a person, although the step is done. */
interface Money {
  readonly isMoneyOpen?: boolean;
}

/** `isCatalogueOutdated`: the supplier's answer shows that our catalogue is. */
export type DeliveryResult = StepResult<
  { readonly iccid: string; readonly isCatalogueOutdated?: boolean } & Money
>;

/** Orders where needed, checks until delivered, refused or out of time, and settles. */
export interface DeliverRequest {
  readonly transactionId: string;
  /** How long to continue checking; 0: one attempt. */
  readonly budgetMs: number;
  readonly timings: PurchaseTimings;
}

/** Opens the payment or checks it at the gateway, books the result, and closes what can no longer be paid. */
export interface CollectRequest {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
  /** How long opening may be tried; 0: once. */
  readonly budgetMs: number;
  readonly timings: PaymentTimings & { readonly slowCheckMs: number };
}

/** `reference`: the gateway's, once the payment is open. */
export type CollectResult = StepResult<{ readonly reference?: string } & Money>;

export interface FollowMoneyRequest {
  readonly transactionId: string;
  readonly timings: RefundTimings;
}

/** A purchase or a funding that is closed, and what its money needs. */
export interface AfterClosingInput {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
  readonly isThroughGateway: boolean;
  readonly timings: RefundTimings;
}

/** A purchase or a funding, as its workflow carries it. */
export interface Carried extends AfterClosingInput {
  /** Of the request that opened it. */
  readonly fingerprint?: string | undefined;
}

/** A payment after a check. `unknown`: not paid as far as we know, and the gateway does not say. */
export type PaymentCheckState = (
  | { readonly state: 'waiting' | 'unknown' | 'paid' }
  | { readonly state: 'ended'; readonly reason: FailureReason }
) & {
  /** The gateway answered, and everything it has is booked. */
  readonly isKnown: boolean;
  /** Not known, since our own rate limit kept us from asking. */
  readonly isHeldBack?: boolean;
};

/** An operator action that is on record, and where its step runs. */
export interface OpenAction {
  readonly actionId: string;
  readonly runsOn: ActionQueue;
}

/** It was performed. Its outcome is in its row. */
export interface PerformedAction {
  readonly actionId: string;
}

/** The requester of the daily reconciliation. */
export const RECONCILE_SCHEDULE = 'the schedule';

/**
 * `range`: ISO 8601; includes `from`, excludes `to`. Absent: since the last regular run. Shown in Temporal
 * only: for a request by a person, its row counts.
 */
export interface ReconcileInput {
  readonly askedBy: string;
  readonly range?: { readonly from: string; readonly to: string };
}

/**
 * Steps in our database, run as local activities: workers refuse them on the task queue. Arguments travel
 * through Temporal, so a step believes them only where the rows say the same, or our API has signed them
 * (docs/ARCHITECTURE.md, "What a step believes").
 */
export interface OrderActivities {
  /**
   * Refuses what our API has not signed, unless the purchase is written already. Answers where its row
   * stands.
   */
  readonly openPurchase: (input: PurchaseInput, startedAt: string) => Promise<Opened>;
  /** One inline delivery attempt: inside the purchase's first workflow task. */
  readonly tryDelivering: (request: Omit<DeliverRequest, 'budgetMs'>) => Promise<DeliveryResult>;
  /** Enqueues the PROCESSING webhook of a wallet purchase. */
  readonly enqueueProcessingWebhook: (transactionId: string) => Promise<void>;
  /** As `openPurchase`. */
  readonly openFunding: (input: FundingInput, startedAt: string) => Promise<OpenedFunding>;
  /** On whose queues its steps run. An action may have replaced the package. */
  readonly findVendors: (transactionId: string) => Promise<Vendors>;
  /** Begins the oldest open action of a purchase or funding. null: there is none. */
  readonly nextAction: (transactionId: string) => Promise<OpenAction | null>;
  /** For actions in our database. Performed once, however often it runs. */
  readonly performAction: (actionId: string) => Promise<PerformedAction>;
}

export interface GatewayActivities {
  readonly collectPayment: (request: CollectRequest) => Promise<CollectResult>;
  /** Checks every try of a payment at the gateway and books the result. */
  readonly checkPayment: (transactionId: string, purpose: PaymentPurpose) => Promise<PaymentCheckState>;
  /** Advances every refund of a purchase or funding by one step. Done: its money is at rest. */
  readonly followMoney: (request: FollowMoneyRequest) => Promise<StepResult>;
  /** For actions that ask the gateway. */
  readonly performAction: (actionId: string) => Promise<PerformedAction>;
}

export interface WebhookActivities {
  /** One attempt, if the message is due and its endpoint has capacity. */
  readonly attemptDelivery: (messageId: string) => Promise<DeliveryStep>;
}

export interface SupplierActivities {
  readonly deliver: (request: DeliverRequest) => Promise<DeliveryResult>;
  /** For actions that ask the supplier. */
  readonly performAction: (actionId: string) => Promise<PerformedAction>;
  /** Asks the supplier about a return, cancels there, and gives the money back. */
  readonly followReturn: (returnId: string) => Promise<FollowStep>;
  /** Asks the supplier about a replacement, buys the new eSIM, and revokes the old one. */
  readonly followReplacement: (replacementId: string) => Promise<FollowStep>;
}

/** Whose queue its step runs on; everything else is in its row. */
export interface ReturnInput {
  readonly returnId: string;
  readonly supplier: string;
}

/** As `ReturnInput`. */
export interface ReplacementInput {
  readonly replacementId: string;
  readonly supplier: string;
}

/** After a step. `line` is for people; `waitMs`: until the next step, null once this run has ended. */
export interface FollowStep {
  readonly line: string;
  readonly waitMs: number | null;
}

/** Everything else is in its rows. */
export interface JobInput {
  readonly jobId: string;
}

/**
 * A job after a check. `line` is for people; `waitMs`: until the next check, null once each row has ended.
 */
export interface JobStep {
  readonly line: string;
  readonly waitMs: number | null;
  readonly hasEmailsDue: boolean;
}

/** Each answers with one line for the Temporal UI. */
export interface OpsActivities {
  readonly syncCatalogue: (options: { readonly unlessSyncedWithinMs: number }) => Promise<string>;
  readonly refreshRates: () => Promise<string>;
  readonly refreshUsage: () => Promise<string>;
  readonly forgetOldKeys: () => Promise<string>;
  /** Wakes the workflows of payments with late money, of refunds that were not begun and of open disputes. */
  readonly followLateMoney: () => Promise<string>;
  /** Applies gateway events that a crash or an outage left in the inbox. */
  readonly applyInbox: () => Promise<string>;
  /**
   * Compares our books with the gateway's statement and the supplier's orders; null before the first payment.
   */
  readonly reconcile: (
    request: ReconcileInput & { readonly runKey: string },
  ) => Promise<ReconcileSummary | null>;
  /** Starts deliveries of due messages that have none. */
  readonly takeBackOverdue: () => Promise<string>;
  /** Disables endpoints that have failed for too long. */
  readonly disableFailing: () => Promise<string>;
  /** E-mails pending notices to account owners. */
  readonly sendNotices: () => Promise<string>;
  /**
   * Deletes old messages and notices, wipes expired signing secrets, and re-seals secrets with the current
   * key.
   */
  readonly tidyWebhooks: () => Promise<string>;
  /**
   * Buys rows of a batch that have not begun, or takes the action of an approved batch repair on rows that
   * are due. Ends the job when all have ended.
   */
  readonly tryRows: (jobId: string) => Promise<JobStep>;
  /** Starts the workflows of jobs that run and have not shown themselves in time. */
  readonly beginOverdueJobs: () => Promise<string>;
  /** Reads the balance at the supplier, if that is due. */
  readonly checkBalance: () => Promise<string>;
  /** Opens and closes alerts for operators, and writes what is to be sent about them. */
  readonly raiseAlerts: () => Promise<string>;
  /** Sends what waits about alerts. */
  readonly sendAlerts: () => Promise<string>;
  /** Sends the install links that are due to travellers. */
  readonly sendInstallEmails: () => Promise<string>;
}

/** The update that buyers wait on. Its id is its name, so a repeat is the same update. */
export const firstAnswer = defineUpdate<PurchaseAnswer>('firstAnswer');
/** Check the payment now, for callers who wait for the result. */
export const checkPayment = defineUpdate<PaymentCheckState>('checkPayment');
/** The same for callers who do not wait. */
export const checkPaymentSoon = defineSignal('checkPaymentSoon');
/** The supplier has announced that an order is allocated. */
export const supplierAnnounced = defineSignal('supplierAnnounced');
/** Operator actions are on record. */
export const performActions = defineSignal('performActions');
/** Attempt a webhook delivery now instead of at its next time. */
export const deliverNow = defineSignal('deliverNow');
