/** Reads the kept figures: sums, and the deltas that are not in them yet, in one statement. */
import { sql } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { EsimStatus, PaymentMethod, PurchaseStatus } from '../../domain/states.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** UTC days such as `2026-01-31`, both included. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

interface StatisticsRows {
  readonly purchases: readonly {
    readonly paymentMethod: PaymentMethod;
    readonly status: PurchaseStatus;
    readonly purchases: bigint;
    readonly volumeBytes: bigint;
  }[];
  readonly spend: readonly { readonly currency: AccountCurrency; readonly amountMinor: bigint }[];
  readonly esims: readonly {
    readonly status: EsimStatus;
    readonly esims: bigint;
    readonly usedBytes: bigint;
  }[];
}

interface StatisticsRow {
  readonly figure: keyof StatisticsRows;
  readonly method: string | null;
  readonly what: string;
  readonly counted: bigint;
  readonly amount: bigint;
}

/** An account's figures about what was created on these days. Figures that are zero may be left out. */
export async function readStatistics(
  db: WorldDb,
  accountId: string,
  { from, to }: Days,
): Promise<StatisticsRows> {
  const mine = sql`account_id = ${accountId} and day between ${from}::date and ${to}::date`;
  const { rows } = await sql<StatisticsRow>`
    select 'purchases' as figure, payment_method as method, status as what, sum(purchases)::bigint as counted,
           sum(volume_bytes)::bigint as amount
      from purchase_figures where ${mine} group by payment_method, status
    union all
    select 'spend', null, currency, 0, sum(amount_minor)::bigint from spend_figures where ${mine} group by currency
    union all
    select 'esims', null, status, sum(esims)::bigint, sum(used_bytes)::bigint
      from esim_figures where ${mine} group by status`.execute(db);
  const of = (figure: keyof StatisticsRows) => rows.filter((row) => row.figure === figure);
  return {
    purchases: of('purchases').map(({ method, what, counted, amount }) => ({
      paymentMethod: method as PaymentMethod,
      status: what as PurchaseStatus,
      purchases: counted,
      volumeBytes: amount,
    })),
    spend: of('spend').map(({ what, amount }) => ({
      currency: what as AccountCurrency,
      amountMinor: amount,
    })),
    esims: of('esims').map(({ what, counted, amount }) => ({
      status: what as EsimStatus,
      esims: counted,
      usedBytes: amount,
    })),
  };
}

/** Delivered purchases since a UTC day by the region of their package, most first, then by code. */
export async function countByRegion(
  db: WorldDb,
  from: string,
): Promise<{ readonly regionCode: string; readonly purchases: bigint }[]> {
  const { rows } = await sql<{ regionCode: string; purchases: bigint }>`
    with sold as materialized (
      select package_code, sum(purchases) as purchases from package_figures where day >= ${from}::date group by package_code
    )
    select region_code as "regionCode", sum(sold.purchases)::bigint as purchases
      from sold join packages using (package_code)
     group by region_code having sum(sold.purchases) > 0
     order by purchases desc, region_code`.execute(db);
  return rows;
}
