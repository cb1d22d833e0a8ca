/** What a return is allowed and worth, and what the supplier's word means for it. Pure. */
import { divideHalfUp } from '../../domain/money.ts';
import type { ReturnRefusal } from '../../domain/states.ts';
import type { SupplierProfile } from '../../esims/port.ts';

/** Of an installation, or of one account. */
export interface ReturnPolicy {
  /** Whether the account may ask for returns. */
  readonly isAllowed: boolean;
  /** After the delivery. */
  readonly windowDays: number;
  /** What is kept of the price, in hundredths of a percent. */
  readonly feeBps: number;
}

/** What was agreed with an account comes first. */
export const policyFor = (
  installation: ReturnPolicy,
  agreed: { readonly [Term in keyof ReturnPolicy]: ReturnPolicy[Term] | null },
): ReturnPolicy => ({
  isAllowed: agreed.isAllowed ?? installation.isAllowed,
  windowDays: agreed.windowDays ?? installation.windowDays,
  feeBps: agreed.feeBps ?? installation.feeBps,
});

/** What is kept of a price: never more than it. */
export const returnFee = (priceMinor: bigint, feeBps: number): bigint =>
  divideHalfUp(priceMinor * BigInt(feeBps), 10_000n);

/** In docs/guides/returns.md as well. */
export const REFUSAL_WORDS: Readonly<Record<ReturnRefusal, string>> = {
  NOT_ALLOWED: 'your account cannot return eSIMs',
  NOT_DELIVERED: 'it is not delivered',
  WINDOW_OVER: 'the time for returns is over',
  IN_PROGRESS: 'a return of it is open',
  ALREADY_RETURNED: 'it was returned before',
  REPLACED: 'it was replaced, or a replacement of it is open',
  NOT_UNUSED: 'it is installed, or was',
  EXPIRED: 'it has expired',
  CANCELLED: 'it is cancelled',
  HAS_TOP_UPS: 'it was topped up',
  PAYMENT_DISPUTED: 'a bank disputes its payment, or has taken it back',
  TOO_OFTEN: 'it was refused 5 times within an hour: ask again later',
  SUPPLIER_REFUSED: 'the supplier does not take it back',
  REFUSED_BY_OPERATOR: 'we have refused it',
};

/** Returns of one request: each is a row and a workflow, written in one transaction of half a second. */
export const MAX_RETURNS_AT_ONCE = 100;

/**
 * What the supplier's word means. `try`: it may be unused, or cancelled already, and the attempt to cancel it
 * decides.
 */
type ProfileVerdict = 'try' | 'unknown' | ReturnRefusal;

const NOT_INSTALLED: ReadonlySet<string> = new Set(['', 'RELEASED']);

export function judgeProfile({
  status,
  smdpStatus,
  orderUsageBytes,
  eid,
}: Pick<SupplierProfile, 'status' | 'smdpStatus' | 'orderUsageBytes' | 'eid'>): ProfileVerdict {
  if (status === 'CANCELLED') return 'CANCELLED';
  if (status === null || status === 'PENDING') return 'unknown';
  if (status === 'EXPIRED') return 'EXPIRED';
  if (status !== 'CREATED' || orderUsageBytes > 0 || eid !== '') return 'NOT_UNUSED';
  return NOT_INSTALLED.has(smdpStatus) ? 'try' : 'NOT_UNUSED';
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** So long that a cancellation cannot arrive any more: then a person can refuse the return. */
const FIRST_PAUSE_IN_REVIEW_MS = 2 * 60_000;
const LONGEST_PAUSE_IN_REVIEW_MS = 30 * 60_000;

/** Before the supplier is asked again: a quarter of the age of the return. */
export function returnPauseMs(ageMs: number, isInReview: boolean): number {
  const [leastMs, mostMs] = isInReview
    ? [FIRST_PAUSE_IN_REVIEW_MS, LONGEST_PAUSE_IN_REVIEW_MS]
    : [FIRST_PAUSE_MS, LONGEST_PAUSE_MS];
  return Math.trunc(Math.min(Math.max(ageMs / 4, leastMs), mostMs));
}
