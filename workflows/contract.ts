/**
 * Names and types that workflows, activities and the Temporal client share. Workflow, activity, update and signal names, and JSON fields, are part of
 * every open purchase's history: never change one.
 */
import type { AttentionReason, PaymentPurpose } from '../src/domain/states.ts';
import type { Claim, PaymentTimings, FundingInput, RefundTimings } from '../src/payments/rules.ts';
import type { ActionOutcome, ActionRequest, ActionStage, Ended } from '../src/operations/rules.ts';
import type { Opened, PurchaseInput } from '../src/purchases/purchase.ts';
import type { ReconcileSummary } from '../src/reconciliation/payment-rules.ts';
import type { FailureReason, Refusal } from '../src/domain/refusals.ts';

export const PURCHASE_WORKFLOW = 'purchase';
export const FUND_WALLET_WORKFLOW = 'fundWallet';
/** The update that buyers wait on. Its id is the same constant, so a repeat is the same update. */
export const ACCEPT_UPDATE = 'accept';
/** "Check the payment now": an update for callers who wait for the result, a signal for others. */
export const CHECK_UPDATE = 'look';
export const CHECK_SIGNAL = 'lookSoon';
export const SYNC_CATALOGUE_WORKFLOW = 'syncCatalogue';
export const REFRESH_RATES_WORKFLOW = 'refreshRates';
export const REFRESH_USAGE_WORKFLOW = 'refreshUsage';
export const SWEEP_WORKFLOW = 'sweep';
export const APPLY_INBOX_WORKFLOW = 'applyInbox';
export const RECONCILE_WORKFLOW = 'reconcile';
export const SWEEP_WEBHOOKS_WORKFLOW = 'sweepWebhooks';
export const TIDY_WEBHOOKS_WORKFLOW = 'tidyWebhooks';
export const BATCH_WORKFLOW = 'batch';
export const BATCH_REPAIR_WORKFLOW = 'batchRepair';
export const SWEEP_BATCHES_WORKFLOW = 'sweepBatches';
export const DELIVER_WEBHOOK_WORKFLOW = 'deliverWebhook';
/** Attempt the delivery now instead of at its next time. */
export const DELIVER_NOW_SIGNAL = 'deliverNow';
/** A delivery's title in the Temporal UI. */
export const DELIVERY_SUMMARY = 'A message to a merchant: sent, and sent again, until it has arrived';

export const AFTER_CLOSING_WORKFLOW = 'afterClosing';
/** An operator action: an update on the open workflow, or on `afterClosing` for closed purchases. */
export const MOVE_UPDATE = 'move';

export const ORDERS_QUEUE = 'orders';
export const OPS_QUEUE = 'ops';
/** Queues of their own, so that a slow vendor delays no other step. */
export const SUPPLIER_QUEUE = 'supplier-esim-access';
export const GATEWAY_QUEUE = 'gateway-paystack';
/** Webhook deliveries and their attempts: endpoints may be slow, dead or hostile. */
export const WEBHOOKS_QUEUE = 'webhooks';
/** Concurrent webhook attempts inside workflow tasks, per worker. A worker has twice as many task slots. */
export const ATTEMPTS_IN_TASKS = 50;

/** Webhook messages that a step wrote. Omitted when there are none, to keep histories small. */
export interface NewMessages {
  readonly accountId: string;
  readonly ids: readonly string[];
}

export interface DeliverWebhookInput {
  readonly messageId: string;
  /** Attempts may run inside workflow tasks. Absent in deliveries that earlier builds began on the orders queue. */
  readonly inTask?: true;
}

/** The result of one attempt. */
export type DeliveryStep = (
  | { readonly state: 'closed'; readonly status: string }
  /** Attempt again after `waitMs`; `why` is for people. */
  | { readonly state: 'waiting'; readonly waitMs: number; readonly why: string }
) & { readonly messages?: NewMessages };

/** `over-the-queue`: nothing was sent, since this endpoint is too slow for a workflow task. `claim` goes with the message. */
export type DeliveryStepInTask = DeliveryStep | { readonly state: 'over-the-queue'; readonly claim?: string };

/** Headers that propagate log ids and the trace. */
export const CONTEXT_HEADER = 'simway-about';
export const TRACE_HEADER = 'simway-traceparent';

export interface LogContext {
  readonly requestId?: string | undefined;
  readonly transactionId?: string | undefined;
}

/** A finished workflow run, for the tracer. */
export interface EndedRun {
  readonly traceparent: string;
  readonly spanId: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: string;
  readonly logContext: LogContext;
}

/** A type, since the SDK's own type does not accept an interface. */
export type TraceSinks = { trace: { workflowEnded(run: EndedRun): void } };

/** An operator action that a validator refused: its history has nothing of it, so only a sink can report it. */
export interface RejectedAction {
  /** Of the workflow that refused it. */
  readonly transactionId: string;
  /** Both as they were sent. */
  readonly moveId: string;
  readonly move: string;
}
export type ActionSinks = { actions: { rejected(action: RejectedAction): void } };

/** Orders where needed, checks until delivered, refused or out of time, and settles. */
export interface DeliverRequest {
  readonly transactionId: string;
  /** How long to continue checking; 0: one attempt. */
  readonly budgetMs: number;
  readonly lookFirstMs: number;
  readonly lookMaxMs: number;
  /** For workers of earlier builds; newer ones read it from the purchase's row. */
  readonly graceMs?: number;
}

export type DeliverOutcome =
  | { readonly outcome: 'delivered'; readonly iccid: string; readonly messages?: NewMessages }
  /** Ordered, or perhaps ordered, or delivered and not settled: try again. */
  | { readonly outcome: 'unknown'; readonly reason: AttentionReason }
  | {
      readonly outcome: 'refused';
      readonly refusal: Refusal;
      readonly catalogueIsOld: boolean;
      /** Not final: an earlier order may still be accepted, or be accepted and not yet listed. */
      readonly afterDoubt: boolean;
      /** Order attempts counted when the supplier refused. Absent in outcomes of earlier builds. */
      readonly asks?: number;
    }
  /** An earlier run was cancelling the order when it stopped. */
  | { readonly outcome: 'withdrawing' };

/** Input of `latePayment`, which earlier builds started. */
export interface LatePaymentInput {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
  readonly timings: RefundTimings;
}

/** `looks`: begins with a payment check of its own. */
export interface AfterClosingInput extends LatePaymentInput {
  readonly isFromOutside: boolean;
  readonly looks?: boolean;
}

/**
 * What every step answers. `waiting`: nothing to do for `waitMs`, unless a signal comes; `why` is for people. A step that needs a person has flagged its row
 * itself.
 */
export type StepResult<Done = object> = (
  | ({ readonly state: 'done' } & Done)
  | { readonly state: 'failed'; readonly reason: FailureReason; readonly detail: string }
  | {
      readonly state: 'waiting';
      readonly waitMs: number;
      readonly why: string;
      readonly attention?: AttentionReason;
    }
) & { readonly messages?: NewMessages };

export interface CollectRequest {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
  /** How long to try to open the payment while the gateway does not say how to pay; 0: once. */
  readonly budgetMs: number;
  readonly timings: PaymentTimings & { readonly slowLookMs: number };
}

/** `reference`: the payment that the buyer can pay, or has paid. */
export type CollectStep = StepResult & { readonly reference?: string };

export interface FollowMoneyRequest {
  readonly transactionId: string;
  readonly timings: RefundTimings;
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
  readonly claim?: Claim;
  readonly messages?: NewMessages;
};

export type EndedAction = Exclude<ActionOutcome, { readonly outcome: 'unknown' }> & {
  readonly messages?: NewMessages;
};

/** `not-now`: the database is at another stage, which the workflow will reach; nothing was written. */
export type CarriedOutAction = EndedAction | { readonly outcome: 'not-now' };

/** A recorded action, to be carried out. */
export interface BegunAction {
  readonly request: ActionRequest;
  readonly moveId: string;
}

/** The result of a supplier check, in a sentence, and the delivery if there is one. */
export interface SupplierCheck {
  readonly did: string;
  readonly delivery?: DeliverOutcome;
}

/** Whether the supplier may still deliver, or has delivered. */
export type Withdrawal =
  | { readonly left: 'nothing' }
  | { readonly left: 'perhaps-something' | 'delivered'; readonly detail: string };

/** Input of `repair`, which earlier builds started for each operator action. */
export interface RepairInput extends Omit<AfterClosingInput, 'transactionId' | 'looks'> {
  readonly wish: ActionRequest;
}

/** The requester of the daily reconciliation. */
export const RECONCILE_SCHEDULE = 'the schedule';

/**
 * `range`: ISO 8601; includes `from`, excludes `to`. Absent: since the last regular run. Shown in Temporal only: for a request by a person, its row counts.
 */
export interface ReconcileInput {
  readonly askedBy: string;
  readonly range?: { readonly from: string; readonly to: string };
}

/**
 * Steps in our database, run as local activities: workers refuse them on the task queue. Arguments travel through Temporal, so a step
 * believes them only where the rows say the same, or our API has signed them (docs/ARCHITECTURE.md, "What a step believes"). Arguments that name more than an id are
 * there for workers of earlier builds.
 */
export interface OrderActivities {
  /** Refuses what our API has not signed, unless the purchase is written already. */
  readonly openPurchase: (
    input: PurchaseInput,
    startedAt: string,
  ) => Promise<Opened & { readonly messages?: NewMessages }>;
  /** One inline delivery attempt: inside the purchase's first workflow task. */
  readonly tryDelivering: (transactionId: string, graceMs?: number) => Promise<DeliverOutcome>;
  /** `open`: nothing was written, as the row has no refusal, another order was sent since, or the purchase was delivered. */
  readonly failPurchase: (
    transactionId: string,
    refusal: Refusal,
    asks?: number,
  ) => Promise<NewMessages | undefined | 'open'>;
  /** Opens a purchase again after an abandoned withdrawal. Milliseconds to wait before that; 0: it is open. */
  readonly reopenDelivery: (transactionId: string, graceMs: number) => Promise<number>;
  /** Enqueues the PROCESSING webhook of a wallet purchase. */
  readonly tellProcessing: (transactionId: string) => Promise<NewMessages | undefined>;
  readonly flagAttention: (transactionId: string, reason: AttentionReason) => Promise<void>;
  /** Answers why the funding was not opened. Earlier builds refused none. */
  readonly openFunding: (input: FundingInput, startedAt?: string) => Promise<Refusal | undefined>;
  /** Begins the action with this id, if an operator has asked for it. `go`: perform it, as `request` says, which is from its row. Anything else is its outcome. */
  readonly beginMove: (
    request: ActionRequest,
  ) => Promise<
    { readonly outcome: 'go'; readonly moveId: string; readonly request?: ActionRequest } | EndedAction
  >;
  /** Performs a recorded action: its effect and its record in one transaction. */
  readonly makeMove: (moveId: string, stage: ActionStage) => Promise<CarriedOutAction>;
  /** Records the result of an action that changes nothing in our database. */
  readonly closeMove: (moveId: string, result: Ended) => Promise<EndedAction>;
}

export interface GatewayActivities {
  /** Opens the payment, or checks it. Done: paid. Failed: closed without money. */
  readonly collectPayment: (request: CollectRequest) => Promise<CollectStep>;
  /** Checks every attempt of a payment at the gateway and books the result. */
  readonly checkPayment: (transactionId: string, purpose: PaymentPurpose) => Promise<PaymentCheckState>;
  /** Advances every refund by one step. Done: nothing is on its way, and nothing is disputed. */
  readonly followMoney: (request: FollowMoneyRequest) => Promise<StepResult>;
}

export interface WebhookActivities {
  /** One attempt, if the message is due or claimed by the caller, and its endpoint has capacity. */
  readonly attemptDelivery: (messageId: string, claim?: string) => Promise<DeliveryStep>;
  /** The same inside a workflow task, unless the endpoint is known to be slow. */
  readonly attemptInTask: (messageId: string) => Promise<DeliveryStepInTask>;
}

export interface SupplierActivities {
  readonly deliver: (request: DeliverRequest) => Promise<DeliverOutcome>;
  /** For purchases refused under an earlier build. `false`: an order may be left, or was delivered. */
  readonly withdrawOrder: (transactionId: string) => Promise<boolean>;
  /** Reads what the supplier has and keeps it. Orders nothing. */
  readonly lookAtSupplier: (transactionId: string) => Promise<SupplierCheck>;
  /** Cancels what may have been ordered, for an action that is begun. Its row says whether the operator has it in writing that the supplier will not deliver. */
  readonly withdrawForMove: (
    transactionId: string,
    isVouchedFor: boolean,
    graceMs?: number,
    moveId?: string,
  ) => Promise<Withdrawal>;
}

/** Everything else is in its rows. */
export interface BatchInput {
  readonly batchId: string;
}

/** A batch after a check. `line` is for people; `waitMs`: until the next check, null once each purchase has ended. */
export interface BatchStep {
  readonly line: string;
  readonly waitMs: number | null;
  readonly hasEmailsDue: boolean;
}

/** Everything else is in its rows. */
export interface BatchRepairInput {
  readonly repairId: string;
}

/** A batch repair after a check. `waitMs`: until the next one, null once it has ended. */
export type BatchRepairStep = Pick<BatchStep, 'line' | 'waitMs'>;

/** Each answers with one line for the Temporal UI. */
export interface OpsActivities {
  readonly syncCatalogue: (options: { readonly unlessSyncedWithinMs: number }) => Promise<string>;
  readonly refreshRates: () => Promise<string>;
  readonly refreshUsage: () => Promise<string>;
  readonly forgetOldKeys: () => Promise<string>;
  /** Ends the watch of expired payments, and wakes the workflows of those with news, of unsent refunds and of unsettled disputes. */
  readonly followLateMoney: () => Promise<string>;
  /** Applies gateway events that a crash or an outage left in the inbox. */
  readonly applyInbox: () => Promise<string>;
  /** Compares our books with the gateway's statement and the supplier's orders; null before the first payment. */
  readonly reconcile: (
    request: ReconcileInput & { readonly runKey: string },
  ) => Promise<ReconcileSummary | null>;
  /** Starts deliveries of due messages that have none. */
  readonly handOverDue: () => Promise<string>;
  /** Disables endpoints that have failed for too long. */
  readonly disableFailing: () => Promise<string>;
  /** E-mails pending notices to account owners. */
  readonly sendNotices: () => Promise<string>;
  /** Deletes old messages and notices, wipes expired signing secrets, and re-seals secrets with the current key. */
  readonly tidyWebhooks: () => Promise<string>;
  /** Has rows of a batch bought that have not begun, by what the API has signed, and closes those whose purchase has ended. */
  readonly carryOutBatch: (batchId: string) => Promise<BatchStep>;
  /** Takes the action of an approved batch repair on rows that are due. */
  readonly carryOutBatchRepair: (repairId: string) => Promise<BatchRepairStep>;
  /** Starts the workflows of open batches, and of batch repairs, that have not shown themselves in time. */
  readonly beginOverdueBatches: () => Promise<string>;
  /** Sends the install links that are due to travellers. */
  readonly sendInstallEmails: () => Promise<string>;
}
