/** A difference in words: what it is, what each side says with its money written out, and what to do next. */
import { formatAmount } from '../domain/money.ts';
import type { Difference, DifferenceKind, Facts } from './payment-rules.ts';

interface DifferenceWords {
  readonly title: string;
  /** For docs/RECONCILIATION.md, whose table is written from these. */
  readonly meaning: string;
  readonly next: string;
}

/** Of every kind, for pages, the command line and docs/RECONCILIATION.md. */
export const DIFFERENCE_WORDS: Record<DifferenceKind, DifferenceWords> = {
  'missing-in-ledger': {
    title: 'Received at the gateway, not booked',
    meaning: 'the gateway received money under a reference, and nothing is booked for it',
    next: 'Our reference: check the gateway for it. An unknown reference: find out who else uses the gateway account.',
  },
  'missing-at-gateway': {
    title: 'Booked as received, not at the gateway',
    meaning: 'booked as received, but the gateway does not hold it when asked',
    next: 'Ask the gateway, giving its reference. The package may already be delivered.',
  },
  'amount-differs': {
    title: 'Another amount at the gateway',
    meaning: 'the booked amount is not the gateway’s',
    next: 'Check the gateway for it. If the difference stays, ask the gateway.',
  },
  'currency-differs': {
    title: 'Another currency at the gateway',
    meaning: 'the booked currency is not the gateway’s',
    next: 'Check the gateway for it. If the difference stays, ask the gateway.',
  },
  'double-at-gateway': {
    title: 'Received twice at the gateway',
    meaning: 'the gateway received it twice, or a multiple of what is booked',
    next: 'Check the gateway for it: the extra money is credited to the wallet.',
  },
  'status-differs': {
    title: 'Taken back on one side only',
    meaning: 'taken back at the gateway but not in our books, or the reverse',
    next: 'Check the gateway for it: it becomes a reversal.',
  },
  'refund-missing-in-ledger': {
    title: 'Sent back by the gateway, not booked',
    meaning: 'the gateway sent money back that is not booked as sent: by hand, or twice',
    next: 'If it was sent by hand, recover it from the recipient, then close the difference with the reason.',
  },
  'refund-missing-at-gateway': {
    title: 'Booked as sent back, not sent by the gateway',
    meaning: 'booked as sent back, but the gateway has not sent it',
    next: 'Ask the gateway: the buyer is waiting.',
  },
  'refund-differs': {
    title: 'Refunded with another amount or currency',
    meaning: 'sent back with another amount or in another currency',
    next: 'Ask the gateway.',
  },
  'dispute-missing-in-ledger': {
    title: 'Dispute that we do not have',
    meaning: 'the gateway has a dispute of our payment that we do not have',
    next: 'Check the gateway for it.',
  },
  'dispute-missing-at-gateway': {
    title: 'Dispute that the gateway does not list',
    meaning: 'we have a dispute that the gateway does not list',
    next: 'Ask the gateway.',
  },
  'dispute-differs': {
    title: 'Dispute with another result',
    meaning: 'we settled it with another result than the gateway, or it is open on one side only',
    next: 'Settle it as the gateway did. If a person overrode the gateway, ask the gateway.',
  },
  'fee-differs': {
    title: 'Fee of no agreed tariff',
    meaning: 'the fee matches none of the agreed tariffs',
    next: 'Ask the gateway, or update the setting of its fees.',
  },
  'supplier-order-unknown': {
    title: 'Order at the supplier that is not ours',
    meaning: 'charged for an order whose id is not ours',
    next: 'Find out who ordered it. Cancel it while it is unused.',
  },
  'supplier-order-unbooked': {
    title: 'Charged by the supplier for a failed purchase',
    meaning: 'charged for a purchase that ended as FAILED: the buyer was refunded, but we still pay the cost',
    next: 'Cancel it at the supplier while it is unused.',
  },
  'supplier-order-missing': {
    title: 'Delivered, but not listed by the supplier',
    meaning: 'delivered in our books, but the supplier does not list it',
    next: 'Ask the supplier. Check whether the eSIM works.',
  },
  'supplier-order-double': {
    title: 'Charged twice by the supplier',
    meaning: 'charged twice for one purchase',
    next: 'Cancel the order that the buyer does not have.',
  },
  'supplier-cost-differs': {
    title: 'Another cost at the supplier',
    meaning: 'the booked cost is not what the supplier took, or the supplier refunded it',
    next: 'Ask the supplier.',
  },
  'supplier-balance-differs': {
    title: 'Balance at the supplier changed without a purchase',
    meaning: 'the balance changed, but not through a purchase; at the first run: all that was ever paid in',
    next: 'If you paid this amount in, close the difference and say so. Otherwise ask the supplier.',
  },
};

const OPENING: Pick<DifferenceWords, 'title' | 'next'> = {
  title: 'Opening balance at the supplier',
  next: 'Compare it with all that was ever paid in, then close the difference and say so.',
};
const TAKEN =
  'The supplier took more than is booked, such as for an order that was given up and that it kept. Ask the supplier.';

/** What one difference is, and what to do next. */
export function wordsOf({ kind, ours, theirs }: Pick<Difference, 'kind' | 'ours' | 'theirs'>) {
  const general = DIFFERENCE_WORDS[kind];
  if (kind !== 'supplier-balance-differs') return general;
  const bound = (side: Facts | null, name: string) => BigInt(side?.[name] ?? 0);
  const [agreedFrom, agreedTo] = [bound(ours, 'sumFromUsdE4'), bound(ours, 'sumToUsdE4')];
  const least = bound(theirs, 'sumFromUsdE4') - agreedTo;
  const most = bound(theirs, 'sumToUsdE4') - agreedFrom;
  const { title, next } = agreedTo === 0n ? OPENING : general;
  if (least === most) return { title, next: least > 0n ? next : TAKEN };
  const range = amounts(`${least} to ${most}`, 'USD4');
  return { title, next: `Orders in flight make it a range: ${range}. Compare again once they have ended.` };
}

/** Both sides under one label, so that they can be compared. */
interface FactWords {
  readonly label: string;
  readonly unit?: 'minor' | 'usdE4';
}

const FACTS: Readonly<Record<string, FactWords>> = {
  status: { label: 'Status' },
  state: { label: 'State' },
  states: { label: 'State' },
  gatewayStatus: { label: 'The gateway’s word' },
  packageCode: { label: 'Package' },
  packageCodes: { label: 'Package' },
  agreedCostUsdE4: { label: 'Agreed cost', unit: 'usdE4' },
  bookedCostUsdE4: { label: 'Booked cost', unit: 'usdE4' },
  orderNos: { label: 'Order number' },
  sumFromUsdE4: { label: 'Paid in, at least', unit: 'usdE4' },
  sumToUsdE4: { label: 'Paid in, at most', unit: 'usdE4' },
  gatewayIds: { label: 'The gateway’s number' },
  currency: { label: 'Currency' },
  amountMinor: { label: 'Amount', unit: 'minor' },
  bookedMinor: { label: 'Booked', unit: 'minor' },
  feeMinor: { label: 'Fee', unit: 'minor' },
  agreedFeeMinor: { label: 'Fee', unit: 'minor' },
};
const MOVED = /^(received|takenBack)([A-Z]{3})Minor$/;

/** One line of both sides; null: that side does not say. */
export interface DifferenceFact {
  readonly label: string;
  readonly ours: string | null;
  readonly theirs: string | null;
}

/** What each side says, by label, in the order in which ours, then theirs, says it. */
export function factsInWords({ ours, theirs, currency }: Pick<Difference, 'ours' | 'theirs' | 'currency'>) {
  const [own, other] = [sideOf(ours, currency), sideOf(theirs, currency)];
  return [...new Set([...own.keys(), ...other.keys()])].map((label): DifferenceFact => ({
    label,
    ours: own.get(label) ?? null,
    theirs: other.get(label) ?? null,
  }));
}

function sideOf(facts: Facts | null, currency: string): Map<string, string> {
  return new Map(Object.entries(facts ?? {}).map(([name, value]) => inWords(name, value, currency)));
}

function inWords(name: string, value: string, currency: string): [label: string, text: string] {
  const [, way, moved] = MOVED.exec(name) ?? [];
  if (way !== undefined && moved !== undefined)
    return [`${way === 'received' ? 'Received' : 'Taken back'} in ${moved}`, amounts(value, moved)];
  const { label, unit } = FACTS[name] ?? { label: 'Also' };
  if (unit === undefined) return [label, value];
  return [label, amounts(value, unit === 'usdE4' ? 'USD4' : currency)];
}

/** Digits of a minor unit, or several with words between them. */
const amounts = (digits: string, currency: string): string =>
  digits.replaceAll(/-?\d+/g, (minor) => {
    const amount = formatAmount({ amountMinor: BigInt(minor), currency });
    return `${currency === 'USD4' ? 'USD' : currency} ${amount}`;
  });
