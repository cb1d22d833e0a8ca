/**
 * The ledger as people read it: the entries of one account or of all accounts of a kind, newest first, or of one purchase, as they were booked.
 * Reads only. Amounts are credits above zero.
 */
import { sql } from 'kysely';
import { creditOf, isLedgerKind, type LedgerKind } from '../../ledger/chart-of-accounts.ts';
import { kindOf } from './books.ts';
import { walletAccount } from '../../ledger/store/ledger.ts';
import { withReadTimeout } from '../../platform/database/patience.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

export interface LedgerLine {
  readonly at: Date;
  readonly operationKey: string;
  readonly kind: string;
  readonly transactionId: string | null;
  readonly account: string;
  readonly accountKind: LedgerKind;
  readonly currency: string;
  /** Above zero: credit. */
  readonly creditMinor: bigint;
  /** What was booked on the account up to and with it; null where entries of one purchase are read. */
  readonly balanceCreditMinor: bigint | null;
  readonly reason: string | null;
}

/** Ledger accounts by an account's own id, by an account whose wallet it is, or by a kind such as `suspense`; none: there is none. */
export async function findLedgerAccounts(db: WorldDb, id: string): Promise<string[]> {
  // A wallet for each customer is no list that anybody reads.
  const isKind = isLedgerKind(id) && id !== 'wallet';
  const rows = await db
    .selectFrom('ledger_accounts')
    .select('id')
    .where((eb) => (isKind ? eb('kind', '=', id) : eb('id', 'in', [id, walletAccount(id)])))
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
}

/** The newest entries of some accounts, each with its account's balance then: counted back from the sum of all of its entries. */
export function readAccounts(db: WorldDb, accounts: readonly string[], limit: number): Promise<LedgerLine[]> {
  return withReadTimeout(db, async (trx) => {
    const { rows } = await sql<StoredLine>`
      select booked.created_at as at, booked.operation_key as "operationKey", booked.kind, booked.transaction_id as "transactionId",
             entry.ledger_account_id as account, account.kind as "accountKind", entry.currency, entry.amount_minor as stored,
             (total.amount - coalesce(sum(entry.amount_minor)
               over (partition by entry.ledger_account_id order by entry.id desc
                     rows between unbounded preceding and 1 preceding), 0))::int8 as "storedBalance", booked.reason
        from (select * from ledger_entries where ledger_account_id = any(${accounts}) order by id desc limit ${limit}) entry
        join ledger_accounts account on account.id = entry.ledger_account_id
        join (select ledger_account_id, sum(amount_minor) as amount from ledger_entries
               where ledger_account_id = any(${accounts}) group by 1) total on total.ledger_account_id = entry.ledger_account_id
        join ledger_transactions booked on booked.id = entry.ledger_transaction_id
       order by entry.id desc`.execute(trx);
    return rows.map(toLine);
  });
}

/** Everything that was booked for a purchase or a funding, in the order it was booked. */
export async function readTransaction(db: WorldDb, transactionId: string): Promise<LedgerLine[]> {
  const { rows } = await sql<StoredLine>`
    select booked.created_at as at, booked.operation_key as "operationKey", booked.kind, booked.transaction_id as "transactionId",
           entry.ledger_account_id as account, account.kind as "accountKind", entry.currency, entry.amount_minor as stored,
           null::int8 as "storedBalance", booked.reason
      from ledger_transactions booked
      join ledger_entries entry on entry.ledger_transaction_id = booked.id
      join ledger_accounts account on account.id = entry.ledger_account_id
     where booked.transaction_id = ${transactionId}
     order by booked.id, entry.id`.execute(db);
  return rows.map(toLine);
}

interface StoredLine extends Omit<LedgerLine, 'accountKind' | 'creditMinor' | 'balanceCreditMinor'> {
  readonly accountKind: string;
  readonly stored: bigint;
  readonly storedBalance: bigint | null;
}

function toLine({ accountKind, stored, storedBalance, ...line }: StoredLine): LedgerLine {
  return {
    ...line,
    accountKind: kindOf(accountKind),
    creditMinor: creditOf(stored, line.currency),
    balanceCreditMinor: storedBalance === null ? null : creditOf(storedBalance, line.currency),
  };
}
