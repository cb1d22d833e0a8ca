/** The ledger as people read it: the entries of one account, newest first, or of one purchase, as they were booked. Reads only. */
import { sql } from 'kysely';
import { walletAccount } from './ledger.ts';
import type { WorldDb } from './tables.ts';

export interface LedgerLine {
  readonly at: Date;
  readonly operationKey: string;
  readonly kind: string;
  readonly transactionId: string | null;
  readonly account: string;
  readonly currency: string;
  readonly amountMinor: bigint;
  /** What a wallet held after it; null for accounts without a balance row. */
  readonly balanceMinor: bigint | null;
  readonly reason: string | null;
}

/** A ledger account by its own id, or an account's wallet; undefined: there is none. */
export async function findLedgerAccount(db: WorldDb, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('ledger_accounts')
    .select('id')
    .where('id', 'in', [id, walletAccount(id)])
    .executeTakeFirst();
  return row?.id;
}

/** The newest entries of an account. A wallet's balances are counted back from what it holds at this moment. */
export async function readAccount(db: WorldDb, account: string, limit: number): Promise<LedgerLine[]> {
  const { rows } = await sql<LedgerLine>`
    select booked.created_at as at, booked.operation_key as "operationKey", booked.kind, booked.transaction_id as "transactionId",
           entry.ledger_account_id as account, entry.currency, entry.amount_minor as "amountMinor",
           (wallets.balance_minor - coalesce(sum(entry.amount_minor)
             over (order by entry.id desc rows between unbounded preceding and 1 preceding), 0))::int8 as "balanceMinor", booked.reason
      from (select * from ledger_entries where ledger_account_id = ${account} order by id desc limit ${limit}) entry
      join ledger_transactions booked on booked.id = entry.ledger_transaction_id
      left join wallets on wallets.ledger_account_id = entry.ledger_account_id
     order by entry.id desc`.execute(db);
  return rows;
}

/** Everything that was booked for a purchase or a funding, in the order it was booked. */
export async function readTransaction(db: WorldDb, transactionId: string): Promise<LedgerLine[]> {
  const { rows } = await sql<LedgerLine>`
    select booked.created_at as at, booked.operation_key as "operationKey", booked.kind, booked.transaction_id as "transactionId",
           entry.ledger_account_id as account, entry.currency, entry.amount_minor as "amountMinor", null::int8 as "balanceMinor", booked.reason
      from ledger_transactions booked join ledger_entries entry on entry.ledger_transaction_id = booked.id
     where booked.transaction_id = ${transactionId}
     order by booked.id, entry.id`.execute(db);
  return rows;
}
