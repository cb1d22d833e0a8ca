export const PURCHASE_STATUSES = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'] as const;
export type PurchaseStatus = (typeof PURCHASE_STATUSES)[number];

/**
 * Why a purchase or a funding needs a person (`attention_reason`). docs/OPERATIONS.md says what each means
 * and when it ends.
 */
export const ATTENTION_REASONS = [
  'SUPPLIER_NEVER_ALLOCATED',
  'SUPPLIER_OUTCOME_UNKNOWN',
  'DELIVERY_STEP_FAILED',
  'SETTLE_FAILED',
  'UNDO_FAILED',
  'GATEWAY_OUTCOME_UNKNOWN',
  'PAYMENT_STILL_OPEN',
  'PAYMENT_REVERSED',
  'PAYMENT_DISPUTED',
  'REFUND_NEEDS_ATTENTION',
  'REFUND_STUCK',
  'OTHER_PACKAGE_DELIVERED',
  'RETURN_NEEDS_REVIEW',
  'REPLACEMENT_NEEDS_REVIEW',
] as const;
export type AttentionReason = (typeof ATTENTION_REASONS)[number];

/** Money that a bank disputes or has taken back always needs a person, also once the purchase is closed. */
export const DISPUTE_REASONS = [
  'PAYMENT_REVERSED',
  'PAYMENT_DISPUTED',
] as const satisfies readonly AttentionReason[];
export type DisputeReason = (typeof DISPUTE_REASONS)[number];

/** Of one order at a supplier. `sent` covers every doubt: an answer never came. */
export const SUPPLIER_ORDER_STATES = [
  'planned',
  'sent',
  'accepted',
  'delivered',
  'refused',
  'withdrawn',
] as const;
export type SupplierOrderState = (typeof SUPPLIER_ORDER_STATES)[number];

/** Why a supplier refuses a package that it lists. Merchants never read which. */
export const SHORTAGE_REASONS = ['OUT_OF_STOCK', 'BALANCE_TOO_LOW'] as const;
export type ShortageReason = (typeof SHORTAGE_REASONS)[number];

export const ESIM_STATUSES = [
  'PENDING',
  'CREATED',
  'ACTIVE',
  'EXPIRED',
  'FAILED',
  'CANCELLED',
  'SUSPENDED',
] as const;
export type EsimStatus = (typeof ESIM_STATUSES)[number];

/** What the `status` filter of my-esims accepts: the API's specification names these five and no other. */
export const ESIM_STATUS_FILTERS = [
  'ACTIVE',
  'EXPIRED',
  'PENDING',
  'FAILED',
  'CANCELLED',
] as const satisfies readonly EsimStatus[];

export const PACKAGE_TYPES = ['BASE', 'TOPUP'] as const;
export type PackageType = (typeof PACKAGE_TYPES)[number];

/** Methods that go through a payment gateway. */
export const GATEWAY_METHODS = ['CARD', 'BANK_TRANSFER', 'MOBILE_MONEY', 'APPLE_PAY'] as const;
export type GatewayMethod = (typeof GATEWAY_METHODS)[number];

export const PAYMENT_METHODS = ['WALLET', ...GATEWAY_METHODS] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

// Stryker disable next-line ArrayDeclaration: no caller passes a status that does not exist
const FINAL: readonly never[] = [];

/** SQL repeats these as `where status in (…)`, so that a late or repeated step changes nothing. */
const PURCHASE_TRANSITIONS: Record<PurchaseStatus, readonly PurchaseStatus[]> = {
  PENDING: ['PROCESSING', 'FAILED'],
  PROCESSING: ['SUCCESS', 'FAILED'],
  SUCCESS: FINAL,
  FAILED: FINAL,
};

/** The statuses a purchase may be in just before it becomes `to`. */
export function purchaseStatusesBefore(to: PurchaseStatus): PurchaseStatus[] {
  return PURCHASE_STATUSES.filter((from) => PURCHASE_TRANSITIONS[from].includes(to));
}

/** The supplier may still change these, so a read refreshes them. */
export const MOVING_ESIM_STATUSES: readonly EsimStatus[] = ['CREATED', 'ACTIVE', 'SUSPENDED'];

const ESIM_TRANSITIONS: Record<EsimStatus, readonly EsimStatus[]> = {
  PENDING: ['CREATED', 'ACTIVE', 'FAILED', 'CANCELLED'],
  CREATED: ['ACTIVE', 'EXPIRED', 'CANCELLED', 'SUSPENDED'],
  ACTIVE: ['EXPIRED', 'CANCELLED', 'SUSPENDED'],
  SUSPENDED: ['CREATED', 'ACTIVE', 'EXPIRED', 'CANCELLED'],
  EXPIRED: FINAL,
  FAILED: FINAL,
  CANCELLED: FINAL,
};

/** Whether the supplier may move a delivered eSIM to that status, or leave it there. */
export function canChangeStatus(from: EsimStatus, to: EsimStatus): boolean {
  return from === to || ESIM_TRANSITIONS[from].includes(to);
}

export const PAYMENT_PURPOSES = ['purchase', 'funding'] as const;
export type PaymentPurpose = (typeof PAYMENT_PURPOSES)[number];

/** Of money on hold for a purchase. */
export const HOLD_STATES = ['HELD', 'POSTED', 'VOIDED'] as const;

/** What money that came, or that was taken back, was for an order. */
const PAYMENT_EVENTS = [
  'payment-received',
  'payment-received-over',
  'payment-received-short',
  'payment-received-late',
  'payment-received-again',
  'payment-received-in-other-currency',
  'payment-confirmed',
  'payment-reversed',
] as const;
export type PaymentEvent = (typeof PAYMENT_EVENTS)[number];

/** What happens to a purchase. */
export const PURCHASE_EVENTS = [
  'opened',
  'wallet-held',
  'refused',
  'ordered-at-supplier',
  'needs-attention',
  'delivered',
  'other-package-delivered',
  'package-replaced',
  'failed',
  'hold-released',
  ...PAYMENT_EVENTS,
  'payment-vouched-for',
  'payment-disputed',
  'transfer-returned-by-the-bank',
  'refunded',
  'refund-credited-to-wallet',
  'refund-blocked',
  'goodwill-refund',
  'goodwill-credit',
  'installed',
  'profile-deleted',
  'install-link-revoked',
  'return-requested',
  'return-needs-review',
  'return-refused',
  'returned',
  'replacement-opened',
  'replacement-requested',
  'replacement-needs-review',
  'replacement-granted',
  'replacement-refused',
  'replacement-delivered',
  'replaced',
] as const;
export type PurchaseEvent = (typeof PURCHASE_EVENTS)[number];

/** What happens to a funding. */
export type FundingEvent = (typeof FUNDING_EVENTS)[number];
const FUNDING_EVENTS = [
  'opened',
  'failed',
  ...PAYMENT_EVENTS,
  'payment-disputed',
  'wallet-credited',
  'owed-paid',
  'dispute-won',
  'dispute-lost',
  'dispute-ended',
] as const;

/** What the timeline of a purchase or of a funding names. */
export const TRANSACTION_EVENTS = [...new Set([...PURCHASE_EVENTS, ...FUNDING_EVENTS])] as [
  PurchaseEvent | FundingEvent,
  ...(PurchaseEvent | FundingEvent)[],
];

/** What a transfer of the ledger was for. Its column is a text: a person reads OTHER for what is not here. */
export const LEDGER_OPERATIONS = [
  'hold',
  'post',
  'void',
  'fund',
  'payment',
  ...PAYMENT_EVENTS,
  'marked-paid',
  'refund',
  'refund-credited',
  'refund-by-hand',
  'refund-to-source',
  'credit-wallet',
  'disputed',
  'dispute-settled',
  'reversal-settled',
  'return',
  'funded-by-hand',
  'credited-by-hand',
  'funding-corrected',
  'credit-corrected',
] as const;

/**
 * Of the return of an unused eSIM. PENDING: the supplier is asked, and cancels it. NEEDS_REVIEW: the supplier
 * does not say, so a person decides. REFUNDING: cancelled there, and its money is on its way back.
 */
export const RETURN_STATES = ['PENDING', 'NEEDS_REVIEW', 'REFUNDING', 'RETURNED', 'REFUSED'] as const;
export type ReturnState = (typeof RETURN_STATES)[number];

/** Why a return is refused: what it is about, in the words of docs/guides/returns.md. */
export const RETURN_REFUSALS = [
  'NOT_ALLOWED',
  'NOT_DELIVERED',
  'WINDOW_OVER',
  'IN_PROGRESS',
  'ALREADY_RETURNED',
  'REPLACED',
  'NOT_UNUSED',
  'EXPIRED',
  'CANCELLED',
  'HAS_TOP_UPS',
  'PAYMENT_DISPUTED',
  'TOO_OFTEN',
  'SUPPLIER_REFUSED',
  'REFUSED_BY_OPERATOR',
] as const;
export type ReturnRefusal = (typeof RETURN_REFUSALS)[number];

/**
 * Of the replacement of an eSIM. PENDING: the supplier is asked. NEEDS_REVIEW: a person decides, since the
 * supplier does not say that the profile was deleted. ORDERING: the new eSIM is bought. RETIRING: it is
 * delivered, and the old one is to be revoked.
 */
export const REPLACEMENT_STATES = [
  'PENDING',
  'NEEDS_REVIEW',
  'ORDERING',
  'RETIRING',
  'REPLACED',
  'REFUSED',
] as const;
export type ReplacementState = (typeof REPLACEMENT_STATES)[number];

/** Why a replacement is refused: what it is about, in the words of docs/guides/replacements.md. */
export const REPLACEMENT_REFUSALS = [
  'NOT_ALLOWED',
  'NOT_DELIVERED',
  'WINDOW_OVER',
  'TOO_MANY',
  'IN_PROGRESS',
  'ALREADY_REPLACED',
  'RETURNED',
  'UNUSED',
  'USED_UP',
  'EXPIRED',
  'CANCELLED',
  'PAYMENT_DISPUTED',
  'REFUNDED',
  'TOP_UP_OPEN',
  'TOO_OFTEN',
  'PURCHASE_FAILED',
  'REFUSED_BY_OPERATOR',
] as const;
export type ReplacementRefusal = (typeof REPLACEMENT_REFUSALS)[number];

/** Where the money of a return goes. */
export const REFUND_TARGETS = ['SOURCE', 'WALLET'] as const;
export type RefundTarget = (typeof REFUND_TARGETS)[number];
