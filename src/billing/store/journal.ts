import { sql } from 'kysely';
import type { LedgerKind } from '../../ledger/chart-of-accounts.ts';
import { creditOf } from '../../ledger/chart-of-accounts.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { withReadTimeout } from '../../platform/database/transactions.ts';

export interface DayLine {
  /** UTC, `2026-11-21`. */
  readonly day: string;
  readonly currency: string;
  readonly account: string;
  readonly kind: LedgerKind;
  /** Below zero: a debit. */
  readonly creditMinor: bigint;
}

/** What each account moved each day; all wallets of a currency are one, and so is all that they owe. */
export function readDays(
  db: WorldDb,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<DayLine[]> {
  return withReadTimeout(db, async (trx) => {
    const { rows } = await sql<Omit<DayLine, 'creditMinor'> & { readonly stored: bigint }>`
      select to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD') as day, e.currency,
             case when a.kind in ('wallet', 'owed') then a.kind || ':' || a.currency else a.id end as account, a.kind,
             sum(e.amount_minor)::int8 as stored
        from ledger_transactions t
        join ledger_entries e on e.ledger_transaction_id = t.id
        join ledger_accounts a on a.id = e.ledger_account_id
       where t.created_at >= ${from} and t.created_at < ${to}
       group by 1, 2, 3, 4
       order by 1, 2, 3`.execute(trx);
    return rows.map(({ stored, ...line }) => ({ ...line, creditMinor: creditOf(stored, line.currency) }));
  });
}
