/** When an eSIM is replaced, who pays for it, and what the supplier's word means for it. Pure. */
import { divideHalfUp } from '../../domain/money.ts';
import type { ReplacementRefusal } from '../../domain/states.ts';
import type { SupplierProfile } from '../../esims/port.ts';

/** Of an installation, or of one account. */
export interface ReplacementPolicy {
  /** Whether the account may ask for replacements. */
  readonly isAllowed: boolean;
  /** After the delivery of the eSIM that is replaced. */
  readonly windowDays: number;
  /** What the account pays of the first price, in hundredths of a percent. We pay the rest. */
  readonly shareBps: number;
  /** Of one purchase: the new eSIM counts as the old one. */
  readonly maxCount: number;
}

/** What the account pays for the new eSIM: never more than the first price. */
export const replacementPrice = (fullPriceMinor: bigint, shareBps: number): bigint =>
  divideHalfUp(fullPriceMinor * BigInt(shareBps), 10_000n);

/** The same part of another amount. */
export const sameShare = (ofMinor: bigint, partMinor: bigint, wholeMinor: bigint): bigint =>
  wholeMinor === 0n ? 0n : divideHalfUp(ofMinor * partMinor, wholeMinor);

/** In docs/guides/replacements.md as well. */
export const REPLACEMENT_REFUSAL_WORDS: Readonly<Record<ReplacementRefusal, string>> = {
  NOT_ALLOWED: 'your account cannot have eSIMs replaced, or who asked may not buy any more',
  NOT_DELIVERED: 'it is not delivered',
  WINDOW_OVER: 'the time for replacements is over',
  TOO_MANY: 'it was replaced as often as is allowed',
  IN_PROGRESS: 'a replacement of it is open',
  ALREADY_REPLACED: 'it was replaced before',
  RETURNED: 'it was returned, or a return of it is open',
  UNUSED: 'it is unused: install it again, or return it',
  USED_UP: 'its data is used up',
  EXPIRED: 'it has expired',
  CANCELLED: 'it is cancelled',
  PAYMENT_DISPUTED: 'a bank disputes its payment, or has taken it back',
  REFUNDED: 'its price was given back',
  TOP_UP_OPEN: 'a top-up of it is open: ask again once that has ended',
  TOO_OFTEN: 'it was refused 5 times within an hour: ask again later',
  PURCHASE_FAILED: 'the new eSIM could not be bought',
  REFUSED_BY_OPERATOR: 'we have refused it',
};

/** `replace`: deleted from its phone. `review`: on a phone, so a person decides whether it works. */
type ProfileVerdict = 'replace' | 'review' | 'unknown' | ReplacementRefusal;

const NOT_INSTALLED: ReadonlySet<string> = new Set(['', 'RELEASED']);
/** The allowance is for the whole time, and not for each day of it. */
const TOTAL_DATA = 1;

export function judgeReplaceable({
  status,
  smdpStatus,
  orderUsageBytes,
  totalVolumeBytes,
  dataType,
  eid,
}: Pick<
  SupplierProfile,
  'status' | 'smdpStatus' | 'orderUsageBytes' | 'totalVolumeBytes' | 'dataType' | 'eid'
>): ProfileVerdict {
  if (status === 'CANCELLED' || status === 'EXPIRED') return status;
  if (status === null || status === 'PENDING') return 'unknown';
  if (dataType === TOTAL_DATA && orderUsageBytes >= totalVolumeBytes) return 'USED_UP';
  if (smdpStatus === 'DELETED') return 'replace';
  if (status === 'CREATED' && eid === '' && NOT_INSTALLED.has(smdpStatus)) return 'UNUSED';
  return 'review';
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** Before the next step: a quarter of the age of the replacement. */
export const replacementPauseMs = (ageMs: number): number =>
  Math.trunc(Math.min(Math.max(ageMs / 4, FIRST_PAUSE_MS), LONGEST_PAUSE_MS));

/** While a person decides, the supplier may still say that the profile was deleted. */
export const REVIEW_PAUSE_MS = 30 * 60_000;
