/**
 * Names and types that workflows, activities and the Temporal adapter share. No behaviour. Names are part of every open purchase's
 * history: change none.
 */
import type { FundingInput } from '../src/domain/funding.ts';
import type { ChargeQuote, OutsideMethod, PaymentPurpose, RefundTimings } from '../src/domain/payment.ts';
import type { PurchaseInput } from '../src/domain/purchase.ts';
import type { FailureReason, Refusal } from '../src/domain/refusals.ts';

export const PURCHASE_WORKFLOW = 'purchase';
export const FUND_WALLET_WORKFLOW = 'fundWallet';
export const LATE_PAYMENT_WORKFLOW = 'latePayment';
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

export const ORDERS_QUEUE = 'orders';
export const OPS_QUEUE = 'ops';
/** The supplier's own queue, so that its slowness keeps no other step waiting. */
export const SUPPLIER_QUEUE = 'supplier-esim-access';
/** The gateway's own queue, for the same reason. */
export const GATEWAY_QUEUE = 'gateway-paystack';

/** One delivery attempt: orders where needed, looks for the result until done, refused or out of time, and settles what came. */
export interface DeliverRequest {
  readonly transactionId: string;
  /** How long this attempt may go on looking. */
  readonly budgetMs: number;
  readonly lookFirstMs: number;
  readonly lookMaxMs: number;
}

export type DeliverOutcome =
  | { readonly outcome: 'delivered'; readonly iccid: string }
  /** Ordered, or perhaps ordered, or delivered and not settled: do it again. */
  | { readonly outcome: 'unknown'; readonly reason: AttentionReason }
  | {
      readonly outcome: 'refused';
      readonly refusal: Refusal;
      readonly catalogueIsOld: boolean;
      /** An earlier ask ended unknown, so something of it may still be on its way. */
      readonly afterDoubt: boolean;
    };

export type AttentionReason =
  | 'SUPPLIER_NEVER_ALLOCATED'
  | 'SUPPLIER_OUTCOME_UNKNOWN'
  | 'DELIVERY_STEP_FAILED'
  | 'SETTLE_FAILED'
  | 'UNDO_FAILED'
  | 'GATEWAY_OUTCOME_UNKNOWN'
  | 'REFUND_NEEDS_ATTENTION'
  | 'REFUND_STUCK';

export type OpenOutcome = { readonly opened: true } | { readonly opened: false; readonly refusal: Refusal };

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
};

export interface RefundStand {
  readonly open: number;
  readonly needsPerson: AttentionReason | null;
}

/** Activities on the orders queue: our own Postgres, run as local activities. */
export interface OrderActivities {
  readonly openPurchase: (input: PurchaseInput, startedAt: string) => Promise<OpenOutcome>;
  /** One quick ask at the supplier, right inside the purchase's first task. */
  readonly tryDelivering: (transactionId: string) => Promise<DeliverOutcome>;
  readonly failPurchase: (transactionId: string, refusal: Refusal) => Promise<void>;
  readonly flagAttention: (transactionId: string, reason: AttentionReason) => Promise<void>;
  /** Never paid, or not as agreed. `paid`: money came first. */
  readonly closeUnpaid: (
    transactionId: string,
    purpose: PaymentPurpose,
    reason: FailureReason,
  ) => Promise<'closed' | 'paid'>;
  readonly openFunding: (input: FundingInput) => Promise<void>;
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

/** Activities on the supplier's queue: everything that crosses the network to it. */
export interface SupplierActivities {
  readonly deliver: (request: DeliverRequest) => Promise<DeliverOutcome>;
  /** Undoes an order that may exist although it was refused. `false`: something is left that cannot be cancelled. */
  readonly withdrawOrder: (transactionId: string) => Promise<boolean>;
}

/** Activities on the ops queue; each answers with one line for the Temporal UI. */
export interface OpsActivities {
  readonly syncCatalogue: (options: { readonly unlessSyncedWithinMs: number }) => Promise<string>;
  readonly refreshRates: () => Promise<string>;
  readonly refreshUsage: () => Promise<string>;
  readonly forgetOldKeys: () => Promise<string>;
  /** Payments whose time is over and that have news, and refunds that nobody has begun. */
  readonly findLateMoney: () => Promise<readonly LatePaymentInput[]>;
  /** Applies gateway events that a crash or an outage left in the inbox. */
  readonly applyInbox: () => Promise<string>;
}
