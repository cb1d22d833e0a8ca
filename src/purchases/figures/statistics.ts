import type { RegionView } from '../../catalogue/memory.ts';
import type { Principal } from '../../domain/account.ts';
import { ESIM_STATUSES, PAYMENT_METHODS, PURCHASE_STATUSES } from '../../domain/states.ts';
import { findOldestUsage } from '../../esims/store/esims.ts';
import type { PurchaseDeps } from '../deps.ts';
import { countByRegion, readStatistics, type Days, type StatisticsRow } from '../store/statistics.ts';
import { dayBefore, daysOf } from './days.ts';

type FigureDeps = Pick<PurchaseDeps, 'db' | 'clock' | 'catalogue'>;

/** Both ends included, so that the same day of two years fits, leap years too. */
export const MAX_STATISTICS_DAYS = 367;
/** `top-destinations` counts today and the 29 days before. */
const DESTINATION_DAYS = 30;

export type Statistics = Awaited<ReturnType<typeof getStatistics>>;

/**
 * The account's figures about what it opened on these UTC days; the last 30 days without any. Throws
 * VALIDATION_ERROR.
 */
export async function getStatistics({ db, clock }: FigureDeps, { account }: Principal, asked: Partial<Days>) {
  const days = daysOf(asked, clock.now(), MAX_STATISTICS_DAYS);
  // Before the figures: those may be newer.
  const usageAsOf = await findOldestUsage(db, account.id);
  const rows = await readStatistics(db, account.id, days);
  const purchases = rows.filter((row) => row.figure === 'purchases');
  const esims = rows.filter((row) => row.figure === 'esims');
  const spend = rows
    .filter((row) => row.figure === 'spend')
    .map(({ what, amount }) => ({ currency: what, amountMinor: amount }));
  // The account's own currency is there with nothing spent, too.
  const isSpent = spend.some(({ currency }) => currency === account.currency);
  if (!isSpent) spend.push({ currency: account.currency, amountMinor: 0n });
  return {
    ...days,
    purchases: {
      total: sumOf(purchases, 'counted'),
      byStatus: tally(PURCHASE_STATUSES, purchases),
      byPaymentMethod: recordOf(PAYMENT_METHODS, (method) =>
        tally(
          PURCHASE_STATUSES,
          purchases.filter((row) => row.method === method),
        ),
      ),
    },
    spend: spend.toSorted((a, b) => (a.currency < b.currency ? -1 : 1)),
    esims: { total: sumOf(esims, 'counted'), byStatus: tally(ESIM_STATUSES, esims) },
    boughtBytes: sumOf(
      purchases.filter(({ what }) => what === 'SUCCESS'),
      'amount',
    ),
    usedBytes: sumOf(esims, 'amount'),
    /** No usage of an eSIM that may still change is older; null where none may. */
    usageAsOf,
  };
}

/** Each name once, in their order. */
export function recordOf<Name extends string, Value>(names: readonly Name[], valueOf: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;
}

const tally = <Status extends string>(statuses: readonly Status[], rows: readonly StatisticsRow[]) =>
  recordOf(statuses, (status) =>
    sumOf(
      rows.filter(({ what }) => what === status),
      'counted',
    ),
  );

const sumOf = (rows: readonly StatisticsRow[], figure: 'counted' | 'amount'): bigint =>
  rows.reduce((sum, row) => sum + row[figure], 0n);

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
