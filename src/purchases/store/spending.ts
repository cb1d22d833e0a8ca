/** Reads the kept figures of an account by day: sums, and the deltas that are not in them yet, in one statement. */
import { sql } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import { PACKAGE_TYPES, PAYMENT_METHODS } from '../../domain/states.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { Days } from './statistics.ts';

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

/** Delivered purchases that are counted by region: the newest ones, some 50 ms, however much an account buys. */
export const MAX_COUNTED_BY_REGION = 10_000;

/** An account's delivered purchases of these days by the region of their package, most first, then by code. */
export async function countOwnRegions(
  db: WorldDb,
  accountId: string,
  { from, to }: Days,
  limit: number,
): Promise<{ readonly regionCode: string; readonly purchases: bigint }[]> {
  // One walk of purchases_by_filters for each payment method and type, newest first.
  const { rows } = await sql<{ regionCode: string; purchases: bigint }>`
    with newest as materialized (
      select found.package_code
        from unnest(${PAYMENT_METHODS}::text[]) method cross join unnest(${PACKAGE_TYPES}::text[]) type
       cross join lateral (
         select package_code, created_at from purchases
          where account_id = ${accountId} and status = 'SUCCESS' and payment_method = method and package_type = type
            and created_at >= ${from}::date::timestamp at time zone 'UTC' and created_at < (${to}::date + 1)::timestamp at time zone 'UTC'
          order by created_at desc, transaction_id desc limit ${MAX_COUNTED_BY_REGION}
       ) found
       order by found.created_at desc limit ${MAX_COUNTED_BY_REGION}
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
  { from, to }: Days,
): Promise<(SpendingFigures & { readonly day: string })[]> {
  const mine = sql`account_id = ${accountId} and day between ${from}::date and ${to}::date`;
  const { rows } = await sql<SpendingFigures & { readonly day: string }>`
    select day::text as day, sum(purchases)::bigint as purchases, sum(failed)::bigint as failed, sum(spent)::bigint as "spentMinor",
           sum(data_bytes)::bigint as "dataBytes", sum(used_bytes)::bigint as "usedBytes"
      from (
        select day, case when status = 'SUCCESS' then purchases else 0 end as purchases,
               case when status = 'FAILED' then purchases else 0 end as failed, 0 as spent,
               case when status = 'SUCCESS' then volume_bytes else 0 end as data_bytes, 0 as used_bytes
          from purchase_figures where ${mine}
        union all
        select day, 0, 0, amount_minor, 0, 0 from spend_figures where ${mine} and currency = ${currency}
        union all
        select day, 0, 0, 0, 0, used_bytes from esim_figures where ${mine}
      ) figures
     group by day order by day`.execute(db);
  return rows;
}
