/**
 * What the API asks the engine to do. It travels through Temporal as JSON, so amounts are decimal digits in
 * strings, and no field may hold a key, an activation code, PIN or PUK.
 */
import type { AccountCurrency } from '../domain/money.ts';
import type { ChargeQuote, PaymentTimings, SealedDetails } from '../payments/rules.ts';
import type { PackageType, PaymentMethod } from '../domain/states.ts';
import type { IdempotencyKeyInfo } from '../platform/idempotency/tag.ts';

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

/**
 * Durations come with the input, so that tests can scale them and open purchases keep theirs; recorded inputs
 * keep these names.
 */
export interface PurchaseTimings extends PaymentTimings {
  /** How long the caller waits for the eSIM. */
  readonly answerWithinMs: number;
  /** Checks for a profile that is not there yet: first delay, doubled up to the longest. */
  readonly checkFirstMs: number;
  readonly checkMaxMs: number;
  /** A purchase that is not delivered after this needs attention. */
  readonly attentionAfterMs: number;
  /** The pause between checks once it needs attention. */
  readonly slowCheckMs: number;
  /**
   * Longest that an order without an answer may still be accepted, and be listed: until then a refusal is not
   * final.
   */
  readonly inFlightGraceMs: number;
}

export interface PurchaseInput extends SealedDetails {
  readonly transactionId: string;
  readonly accountId: string;
  readonly packageType: PackageType;
  readonly packageCode: string;
  readonly paymentMethod: PaymentMethod;
  /** BASE: the id the new eSIM order will have. TOPUP: the eSIM to top up. */
  readonly esimId: string;
  readonly quote: FrozenQuote;
  /** The stored quote that `quote` was taken from; it is used up when the purchase is opened. */
  readonly quoteId?: string;
  /** What to ask from the buyer at the gateway; absent for WALLET. */
  readonly charge?: ChargeQuote;
  readonly requestId: string;
  readonly timings: PurchaseTimings;
  readonly idempotency?: IdempotencyKeyInfo;
  /** The API key that asked, whose budget the hold counts against. Absent for a member. */
  readonly keyId?: string;
  /** Of an automatic top-up: what was agreed in advance, and which try of it this is. */
  readonly mandate?: { readonly id: string; readonly sequence: number };
  /** By the API, over all of this. A restart by an operator has none: its row decides. */
  readonly signature?: string;
}

/**
 * The slow pause doubles the time that has passed, up to this many times the first one, which bounds the
 * history of a purchase that stays open.
 */
const MAX_SLOW_FACTOR = 12;

/** When to check the supplier again, by how long the money has been there. */
export function nextSupplierCheck(
  elapsedMs: number,
  { attentionAfterMs, checkMaxMs, slowCheckMs }: PurchaseTimings,
): { readonly delayMs: number; readonly needsAttention: boolean } {
  const overdueMs = elapsedMs - attentionAfterMs;
  if (overdueMs < 0) return { delayMs: Math.min(checkMaxMs, -overdueMs), needsAttention: false };
  const delayMs = Math.min(Math.max(slowCheckMs, overdueMs), slowCheckMs * MAX_SLOW_FACTOR);
  return { delayMs, needsAttention: true };
}

const OWN_STEP_FIRST_MS = 1_000;
/** A quarter of the outage: after one of 20 minutes, everything continues within 5. */
const OWN_STEP_SHARE = 4;
const OWN_STEP_MAX_MS = 5 * 60_000;

/** How long to wait before a step in our own database is retried that has been failing for `failsForMs`. */
export function databaseRetryDelayMs(failsForMs: number): number {
  return Math.min(Math.max(Math.trunc(failsForMs / OWN_STEP_SHARE), OWN_STEP_FIRST_MS), OWN_STEP_MAX_MS);
}
