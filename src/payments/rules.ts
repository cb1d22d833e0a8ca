/**
 * Rules for payments at a gateway: when to check for money, references, disputes, limits. docs/API.md states
 * them for people.
 */
import { HOUR_MS } from '../domain/clock.ts';
import { PLANS, termsOfPlan, type Plan } from '../domain/account.ts';
import { divideHalfUp, type AccountCurrency } from '../domain/money.ts';
import type { GatewayMethod } from '../domain/states.ts';
import type { IdempotencyKeyInfo } from '../platform/idempotency/tag.ts';
import { isId } from '../domain/ids.ts';

/** Gateways with an adapter. The names stand in rows, ledger accounts, queues and paths. */
export const GATEWAY_NAMES = ['paystack'] as const;
export type GatewayName = (typeof GATEWAY_NAMES)[number];

/** Currencies whose hundredths the gateway cuts off. */
export const WITHOUT_FRACTION: ReadonlySet<string> = new Set(['XOF']);

/**
 * What the buyer is asked to pay, and through whom. Charge and price together are the locked rate. Amounts
 * are decimal digits.
 */
export interface ChargeQuote {
  /** Chosen by the API, by its name. Whichever worker opens the payment writes this one. */
  readonly gateway: string;
  readonly amountMinor: string;
  readonly currency: string;
  /** Rates that the conversion used; empty where charge and price have one currency. */
  readonly rateIds: readonly string[];
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
  readonly refundCheckFirstMs: number;
  readonly refundCheckMaxMs: number;
}

/** Pauses between checks of a refund that needs attention: first and longest. */
const ATTENTION_FIRST_MS = 60_000;
const ATTENTION_MAX_MS = 15 * 60_000;

/** How long to wait before the next check of a refund of this age: each pause doubles its age. */
export function refundPauseMs(ageMs: number, needsAttention: boolean, timings: RefundTimings): number {
  const { refundCheckFirstMs: firstMs, refundCheckMaxMs: maxMs } = timings;
  const [least, most] = needsAttention
    ? [Math.max(firstMs, ATTENTION_FIRST_MS), Math.max(maxMs, ATTENTION_MAX_MS)]
    : [firstMs, maxMs];
  return Math.trunc(Math.min(Math.max(ageMs, least), most));
}

export function refundTimingsOf({ refundCheckFirstMs, refundCheckMaxMs }: RefundTimings): RefundTimings {
  return { refundCheckFirstMs, refundCheckMaxMs };
}

/**
 * Each pause is this share of the time waited: money is seen soon after it came, and checks grow rarer the
 * less likely it gets.
 */
const POLL_SHARE = 10;

const CHECKOUT_PHASE = { forMs: 2 * HOUR_MS, longestPauseMs: 60_000 };

/**
 * The longest pause while money is likely, counted from the opening. With one answer of the gateway and the
 * delivery it keeps promise G2: 90 s (hosted page), 60 s (mobile money), 5 min (transfer). A page is nearly
 * always paid within minutes or not at all; a transfer account lives 8 hours at most.
 */
const POLLING_PHASES: Readonly<Record<GatewayMethod, typeof CHECKOUT_PHASE>> = {
  CARD: CHECKOUT_PHASE,
  APPLE_PAY: CHECKOUT_PHASE,
  MOBILE_MONEY: { forMs: 2 * HOUR_MS, longestPauseMs: 40_000 },
  BANK_TRANSFER: { forMs: 8 * HOUR_MS, longestPauseMs: 240_000 },
};

/** How long to wait before the next check, given how long we have waited for money. */
export function nextPollMs(waitedMs: number, method: GatewayMethod, timings: PaymentTimings): number {
  const { forMs, longestPauseMs } = POLLING_PHASES[method];
  const shareMs = Math.trunc(waitedMs / POLL_SHARE);
  const wantedMs = waitedMs < forMs ? Math.min(shareMs, longestPauseMs) : shareMs;
  return Math.min(Math.max(timings.pollFirstMs, wantedMs), timings.pollMaxMs);
}

const PAYMENT_WINDOW = {
  CARD: 'checkoutMs',
  BANK_TRANSFER: 'transferMs',
  MOBILE_MONEY: 'checkoutMs',
  APPLE_PAY: 'checkoutMs',
} as const satisfies Record<GatewayMethod, keyof PaymentTimings>;

/** How long a method takes money after it was opened, unless the gateway says otherwise. */
export function paymentWindowMs(method: GatewayMethod, timings: PaymentTimings): number {
  return timings[PAYMENT_WINDOW[method]];
}

/**
 * An attempt's reference: used once at the gateway; letters, digits and `-` only. The first is our own id.
 */
export function chargeReference(transactionId: string, attempt: number): string {
  return attempt === 1 ? transactionId : `${transactionId}-${attempt}`;
}

/**
 * A charge's price in another currency by way of US dollars, half up; rates are units of currency per dollar
 * × 1,000,000.
 */
export function convertBetween(amountMinor: bigint, fromMicros: bigint, toMicros: bigint): bigint {
  return divideHalfUp(amountMinor * toMicros, fromMicros);
}

export const DISPUTE_OUTCOMES = ['won', 'lost'] as const;
export type DisputeOutcome = (typeof DISPUTE_OUTCOMES)[number];

/** At the gateway. `unknown`: resolved with a word never seen before. */
export type DisputeState = 'open' | DisputeOutcome | 'unknown';

/**
 * Why a person may not enter this outcome of a dispute; undefined if they may. `state`: the last that the
 * gateway reported; null: nothing.
 */
export function outcomeRefusal(
  outcome: DisputeOutcome,
  state: DisputeState | null,
  overrides: boolean,
): 'DISPUTE_OPEN' | 'OUTCOME_DIFFERS' | 'GATEWAY_SILENT' | undefined {
  if (overrides || state === outcome) return undefined;
  if (state === 'open') return 'DISPUTE_OPEN';
  return state === 'won' || state === 'lost' ? 'OUTCOME_DIFFERS' : 'GATEWAY_SILENT';
}

/** Part of what the engine is handed. */
export interface SealedDetails {
  /** What the caller says for themselves, sealed: own-details.ts. Absent where that is nothing. */
  readonly ownDetails?: string;
}

export interface FundingInput extends SealedDetails {
  readonly transactionId: string;
  readonly accountId: string;
  readonly paymentMethod: GatewayMethod;
  readonly amountMinor: string;
  readonly currency: AccountCurrency;
  readonly charge: ChargeQuote;
  readonly requestId: string;
  readonly timings: PaymentTimings & { readonly answerWithinMs: number; readonly slowCheckMs: number };
  readonly idempotency?: IdempotencyKeyInfo;
  /** By the API, over all of this. A restart by an operator has none: its row decides. */
  readonly signature?: string;
}

/** How many purchases and fundings of one account may be open and unpaid at a time, by its plan. */
export type UnpaidLimits = Readonly<Record<Plan, number>>;

export const DEFAULT_UNPAID_LIMITS = Object.fromEntries(
  PLANS.map((plan) => [plan, termsOfPlan(plan).unpaidPayments]),
) as UnpaidLimits;

export function canBeReference(text: string): boolean {
  return isId('transaction', text.replace(/-[1-9]\d{0,2}$/, ''));
}
