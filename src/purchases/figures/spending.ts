import type { Principal } from '../../domain/account.ts';
import { findOldestUsage } from '../../esims/store/esims.ts';
import type { PurchaseDeps } from '../deps.ts';
import { countOwnRegions, readSpending, type SpendingFigures } from '../store/spending.ts';
import type { Days } from '../store/statistics.ts';
import { daysOf, daysBetween } from './days.ts';

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
      regionName: nameOf.get(one.regionCode) ?? one.regionCode,
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
