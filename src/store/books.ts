/**
 * What the ledger says as a whole: the balance of every account, what was sold and what it cost by day, and money that waits for something.
 * Reads only, one moment each, and sums what is booked rather than what rows say.
 */
import { sql, type RawBuilder } from 'kysely';
import type { PackageType } from '../domain/states.ts';
import type { Slice } from './reconciliation-lines.ts';
import { withPatience } from './patience.ts';
import type { WorldDb } from './tables.ts';

export interface AccountBalance {
  /** Wallets of a currency are one line. */
  readonly account: string;
  readonly kind: string;
  readonly currency: string;
  readonly accounts: number;
  /** Above zero: credit. */
  readonly balanceMinor: bigint;
}

/** Every account with what is booked on it. */
export function readBalances(db: WorldDb): Promise<AccountBalance[]> {
  return withPatience(db, balancesOf);
}

async function balancesOf(trx: WorldDb): Promise<AccountBalance[]> {
  const { rows } = await sql<{
    account: string;
    kind: string;
    currency: string;
    accounts: bigint;
    balance: bigint;
  }>`
      with booked as (
        select ledger_account_id, sum(amount_minor) as amount from ledger_entries group by 1
      )
      select case a.kind when 'wallet' then 'wallet:' || a.currency else a.id end as account, a.kind, a.currency,
             count(*) as accounts, coalesce(sum(booked.amount), 0)::int8 as balance
        from ledger_accounts a left join booked on booked.ledger_account_id = a.id
       group by 1, 2, 3
       order by a.currency, 1`.execute(trx);
  return rows.map((row) => ({
    account: row.account,
    kind: row.kind,
    currency: row.currency,
    accounts: Number(row.accounts),
    balanceMinor: row.balance,
  }));
}

export interface DailySales {
  /** UTC, `2026-11-21`. */
  readonly day: string;
  readonly currency: string;
  /** Null: booked on revenue without a purchase. */
  readonly packageType: PackageType | null;
  readonly deliveries: number;
  readonly soldMinor: bigint;
  /** What was taken off, or put back on, after the sale: disputes, goodwill. */
  readonly correctedMinor: bigint;
  readonly costUsdE4: bigint;
  /** The cost × the rate that the sale was made at, in units of the sale's currency × 10,000 × 1,000,000. */
  readonly costScaled: bigint;
}

/** What was sold within a time and what it cost, each purchase's cost at the rate that it was sold at. */
export function readDailySales(db: WorldDb, { from, to }: Slice): Promise<DailySales[]> {
  return withPatience(db, async (trx) => {
    const { rows } = await sql<DailyRow>`
      select to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
             case a.kind when 'revenue' then e.currency else coalesce(p.currency, 'USD') end as currency, p.package_type,
             count(distinct t.id) filter (where t.kind = 'post') as deliveries,
             coalesce(sum(e.amount_minor) filter (where a.kind = 'revenue' and t.kind = 'post'), 0)::int8 as sold,
             coalesce(sum(e.amount_minor) filter (where a.kind = 'revenue' and t.kind <> 'post'), 0)::int8 as corrected,
             coalesce(sum(e.amount_minor) filter (where a.kind = 'supplier-cost'), 0)::int8 as cost,
             coalesce(sum(e.amount_minor::numeric * coalesce(r.rate_micros, 1000000))
               filter (where a.kind = 'supplier-cost'), 0)::text as cost_scaled
        from ledger_transactions t
        join ledger_entries e on e.ledger_transaction_id = t.id
        join ledger_accounts a on a.id = e.ledger_account_id and a.kind in ('revenue', 'supplier-cost')
        left join purchases p on p.transaction_id = t.transaction_id
        left join exchange_rates r on r.id = case when p.rate_id ~ '^[0-9]{1,18}$' then p.rate_id::int8 end
       where t.created_at >= ${from} and t.created_at < ${to}
       group by 1, 2, 3
       order by 1, 2, 3`.execute(trx);
    return rows.map((row) => ({
      day: row.day,
      currency: row.currency,
      packageType: row.package_type,
      deliveries: Number(row.deliveries),
      soldMinor: row.sold,
      correctedMinor: row.corrected,
      costUsdE4: row.cost,
      costScaled: BigInt(row.cost_scaled),
    }));
  });
}

interface DailyRow {
  readonly day: string;
  readonly currency: string;
  readonly package_type: PackageType | null;
  readonly deliveries: bigint;
  readonly sold: bigint;
  readonly corrected: bigint;
  readonly cost: bigint;
  readonly cost_scaled: string;
}

export interface WaitingItems {
  readonly currency: string;
  readonly items: number;
  readonly amountMinor: bigint;
  readonly oldestAt: Date;
}

export interface WaitingMoney {
  /** Holds that are neither posted nor voided. */
  readonly holds: readonly WaitingItems[];
  /** Refunds that have not ended. */
  readonly refunds: readonly WaitingItems[];
  readonly balances: readonly AccountBalance[];
}

/** Money that waits for something, as of one moment. */
export function readWaiting(db: WorldDb): Promise<WaitingMoney> {
  return withPatience(db, async (trx) => ({
    holds: await itemsOf(trx, sql`holds where status = 'HELD'`),
    refunds: await itemsOf(trx, sql`refunds where closed_at is null`),
    balances: await balancesOf(trx),
  }));
}

async function itemsOf(trx: WorldDb, which: RawBuilder<unknown>): Promise<WaitingItems[]> {
  const { rows } = await sql<{ currency: string; items: bigint; amount: bigint; oldest_at: Date }>`
    select currency, count(*) as items, sum(amount_minor)::int8 as amount, min(created_at) as oldest_at
      from ${which} group by currency order by currency`.execute(trx);
  return rows.map((row) => ({
    currency: row.currency,
    items: Number(row.items),
    amountMinor: row.amount,
    oldestAt: row.oldest_at,
  }));
}
