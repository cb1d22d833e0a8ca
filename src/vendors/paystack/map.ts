/**
 * The vendor's words for charges and refunds → ours. Pure and total: every input has an answer, and what was never seen before maps to
 * "unknown", never to a guess. Amounts stay bigint.
 */
import type {
  GatewayCharge,
  ChargeState,
  GatewayOutcome,
  PaymentInstructions,
  GatewayRefund,
  RefundState,
} from '../../payments/port.ts';
import type { Answer } from './client.ts';
import { meaningOf } from './codes.ts';
import type { WireAccount, WireRefund, WireTransaction } from './wire.ts';

/** Those of verify, charge and lists together. A transaction that nobody opened yet is called abandoned too. */
const CHARGE_STATES = new Map<string, ChargeState>([
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
]);

const REFUND_STATES = new Map<string, RefundState>([
  ['pending', 'pending'],
  ['processing', 'pending'],
  ['processed', 'done'],
  ['failed', 'failed'],
  ['needs-attention', 'needs-attention'],
]);

/** Every status of a charge on the vendor's pages. */
export const KNOWN_CHARGE_STATUSES: readonly string[] = [...CHARGE_STATES.keys()];
/** Every status of a refund on the vendor's pages. */
export const KNOWN_REFUND_STATUSES: readonly string[] = [...REFUND_STATES.keys()];

export function chargeStateOf(status: string): ChargeState {
  return CHARGE_STATES.get(status) ?? 'unknown';
}

export function refundStateOf(status: string): RefundState {
  return REFUND_STATES.get(status) ?? 'unknown';
}

/** A transaction in our words. Without a requested amount, which older ones lack, what came is what was asked for. */
export function toGatewayCharge(wire: WireTransaction): GatewayCharge {
  const { amount, currency, fees } = wire;
  const requested = wire.requestedAmount ?? amount;
  return {
    reference: wire.reference,
    state: chargeStateOf(wire.status),
    gatewayStatus: wire.status,
    requested: { amountMinor: requested, currency },
    received: { amountMinor: amount, currency },
    feesOnTopMinor: fees !== null && amount - fees === requested ? fees : 0n,
    paidAt: wire.paidAt,
    gatewayId: wire.id,
  };
}

export function toGatewayRefund(wire: WireRefund): GatewayRefund {
  return {
    refundId: wire.id,
    state: refundStateOf(wire.status),
    gatewayStatus: wire.status,
    amount: { amountMinor: wire.amount, currency: wire.currency },
  };
}

/** Where to transfer to; null when nobody knows until when the account takes money. */
export function transferInstructionsOf(
  account: WireAccount,
  asked: Date | undefined,
): PaymentInstructions | null {
  const expiresAt = account.expiresAt ?? asked;
  if (expiresAt === undefined) return null;
  const { bankName, number: accountNumber, name: accountName } = account;
  return { kind: 'bank-transfer', bankName, accountNumber, accountName, expiresAt };
}

type Failure = Exclude<Answer, { kind: 'answered' }>;
type NotDone = Exclude<GatewayOutcome<never>, { outcome: 'done' }>;
type Unknown = Extract<NotDone, { outcome: 'unknown' }>;

export function unknown(detail: string, retryAfterMs?: number): Unknown {
  return { outcome: 'unknown', detail, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** A no in one line: its word, or the kind of error, or the HTTP status, and the vendor's message. */
function detailOf(answer: Exclude<Failure, { kind: 'lost' }>): string {
  const name = answer.code || answer.category || `HTTP ${answer.httpStatus}`;
  return answer.message === '' ? name : `${name}: ${answer.message}`;
}

/** What a failed effect means. */
export function effectFailure(answer: Failure): NotDone {
  if (answer.kind === 'lost') return unknown(answer.detail, answer.retryAfterMs);
  const meaning = meaningOf(answer);
  if (meaning.kind === 'unseen') return unknown(`unseen ${detailOf(answer)}`);
  if (meaning.kind === 'unknown') return unknown(detailOf(answer), meaning.retryAfterMs);
  return { outcome: 'refused', reason: meaning.reason, detail: detailOf(answer) };
}

/**
 * What a failed question means: always unknown. That the vendor would not answer says nothing about what was asked, so a wrong key
 * must never look like "no such charge".
 */
export function questionFailure(answer: Failure): Unknown {
  if (answer.kind === 'lost') return unknown(answer.detail, answer.retryAfterMs);
  const meaning = meaningOf(answer);
  // Stryker disable next-line ConditionalExpression: no other meaning has a wait
  return unknown(detailOf(answer), meaning.kind === 'unknown' ? meaning.retryAfterMs : undefined);
}
