/**
 * The words of a purchase that cross rooms: what the API asks the engine to do, and what it hears back. Everything here travels
 * through Temporal as JSON, so amounts are decimal digits in strings, and no field may hold a key, an activation code, PIN or PUK.
 */
import type { AccountCurrency } from '../domain/money.ts';
import type { ChargeQuote, PaymentTimings } from '../payments/rules.ts';
import type { PackageType, PaymentMethod } from '../domain/states.ts';
import type { IdempotencyMark } from '../platform/idempotency/tag.ts';

/** The price, frozen when the purchase was asked for and never computed again. */
export interface FrozenQuote {
  readonly priceMinor: string;
  readonly currency: AccountCurrency;
  readonly priceUsdMinor: string;
  readonly costUsdE4: string;
  readonly settingsId: string;
  /** Absent when no conversion was needed. */
  readonly rateId?: string;
}

/** Durations come with the input, so that tests can scale them and open purchases keep theirs. */
export interface PurchaseTimings extends PaymentTimings {
  /** How long the caller is kept waiting for the eSIM. */
  readonly answerWithinMs: number;
  /** Looks for a profile that is not there yet: first delay, doubled up to the longest. */
  readonly lookFirstMs: number;
  readonly lookMaxMs: number;
  /** A purchase that is still not delivered after this needs a person. */
  readonly attentionAfterMs: number;
  /** Asking goes on at this pace once a person has been called. */
  readonly slowLookMs: number;
  /** Longest that an order which was given up may still be taken, and be listed: an earlier refusal is not the supplier's last word. */
  readonly doubtMs: number;
}

export interface PurchaseInput {
  readonly transactionId: string;
  readonly accountId: string;
  readonly packageType: PackageType;
  readonly packageCode: string;
  readonly paymentMethod: PaymentMethod;
  /** BASE: the id the new eSIM order will have. TOPUP: the eSIM to top up. */
  readonly esimId: string;
  readonly quote: FrozenQuote;
  /** What to ask from the buyer at the gateway; absent for WALLET. */
  readonly charge?: ChargeQuote;
  readonly requestId: string;
  readonly timings: PurchaseTimings;
  readonly idempotency?: IdempotencyMark;
}

export interface NextCheck {
  readonly delayMs: number;
  readonly needsAttention: boolean;
}

/** The slow pace doubles with every look up to this many times the first slow pause, which bounds the history of a parked purchase. */
export const MAX_SLOW_FACTOR = 12;

/** `slowLooks`: how many looks were already made at the slow pace. */
export function nextCheck(elapsedMs: number, slowLooks: number, timings: PurchaseTimings): NextCheck {
  const leftMs = timings.attentionAfterMs - elapsedMs;
  if (leftMs > 0) return { delayMs: Math.min(timings.lookMaxMs, leftMs), needsAttention: false };
  const factor = Math.min(2 ** Math.min(slowLooks, 30), MAX_SLOW_FACTOR);
  return { delayMs: timings.slowLookMs * factor, needsAttention: true };
}

export const OWN_STEP_FIRST_MS = 1_000;

/** A quarter of the outage: after one of 20 minutes, all goes on within 5. */
export const OWN_STEP_SHARE = 4;

export const OWN_STEP_MAX_MS = 5 * 60_000;

/** How long to wait before a step in our own database is tried again that has failed for so long. */
export function nextOwnTryMs(failsForMs: number): number {
  return Math.min(Math.max(Math.trunc(failsForMs / OWN_STEP_SHARE), OWN_STEP_FIRST_MS), OWN_STEP_MAX_MS);
}
