/**
 * What the ledger says as a whole: the balance of every account, what was sold and what it cost by day or by account, and money that waits for
 * something. Reads only, one moment each, and sums what is booked rather than what rows say. Amounts are credits above zero.
 */
import { sql, type RawBuilder } from 'kysely';
import { creditOf, isLedgerKind, type LedgerKind } from '../../ledger/chart-of-accounts.ts';
import type { PackageType } from '../../domain/states.ts';
import type { Slice } from './lines.ts';
import { withReadTimeout } from '../../platform/database/patience.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

export interface AccountBalance {
  /** Wallets of a currency are one line. */
  readonly account: string;
  readonly kind: LedgerKind;
  readonly currency: string;
  readonly accounts: number;
  /** Above zero: credit. */
  readonly creditMinor: bigint;
}

/** Every account with what is booked on it. */
export function readBalances(db: WorldDb): Promise<AccountBalance[]> {
  return withReadTimeout(db, async (trx) => {
    const { rows } = await sql<{
      account: string;
      kind: string;
      currency: string;
      accounts: bigint;
      stored: bigint;
    }>`
      with booked as (
        select ledger_account_id, sum(amount_minor) as amount from ledger_entries group by 1
      )
      select case a.kind when 'wallet' then 'wallet:' || a.currency else a.id end as account, a.kind, a.currency,
             count(*) as accounts, coalesce(sum(booked.amount), 0)::int8 as stored
        from ledger_accounts a left join booked on booked.ledger_account_id = a.id
       group by 1, 2, 3
       order by a.currency, 1`.execute(trx);
    return rows.map(({ account, kind, currency, accounts, stored }) => ({
      account,
      kind: kindOf(kind),
      currency,
      accounts: Number(accounts),
      creditMinor: creditOf(stored, currency),
    }));
  });
}

/** The database knows no other kind than we do: test/ledger/ledger-accounts.store.test.ts. */
export function kindOf(stored: string): LedgerKind {
  if (!isLedgerKind(stored)) throw new Error(`ledger account of an unknown kind: ${stored}`);
  return stored;
}

export interface Sales {
  /** UTC, `2026-11-21`; null where they are summed by account. */
  readonly day: string | null;
  /** Whose purchases they are; null where they are summed by day, and for what was booked on revenue without a purchase. */
  readonly accountId: string | null;
  readonly email: string | null;
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
export function readSales(db: WorldDb, { from, to }: Slice, by: 'day' | 'account'): Promise<Sales[]> {
  const isByDay = by === 'day';
  return withReadTimeout(db, async (trx) => {
    const { rows } = await sql<SalesRow>`
      select ${isByDay ? sql`to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD')` : sql`null::text`} as day,
             ${isByDay ? sql`null::text` : sql`coalesce(p.account_id, f.account_id)`} as account_id,
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
        left join fundings f on f.transaction_id = t.transaction_id
        left join exchange_rates r on r.id = case when p.rate_id ~ '^[0-9]{1,18}$' then p.rate_id::int8 end
       where t.created_at >= ${from} and t.created_at < ${to}
       group by 1, 2, 3, 4
       order by 1, 2, 3, 4`.execute(trx);
    const emails = await findEmails(trx, rows);
    return rows.map((row) => toSales(row, emails));
  });
}

interface SalesRow {
  readonly day: string | null;
  readonly account_id: string | null;
  readonly currency: string;
  readonly package_type: PackageType | null;
  readonly deliveries: bigint;
  readonly sold: bigint;
  readonly corrected: bigint;
  readonly cost: bigint;
  readonly cost_scaled: string;
}

function toSales(row: SalesRow, emails: ReadonlyMap<string, string>): Sales {
  return {
    day: row.day,
    accountId: row.account_id,
    email: emails.get(row.account_id ?? '') ?? null,
    currency: row.currency,
    packageType: row.package_type,
    deliveries: Number(row.deliveries),
    soldMinor: row.sold,
    correctedMinor: row.corrected,
    // A cost is a debit, as USD4 stores it.
    costUsdE4: -creditOf(row.cost, 'USD4'),
    costScaled: BigInt(row.cost_scaled),
  };
}

async function findEmails(trx: WorldDb, rows: readonly SalesRow[]): Promise<Map<string, string>> {
  const ids = [...new Set(rows.flatMap(({ account_id }) => (account_id === null ? [] : [account_id])))];
  if (ids.length === 0) return new Map();
  const found = await sql<{ id: string; email: string }>`
    select id, email from accounts.accounts where id = any(${ids})`.execute(trx);
  return new Map(found.rows.map(({ id, email }) => [id, email]));
}

export interface WaitingItems {
  readonly currency: string;
  readonly items: number;
  /** Credits above zero, where it is a sum of entries. */
  readonly amountMinor: bigint;
  readonly oldestAt: Date;
}

export interface WaitingMoney {
  /** Holds that are neither posted nor voided. */
  readonly holds: readonly WaitingItems[];
  /** Refunds that have not ended. */
  readonly refunds: readonly WaitingItems[];
  /** In suspense and for no refund: at risk. */
  readonly disputes: readonly WaitingItems[];
  /** Missing in suspense: taken back from us. Below zero. */
  readonly claims: readonly WaitingItems[];
  /** What the gateway has and we do not. Below zero: a debit. */
  readonly payouts: readonly WaitingItems[];
  /** What came by a person's word and the gateway has not confirmed. Below zero: a debit. */
  readonly unconfirmed: readonly WaitingItems[];
}

/** Money that waits for something, as of one moment. */
export function readWaiting(db: WorldDb): Promise<WaitingMoney> {
  return withReadTimeout(db, async (trx) => ({
    holds: await itemsOf(trx, sql`holds where status = 'HELD'`),
    refunds: await itemsOf(trx, sql`refunds where closed_at is null`),
    disputes: await itemsOf(trx, sql`${inSuspense} where amount_minor > 0`),
    claims: await itemsOf(trx, sql`${inSuspense} where amount_minor < 0`),
    payouts: await itemsOf(trx, bookedOn('gateway-clearing')),
    unconfirmed: await itemsOf(trx, bookedOn('evidence')),
  }));
}

/** What is booked on accounts of a kind, by the purchase or funding that it is for; what nets to zero waits for nothing. */
function bookedOn(kind: LedgerKind): RawBuilder<unknown> {
  return sql`(
    select e.currency, sum(e.amount_minor) as amount_minor, min(t.created_at) as created_at
      from ledger_entries e
      join ledger_accounts a on a.id = e.ledger_account_id and a.kind = ${kind}
      join ledger_transactions t on t.id = e.ledger_transaction_id
     group by coalesce(t.transaction_id, t.operation_key), e.currency
    having sum(e.amount_minor) <> 0) booked`;
}

/**
 * The same of suspense, without what waits there for a refund. What disputes put at risk is apart from what was taken back: one purchase may have
 * both.
 */
const inSuspense = sql`(
    select currency, sum(amount_minor) as amount_minor, min(created_at) as created_at
      from (
        select coalesce(t.transaction_id, t.operation_key) as subject, t.kind in ('disputed', 'dispute-settled') as is_dispute,
               e.currency, e.amount_minor, t.created_at
          from ledger_entries e
          join ledger_accounts a on a.id = e.ledger_account_id and a.kind = 'suspense'
          join ledger_transactions t on t.id = e.ledger_transaction_id
        union all
        select transaction_id, false, currency, -amount_minor, created_at from refunds where closed_at is null) entry
     group by subject, is_dispute, currency) suspense`;

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
