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
export const createdOn = ({ from, to }: Days): RawBuilder<unknown> => sql`
  created_at >= ${from}::date::timestamp at time zone 'UTC' and created_at < (${to}::date + 1)::timestamp at time zone 'UTC'`;

/**
 * What was charged for each purchase in `bought` and kept: the entries of revenue, which refunds, credits and
 * disputes take from. No second rule can differ from the books. Purchase by purchase: a plain join of
 * thousands of them reads the whole ledger.
 */
export const REVENUE = sql`
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
