// A wrong repair by hand and its reversal: the one way to a step of our own that is refused for good, since the code alone never gets
// there. Must not be used outside a test's own database.
import { sql } from 'kysely';
import { postHold, voidHold } from '../../src/ledger/store/ledger.ts';
import type { Stack } from './stack.ts';

/** Gives the money of an open purchase back behind its workflow's back. */
export async function voidByMistake(stack: Pick<Stack, 'world'>, transactionId: string): Promise<void> {
  await voidHold(stack.world, transactionId);
}

/** Takes the money of an open purchase as earned behind its workflow's back. */
export async function postByMistake(stack: Pick<Stack, 'world'>, transactionId: string): Promise<void> {
  await postHold(stack.world, transactionId, 0n);
}

/** Undoes that post as only the database's owner can, with every guard off. */
export async function takeBackPost(stack: Pick<Stack, 'owner'>, transactionId: string): Promise<void> {
  await stack.owner.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`
      with gone as (delete from ledger_transactions where operation_key = ${`${transactionId}:post`} returning id)
      delete from ledger_entries where ledger_transaction_id in (select id from gone)`.execute(trx);
    await sql`update holds set status = 'HELD', closed_at = null where id = ${transactionId}`.execute(trx);
  });
}

/** Undoes that void as only the database's owner can, with every guard off. */
export async function takeBackVoid(stack: Pick<Stack, 'owner'>, transactionId: string): Promise<void> {
  await stack.owner.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`
      with gone as (delete from ledger_transactions where operation_key = ${`${transactionId}:void`} returning id),
           entries as (
             delete from ledger_entries where ledger_transaction_id in (select id from gone) returning ledger_account_id, amount_minor
           )
      update wallets set balance_minor = balance_minor - entries.amount_minor
        from entries where entries.ledger_account_id = wallets.ledger_account_id`.execute(trx);
    await sql`update holds set status = 'HELD', closed_at = null where id = ${transactionId}`.execute(trx);
  });
}
