/** Counts what an account bought and spent, by day. */
import { sql } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { createdOn, REVENUE, type Days } from './statistics.ts';

export interface SpendingFigures {
  /** Delivered. */
  readonly purchases: bigint;
  readonly failed: bigint;
  readonly spentMinor: bigint;
  /** Of the delivered purchases. */
  readonly dataBytes: bigint;
  /** By the eSIMs that were ordered on the day. */
  readonly usedBytes: bigint;
}

/**
 * Delivered purchases that are counted by region: the newest ones, some 50 ms, however much an account buys.
 */
export const MAX_COUNTED_BY_REGION = 10_000;

/**
 * An account's delivered purchases of these days by the region of their package, most first, then by code.
 */
export async function countOwnRegions(
  db: WorldDb,
  accountId: string,
  days: Days,
  limit: number,
): Promise<{ readonly regionCode: string; readonly purchases: bigint }[]> {
  const { rows } = await sql<{ regionCode: string; purchases: bigint }>`
    with newest as materialized (
      select package_code from purchases where account_id = ${accountId} and status = 'SUCCESS' and ${createdOn(days)}
       order by created_at desc limit ${MAX_COUNTED_BY_REGION}
    )
    select region_code as "regionCode", count(*) as purchases
      from newest join packages using (package_code)
     group by region_code order by purchases desc, region_code limit ${limit}`.execute(db);
  return rows;
}

/** Days on which nothing was ordered are left out. */
export async function readSpending(
  db: WorldDb,
  { accountId, currency }: { readonly accountId: string; readonly currency: AccountCurrency },
  days: Days,
): Promise<(SpendingFigures & { readonly day: string })[]> {
  const mine = sql`account_id = ${accountId} and ${createdOn(days)}`;
  const { rows } = await sql<SpendingFigures & { readonly day: string }>`
    with bought as materialized (
      select transaction_id, status, volume_bytes, (created_at at time zone 'UTC')::date as day from purchases where ${mine}
    )
    select day::text as day, sum(purchases)::bigint as purchases, sum(failed)::bigint as failed, sum(spent)::bigint as "spentMinor",
           sum(data_bytes)::bigint as "dataBytes", sum(used_bytes)::bigint as "usedBytes"
      from (
        select day, count(*) filter (where status = 'SUCCESS') as purchases, count(*) filter (where status = 'FAILED') as failed,
               0 as spent, coalesce(sum(volume_bytes) filter (where status = 'SUCCESS'), 0) as data_bytes, 0 as used_bytes
          from bought group by day
        union all
        select day, 0, 0, sum(amount_minor), 0, 0 from ${REVENUE} where currency = ${currency} group by day
        union all
        select (created_at at time zone 'UTC')::date, 0, 0, 0, 0, sum(order_usage_bytes) from esims where ${mine} group by 1
      ) figures
     group by day order by day`.execute(db);
  return rows;
}
