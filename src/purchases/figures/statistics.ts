import type { RegionView } from '../../catalogue/memory.ts';
import type { Principal } from '../../domain/account.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import { ESIM_STATUSES, PAYMENT_METHODS, PURCHASE_STATUSES } from '../../domain/states.ts';
import { findOldestUsage } from '../../esims/store/esims.ts';
import type { PurchaseDeps } from '../deps.ts';
import { countByRegion, readStatistics, type Days } from '../store/statistics.ts';
import { dayBefore, daysOf } from './days.ts';

type FigureDeps = Pick<PurchaseDeps, 'db' | 'clock' | 'catalogue'>;

/** Both ends included, so that the same day of two years fits, leap years too. */
export const MAX_STATISTICS_DAYS = 367;
/** `top-destinations` counts today and the 29 days before. */
const DESTINATION_DAYS = 30;

type Counts<Status extends string> = Readonly<Record<Status, bigint>>;

export interface Statistics extends Days {
  readonly purchases: {
    readonly total: bigint;
    readonly byStatus: Counts<(typeof PURCHASE_STATUSES)[number]>;
    readonly byPaymentMethod: Readonly<
      Record<(typeof PAYMENT_METHODS)[number], Counts<(typeof PURCHASE_STATUSES)[number]>>
    >;
  };
  readonly spend: readonly { readonly currency: AccountCurrency; readonly amountMinor: bigint }[];
  readonly esims: { readonly total: bigint; readonly byStatus: Counts<(typeof ESIM_STATUSES)[number]> };
  readonly boughtBytes: bigint;
  readonly usedBytes: bigint;
  /** No usage of an eSIM that may still change is older; null where none may. */
  readonly usageAsOf: Date | null;
}

/**
 * The account's figures about what it opened on these UTC days; the last 30 days without any. Throws
 * VALIDATION_ERROR.
 */
export async function getStatistics(
  { db, clock }: FigureDeps,
  { account }: Principal,
  asked: Partial<Days>,
): Promise<Statistics> {
  const days = daysOf(asked, clock.now(), MAX_STATISTICS_DAYS);
  // Before the figures: those may be newer.
  const usageAsOf = await findOldestUsage(db, account.id);
  const { purchases, spend, esims } = await readStatistics(db, account.id, days);
  const purchasesOf = (keep: (row: (typeof purchases)[number]) => boolean) =>
    tally(PURCHASE_STATUSES, purchases.filter(keep), (row) => row.purchases);
  // The account's own currency is there with nothing spent, too.
  const own = spend.some(({ currency }) => currency === account.currency)
    ? []
    : [{ currency: account.currency, amountMinor: 0n }];
  return {
    ...days,
    purchases: {
      total: sumOf(purchases, (row) => row.purchases),
      byStatus: purchasesOf(() => true),
      byPaymentMethod: recordOf(PAYMENT_METHODS, (method) =>
        purchasesOf((row) => row.paymentMethod === method),
      ),
    },
    spend: [...spend, ...own].toSorted((a, b) => (a.currency < b.currency ? -1 : 1)),
    esims: {
      total: sumOf(esims, (row) => row.esims),
      byStatus: tally(ESIM_STATUSES, esims, (row) => row.esims),
    },
    boughtBytes: sumOf(purchases, (row) => (row.status === 'SUCCESS' ? row.volumeBytes : 0n)),
    usedBytes: sumOf(esims, (row) => row.usedBytes),
    usageAsOf,
  };
}

/** Each name once, in their order. */
export function recordOf<Name extends string, Value>(names: readonly Name[], valueOf: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;
}

function tally<Status extends string, Row extends { readonly status: Status }>(
  statuses: readonly Status[],
  rows: readonly Row[],
  count: (row: Row) => bigint,
): Counts<Status> {
  return recordOf(statuses, (status) =>
    sumOf(
      rows.filter((row) => row.status === status),
      count,
    ),
  );
}

const sumOf = <Row>(rows: readonly Row[], value: (row: Row) => bigint): bigint =>
  rows.reduce((sum, row) => sum + value(row), 0n);

/** Regions on sale by delivered purchases of all accounts over the last 30 UTC days, most first. */
export async function listTopDestinations(
  { db, clock, catalogue }: FigureDeps,
  limit: number,
): Promise<readonly (RegionView & { readonly purchases: number })[]> {
  const from = dayBefore(clock.now(), DESTINATION_DAYS - 1);
  const regions = new Map(catalogue.current().regions.map((region) => [region.regionCode, region]));
  const counted = await countByRegion(db, from);
  // What is not listed, such as the region of the sandbox's scenarios, is not counted either.
  return counted
    .flatMap(({ regionCode, purchases }) => {
      const region = regions.get(regionCode);
      return region ? [{ ...region, purchases: Number(purchases) }] : [];
    })
    .slice(0, limit);
}
