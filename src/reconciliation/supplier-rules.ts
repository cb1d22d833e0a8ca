/** Our deliveries and the supplier's orders. What is still moving is undecided, never a difference. */
import {
  decided,
  isTooYoung,
  undecided,
  type DifferenceKind,
  type Facts,
  type Rules,
  type Verdict,
} from './payment-rules.ts';
import { larger, smaller } from '../domain/money.ts';
import type { ListedOrder } from '../esims/port.ts';
import type { PurchaseStatus } from '../domain/states.ts';

/** The supplier's unit: US dollars × 10,000. */
const UNIT = 'USD4';

/** One order or top-up as the supplier lists it. The list names no price. */
export interface SupplierLine extends Pick<
  ListedOrder,
  'transactionId' | 'orderNo' | 'packageCode' | 'isRefunded'
> {
  /** null: unknown. */
  readonly at: Date | null;
  /** The package's cost when it was ordered, by the catalogue's history; null: never in our catalogue. */
  readonly listCostUsdE4: bigint | null;
}

/** A purchase as our rows and the ledger have it. */
export interface OurOrder {
  readonly transactionId: string;
  readonly status: PurchaseStatus;
  readonly packageCode: string;
  /** The price that we sent with the order; the supplier refuses any other. */
  readonly agreedCostUsdE4: bigint;
  /** What the ledger has as cost. */
  readonly bookedCostUsdE4: bigint;
  /** The supplier has cancelled it, and gave its cost back. */
  readonly isReturned: boolean;
  readonly lastMovedAt: Date;
}

/** Replacements included. No lines: the supplier holds nothing. */
export function compareOrders(
  subject: string,
  ours: OurOrder | undefined,
  lines: readonly SupplierLine[],
  rules: Pick<Rules, 'settledBefore'>,
): Verdict {
  const charged = lines.filter((line) => !line.isRefunded);
  const theirCostUsdE4 = costOf(charged, ours);
  const bookedUsdE4 = ours?.bookedCostUsdE4 ?? 0n;
  const isDelivered = ours?.status === 'SUCCESS' && !ours.isReturned;
  if (theirCostUsdE4 === bookedUsdE4 && charged.length === (isDelivered ? 1 : 0)) return decided(subject);
  const isOpen = ours?.status === 'PENDING' || ours?.status === 'PROCESSING';
  const movedAt = [...lines.flatMap((line) => line.at ?? []), ...(ours ? [ours.lastMovedAt] : [])];
  if (isOpen || isTooYoung(movedAt, rules)) return undecided(subject);
  return decided(subject, {
    kind: kindOf(ours, lines, charged),
    subject,
    transactionId: ours ? subject : null,
    currency: UNIT,
    amountMinor: (theirCostUsdE4 ?? 0n) - bookedUsdE4,
    ours: ours
      ? {
          status: ours.status,
          packageCode: ours.packageCode,
          agreedCostUsdE4: String(ours.agreedCostUsdE4),
          bookedCostUsdE4: String(ours.bookedCostUsdE4),
        }
      : null,
    theirs: lines.length === 0 ? null : factsOfTheirs(lines),
  });
}

function kindOf(
  ours: OurOrder | undefined,
  lines: readonly SupplierLine[],
  charged: readonly SupplierLine[],
): DifferenceKind {
  if (!ours) return 'supplier-order-unknown';
  if (ours.status !== 'SUCCESS' || ours.isReturned) return 'supplier-order-unbooked';
  if (charged.length > 1) return 'supplier-order-double';
  return lines.length === 0 ? 'supplier-order-missing' : 'supplier-cost-differs';
}

/** What the supplier has taken for these; null where that is unknown. */
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

function factsOfTheirs(lines: readonly SupplierLine[]): Facts {
  // Stryker disable next-line EqualityOperator: an order number is listed once
  const all = lines.toSorted((one, other) => (one.orderNo < other.orderNo ? -1 : 1));
  return {
    orderNos: all.map((line) => line.orderNo).join(' '),
    packageCodes: all.map((line) => line.packageCode).join(' '),
    states: all.map((line) => (line.isRefunded ? 'refunded' : 'charged')).join(' '),
  };
}

/** What the ledger has used of our money at the supplier, and what more may be in flight. */
export interface SupplierUse {
  readonly usedUsdE4: bigint;
  /** Of open purchases that were ordered. */
  readonly inFlightUsdE4: bigint;
  /** Of returns that are being cancelled, or were of late: the supplier gives it back before we book it. */
  readonly returningUsdE4: bigint;
}

/**
 * Balance plus use: changes only when we pay the supplier, or when one of the two is wrong. Purchases
 * continue while it is read, so only a range is known.
 */
export interface AgreedSum {
  readonly fromUsdE4: bigint;
  readonly toUsdE4: bigint;
}

/** Subject of the one difference that there can be about the balance. */
export const BALANCE_SUBJECT = 'supplier-balance';

/**
 * Before a person has agreed on a sum. The first reading is no proof: what the supplier took before it would
 * be blessed. So the whole sum is a difference until somebody compares it with what was paid in.
 */
export const NOTHING_PAID_IN: AgreedSum = { fromUsdE4: 0n, toUsdE4: 0n };

/** A person who closes a difference agrees on the new sum. */
export function compareBalance(
  reading: { readonly before: SupplierUse; readonly balanceUsdE4: bigint; readonly after: SupplierUse },
  agreed: AgreedSum,
): { readonly verdict: Verdict; readonly agreed: AgreedSum } {
  const { before, balanceUsdE4, after } = reading;
  const returningUsdE4 = larger(before.returningUsdE4, after.returningUsdE4);
  const read: AgreedSum = {
    fromUsdE4: balanceUsdE4 + before.usedUsdE4 - returningUsdE4,
    toUsdE4:
      balanceUsdE4 + after.usedUsdE4 + larger(before.inFlightUsdE4, after.inFlightUsdE4) + returningUsdE4,
  };
  const both: AgreedSum = {
    fromUsdE4: larger(read.fromUsdE4, agreed.fromUsdE4),
    toUsdE4: smaller(read.toUsdE4, agreed.toUsdE4),
  };
  if (both.fromUsdE4 <= both.toUsdE4) return { verdict: decided(BALANCE_SUBJECT), agreed: both };
  const verdict = decided(BALANCE_SUBJECT, {
    kind: 'supplier-balance-differs',
    subject: BALANCE_SUBJECT,
    transactionId: null,
    currency: UNIT,
    amountMinor:
      // Stryker disable next-line EqualityOperator: sums that touch do not differ
      read.fromUsdE4 > agreed.toUsdE4 ? read.fromUsdE4 - agreed.toUsdE4 : read.toUsdE4 - agreed.fromUsdE4,
    ours: factsOfSum(agreed),
    theirs: factsOfSum(read),
  });
  return { verdict, agreed };
}

function factsOfSum({ fromUsdE4, toUsdE4 }: AgreedSum): Facts {
  return { sumFromUsdE4: String(fromUsdE4), sumToUsdE4: String(toUsdE4) };
}
