/**
 * The wallet balance below which an account wants to be told, and the telling: `wallet.low_balance`, once each time that a hold takes the
 * wallet below it. Whether one does is seen by the statement that takes the money, under the wallet's lock; there is nothing to arm.
 */
import { sql } from 'kysely';
import type { AccountCurrency, Money } from '../domain/money.ts';
import type { WorldDb } from './tables.ts';
import { listeners, tell, type Written } from './webhook-messages.ts';

/** null switches it off. */
export async function setLowBalance(
  db: WorldDb,
  accountId: string,
  thresholdMinor: bigint | null,
  now: Date,
): Promise<void> {
  if (thresholdMinor === null) {
    await db.deleteFrom('low_balance_thresholds').where('account_id', '=', accountId).execute();
    return;
  }
  const wanted = { threshold_minor: thresholdMinor, updated_at: now };
  await db
    .insertInto('low_balance_thresholds')
    .values({ account_id: accountId, ...wanted })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(wanted))
    .execute();
}

export async function findLowBalance(
  db: WorldDb,
  accountId: string,
): Promise<{ thresholdMinor: bigint; updatedAt: Date } | undefined> {
  const row = await db
    .selectFrom('low_balance_thresholds')
    .select(['threshold_minor', 'updated_at'])
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row && { thresholdMinor: row.threshold_minor, updatedAt: row.updated_at };
}

/** What a statement that took money answers of it, each null where the balance was not taken below a threshold. */
export interface Crossing {
  readonly threshold_minor: bigint | null;
  readonly left_minor: bigint | null;
  readonly listeners: string[] | null;
  readonly at: Date;
}

/** A query for a `with` beside one that is called `wallet`, locked, with its balance before: one row if this amount crosses. */
export function crossingOf(amountMinor: bigint) {
  return sql`
    select threshold.threshold_minor, wallet.balance_minor - ${amountMinor}::bigint as left_minor,
           ${listeners('wallet.low_balance', sql`wallet.account_id`)} as listeners
      from wallet join low_balance_thresholds threshold on threshold.account_id = wallet.account_id
     where wallet.balance_minor >= threshold.threshold_minor
       and wallet.balance_minor - ${amountMinor}::bigint < threshold.threshold_minor`;
}

/** The columns of Crossing, for the returning list of a statement whose `with` calls it `low`. */
export const CROSSING = sql`
  (select threshold_minor from low), (select left_minor from low), (select listeners from low), now() as at`;

/** Writes the messages of a crossing, in the transaction of the hold. */
export async function tellLowBalance(
  trx: WorldDb,
  hold: { readonly id: string; readonly accountId: string; readonly amount: Money },
  { threshold_minor, left_minor, listeners: found, at }: Crossing,
  written: Written,
): Promise<void> {
  if (threshold_minor === null || left_minor === null) return;
  await tell(
    trx,
    {
      event: 'wallet.low_balance',
      key: hold.id,
      subject: hold.id,
      accountId: hold.accountId,
      listeners: found,
      facts: {
        balanceMinor: left_minor,
        thresholdMinor: threshold_minor,
        currency: hold.amount.currency as AccountCurrency,
      },
      at,
    },
    written,
  );
}
