// A hold without its purchase: placed, and reopened after a wrong repair.
import { sql } from 'kysely';
import type { AccountCurrency, Money } from '../../../src/domain/money.ts';
import { enqueueLowBalance, type ThresholdCrossing } from '../../../src/ledger/store/low-balance.ts';
import { callFunction } from '../../../src/platform/database/functions.ts';
import type { WorldDb } from '../../../src/platform/database/tables.ts';

interface NewHold {
  readonly id: string;
  readonly accountId: string;
  readonly amount: Money;
  /** The API key that asks. */
  readonly keyId?: string;
  readonly countries?: readonly string[];
}

/** Reserves money and enqueues the low-balance webhook with it. `insufficient`: nothing was written. */
export async function placeHold(
  db: WorldDb,
  { id, accountId, amount, keyId, countries = [] }: NewHold,
): Promise<'held' | 'already' | 'insufficient'> {
  const { is_placed: isPlaced, ...crossing } = await callFunction<Placed>(db, 'place_hold', {
    hold_id: id,
    account_id: accountId,
    currency: amount.currency,
    amount_minor: amount.amountMinor,
    unless_low: false,
    key_id: keyId ?? null,
    countries: [...countries],
  });
  if (!isPlaced) {
    const placed = await db.selectFrom('holds').select('id').where('id', '=', id).executeTakeFirst();
    return placed ? 'already' : 'insufficient';
  }
  const because = { key: id, subject: id, accountId, currency: amount.currency as AccountCurrency };
  await enqueueLowBalance(db, because, { ...crossing, at: new Date() });
  return 'held';
}

type Placed = Omit<ThresholdCrossing, 'at'> & { readonly is_placed: boolean };

/**
 * Undoes the post or void of a hold, as only the database's owner can, with all guards off. A wrong repair
 * and its reversal are the only way to a step of ours that is refused for good, since our code never gets
 * there.
 */
export async function reopenHold(owner: WorldDb, id: string): Promise<void> {
  await owner.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`
      with gone as (
             delete from ledger_transactions where operation_key in (${`${id}:post`}, ${`${id}:void`}) returning id
           ),
           entries as (
             delete from ledger_entries where ledger_transaction_id in (select id from gone) returning ledger_account_id, amount_minor
           )
      update wallets set balance_minor = balance_minor - entries.amount_minor
        from entries where entries.ledger_account_id = wallets.ledger_account_id`.execute(trx);
    await sql`update holds set status = 'HELD', closed_at = null where id = ${id}`.execute(trx);
  });
}
