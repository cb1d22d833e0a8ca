/**
 * Our deliveries beside the supplier's orders, and what it says is left of our money beside what the ledger has as used. Pure; the same
 * guarantee as for the gateway: what is still moving is undecided, never a difference.
 */
import { isTooYoung, type Difference, type Facts, type Rules, type Verdict } from './payment-rules.ts';
import type { PurchaseStatus } from '../domain/states.ts';

/** The supplier's unit: US dollars × 10,000. */
const UNIT = 'USD4';

/** One order or top-up as the supplier lists it. The list names no price. */
export interface SupplierLine {
  readonly transactionId: string;
  readonly orderNo: string;
  /** "" where the supplier does not tell. */
  readonly packageCode: string;
  /** Cancelled with its money back. */
  readonly isRefunded: boolean;
  /** Null where the supplier does not say. */
  readonly at: Date | null;
  /** What the package cost when it was ordered, by the catalogue's history; null: never in our catalogue. */
  readonly listCostUsdE4: bigint | null;
}

/** A purchase as our rows and the ledger have it. */
export interface OurOrder {
  readonly transactionId: string;
  readonly status: PurchaseStatus;
  readonly packageCode: string;
  /** What the supplier was told that we would pay; it refuses any other price. */
  readonly agreedCostUsdE4: bigint;
  /** What the ledger has as cost. */
  readonly bookedCostUsdE4: bigint;
  readonly lastMovedAt: Date;
}

/**
 * Compares what the supplier holds under a purchase's id, replacements included, with what is booked for it; no lines: it holds nothing.
 */
export function compareOrders(
  transactionId: string,
  ours: OurOrder | undefined,
  lines: readonly SupplierLine[],
  rules: Pick<Rules, 'settledBefore'>,
): Verdict {
  const verdict: Verdict = { subject: transactionId, differences: [], isUndecided: false };
  const charged = lines.filter((line) => !line.isRefunded);
  const theirCostUsdE4 = costOf(charged, ours);
  const bookedUsdE4 = ours?.bookedCostUsdE4 ?? 0n;
  const isDelivered = ours?.status === 'SUCCESS';
  if (theirCostUsdE4 === bookedUsdE4 && charged.length === (isDelivered ? 1 : 0)) return verdict;
  const isOpen = ours?.status === 'PENDING' || ours?.status === 'PROCESSING';
  const movedAt = [...lines.flatMap((line) => line.at ?? []), ...(ours ? [ours.lastMovedAt] : [])];
  if (isOpen || isTooYoung(movedAt, rules)) return { ...verdict, isUndecided: true };
  const difference: Difference = {
    kind: kindOf(ours, lines, charged),
    subject: transactionId,
    transactionId: ours ? transactionId : null,
    currency: UNIT,
    amountMinor: (theirCostUsdE4 ?? 0n) - bookedUsdE4,
    ours: ours ? factsOfOurs(ours) : null,
    theirs: lines.length === 0 ? null : factsOfTheirs(lines),
  };
  return { ...verdict, differences: [difference] };
}

function kindOf(
  ours: OurOrder | undefined,
  lines: readonly SupplierLine[],
  charged: readonly SupplierLine[],
): Difference['kind'] {
  if (!ours) return 'supplier-order-unknown';
  if (ours.status !== 'SUCCESS') return 'supplier-order-unbooked';
  if (charged.length > 1) return 'supplier-order-double';
  return lines.length === 0 ? 'supplier-order-missing' : 'supplier-cost-differs';
}

/** What the supplier has taken for these; null where nobody can know. */
function costOf(charged: readonly SupplierLine[], ours: OurOrder | undefined): bigint | null {
  let sum = 0n;
  for (const line of charged) {
    const isSame = line.packageCode === '' || line.packageCode === ours?.packageCode;
    const cost = ours && isSame ? ours.agreedCostUsdE4 : line.listCostUsdE4;
    if (cost === null) return null;
    sum += cost;
  }
  return sum;
}

function factsOfOurs({ status, packageCode, agreedCostUsdE4, bookedCostUsdE4 }: OurOrder): Facts {
  return {
    status,
    packageCode,
    agreedCostUsdE4: String(agreedCostUsdE4),
    bookedCostUsdE4: String(bookedCostUsdE4),
  };
}

function factsOfTheirs(lines: readonly SupplierLine[]): Facts {
  // Stryker disable next-line EqualityOperator: an order number is listed once
  const all = lines.toSorted((one, other) => (one.orderNo < other.orderNo ? -1 : 1));
  return {
    orderNos: all.map((line) => line.orderNo).join(' '),
    packageCodes: all.map((line) => line.packageCode).join(' '),
    states: all.map((line) => (line.isRefunded ? 'refunded' : 'charged')).join(' '),
  };
}

/** What the ledger has used of our money at the supplier, and what of it may be on its way. */
export interface SupplierUse {
  readonly usedUsdE4: bigint;
  /** Of purchases that the supplier was asked for and that have not ended. */
  readonly inFlightUsdE4: bigint;
}

/**
 * Balance and use together: it only changes when we pay the supplier, or when one of the two is wrong. Purchases go on while it is read, so it
 * is known to lie somewhere from here to there, and every reading narrows that.
 */
export interface AgreedSum {
  readonly fromUsdE4: bigint;
  readonly toUsdE4: bigint;
}

export interface BalanceReading {
  readonly before: SupplierUse;
  readonly balanceUsdE4: bigint;
  readonly after: SupplierUse;
}

/** Subject of the one difference that there can be about the balance. */
export const BALANCE_SUBJECT = 'supplier-balance';

/**
 * Compares a reading with the sum agreed on so far; null: none yet, and this reading is it. A deposit shows as a difference until a person
 * closes it, which agrees on the new sum.
 */
export function compareBalance(
  { before, balanceUsdE4, after }: BalanceReading,
  agreed: AgreedSum | null,
): { readonly verdict: Verdict; readonly agreed: AgreedSum } {
  const read: AgreedSum = {
    fromUsdE4: balanceUsdE4 + before.usedUsdE4,
    toUsdE4: balanceUsdE4 + after.usedUsdE4 + larger(before.inFlightUsdE4, after.inFlightUsdE4),
  };
  const verdict: Verdict = { subject: BALANCE_SUBJECT, differences: [], isUndecided: false };
  if (agreed === null) return { verdict, agreed: read };
  const both: AgreedSum = {
    fromUsdE4: larger(read.fromUsdE4, agreed.fromUsdE4),
    toUsdE4: smaller(read.toUsdE4, agreed.toUsdE4),
  };
  if (both.fromUsdE4 <= both.toUsdE4) return { verdict, agreed: both };
  const difference: Difference = {
    kind: 'supplier-balance-differs',
    subject: BALANCE_SUBJECT,
    transactionId: null,
    currency: UNIT,
    amountMinor:
      // Stryker disable next-line EqualityOperator: sums that touch do not differ
      read.fromUsdE4 > agreed.toUsdE4 ? read.fromUsdE4 - agreed.toUsdE4 : read.toUsdE4 - agreed.fromUsdE4,
    ours: factsOfSum(agreed),
    theirs: factsOfSum(read),
  };
  return { verdict: { ...verdict, differences: [difference] }, agreed };
}

function factsOfSum({ fromUsdE4, toUsdE4 }: AgreedSum): Facts {
  return { sumFromUsdE4: String(fromUsdE4), sumToUsdE4: String(toUsdE4) };
}

function larger(one: bigint, other: bigint): bigint {
  // Stryker disable next-line EqualityOperator: of two equal sums either is the larger
  return one > other ? one : other;
}

function smaller(one: bigint, other: bigint): bigint {
  // Stryker disable next-line EqualityOperator: of two equal sums either is the smaller
  return one < other ? one : other;
}
