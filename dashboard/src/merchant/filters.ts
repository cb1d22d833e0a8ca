/** The filters of the merchants' lists, in their addresses. */
import {
  listEsimsStatus,
  listTransactionsPaymentMethod,
  listTransactionsStatus,
  listTransactionsType,
  listWalletEntriesKind,
  listWebhookMessagesStatus,
} from 'simway-client/generated/api-lists.ts';
import { isFoundIn } from 'simway-client/search-text.ts';
import type { ApiSchemas } from '../api/client.ts';
import { PAYMENT_METHODS, type PaymentMethod } from '../ui/words.ts';
import { oneOf, textIn, searchOf, DAYS, amountIn } from '../ui/address.ts';

export const ENTRY_KINDS: Readonly<Record<(typeof listWalletEntriesKind)[number], string>> = {
  HOLD: 'Hold',
  RELEASE: 'Given back',
  FUNDING: 'Funding',
  REFUND: 'Refund',
  RETURN: 'Return',
  CREDIT: 'Credit',
  WITHDRAWAL: 'Withdrawal',
  DISPUTE: 'Dispute',
  ADJUSTMENT: 'Adjustment',
};

export const TRANSACTION_TYPES: Readonly<Record<(typeof listTransactionsType)[number], string>> = {
  BASE: 'eSIM',
  TOPUP: 'Top-up',
  FUNDING: 'Funding',
};
export const METHOD_CHOICES = Object.entries(PAYMENT_METHODS) as [PaymentMethod, string][];

export const entryFilters = searchOf({ ...DAYS, kind: oneOf(listWalletEntriesKind) });
export type EntryFilters = ReturnType<typeof entryFilters>;

export const transactionFilters = searchOf({
  ...DAYS,
  search: textIn,
  type: oneOf(listTransactionsType),
  status: oneOf(listTransactionsStatus),
  paymentMethod: oneOf(listTransactionsPaymentMethod),
});

export const messageFilters = searchOf({ status: oneOf(listWebhookMessagesStatus), endpointId: textIn });

export const requestFilters = searchOf({ requestId: textIn });

export const esimFilters = searchOf({
  search: textIn,
  status: oneOf(listEsimsStatus),
  ends: (value) => oneOf(Object.keys(ENDING_DAYS) as (keyof typeof ENDING_DAYS)[])(textIn(value)),
});

/** How many days the figures are of; 30 without. */
export const FIGURE_DAYS = { '7': '7 days', '30': '30 days', '365': 'A year' } as const;

export const figureFilters = searchOf({
  days: (value) => oneOf(Object.keys(FIGURE_DAYS) as (keyof typeof FIGURE_DAYS)[])(textIn(value)),
});

/** The code of a top-up (docs/API.md). */
export const isTopUpCode = (packageCode: string): boolean => packageCode.startsWith('TOPUP_');

type Package = ApiSchemas['Package'];

/** In which order packages are compared. */
export const PACKAGE_ORDERS = {
  price: 'Price',
  data: 'Most data',
  days: 'Most days',
  perGb: 'Price per GB',
} as const;
export type PackageOrder = keyof typeof PACKAGE_ORDERS;

export const packageFilters = searchOf({
  region: textIn,
  sort: oneOf(Object.keys(PACKAGE_ORDERS) as PackageOrder[]),
  search: textIn,
  /** At least this many GB in all. */
  data: amountIn,
  days: amountIn,
  /** At most, in the account's currency. */
  price: amountIn,
});
export type PackageFilters = ReturnType<typeof packageFilters>;

const MB_PER_GB = 1024;

/** `500 MB`, and `1 GB/day` over all its days. A text without a size, such as `Unlimited`, has no limit. */
export function gigabytesOf({ data, validity }: Pick<Package, 'data' | 'validity'>): number {
  const [, size, unit, daily] = /^([\d.]+) (MB|GB)(\/day)?$/.exec(data) ?? [];
  if (size === undefined) return Infinity;
  const gigabytes = unit === 'MB' ? Number(size) / MB_PER_GB : Number(size);
  return daily === undefined ? gigabytes : gigabytes * validity;
}

export function isFit(
  one: Pick<Package, 'packageName' | 'packageCode' | 'data' | 'validity' | 'price'>,
  { search = '', data = 0, days = 0, price = Infinity }: PackageFilters,
): boolean {
  return (
    isFoundIn(`${one.packageName} ${one.packageCode} ${one.data}`, search) &&
    gigabytesOf(one) >= data &&
    one.validity >= days &&
    one.price <= price
  );
}

/** What a GB costs, where the data of the package has an end. */
export function pricePerGb(one: Pick<Package, 'data' | 'validity' | 'price'>): number | null {
  const gigabytes = gigabytesOf(one);
  return Number.isFinite(gigabytes) && gigabytes > 0 ? one.price / gigabytes : null;
}

type Compared = Pick<Package, 'data' | 'validity' | 'price'>;

/** Unlimited data is the most, and its GB has no price: such packages are the last by it. */
const ORDERS: Readonly<Record<PackageOrder, (one: Compared) => number>> = {
  price: ({ price }) => price,
  data: (one) => -gigabytesOf(one),
  days: ({ validity }) => -validity,
  perGb: (one) => pricePerGb(one) ?? Infinity,
};

/** By the order, and the cheaper one first where that is equal. */
export function inOrder<One extends Compared>(packages: readonly One[], order: PackageOrder): One[] {
  const key = ORDERS[order];
  return packages.toSorted((one, other) => {
    const [a, b] = [key(one), key(other)];
    return a === b ? one.price - other.price : a < b ? -1 : 1;
  });
}

/** How soon the eSIMs end that are listed, in days. */
export const ENDING_DAYS = { '3': 'Within 3 days', '7': 'Within 7 days', '30': 'Within 30 days' } as const;
