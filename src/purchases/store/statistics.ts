/** Counts what an account, or everybody, bought on some days. */
import { sql, type RawBuilder } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { EsimStatus, PaymentMethod, PurchaseStatus } from '../../domain/states.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** UTC days such as `2026-01-31`, both included. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** Rows that were created on these days. */
const createdOn = ({ from, to }: Days): RawBuilder<unknown> => sql`
  created_at >= ${from}::date::timestamp at time zone 'UTC' and created_at < (${to}::date + 1)::timestamp at time zone 'UTC'`;

/**
 * What was charged for each purchase in `bought` and kept: the entries of revenue, which refunds, credits and
 * disputes take from. No second rule can differ from the books. Purchase by purchase: a plain join of
 * thousands of them reads the whole ledger.
 */
const REVENUE = sql`
  bought cross join lateral (
    select currency, sum(amount_minor) as amount_minor
      from ledger_transactions join ledger_entries on ledger_transaction_id = ledger_transactions.id
     where transaction_id = bought.transaction_id and ledger_account_id like 'revenue:%' group by currency
  ) revenue`;

/** Of one figure, by what it is counted by: bytes bought, money kept, bytes used. */
export type StatisticsRow = { readonly counted: bigint; readonly amount: bigint } & (
  | { readonly figure: 'purchases'; readonly method: PaymentMethod; readonly what: PurchaseStatus }
  | { readonly figure: 'spend'; readonly what: AccountCurrency }
  | { readonly figure: 'esims'; readonly what: EsimStatus }
);

/** An account's figures about what was created on these days. Figures that are zero may be left out. */
export async function readStatistics(db: WorldDb, accountId: string, days: Days): Promise<StatisticsRow[]> {
  const mine = sql`account_id = ${accountId} and ${createdOn(days)}`;
  const { rows } = await sql<StatisticsRow>`
    with bought as materialized (
      select transaction_id, payment_method, status, volume_bytes from purchases where ${mine}
    )
    select 'purchases' as figure, payment_method as method, status as what, count(*) as counted, sum(volume_bytes)::bigint as amount
      from bought group by payment_method, status
    union all
    select 'spend', null, currency, 0, sum(amount_minor)::bigint from ${REVENUE} group by currency
    union all
    select 'esims', null, status, count(*), sum(order_usage_bytes)::bigint from esims where ${mine} group by status`.execute(
    db,
  );
  return rows;
}

/** Delivered purchases since a UTC day by the region of their package, most first, then by code. */
export async function countByRegion(
  db: WorldDb,
  from: string,
): Promise<{ readonly regionCode: string; readonly purchases: bigint }[]> {
  const { rows } = await sql<{ regionCode: string; purchases: bigint }>`
    with sold as materialized (
      select package_code, count(*) as purchases from purchases
       where status = 'SUCCESS' and created_at >= ${from}::date::timestamp at time zone 'UTC' group by package_code
    )
    select region_code as "regionCode", sum(sold.purchases)::bigint as purchases
      from sold join packages using (package_code)
     group by region_code order by purchases desc, region_code`.execute(db);
  return rows;
}

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
