import type { RegionView } from '../../catalogue/memory.ts';
import type { Principal } from '../../domain/account.ts';
import { UNLISTED_REGION_CODE } from '../../catalogue/rules.ts';
import { ESIM_STATUSES, PAYMENT_METHODS, PURCHASE_STATUSES } from '../../domain/states.ts';
import { findOldestUsage } from '../../esims/store/esims.ts';
import { DAY_MS } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import type { PurchaseDeps } from '../deps.ts';
import {
  countByRegion,
  readStatistics,
  type Days,
  type StatisticsRow,
  countOwnRegions,
  readSpending,
  type SpendingFigures,
} from '../store/statistics.ts';

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

const DEFAULT_DAYS = 30;

/** The UTC day: `2026-01-31`. */
const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** So many days before, where 0 is the day itself. */
export const dayBefore = (day: Date, days: number): string => dayOf(new Date(day.getTime() - days * DAY_MS));

/**
 * Both ends included; the last 30 days without any. Throws VALIDATION_ERROR for more than `most`, or for
 * `from` after `to`.
 */
function daysOf({ from, to }: Partial<Days>, now: Date, most: number): Days {
  const end = to ?? (from === undefined ? dayOf(now) : laterDay(from, dayOf(now)));
  const start = from ?? dayBefore(new Date(end), DEFAULT_DAYS - 1);
  const count = (Date.parse(end) - Date.parse(start)) / DAY_MS + 1;
  if (count < 1) throw badDays('from: must not be after to');
  if (count > most) throw badDays(`from: must be at most ${most - 1} days before to`);
  return { from: start, to: end };
}

/** Every day of them, oldest first. */
function daysBetween({ from, to }: Days): string[] {
  const count = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  return Array.from({ length: count }, (_, index) => dayBefore(new Date(from), -index));
}

const laterDay = (a: string, b: string): string => (a > b ? a : b);

function badDays(problem: string): DomainError {
  return new DomainError('VALIDATION_ERROR', 'Invalid request', { details: problem });
}

/** Both ends included: a leap year. */
export const MAX_SPENDING_DAYS = 366;

/** As many as a chart shows. */
const MAX_DESTINATIONS = 10;

export type Spending = Awaited<ReturnType<typeof getSpending>>;

const NOTHING: SpendingFigures = { purchases: 0n, failed: 0n, spentMinor: 0n, dataBytes: 0n, usedBytes: 0n };

/**
 * The account's figures for each of these UTC days; the last 30 days without any. Throws VALIDATION_ERROR.
 */
export async function getSpending(
  { db, clock, catalogue }: Pick<PurchaseDeps, 'db' | 'clock' | 'catalogue'>,
  { account }: Principal,
  asked: Partial<Days>,
) {
  const period = daysOf(asked, clock.now(), MAX_SPENDING_DAYS);
  // Before the figures: those may be newer.
  const usageAsOf = await findOldestUsage(db, account.id);
  const counted = await readSpending(db, { accountId: account.id, currency: account.currency }, period);
  const destinations = await countOwnRegions(db, account.id, period, MAX_DESTINATIONS);
  const nameOf = new Map(catalogue.current().regions.map((one) => [one.regionCode, one.regionName]));
  const byDay = new Map(counted.map(({ day, ...figures }) => [day, figures]));
  return {
    ...period,
    currency: account.currency,
    /** No usage of an eSIM that may still change is older; null where none may. */
    usageAsOf,
    total: counted.reduce(add, NOTHING),
    days: daysBetween(period).map((day) => ({ day, ...(byDay.get(day) ?? NOTHING) })),
    // A region that is no longer sold has no name.
    topDestinations: destinations.map((one) => ({
      ...one,
      regionName:
        one.regionCode === UNLISTED_REGION_CODE
          ? 'Unlisted packages'
          : (nameOf.get(one.regionCode) ?? one.regionCode),
    })),
  };
}

function add(sum: SpendingFigures, more: SpendingFigures): SpendingFigures {
  return {
    purchases: sum.purchases + more.purchases,
    failed: sum.failed + more.failed,
    spentMinor: sum.spentMinor + more.spentMinor,
    dataBytes: sum.dataBytes + more.dataBytes,
    usedBytes: sum.usedBytes + more.usedBytes,
  };
}
