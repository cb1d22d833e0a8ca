import type { ErrorCode } from './errors.ts';

/**
 * Why a purchase or a funding fails, each with the error code that its caller gets. Rows, workflows and
 * answers use these names.
 */
export const FAILURE_REASONS = {
  INSUFFICIENT_BALANCE: 'INSUFFICIENT_BALANCE',
  /** Of the API key that asked. */
  KEY_BUDGET_EXCEEDED: 'KEY_BUDGET_EXCEEDED',
  PACKAGE_WITHDRAWN: 'PACKAGE_UNAVAILABLE',
  /** What a buyer reads where the supplier lacks stock, or our balance there is too low. */
  PACKAGE_UNAVAILABLE: 'PACKAGE_UNAVAILABLE',
  OUT_OF_STOCK: 'PACKAGE_UNAVAILABLE',
  PRICE_CHANGED: 'PACKAGE_UNAVAILABLE',
  SUPPLIER_BALANCE_TOO_LOW: 'PACKAGE_UNAVAILABLE',
  SUPPLIER_REFUSED: 'PACKAGE_UNAVAILABLE',
  ESIM_NOT_ACTIVE: 'INVALID_TOPUP',
  /** Of an automatic top-up: no caller asked for it. */
  MANDATE_NOT_VALID: 'INVALID_TOPUP',
  QUOTE_USED: 'QUOTE_USED',
  REFERENCE_ALREADY_USED: 'REFERENCE_ALREADY_USED',
  TOO_MANY_UNPAID_PAYMENTS: 'TOO_MANY_UNPAID_PAYMENTS',
  PAYMENT_NOT_SERVED: 'PAYMENT_METHOD_UNAVAILABLE',
  PAYMENT_NOT_OPENED: 'PAYMENT_FAILED',
  PAYMENT_EXPIRED: 'PAYMENT_FAILED',
  PAYMENT_UNDERPAID: 'PAYMENT_FAILED',
  PAYMENT_WRONG_CURRENCY: 'PAYMENT_FAILED',
  PAYMENT_REVERSED: 'PAYMENT_FAILED',
  CANCELLED_BY_OPERATOR: 'PACKAGE_UNAVAILABLE',
  NOT_VERIFIED: 'SERVICE_UNAVAILABLE',
  /** Our database refuses the row for good. */
  NOT_RECORDED: 'SERVICE_UNAVAILABLE',
  /** Another request with the same Idempotency-Key was refused, or opened something, before this one. */
  SUPERSEDED: 'IDEMPOTENCY_KEY_IN_USE',
} as const satisfies Record<string, ErrorCode>;

export type FailureReason = keyof typeof FAILURE_REASONS;

/** Only logs and operators see `detail`. */
export interface Refusal {
  readonly reason: FailureReason;
  readonly detail: string;
  /** What the caller reads beside the reason. */
  readonly shown?: string;
}

const FOR_CALLER: ReadonlySet<FailureReason> = new Set([
  'INSUFFICIENT_BALANCE',
  'KEY_BUDGET_EXCEEDED',
  'REFERENCE_ALREADY_USED',
]);

/**
 * As it is made, and as it is read back. What a wallet lacks, what a budget forbids, or who has the reference
 * is for the caller, too.
 */
export function refusalOf(reason: FailureReason, detail: string): Refusal {
  const isForCaller = FOR_CALLER.has(reason) && detail !== '';
  return { reason, detail, ...(isForCaller && { shown: detail }) };
}

/** Of an order at the supplier. Its purchase has PACKAGE_UNAVAILABLE. */
export const ORDER_REASONS: ReadonlySet<FailureReason> = new Set([
  'OUT_OF_STOCK',
  'SUPPLIER_BALANCE_TOO_LOW',
]);

/**
 * The refusal of a purchase for the refusal of its order: whether stock or balance was lacking is for
 * operators alone, who find it in the detail and on the order.
 */
export function forBuyer(refusal: Refusal): Refusal {
  const { reason, detail } = refusal;
  if (!ORDER_REASONS.has(reason)) return refusal;
  return { reason: 'PACKAGE_UNAVAILABLE', detail: [reason, detail].filter(Boolean).join(': ') };
}

/** For a reason read from a row. Throws RangeError. */
export function asFailureReason(text: string): FailureReason {
  if (Object.hasOwn(FAILURE_REASONS, text)) return text as FailureReason;
  throw new RangeError(`unknown failure reason ${text}`);
}
