/** The ledger as finance reads it. Each read sees one moment. Credits are above zero. */
import { sql, type RawBuilder } from 'kysely';
import {
  balanceOn,
  creditOf,
  isLedgerKind,
  sidesOf,
  type LedgerKind,
} from '../../ledger/chart-of-accounts.ts';
import { walletAccount } from '../../ledger/store/ledger.ts';
import type { PackageType } from '../../domain/states.ts';
import type { Slice } from './lines.ts';
import { withReadTimeout } from '../../platform/database/transactions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/**
 * The balance of every account, as of `before`, which is excluded. All wallets of a currency are one line,
 * and so is all that they owe.
 */
export function readBalances(db: WorldDb, before?: Date) {
  const booked =
    before === undefined
      ? sql`ledger_entries`
      : sql`ledger_entries e join ledger_transactions t on t.id = e.ledger_transaction_id and t.created_at < ${before}`;
  return withReadTimeout(db, async (trx) => {
    const { rows } = await sql<{
      readonly account: string;
      readonly kind: string;
      readonly currency: string;
      readonly accounts: number;
      readonly stored: bigint;
    }>`
      with booked as (
        select ledger_account_id, sum(amount_minor) as amount from ${booked} group by 1
      )
      select case when a.kind in ('wallet', 'owed') then a.kind || ':' || a.currency else a.id end as account, a.kind, a.currency,
             count(*)::int4 as accounts, coalesce(sum(booked.amount), 0)::int8 as stored
        from ledger_accounts a left join booked on booked.ledger_account_id = a.id
       group by 1, 2, 3
       order by a.currency, 1`.execute(trx);
    return rows.map(({ stored, ...row }) => ({
      ...row,
      kind: kindOf(row.kind),
      creditMinor: creditOf(stored, row.currency),
    }));
  });
}

/** The database knows the same kinds as we do: test/ledger/ledger-accounts.store.test.ts. */
function kindOf(stored: string): LedgerKind {
  if (!isLedgerKind(stored)) throw new Error(`ledger account of an unknown kind: ${stored}`);
  return stored;
}

/** Sales of a day or of an account, in one currency and of one package type. */
export interface Sales {
  /** UTC, `2026-11-21`; null in sums by account. */
  readonly day: string | null;
  /** null in sums by day, and for revenue that was booked without a purchase or funding. */
  readonly accountId: string | null;
  readonly email: string | null;
  readonly currency: string;
  /** null: booked on revenue without a purchase. */
  readonly packageType: PackageType | null;
  readonly deliveries: number;
  readonly soldMinor: bigint;
  /** Taken off, or put back on, after the sale: disputes, goodwill. */
  readonly correctedMinor: bigint;
  readonly costUsdE4: bigint;
  /** The cost × the rate that the sale was made at, in units of the sale's currency × 10,000 × 1,000,000. */
  readonly costScaled: bigint;
}

/** What was sold within a time and what it cost, each purchase's cost at the rate of its sale. */
export function readSales(db: WorldDb, { from, to }: Slice, by: 'day' | 'account'): Promise<Sales[]> {
  const [day, accountId] =
    by === 'day'
      ? [sql`to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD')`, sql`null::text`]
      : [sql`null::text`, sql`coalesce(p.account_id, f.account_id, w.account_id)`];
  return withReadTimeout(db, async (trx) => {
    // A cost is a debit above zero, as USD4 stores it.
    const { rows } = await sql<Omit<Sales, 'costScaled'> & { readonly costScaled: string }>`
      with sales as (
        select ${day} as day, ${accountId} as account_id,
               case a.kind when 'revenue' then e.currency else coalesce(p.currency, 'USD') end as currency, p.package_type,
               count(distinct t.id) filter (where t.kind = 'post') as deliveries,
               sum(e.amount_minor) filter (where a.kind = 'revenue' and t.kind = 'post') as sold,
               sum(e.amount_minor) filter (where a.kind = 'revenue' and t.kind <> 'post') as corrected,
               sum(e.amount_minor) filter (where a.kind = 'supplier-cost') as cost,
               sum(e.amount_minor::numeric * coalesce(r.rate_micros, 1000000)) filter (where a.kind = 'supplier-cost') as cost_scaled
          from ledger_transactions t
          join ledger_entries e on e.ledger_transaction_id = t.id
          join ledger_accounts a on a.id = e.ledger_account_id and a.kind in ('revenue', 'supplier-cost')
          left join purchases p on p.transaction_id = t.transaction_id
          left join fundings f on f.transaction_id = t.transaction_id
          left join wallet_adjustments w on w.ledger_transaction_id = t.id
          left join exchange_rates r on r.id = case when p.rate_id ~ '^[0-9]{1,18}$' then p.rate_id::int8 end
         where t.created_at >= ${from} and t.created_at < ${to}
         group by 1, 2, 3, 4
      )
      select day, account_id as "accountId", account.email, sales.currency, package_type as "packageType", deliveries::int4,
             coalesce(sold, 0)::int8 as "soldMinor", coalesce(corrected, 0)::int8 as "correctedMinor",
             coalesce(cost, 0)::int8 as "costUsdE4", coalesce(cost_scaled, 0)::text as "costScaled"
        from sales left join accounts.accounts account on account.id = account_id
       order by day, account_id, sales.currency, package_type`.execute(trx);
    return rows.map((row) => ({ ...row, costScaled: BigInt(row.costScaled) }));
  });
}

/** What the wallets of a currency had, and what their accounts owed, at the end of a day. */
export interface WalletDay {
  /** UTC, `2026-11-21`. */
  readonly day: string;
  readonly currency: string;
  readonly balanceMinor: bigint;
  readonly owedMinor: bigint;
}

/** Of each day and each currency with a wallet. Counted back from now: what lies behind a day is shorter. */
export function readWalletDays(db: WorldDb, { from, to }: Slice): Promise<WalletDay[]> {
  return withReadTimeout(db, async (trx) => {
    const { rows } = await sql<WalletDay>`
      with moved as (
        select (t.created_at at time zone 'UTC')::date as day, e.currency,
               sum(e.amount_minor) filter (where a.kind = 'wallet') as wallet,
               sum(e.amount_minor) filter (where a.kind = 'owed') as owed
          from ledger_transactions t
          join ledger_entries e on e.ledger_transaction_id = t.id
          join ledger_accounts a on a.id = e.ledger_account_id and a.kind in ('wallet', 'owed')
         where t.created_at >= ${from}
         group by 1, 2
      ), present as (
        select currency, sum(balance_minor) as wallet, sum(owed_minor) as owed from wallets group by 1
      ), days as (
        select day::date from generate_series((${from}::timestamptz at time zone 'UTC')::date,
          least((${to}::timestamptz at time zone 'UTC')::date - 1, (now() at time zone 'UTC')::date), interval '1 day') day
      )
      select to_char(days.day, 'YYYY-MM-DD') as day, present.currency,
             (present.wallet - coalesce(sum(moved.wallet), 0))::int8 as "balanceMinor",
             (present.owed + coalesce(sum(moved.owed), 0))::int8 as "owedMinor"
        from days cross join present
        left join moved on moved.currency = present.currency and moved.day > days.day
       group by days.day, present.currency, present.wallet, present.owed
       order by days.day, present.currency`.execute(trx);
    return rows;
  });
}

/** What money waits for. */
export const WAITS_FOR = [
  'delivery',
  'refund',
  'dispute',
  'reversal',
  'owed-by-account',
  'payout-by-gateway',
  'gateway-to-confirm',
] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

export interface WaitingLine {
  readonly waitsFor: WaitsFor;
  readonly currency: string;
  readonly amountMinor: bigint;
  /** Purchases and fundings; refunds by themselves. */
  readonly items: number;
  readonly oldestAt: Date;
}

/** Money that waits for something, as of one moment. */
export function readWaiting(db: WorldDb): Promise<WaitingLine[]> {
  const amounts: Readonly<Record<WaitsFor, readonly [LedgerKind, RawBuilder<unknown>]>> = {
    delivery: ['held', sql`holds where status = 'HELD'`],
    refund: ['suspense', sql`refunds where closed_at is null`],
    // In suspense for a dispute, or without a refund: at risk.
    dispute: [
      'suspense',
      sql`(select currency, amount_minor, created_at from ${atRisk} where amount_minor > 0
            union all select currency, amount_minor, created_at from ${inSuspense} where amount_minor > 0) disputed`,
    ],
    // Missing in suspense: taken back from us.
    reversal: [
      'suspense',
      sql`(select currency, -amount_minor as amount_minor, created_at from ${inSuspense} where amount_minor < 0) reversals`,
    ],
    // Taken back by a bank after the wallet had spent it.
    'owed-by-account': [
      'owed',
      sql`(select currency, -owed_minor as amount_minor, updated_at as created_at from wallets where owed_minor > 0) owed`,
    ],
    // What the gateway has and we do not.
    'payout-by-gateway': ['gateway-clearing', bookedOn('gateway-clearing')],
    // Booked on a person's word, and not yet confirmed by the gateway.
    'gateway-to-confirm': ['evidence', bookedOn('evidence')],
  };
  return withReadTimeout(db, async (trx) => {
    const lines: WaitingLine[] = [];
    for (const waitsFor of WAITS_FOR) {
      const [kind, source] = amounts[waitsFor];
      const { rows } = await sql<Omit<WaitingLine, 'waitsFor'>>`
        select currency, sum(amount_minor)::int8 as "amountMinor", count(*)::int4 as items, min(created_at) as "oldestAt"
          from ${source} group by currency order by currency`.execute(trx);
      lines.push(...rows.map((row) => ({ waitsFor, ...row, amountMinor: balanceOn(kind, row.amountMinor) })));
    }
    return lines;
  });
}

/** What is booked on accounts of a kind for each purchase or funding; what nets to zero waits for nothing. */
function bookedOn(kind: LedgerKind): RawBuilder<unknown> {
  return sql`(
    select e.currency, sum(e.amount_minor) as amount_minor, min(t.created_at) as created_at
      from ledger_entries e
      join ledger_accounts a on a.id = e.ledger_account_id and a.kind = ${kind}
      join ledger_transactions t on t.id = e.ledger_transaction_id
     group by coalesce(t.transaction_id, t.operation_key), e.currency
    having sum(e.amount_minor) <> 0) booked`;
}

/** What lies in suspense for disputes that no person has settled. */
const atRisk = sql`(
    select d.transaction_id as subject, y.price_currency as currency, d.opened_at as created_at,
           d.revenue_minor + case d.money when 'AT_RISK' then d.frozen_minor else 0 end as amount_minor
      from disputes d join payments y using (reference) where d.settled_at is null and d.money <> 'RELEASED'
    union all
    select d.transaction_id, y.charge_currency, d.opened_at, d.free_minor
      from disputes d join payments y using (reference) left join holds h on h.id = d.transaction_id
     where d.money = 'AT_RISK' and h.status is distinct from 'HELD') disputed`;

/** Suspense of each purchase or funding, without money of open refunds and disputes. */
const inSuspense = sql`(
    select currency, total as amount_minor, min(created_at) filter (where sign(running) = sign(total)) as created_at
      from (select *, sum(amount_minor) over subject_sum as running,
                   sum(amount_minor) over (partition by subject, currency) as total from (
        select coalesce(t.transaction_id, t.operation_key) as subject, e.currency, e.amount_minor, t.created_at
          from ledger_entries e
          join ledger_accounts a on a.id = e.ledger_account_id and a.kind = 'suspense'
          join ledger_transactions t on t.id = e.ledger_transaction_id
        union all
        select transaction_id, currency, -amount_minor, created_at from refunds where closed_at is null
        union all
        select subject, currency, -amount_minor, created_at from ${atRisk}) entry
        window subject_sum as (partition by subject, currency order by created_at)) summed
     group by subject, currency, total) suspense`;

export interface LedgerLine {
  readonly at: Date;
  readonly operationKey: string;
  readonly kind: string;
  readonly transactionId: string | null;
  readonly account: string;
  readonly currency: string;
  readonly reason: string | null;
  readonly debitMinor: bigint;
  readonly creditMinor: bigint;
  /** After it, above zero on the account's normal side; null for entries of one transaction. */
  readonly balanceMinor: bigint | null;
}

interface StoredLine extends Omit<LedgerLine, 'debitMinor' | 'creditMinor' | 'balanceMinor'> {
  readonly accountKind: string;
  readonly stored: bigint;
  readonly storedBalance: bigint | null;
}

const LINE_COLUMNS = sql`
  booked.created_at as at, booked.operation_key as "operationKey", booked.kind, booked.transaction_id as "transactionId",
  entry.ledger_account_id as account, account.kind as "accountKind", entry.currency, entry.amount_minor as stored, booked.reason`;

/** Ledger accounts by their own id, by the account whose wallet it is, or by a kind such as `suspense`. */
export async function findLedgerAccounts(db: WorldDb, id: string): Promise<string[]> {
  // A list of every customer's wallet would be too long to read.
  const isKind = isLedgerKind(id) && id !== 'wallet';
  const rows = await db
    .selectFrom('ledger_accounts')
    .select('id')
    .where((eb) => (isKind ? eb('kind', '=', id) : eb('id', 'in', [id, walletAccount(id)])))
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
}

/** The newest entries, each with its account's balance then: counted back from the sum of all. */
export function readAccounts(db: WorldDb, accounts: readonly string[], limit: number): Promise<LedgerLine[]> {
  return withReadTimeout(db, async (trx) => {
    const { rows } = await sql<StoredLine>`
      with newest as (
        select * from ledger_entries where ledger_account_id = any(${accounts}) order by id desc limit ${limit}
      ), total as (
        select ledger_account_id, sum(amount_minor) as amount from ledger_entries where ledger_account_id = any(${accounts}) group by 1
      )
      select ${LINE_COLUMNS},
             (total.amount - coalesce(sum(entry.amount_minor)
               over (partition by entry.ledger_account_id order by entry.id desc
                     rows between unbounded preceding and 1 preceding), 0))::int8 as "storedBalance"
        from newest entry
        join total using (ledger_account_id)
        join ledger_accounts account on account.id = entry.ledger_account_id
        join ledger_transactions booked on booked.id = entry.ledger_transaction_id
       order by entry.id desc`.execute(trx);
    return rows.map(toLine);
  });
}

/** Everything that was booked for a purchase or a funding, in the order of booking. */
export async function readTransaction(db: WorldDb, transactionId: string): Promise<LedgerLine[]> {
  const { rows } = await sql<StoredLine>`
    select ${LINE_COLUMNS}, null::int8 as "storedBalance"
      from ledger_transactions booked
      join ledger_entries entry on entry.ledger_transaction_id = booked.id
      join ledger_accounts account on account.id = entry.ledger_account_id
     where booked.transaction_id = ${transactionId}
     order by booked.id, entry.id`.execute(db);
  return rows.map(toLine);
}

function toLine({ accountKind, stored, storedBalance, ...line }: StoredLine): LedgerLine {
  return {
    ...line,
    ...sidesOf(creditOf(stored, line.currency)),
    balanceMinor:
      storedBalance === null ? null : balanceOn(kindOf(accountKind), creditOf(storedBalance, line.currency)),
  };
}
