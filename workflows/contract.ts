/**
 * Names and types that workflows, activities and the Temporal adapter share. No behaviour. Names are part of every open purchase's
 * history: change none.
 */
import type { ChargeQuote, RefundTimings, FundingInput } from '../src/payments/rules.ts';
import type { ActionOutcome, ActionRefusal, ActionRequest } from '../src/operations/rules.ts';
import type { PurchaseInput } from '../src/purchases/purchase.ts';
import type { ReconcileSummary } from '../src/reconciliation/payment-rules.ts';
import type { FailureReason, Refusal } from '../src/domain/refusals.ts';
import type { OutsideMethod, PaymentPurpose } from '../src/domain/states.ts';

export const PURCHASE_WORKFLOW = 'purchase';
export const FUND_WALLET_WORKFLOW = 'fundWallet';
/** The update every buyer waits on; its id is the same constant, so that a repeat is the same update. */
export const ACCEPT_UPDATE = 'accept';
/** "Look at the gateway now": an update where somebody waits for it, a signal where nobody does. */
export const LOOK_UPDATE = 'look';
export const LOOK_SIGNAL = 'lookSoon';
export const SYNC_CATALOGUE_WORKFLOW = 'syncCatalogue';
export const REFRESH_RATES_WORKFLOW = 'refreshRates';
export const REFRESH_USAGE_WORKFLOW = 'refreshUsage';
export const SWEEP_WORKFLOW = 'sweep';
export const APPLY_INBOX_WORKFLOW = 'applyInbox';
export const RECONCILE_WORKFLOW = 'reconcile';
export const SWEEP_WEBHOOKS_WORKFLOW = 'sweepWebhooks';
export const TIDY_WEBHOOKS_WORKFLOW = 'tidyWebhooks';
export const DELIVER_WEBHOOK_WORKFLOW = 'deliverWebhook';
/** "Do not wait for the next attempt's time." */
export const DELIVER_NOW_SIGNAL = 'deliverNow';
/** What a delivery is called in the Temporal UI; what it is about stands in its attributes. */
export const DELIVERY_SUMMARY = 'A message to a merchant: sent, and sent again, until it has arrived';

export const AFTER_CLOSING_WORKFLOW = 'afterClosing';
/** An operator's move: an update on what it is about, or on the workflow that repairs what is closed. */
export const MOVE_UPDATE = 'move';

export const ORDERS_QUEUE = 'orders';
export const OPS_QUEUE = 'ops';
/** The supplier's own queue, so that its slowness keeps no other step waiting. */
export const SUPPLIER_QUEUE = 'supplier-esim-access';
/** The gateway's own queue, for the same reason. */
export const GATEWAY_QUEUE = 'gateway-paystack';
/** Deliveries to merchants' endpoints, which may be slow, dead or hostile: their workflows and their attempts. */
export const WEBHOOKS_QUEUE = 'webhooks';
/** So many attempts at once are made inside of workflow tasks, by a worker; it has places for twice as many tasks. */
export const ATTEMPTS_IN_TASKS = 50;

/** Messages that a step wrote and that are to be sent. Absent where it wrote none, so that nothing grows by it. */
export interface NewMessages {
  readonly accountId: string;
  readonly ids: readonly string[];
}

export interface DeliverWebhookInput {
  readonly messageId: string;
  /** Attempts are made inside of its own tasks where the endpoint is quick. Absent in those begun on the orders queue, whose steps are older. */
  readonly inTask?: true;
}

/** What became of one attempt, or of the wish for one. */
export type DeliveryStep = (
  | { readonly state: 'closed'; readonly status: string }
  /** Not before `waitMs` have passed; `why` is for people. */
  | { readonly state: 'waiting'; readonly waitMs: number; readonly why: string }
) & { readonly messages?: NewMessages };

/** `over-the-queue`: nothing was sent, since a task is no place to wait for this endpoint. `claim` is handed on with the message. */
export type DeliveryStepInTask = DeliveryStep | { readonly state: 'over-the-queue'; readonly claim?: string };

/** Headers that hand on what a workflow is about, and where it stands in a trace. */
export const ABOUT_HEADER = 'simway-about';
export const TRACE_HEADER = 'simway-traceparent';

/** Ids for log lines. */
export interface About {
  readonly requestId?: string | undefined;
  readonly transactionId?: string | undefined;
}

/** A run of a workflow as it is told to whoever traces. */
export interface EndedRun {
  readonly traceparent: string;
  readonly spanId: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: string;
  readonly about: About;
}

/** A type, since an interface would not fit the SDK's own. */
export type TraceSinks = { trace: { workflowEnded(run: EndedRun): void } };

/** One delivery attempt: orders where needed, looks for the result until done, refused or out of time, and settles what came. */
export interface DeliverRequest {
  readonly transactionId: string;
  /** How long this attempt may go on looking. */
  readonly budgetMs: number;
  readonly lookFirstMs: number;
  readonly lookMaxMs: number;
  /** Longest that an order which was given up may still be taken, and be listed. Absent in those begun by a build of before. */
  readonly graceMs?: number;
}

export type DeliverOutcome =
  | { readonly outcome: 'delivered'; readonly iccid: string; readonly messages?: NewMessages }
  /** Ordered, or perhaps ordered, or delivered and not settled: do it again. */
  | { readonly outcome: 'unknown'; readonly reason: AttentionReason }
  | {
      readonly outcome: 'refused';
      readonly refusal: Refusal;
      readonly catalogueIsOld: boolean;
      /** An order that was sent earlier may still be taken, or be taken and not yet listed: not the last word. */
      readonly afterDoubt: boolean;
      /** Orders sent so far, as this refusal knows them. Absent in outcomes of a build of before. */
      readonly asks?: number;
    }
  /** Its order was being taken back, by a workflow that is gone. */
  | { readonly outcome: 'withdrawing' };

export type AttentionReason =
  | 'SUPPLIER_NEVER_ALLOCATED'
  | 'SUPPLIER_OUTCOME_UNKNOWN'
  | 'DELIVERY_STEP_FAILED'
  | 'SETTLE_FAILED'
  | 'UNDO_FAILED'
  | 'GATEWAY_OUTCOME_UNKNOWN'
  | 'REFUND_NEEDS_ATTENTION'
  | 'REFUND_STUCK';

export type OpenOutcome = (
  { readonly opened: true } | { readonly opened: false; readonly refusal: Refusal }
) & { readonly messages?: NewMessages };

/** What is to be paid from outside, and for what. Amounts are decimal digits; the account's e-mail address is read where it is needed. */
export interface PaymentRequest {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
  readonly accountId: string;
  readonly method: OutsideMethod;
  /** What is bought; absent for a wallet. */
  readonly packageCode?: string;
  readonly charge: ChargeQuote;
  readonly priceMinor: string;
  readonly priceCurrency: FundingInput['currency'];
  /** Until when it takes money, unless the gateway says otherwise. */
  readonly expiresAtMs: number;
}

/** Something that is claimed back from us, and that only a person can settle. */
export type Claim = 'PAYMENT_DISPUTED' | 'PAYMENT_REVERSED';

/** `looks`: nobody else asks for a look, so that it begins with one. */
export interface AfterClosingInput {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
  readonly isFromOutside: boolean;
  readonly timings: RefundTimings;
  readonly looks?: boolean;
}

/** Of builds of before. */
export interface LatePaymentInput {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
  readonly timings: RefundTimings;
}

export type OpenedPayment =
  | { readonly outcome: 'open'; readonly reference: string; readonly expiresAtMs: number }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'unknown' };

/** How a payment stands after a look at the gateway; `unknown`: not paid by what we know, and the gateway does not say. */
export type PaymentStand = (
  | { readonly state: 'waiting' | 'unknown' | 'paid' }
  | { readonly state: 'ended'; readonly reason: FailureReason }
) & {
  /** Whether the gateway said what it has, so that nothing of it is left to be booked. */
  readonly isKnown: boolean;
  readonly claim?: Claim;
  readonly messages?: NewMessages;
};

export interface RefundStand {
  readonly open: number;
  readonly needsPerson: AttentionReason | null;
  readonly claim?: Claim;
  readonly messages?: NewMessages;
}

/** What closing unpaid came to; just the word where nobody is to be told. */
export type ClosedUnpaid = 'closed' | 'paid' | { readonly closed: NewMessages };

/** Where a purchase or a funding is when a move is made: money is awaited, it is being delivered, or it is closed. */
export type MoveStage = 'awaiting-money' | 'delivering' | 'closed';

/** Whether to go on with a move; all else is its outcome. */
export type BegunMove = { readonly outcome: 'go'; readonly moveId: string } | EndedMove;

export type EndedMove = Exclude<ActionOutcome, { readonly outcome: 'unknown' }> & {
  readonly messages?: NewMessages;
};

/** `not-now`: our rows are at another stage, which the workflow will come to; nothing was written. */
export type MadeMove = EndedMove | { readonly outcome: 'not-now' };

export type MoveResult =
  { readonly did: string } | { readonly refusal: ActionRefusal; readonly detail?: string };

/** What a look at the supplier found, in a sentence, and whether it delivers. */
export interface SupplierLook {
  readonly did: string;
  readonly delivery?: DeliverOutcome;
}

/** Whether the supplier still may deliver what was ordered, or has. */
export type Withdrawal =
  | { readonly left: 'nothing' }
  | { readonly left: 'perhaps-something' | 'delivered'; readonly detail: string };

/** Something that needs a workflow after closing. */
export interface LateMoney extends LatePaymentInput {
  readonly isClaim?: true;
}

/** Of builds of before. */
export interface RepairInput {
  readonly wish: ActionRequest;
  readonly purpose: PaymentPurpose;
  readonly isFromOutside: boolean;
  readonly timings: RefundTimings;
}

export interface ReconcileInput {
  readonly askedBy: string;
  /** ISO 8601, from and without to; absent: since the last regular run. */
  readonly range?: { readonly from: string; readonly to: string };
}

/** Activities on the orders queue: our own Postgres, run as local activities. */
export interface OrderActivities {
  readonly openPurchase: (input: PurchaseInput, startedAt: string) => Promise<OpenOutcome>;
  /** One quick ask at the supplier, right inside the purchase's first task. */
  readonly tryDelivering: (transactionId: string, graceMs?: number) => Promise<DeliverOutcome>;
  /** `open`: an order was sent since the `asks` that the refusal knows of, or it was delivered; nothing was written. */
  readonly failPurchase: (
    transactionId: string,
    refusal: Refusal,
    asks?: number,
  ) => Promise<NewMessages | undefined | 'open'>;
  /** Opens a purchase again whose withdrawal was left; how long to wait before that, in milliseconds, 0 when it is open. */
  readonly reopenDelivery: (transactionId: string, graceMs: number) => Promise<number>;
  /** The buyer of a purchase from the wallet is about to hear PROCESSING; so do the merchant's endpoints. */
  readonly tellProcessing: (transactionId: string) => Promise<NewMessages | undefined>;
  readonly flagAttention: (transactionId: string, reason: AttentionReason) => Promise<void>;
  /** Never paid, or not as agreed. `paid`: money came first. */
  readonly closeUnpaid: (
    transactionId: string,
    purpose: PaymentPurpose,
    reason: FailureReason,
  ) => Promise<ClosedUnpaid>;
  readonly openFunding: (input: FundingInput) => Promise<void>;
  /** Judges an operator's wish by the rows and puts it on record. */
  readonly beginMove: (wish: ActionRequest) => Promise<BegunMove>;
  /** Makes a begun move: its effect and its line in one transaction. */
  readonly makeMove: (moveId: string, stage: MoveStage) => Promise<MadeMove>;
  /** Puts on record how a begun move ended that has no effect on our rows. */
  readonly closeMove: (moveId: string, result: MoveResult) => Promise<EndedMove>;
}

/** Activities on the gateway's queue. */
export interface GatewayActivities {
  /** Opens the payment, trying for `budgetMs` while the outcome is unknown. */
  readonly openPayment: (request: PaymentRequest, budgetMs: number) => Promise<OpenedPayment>;
  /** The one resolver: asks the gateway about every try of a payment and books what it has. */
  readonly lookAtPayment: (transactionId: string, purpose: PaymentPurpose) => Promise<PaymentStand>;
  /** Moves every refund of a purchase one step on. */
  readonly moveRefunds: (transactionId: string) => Promise<RefundStand>;
}

/** Activities on the webhooks queue. */
export interface WebhookActivities {
  /** One attempt at a message, if it is due, or claimed by whoever asks, and its endpoint has room for it. */
  readonly attemptDelivery: (messageId: string, claim?: string) => Promise<DeliveryStep>;
  /** The same inside of a workflow's task, where the endpoint is known to be quick, or nothing bad is known of it. */
  readonly attemptInTask: (messageId: string) => Promise<DeliveryStepInTask>;
}

/** Activities on the supplier's queue: everything that crosses the network to it. */
export interface SupplierActivities {
  readonly deliver: (request: DeliverRequest) => Promise<DeliverOutcome>;
  /** For purchases refused under a build of before. `false`: something is left, or was delivered. */
  readonly withdrawOrder: (transactionId: string) => Promise<boolean>;
  /** Only asks: whatever the supplier has is taken over, and nothing is ordered. */
  readonly lookAtSupplier: (transactionId: string) => Promise<SupplierLook>;
  /** Cancels what may have been ordered. `isVouchedFor`: a person has it in writing that the supplier delivers nothing. */
  readonly withdrawForMove: (
    transactionId: string,
    isVouchedFor: boolean,
    graceMs?: number,
  ) => Promise<Withdrawal>;
}

/** Activities on the ops queue; each answers with one line for the Temporal UI. */
export interface OpsActivities {
  readonly syncCatalogue: (options: { readonly unlessSyncedWithinMs: number }) => Promise<string>;
  readonly refreshRates: () => Promise<string>;
  readonly refreshUsage: () => Promise<string>;
  readonly forgetOldKeys: () => Promise<string>;
  /** Payments whose time is over and that have news, refunds that nobody has begun, and claims that nobody has settled. */
  readonly findLateMoney: () => Promise<readonly LateMoney[]>;
  /** Applies gateway events that a crash or an outage left in the inbox. */
  readonly applyInbox: () => Promise<string>;
  /** Our books beside the gateway's statement and the supplier's orders; null where nothing has happened yet. */
  readonly reconcile: (
    request: ReconcileInput & { readonly runKey: string },
  ) => Promise<ReconcileSummary | null>;
  /** Hands over messages that are due and that nobody seems to carry. */
  readonly handOverDue: () => Promise<string>;
  /** Disables endpoints that have failed for too long and that nothing is sent to any more. */
  readonly disableFailing: () => Promise<string>;
  /** Tells owners of accounts by e-mail what waits to be told. */
  readonly sendNotices: () => Promise<string>;
  /** Forgets old messages and notices, wipes secrets that sign no more, and seals anew those that are sealed with a key of yesterday. */
  readonly tidyWebhooks: () => Promise<string>;
}
