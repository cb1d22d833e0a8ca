/** How a checkout session of the Agentic Commerce Protocol stands, and what pays for it. */
import { FAILURE_REASONS, asFailureReason } from '../../domain/refusals.ts';
import { GATEWAY_METHODS, type PaymentMethod, type PurchaseStatus } from '../../domain/states.ts';

/** Those words of the protocol that a session of ours can have. */
export const SESSION_STATUSES = [
  'ready_for_payment',
  'requires_escalation',
  'complete_in_progress',
  'completed',
  'canceled',
  'expired',
] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

interface SessionFacts {
  readonly isCanceled: boolean;
  readonly expiresAt: Date;
  /** A purchase was asked for, and not refused without effect. */
  readonly isBegun: boolean;
  /** Absent before its first step. */
  readonly purchaseStatus?: PurchaseStatus | undefined;
  /** The buyer has a page to pay on. */
  readonly hasPaymentPage: boolean;
}

/** A purchase that has begun decides, whenever the price expires. A session buys at most once. */
export function sessionStatus(facts: SessionFacts, now: Date): SessionStatus {
  if (facts.isCanceled) return 'canceled';
  if (facts.isBegun) return statusOfPurchase(facts);
  return facts.expiresAt <= now ? 'expired' : 'ready_for_payment';
}

function statusOfPurchase({ purchaseStatus, hasPaymentPage }: SessionFacts): SessionStatus {
  switch (purchaseStatus) {
    case 'SUCCESS':
      return 'completed';
    case 'FAILED':
      return 'canceled';
    case 'PENDING':
      return hasPaymentPage ? 'requires_escalation' : 'complete_in_progress';
    case 'PROCESSING':
    case undefined:
      return 'complete_in_progress';
  }
}

export const ORDER_STATUSES = ['created', 'processing', 'completed', 'canceled'] as const;

export function orderStatus(purchase: PurchaseStatus | undefined): (typeof ORDER_STATUSES)[number] {
  const words = { PENDING: 'created', PROCESSING: 'processing', SUCCESS: 'completed', FAILED: 'canceled' };
  return words[purchase ?? 'PENDING'] as (typeof ORDER_STATUSES)[number];
}

/** The word of the protocol for why a purchase failed. */
export function failureCode(reason: string): 'payment_declined' | 'out_of_stock' | 'conflict' {
  const code = FAILURE_REASONS[asFailureReason(reason)];
  if (code === 'PAYMENT_FAILED') return 'payment_declined';
  return code === 'PACKAGE_UNAVAILABLE' ? 'out_of_stock' : 'conflict';
}

export const WALLET_HANDLER = 'wallet';
export const PAGE_HANDLER = 'hosted_page';

/** A bank transfer has no page to send the buyer to. */
const PAGE_METHODS = GATEWAY_METHODS.filter((method) => method !== 'BANK_TRANSFER');

/** The types of instruments of the page, by our methods. */
export const PAGE_INSTRUMENTS = new Map(PAGE_METHODS.map((method) => [method.toLowerCase(), method]));

/** Undefined: we offer no such handler, or it takes no such instrument. */
export function methodOf(handlerId: string, instrument: string): PaymentMethod | undefined {
  if (handlerId === WALLET_HANDLER) return instrument === WALLET_HANDLER ? 'WALLET' : undefined;
  return handlerId === PAGE_HANDLER ? PAGE_INSTRUMENTS.get(instrument) : undefined;
}
