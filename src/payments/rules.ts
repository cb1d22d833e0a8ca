/** Rules for money from outside: where it goes when it is less, more, other or late, and when to check for it. docs/API.md states them for people. */
import type { Plan } from '../domain/account.ts';
import { divideHalfUp, type AccountCurrency } from '../domain/money.ts';
import type { FailureReason } from '../domain/refusals.ts';
import type { OutsideMethod, PaymentPurpose } from '../domain/states.ts';
import type { IdempotencyKeyInfo } from '../platform/idempotency/tag.ts';
import { isId } from '../domain/ids.ts';

const HOUR_MS = 3_600_000;

/** What the buyer is asked to pay. Charge and price together are the locked rate. Amounts are decimal digits. */
export interface ChargeQuote {
  readonly amountMinor: string;
  readonly currency: string;
  /** Rates that the conversion used; empty where charge and price have one currency. */
  readonly rateIds: readonly string[];
}

/** A payment as our books have it, before a check is booked. */
export interface BookedPayment {
  readonly purpose: PaymentPurpose;
  readonly chargeMinor: bigint;
  readonly chargeCurrency: string;
  readonly priceMinor: bigint;
  readonly priceCurrency: AccountCurrency;
  /** By the gateway's word, net of fees on top, including money that went on or back. */
  readonly bookedMinor: bigint;
  /** Booked by a person's word, which the gateway has not confirmed yet. */
  readonly evidenceMinor?: bigint;
  /** Sent back at our own request, or about to be. */
  readonly refundedMinor: bigint;
  readonly reversedMinor: bigint;
  /** The purchase still waits for money. */
  readonly awaited: boolean;
  /** The purchase was paid before, by this attempt or another. */
  readonly paidBefore: boolean;
  /** Our books show that the money came and was taken back between two checks. */
  readonly wasReceivedAndReversed: boolean;
}

/** What the gateway says it has, net of fees that the buyer bore on top. */
export interface ReceivedMoney {
  readonly state: 'paid' | 'reversed' | 'other';
  readonly netMinor: bigint;
  readonly currency: string;
}

/** Where newly seen money goes; amounts in the currency it came in. */
export interface BookingDecision {
  /** Pays the purchase: exactly the charge. */
  readonly toHoldMinor: bigint;
  readonly toWalletMinor: bigint;
  /** In a currency that was not agreed: kept apart and sent back. */
  readonly toReturnMinor: bigint;
  /** Taken back by the gateway or the buyer's bank, after we had booked it. */
  readonly reversedMinor: bigint;
  /** Came and was taken back between two checks: it passes through the ledger, and nothing of it stays. */
  readonly receivedAndReversedMinor: bigint;
  /** Booked before by a person's word: now the gateway says the same. */
  readonly confirmedMinor?: bigint;
  /** Not judged: the answer to a later question is booked. */
  readonly isOutdated?: true;
  /** Ends a purchase that still waits. */
  readonly ends?: FailureReason;
  /** For the public timeline. */
  readonly what?:
    | 'payment-received'
    | 'payment-received-over'
    | 'payment-received-short'
    | 'payment-received-late'
    | 'payment-received-again'
    | 'payment-received-in-other-currency'
    | 'payment-confirmed'
    | 'payment-reversed';
}

export const NO_CHANGE: BookingDecision = {
  toHoldMinor: 0n,
  toWalletMinor: 0n,
  toReturnMinor: 0n,
  reversedMinor: 0n,
  receivedAndReversedMinor: 0n,
};

/** What the gateway's answer means for our books. Judging the same answer twice gives NOTHING the second time. */
export function decideBooking(payment: BookedPayment, received: ReceivedMoney): BookingDecision {
  if (received.state === 'reversed') return judgeReversal(payment, received);
  const newMinor = received.state === 'paid' ? received.netMinor - payment.bookedMinor : 0n;
  if (newMinor <= 0n) return NO_CHANGE;
  if (received.currency !== payment.chargeCurrency) {
    return {
      ...NO_CHANGE,
      toReturnMinor: newMinor,
      what: 'payment-received-in-other-currency',
      ...(payment.awaited ? { ends: 'PAYMENT_WRONG_CURRENCY' } : {}),
    };
  }
  const { evidenceMinor = 0n } = payment;
  if (evidenceMinor > 0n) {
    // Stryker disable next-line EqualityOperator: of two equal amounts either is the smaller
    const confirmedMinor = newMinor < evidenceMinor ? newMinor : evidenceMinor;
    const toWalletMinor = newMinor - confirmedMinor;
    return { ...NO_CHANGE, confirmedMinor, toWalletMinor, what: 'payment-confirmed' };
  }
  if (payment.purpose === 'funding')
    return { ...NO_CHANGE, toWalletMinor: newMinor, what: 'payment-received' };
  if (!payment.awaited) {
    const what = payment.paidBefore ? 'payment-received-again' : 'payment-received-late';
    return { ...NO_CHANGE, toWalletMinor: newMinor, what };
  }
  const excessMinor = newMinor - payment.chargeMinor;
  if (excessMinor < 0n) {
    return {
      ...NO_CHANGE,
      toWalletMinor: newMinor,
      what: 'payment-received-short',
      ends: 'PAYMENT_UNDERPAID',
    };
  }
  return {
    ...NO_CHANGE,
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
      ? { ...NO_CHANGE, reversedMinor: goneMinor, what: 'payment-reversed', ...ending }
      : NO_CHANGE;
  }
  // Stryker disable next-line EqualityOperator: no money is zero both ways
  const receivedAndReversedMinor =
    payment.wasReceivedAndReversed || received.netMinor < 0n ? 0n : received.netMinor;
  if (receivedAndReversedMinor === 0n && !payment.awaited) return NO_CHANGE;
  return { ...NO_CHANGE, receivedAndReversedMinor, what: 'payment-reversed', ...ending };
}

/** An amount of the charge's currency in the price's, at the locked rate, half up. */
export function atLockedRate(
  amountMinor: bigint,
  locked: Pick<BookedPayment, 'chargeMinor' | 'chargeCurrency' | 'priceMinor' | 'priceCurrency'>,
): bigint {
  if (locked.chargeCurrency === locked.priceCurrency) return amountMinor;
  return divideHalfUp(amountMinor * locked.priceMinor, locked.chargeMinor);
}

/** Part of a workflow's input, so that open purchases keep theirs. */
export interface PaymentTimings extends RefundTimings {
  /** How long we try to open the charge before the purchase ends unpaid. */
  readonly openChargeForMs: number;
  /** A hosted page takes money for this long. */
  readonly checkoutMs: number;
  /** A transfer account takes money for this long; the gateway allows 15 minutes to 8 hours. */
  readonly transferMs: number;
  /** First and longest pause between checks; in between it is a share of the time waited. */
  readonly pollFirstMs: number;
  readonly pollMaxMs: number;
}

/** Checks of a refund: first pause, doubled up to the longest. */
export interface RefundTimings {
  readonly refundLookFirstMs: number;
  readonly refundLookMaxMs: number;
}

export function refundTimingsOf({ refundLookFirstMs, refundLookMaxMs }: RefundTimings): RefundTimings {
  return { refundLookFirstMs, refundLookMaxMs };
}

/** Each pause is this share of the time waited: money is seen soon after it came, and checks grow rarer the less likely it gets. */
const POLL_SHARE = 10;

const CHECKOUT_PHASE = { forMs: 2 * HOUR_MS, longestPauseMs: 60_000 };

/**
 * The longest pause while money is likely, counted from the opening. With one answer of the gateway and the delivery it keeps promise G2: 90 s (hosted
 * page), 60 s (mobile money), 5 min (transfer). A page is nearly always paid within minutes or not at all; a transfer account lives 8 hours at most.
 */
const POLLING_PHASES: Readonly<Record<OutsideMethod, typeof CHECKOUT_PHASE>> = {
  CARD: CHECKOUT_PHASE,
  APPLE_PAY: CHECKOUT_PHASE,
  MOBILE_MONEY: { forMs: 2 * HOUR_MS, longestPauseMs: 40_000 },
  BANK_TRANSFER: { forMs: 8 * HOUR_MS, longestPauseMs: 240_000 },
};

/** How long to wait before the next check, given how long we have waited for money. */
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

/** An attempt's reference: used once at the gateway; letters, digits and `-` only. The first is our own id. */
export function chargeReference(transactionId: string, attempt: number): string {
  return attempt === 1 ? transactionId : `${transactionId}-${attempt}`;
}

/** A charge's price in another currency by way of US dollars, half up; rates are units of currency per dollar × 1,000,000. */
export function convertBetween(amountMinor: bigint, fromMicros: bigint, toMicros: bigint): bigint {
  return divideHalfUp(amountMinor * toMicros, fromMicros);
}

export const DISPUTE_OUTCOMES = ['won', 'lost'] as const;
export type DisputeOutcome = (typeof DISPUTE_OUTCOMES)[number];

/** At the gateway. `unknown`: resolved with a word never seen before. */
export type DisputeState = 'open' | DisputeOutcome | 'unknown';

/** Why an outcome cannot be stated; undefined when it can. `state`: the gateway's last word; null: it has said nothing. */
export function outcomeRefusal(
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
  readonly idempotency?: IdempotencyKeyInfo;
  /** By the API, over all of this. Absent in fundings of earlier builds. */
  readonly signature?: string;
}

/** How many purchases and fundings of one account may be open and unpaid at a time, by its plan. */
export type UnpaidLimits = Readonly<Record<Plan, number>>;

/** A hosted page that nobody pays stays open for a day, so these are the abandoned checkouts of a day. */
export const DEFAULT_UNPAID_LIMITS: UnpaidLimits = { STANDARD: 100, PREMIUM: 1_000, ENTERPRISE: 10_000 };

export const LIST_WINDOW_MS = 10 * 60_000;

/** A charge is opened at the gateway some time after its row was written, and the clocks of two computers differ. */
export const CLOCK_SKEW_MS = 15 * 60_000;

/** Money may come late for 72 hours after the last checkout is over; a checkout takes money for 24. */
export const MONITORED_FOR_MS = 96 * HOUR_MS;

/** A hosted page is paid within minutes or not at all; two hours leave room for a gateway that reports late. */
export const PAYMENT_LIKELY_FOR_MS = 2 * HOUR_MS;

/** A transfer account lives 8 hours at most. */
const TRANSFERS_FOR_MS = 8 * HOUR_MS;

const CHECKOUTS_FOR_MS = 24 * HOUR_MS;

/** Closed payments are checked hourly. */
const LATE_MS = HOUR_MS;

/** How often windows are read, by their age. */
export type MonitorPace = ReturnType<typeof monitorPaceOf>;

/** The first pause sets the pace: 10 s, 45 s, 4 min and 10 min at 5 s, so that what docs/API.md promises holds with every event lost. */
export function monitorPaceOf({ pollFirstMs }: Pick<PaymentTimings, 'pollFirstMs'>) {
  return {
    /** While charges are still being opened in it. */
    youngMs: 2 * pollFirstMs,
    likelyMs: 9 * pollFirstMs,
    /** While it has a transfer account that may still be paid into. */
    transferMs: 48 * pollFirstMs,
    /** While a hosted page of it may still be paid. */
    checkoutMs: 120 * pollFirstMs,
    /** Once windows of the last two hours are read so much too late, payments are checked one by one. */
    behindMs: 12 * pollFirstMs,
  };
}

/** The start of the window that contains a time. */
export function windowOf(time: Date): Date {
  return new Date(Math.trunc(time.getTime() / LIST_WINDOW_MS) * LIST_WINDOW_MS);
}

/** How long after one reading a window is read again, by the age of its oldest charge. */
export function nextReadMs(ageMs: number, hasTransfers: boolean, pace: MonitorPace): number {
  // The youngest charge of a window is ten minutes younger.
  const isWithin = (forMs: number): boolean => ageMs < forMs + LIST_WINDOW_MS;
  if (isWithin(0)) return pace.youngMs;
  if (isWithin(PAYMENT_LIKELY_FOR_MS)) return pace.likelyMs;
  if (hasTransfers && isWithin(TRANSFERS_FOR_MS)) return pace.transferMs;
  return isWithin(CHECKOUTS_FOR_MS) ? pace.checkoutMs : LATE_MS;
}

/** Whether a text can be a reference of chargeReference. */
export function canBeReference(text: string): boolean {
  return isId('transaction', text.replace(/-[1-9]\d{0,2}$/, ''));
}
