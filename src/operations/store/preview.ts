/** One entry that would be booked. */
import type { WorldDb } from '../../platform/database/tables.ts';
import { sql } from 'kysely';
import { sidesOf, creditOf } from '../../ledger/chart-of-accounts.ts';
import type { Money } from '../../domain/money.ts';

export interface PreviewEntry {
  readonly account: string;
  readonly currency: string;
  readonly debitMinor: bigint;
  readonly creditMinor: bigint;
}

export async function lastBooked(trx: WorldDb): Promise<bigint> {
  const { rows } = await sql<{
    id: bigint;
  }>`select coalesce(max(id), 0)::int8 as id from ledger_transactions`.execute(trx);
  return rows[0]?.id ?? 0n;
}

export async function entriesSince(
  trx: WorldDb,
  transactionId: string,
  before: bigint,
): Promise<PreviewEntry[]> {
  const rows = await trx
    .selectFrom('ledger_transactions as t')
    .innerJoin('ledger_entries as e', 'e.ledger_transaction_id', 't.id')
    .select(['e.ledger_account_id as account', 'e.currency', 'e.amount_minor'])
    .where('t.transaction_id', '=', transactionId)
    .where('t.id', '>', before)
    .orderBy('e.id')
    .execute();
  return rows.map(({ account, currency, amount_minor: storedMinor }) => ({
    account,
    currency,
    ...sidesOf(creditOf(storedMinor, currency)),
  }));
}

export async function newRefunds(
  trx: WorldDb,
  transactionId: string,
  known: ReadonlySet<string>,
): Promise<Money[]> {
  const rows = await trx
    .selectFrom('refunds')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .where('closed_at', 'is', null)
    .execute();
  return rows
    .filter((row) => row.status === 'DUE' || !known.has(row.refund_key))
    .map((row) => ({ amountMinor: row.amount_minor, currency: row.currency }));
}
