/**
 * Lists what changed the wallets before the trigger of 2026-11-24-wallet-entries was there, one wallet a transaction: it waits for that wallet only. The
 * trigger does the same when such a wallet moves first. Safe to run twice and by several processes at once.
 */
import { sql, type Kysely } from 'kysely';

/** The migration that makes the entries. */
export const WALLET_ENTRIES = '2026-11-24-1-wallet-entries';

export async function fillWalletEntries(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ account_id: string }>`
    select account_id from wallets
     where not exists (select from wallet_entries where wallet_entries.account_id = wallets.account_id)
       and exists (select from ledger_entries where ledger_entries.ledger_account_id = wallets.ledger_account_id)`.execute(
    db,
  );
  for (const { account_id: accountId } of rows) {
    await db.transaction().execute(async (trx) => {
      await sql`select from wallets where account_id = ${accountId} for no key update`.execute(trx);
      await sql`select list_wallet_entries(${accountId})`.execute(trx);
    });
  }
}
