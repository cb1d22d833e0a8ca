/**
 * Rules for money that comes from outside: what it is asked to be, what happens to it when it is less, more, other or late, and when to look
 * for it again. Pure; docs/API.md states the same rules for people.
 */
import { divideHalfUp, type AccountCurrency } from '../domain/money.ts';
import type { FailureReason } from '../domain/refusals.ts';
import type { OutsideMethod, PaymentPurpose } from '../domain/states.ts';
import type { IdempotencyMark } from '../platform/idempotency/tag.ts';
import { isId } from '../domain/ids.ts';

const HOUR_MS = 3_600_000;

/** What the buyer is asked to pay, frozen with the price: the two together are the locked rate. Amounts are decimal digits. */
export interface ChargeQuote {
  readonly amountMinor: string;
  readonly currency: string;
  /** Rates that the conversion used; empty where charge and price have one currency. */
  readonly rateIds: readonly string[];
}

/** A payment as our books have it, before a look is applied. */
export interface BookedPayment {
  readonly purpose: PaymentPurpose;
  readonly chargeMinor: bigint;
  readonly chargeCurrency: string;
  readonly priceMinor: bigint;
  readonly priceCurrency: AccountCurrency;
  /** By the gateway's word, net of fees on top, whatever became of it. */
  readonly bookedMinor: bigint;
  /** Booked by a person's word, which the gateway has not confirmed yet. */
  readonly evidenceMinor?: bigint;
  /** Sent back at our own request, or about to be. */
  readonly refundedMinor: bigint;
  readonly reversedMinor: bigint;
  /** Whether the purchase still waits for money. */
  readonly awaited: boolean;
  /** Whether the purchase was paid before, by this payment or by another of its tries. */
  readonly paidBefore: boolean;
  /** Whether it is booked that the money came and was taken back before anybody looked. */
  readonly wasReceivedAndReversed: boolean;
}

/** What the gateway says it has, net of fees that the buyer bore on top. */
export interface ReceivedMoney {
  readonly state: 'paid' | 'reversed' | 'other';
  readonly netMinor: bigint;
  readonly currency: string;
}

/** Where newly seen money goes; amounts in the currency it came in. All zero: nothing new. */
export interface BookingDecision {
  /** Pays the purchase: exactly the charge. */
  readonly toHoldMinor: bigint;
  readonly toWalletMinor: bigint;
  /** In a currency that nobody agreed on: kept apart and sent back. */
  readonly toReturnMinor: bigint;
  /** Taken back by the gateway or the buyer's bank, after we had booked it. */
  readonly reversedMinor: bigint;
  /** Came and was taken back before anybody looked: it passes through the ledger, and nothing of it stays. */
  readonly receivedAndReversedMinor: bigint;
  /** Booked before by a person's word: now the gateway says the same. */
  readonly confirmedMinor?: bigint;
  /** Not judged: an answer to a later question is booked. */
  readonly isOutdated?: true;
  /** Ends a purchase that still waits. */
  readonly ends?: FailureReason;
  /** For the public timeline. */
  readonly what?: PaymentEvent;
}

export const PAYMENT_EVENTS = [
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

/** Nothing new. */
export const NOTHING: BookingDecision = {
  toHoldMinor: 0n,
  toWalletMinor: 0n,
  toReturnMinor: 0n,
  reversedMinor: 0n,
  receivedAndReversedMinor: 0n,
};

/** What a look at the gateway means for our books. Judging the same look twice gives nothing the second time. */
export function decideBooking(payment: BookedPayment, received: ReceivedMoney): BookingDecision {
  if (received.state === 'reversed') return judgeReversal(payment, received);
  const newMinor = received.state === 'paid' ? received.netMinor - payment.bookedMinor : 0n;
  if (newMinor <= 0n) return NOTHING;
  if (received.currency !== payment.chargeCurrency) {
    return {
      ...NOTHING,
      toReturnMinor: newMinor,
      what: 'payment-received-in-other-currency',
      ...(payment.awaited ? { ends: 'PAYMENT_WRONG_CURRENCY' } : {}),
    };
  }
  const { evidenceMinor = 0n } = payment;
  if (evidenceMinor > 0n) {
    // Stryker disable next-line EqualityOperator: of two equal amounts either is the smaller
    const confirmedMinor = newMinor < evidenceMinor ? newMinor : evidenceMinor;
    return {
      ...NOTHING,
      confirmedMinor,
      toWalletMinor: newMinor - confirmedMinor,
      what: 'payment-confirmed',
    };
  }
  if (payment.purpose === 'funding') return { ...NOTHING, toWalletMinor: newMinor, what: 'payment-received' };
  if (!payment.awaited) {
    const what = payment.paidBefore ? 'payment-received-again' : 'payment-received-late';
    return { ...NOTHING, toWalletMinor: newMinor, what };
  }
  const excessMinor = newMinor - payment.chargeMinor;
  if (excessMinor < 0n) {
    return { ...NOTHING, toWalletMinor: newMinor, what: 'payment-received-short', ends: 'PAYMENT_UNDERPAID' };
  }
  return {
    ...NOTHING,
    toHoldMinor: payment.chargeMinor,
    toWalletMinor: excessMinor,
    what: excessMinor > 0n ? 'payment-received-over' : 'payment-received',
  };
}

/** Money that went back at our own request is no reversal: the gateway uses one word for both. */
function judgeReversal(payment: BookedPayment, received: ReceivedMoney): BookingDecision {
  const ending = payment.awaited ? { ends: 'PAYMENT_REVERSED' as const } : {};
  if (payment.bookedMinor > 0n) {
    const goneMinor = payment.bookedMinor - payment.refundedMinor - payment.reversedMinor;
    return goneMinor > 0n
      ? { ...NOTHING, reversedMinor: goneMinor, what: 'payment-reversed', ...ending }
      : NOTHING;
  }
  // Stryker disable next-line EqualityOperator: no money is zero both ways
  const receivedAndReversedMinor =
    payment.wasReceivedAndReversed || received.netMinor < 0n ? 0n : received.netMinor;
  if (receivedAndReversedMinor === 0n && !payment.awaited) return NOTHING;
  return { ...NOTHING, receivedAndReversedMinor, what: 'payment-reversed', ...ending };
}

/** An amount of the charge's currency in the price's, at the locked rate, half up. */
export function atLockedRate(
  amountMinor: bigint,
  locked: Pick<BookedPayment, 'chargeMinor' | 'chargeCurrency' | 'priceMinor' | 'priceCurrency'>,
): bigint {
  if (locked.chargeCurrency === locked.priceCurrency) return amountMinor;
  return divideHalfUp(amountMinor * locked.priceMinor, locked.chargeMinor);
}

/** Durations of a payment, part of the input so that tests scale them and open purchases keep theirs. */
export interface PaymentTimings extends RefundTimings {
  /** How long opening the charge is tried before the purchase is given up unpaid. */
  readonly openChargeForMs: number;
  /** A hosted page takes money for this long. */
  readonly checkoutMs: number;
  /** A transfer account takes money for this long; the gateway allows 15 minutes to 8 hours. */
  readonly transferMs: number;
  /** Looks at the gateway: the first pause, then a share of the waiting so far, and the longest. */
  readonly pollFirstMs: number;
  readonly pollMaxMs: number;
}

/** Looks at a refund: first pause, doubled up to the longest. */
export interface RefundTimings {
  readonly refundLookFirstMs: number;
  readonly refundLookMaxMs: number;
}

export function refundTimingsOf({ refundLookFirstMs, refundLookMaxMs }: RefundTimings): RefundTimings {
  return { refundLookFirstMs, refundLookMaxMs };
}

/** Each pause is this share of the waiting so far: money is seen soon after it came, and looks grow rarer the less likely it gets. */
const POLL_SHARE = 10;

/** How long a pause may be at most while money is likely to come. */
interface PollingPhase {
  /** Counted from the opening. */
  readonly forMs: number;
  readonly longestPauseMs: number;
}

/**
 * What is paid while it is watched is seen within the longest pause, and delivered within the 90 s (hosted page), 60 s (mobile money) and
 * 5 min (transfer) that promise G2 allows: the rest is for one answer of the gateway and the delivery. A page is paid within minutes or not
 * at all, nearly always, so after two hours its looks may grow rare; a transfer account lives 8 hours at most and is watched all the time.
 */
const POLLING_PHASES: Readonly<Record<OutsideMethod, PollingPhase>> = {
  CARD: { forMs: 2 * HOUR_MS, longestPauseMs: 60_000 },
  APPLE_PAY: { forMs: 2 * HOUR_MS, longestPauseMs: 60_000 },
  MOBILE_MONEY: { forMs: 2 * HOUR_MS, longestPauseMs: 40_000 },
  BANK_TRANSFER: { forMs: 8 * HOUR_MS, longestPauseMs: 240_000 },
};

/** How long to wait before the next look at the gateway, given how long money has been awaited. */
export function nextPollMs(waitedMs: number, method: OutsideMethod, timings: PaymentTimings): number {
  const { forMs, longestPauseMs } = POLLING_PHASES[method];
  const shareMs = Math.trunc(waitedMs / POLL_SHARE);
  const wantedMs = waitedMs < forMs ? Math.min(shareMs, longestPauseMs) : shareMs;
  return Math.min(Math.max(timings.pollFirstMs, wantedMs), timings.pollMaxMs);
}

/** How long a method takes money after it was opened, unless the gateway says otherwise. */
export function takesMoneyForMs(method: OutsideMethod, timings: PaymentTimings): number {
  return method === 'BANK_TRANSFER' ? timings.transferMs : timings.checkoutMs;
}

/** The reference of a try to open a charge: one-shot at the gateway, letters, digits and `-` only. The first is our own id. */
export function chargeReference(transactionId: string, attempt: number): string {
  return attempt === 1 ? transactionId : `${transactionId}-${attempt}`;
}

/** A charge's price in another currency by way of US dollars, half up; rates are units of currency per dollar × 1,000,000. */
export function convertBetween(amountMinor: bigint, fromMicros: bigint, toMicros: bigint): bigint {
  return divideHalfUp(amountMinor * toMicros, fromMicros);
}

/** At the gateway. `unknown`: resolved with a word never seen before. */
export type DisputeState = 'open' | 'won' | 'lost' | 'unknown';

export const DISPUTE_OUTCOMES = ['won', 'lost'] as const;

export type DisputeOutcome = (typeof DISPUTE_OUTCOMES)[number];

/** Why an outcome cannot be stated; undefined when it can. `state`: the gateway's last word; null: it has said nothing. */
export function whyNotOutcome(
  outcome: DisputeOutcome,
  state: DisputeState | null,
  overrides: boolean,
): 'DISPUTE_OPEN' | 'OUTCOME_DIFFERS' | 'GATEWAY_SILENT' | undefined {
  if (overrides || state === outcome) return undefined;
  if (state === 'open') return 'DISPUTE_OPEN';
  return state === 'won' || state === 'lost' ? 'OUTCOME_DIFFERS' : 'GATEWAY_SILENT';
}

export interface FundingInput {
  readonly transactionId: string;
  readonly accountId: string;
  readonly paymentMethod: OutsideMethod;
  readonly amountMinor: string;
  readonly currency: AccountCurrency;
  readonly charge: ChargeQuote;
  readonly requestId: string;
  readonly timings: PaymentTimings & { readonly answerWithinMs: number; readonly slowLookMs: number };
  readonly idempotency?: IdempotencyMark;
}

export const WINDOW_MS = 10 * 60_000;

/** A charge is opened at the gateway some time after its row was written, while the opening is tried, and the clocks of two computers differ. */
export const CLOCK_SKEW_MS = 15 * 60_000;

/** decisions.md: money may come late for 72 hours after the last checkout is over, which takes money for 24. */
export const MONITORED_FOR_MS = 96 * HOUR_MS;

/** A hosted page is paid within minutes or not at all, nearly always. */
export const LIKELY_FOR_MS = 2 * HOUR_MS;

/** A transfer account lives 8 hours at most. */
const TRANSFERS_FOR_MS = 8 * HOUR_MS;

const CHECKOUTS_FOR_MS = 24 * HOUR_MS;

/** decisions.md: what is closed is asked about hourly. */
const LATE_MS = HOUR_MS;

/** How often windows are read, by their age. */
export interface MonitorPace {
  /** While charges are still being opened in it. */
  readonly youngMs: number;
  readonly likelyMs: number;
  /** While it has a transfer account that may still be paid into. */
  readonly transferMs: number;
  /** While a hosted page of it may still be paid. */
  readonly checkoutMs: number;
  /** The list is away, or too slow, once windows of the last two hours are read so much too late: payments are then looked at one by one. */
  readonly behindMs: number;
}

/** The first pause sets the pace: 10 s, 45 s, 4 min and 10 min at 5 s, so that what docs/API.md promises holds with every event lost. */
export function monitorPaceOf({ pollFirstMs }: Pick<PaymentTimings, 'pollFirstMs'>): MonitorPace {
  return {
    youngMs: 2 * pollFirstMs,
    likelyMs: 9 * pollFirstMs,
    transferMs: 48 * pollFirstMs,
    checkoutMs: 120 * pollFirstMs,
    behindMs: 12 * pollFirstMs,
  };
}

/** The start of the window that a time falls into. */
export function windowOf(time: Date): Date {
  return new Date(Math.trunc(time.getTime() / WINDOW_MS) * WINDOW_MS);
}

/** How long after one reading a window is read again, by the age of its oldest charge. */
export function nextReadMs(ageMs: number, hasTransfers: boolean, pace: MonitorPace): number {
  // The youngest charge of a window is ten minutes younger.
  const isWithin = (forMs: number): boolean => ageMs < forMs + WINDOW_MS;
  if (isWithin(0)) return pace.youngMs;
  if (isWithin(LIKELY_FOR_MS)) return pace.likelyMs;
  if (hasTransfers && isWithin(TRANSFERS_FOR_MS)) return pace.transferMs;
  return isWithin(CHECKOUTS_FOR_MS) ? pace.checkoutMs : LATE_MS;
}

/** A charge that had to be opened again bears its number behind the transaction id. */
const LATER_ATTEMPT = /-[1-9]\d{0,2}$/;

/** Whether a text can be a reference that we gave a charge. */
export function canBeReference(text: string): boolean {
  return isId('transaction', text.replace(LATER_ATTEMPT, ''));
}
