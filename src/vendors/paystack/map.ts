/**
 * The vendor's words for charges and refunds → ours. A word never seen before maps to "unknown", never to a
 * guess.
 */
import type {
  GatewayCharge,
  ChargeState,
  GatewayOutcome,
  PaymentInstructions,
  GatewayRefund,
  RefundState,
} from '../../payments/port.ts';
import type { NotAnswered } from './client.ts';
import { meaningOf } from './codes.ts';
import type { WireCharge, WireRefund, WireTransaction } from './wire.ts';

/** Those of verify, charge and lists together. A page that was never opened is abandoned, too. */
export const CHARGE_STATES = new Map<string, ChargeState>([
  ['success', 'paid'],
  ['failed', 'failed'],
  ['reversed', 'reversed'],
  ['abandoned', 'abandoned'],
  ['ongoing', 'waiting'],
  ['pending', 'waiting'],
  ['processing', 'waiting'],
  ['queued', 'waiting'],
  ['timeout', 'waiting'],
  ['send_pin', 'waiting'],
  ['send_otp', 'waiting'],
  ['send_phone', 'waiting'],
  ['send_birthday', 'waiting'],
  ['send_address', 'waiting'],
  ['open_url', 'waiting'],
  ['pay_offline', 'waiting'],
  ['pending_bank_transfer', 'waiting'],
  // A refund is under way: what the transaction becomes then counts.
  ['reversal-pending', 'waiting'],
]);

export const REFUND_STATES = new Map<string, RefundState>([
  ['pending', 'pending'],
  ['processing', 'pending'],
  ['processed', 'done'],
  ['failed', 'failed'],
  ['needs-attention', 'needs-attention'],
]);

/** The vendor's pages spell "Reversal pending" in words only. */
export const chargeStateOf = (status: string): ChargeState =>
  CHARGE_STATES.get(status) ?? CHARGE_STATES.get(status.toLowerCase().replaceAll(/[ _]/g, '-')) ?? 'unknown';

/**
 * A transaction in our terms. Older ones have no requested amount: then the amount received counts as
 * requested.
 */
export function toGatewayCharge(wire: WireTransaction): GatewayCharge {
  const { amount, currency, fees, status } = wire;
  const requested = wire.requested_amount ?? amount;
  return {
    reference: wire.reference,
    state: chargeStateOf(status),
    gatewayStatus: status,
    requested: { amountMinor: requested, currency },
    received: { amountMinor: amount, currency },
    feesOnTopMinor: fees !== null && amount - fees === requested ? fees : 0n,
    paidAt: wire.paid_at,
    gatewayId: wire.id,
  };
}

export function toGatewayRefund({ id, status, amount, currency }: WireRefund): GatewayRefund {
  return {
    refundId: id,
    state: REFUND_STATES.get(status) ?? 'unknown',
    gatewayStatus: status,
    amount: { amountMinor: amount, currency },
  };
}

/** Where to transfer to; null when neither the gateway nor we set until when the account takes money. */
export function transferInstructionsOf(
  account: NonNullable<WireCharge['account']>,
  asked: Date | undefined,
): PaymentInstructions | null {
  const expiresAt = account.expiresAt ?? asked;
  return expiresAt === undefined ? null : { kind: 'bank-transfer', ...account, expiresAt };
}

type NotDone = Exclude<GatewayOutcome<never>, { outcome: 'done' }>;
type Unknown = Extract<NotDone, { outcome: 'unknown' }>;

export function unknown(detail: string, retryAfterMs?: number): Unknown {
  return { outcome: 'unknown', detail, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** What a failed effect means. */
export function effectFailure(answer: NotAnswered): NotDone {
  const failure = readFailure(answer);
  const meaning = answer.kind === 'lost' ? undefined : meaningOf(answer);
  if (meaning?.kind === 'unseen') return unknown(`unseen ${failure.detail}`);
  return meaning?.kind === 'refused'
    ? { outcome: 'refused', reason: meaning.reason, detail: failure.detail }
    : failure;
}

/**
 * A failed lookup is always unknown. A refusal to answer says nothing about the charge, so a wrong key must
 * never look like "no such charge". The detail names a no by its code, its category or its HTTP status.
 */
export function readFailure(answer: NotAnswered): Unknown {
  if (answer.kind === 'lost') {
    const { detail, retryAfterMs, notSent } = answer;
    return { ...unknown(detail, retryAfterMs), ...(notSent ? { notSent } : {}) };
  }
  const meaning = meaningOf(answer);
  const name = answer.code || answer.category || `HTTP ${answer.httpStatus}`;
  const detail = answer.message === '' ? name : `${name}: ${answer.message}`;
  // Stryker disable next-line ConditionalExpression: no other meaning has a wait
  return unknown(detail, meaning.kind === 'unknown' ? meaning.retryAfterMs : undefined);
}
