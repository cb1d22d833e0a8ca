import { sql } from 'kysely';
import type { AccountCurrency, Money } from '../../domain/money.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { subscribers, enqueueWebhook } from '../../webhooks/store/messages.ts';

/**
 * null switches it off. Where the new threshold makes the wallet low, the webhook is enqueued now: no later
 * debit would cross it.
 */
export async function setLowBalance(
  db: WorldDb,
  { accountId, currency }: { readonly accountId: string; readonly currency: AccountCurrency },
  thresholdMinor: bigint | null,
  now: Date,
): Promise<void> {
  if (thresholdMinor === null) {
    await db.deleteFrom('low_balance_thresholds').where('account_id', '=', accountId).execute();
    return;
  }
  await inTransaction(db, async (trx) => {
    const crossing = await crossingAfterThresholdChange(trx, accountId, thresholdMinor);
    const wanted = { threshold_minor: thresholdMinor, updated_at: now };
    await trx
      .insertInto('low_balance_thresholds')
      .values({ account_id: accountId, ...wanted })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet(wanted))
      .execute();
    const because = { key: `${accountId}:set:${now.getTime()}`, subject: null };
    await enqueueLowBalance(trx, { ...because, accountId, currency }, crossing);
  });
}

/** Locks the wallet until the threshold is set. An account without a wallet has a balance of 0. */
async function crossingAfterThresholdChange(
  trx: WorldDb,
  accountId: string,
  thresholdMinor: bigint,
): Promise<ThresholdCrossing> {
  const wallet = await trx
    .selectFrom('wallets')
    .select('balance_minor')
    .where('account_id', '=', accountId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  const leftMinor = wallet?.balance_minor ?? 0n;
  const { rows } = await sql<ThresholdCrossing>`
    select low.*, now() as at
      from (select) here left join (
        select ${thresholdMinor}::bigint as threshold_minor, ${leftMinor}::bigint as left_minor,
               ${subscribers('wallet.low_balance', sql`${accountId}`)} as subscribers
         where ${leftMinor}::bigint < ${thresholdMinor}::bigint
           and not exists (select from low_balance_thresholds
                            where account_id = ${accountId} and ${leftMinor}::bigint < threshold_minor)
      ) low on true`.execute(trx);
  if (!rows[0]) throw new Error('a statement without a from clause has one row');
  return rows[0];
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

/**
 * What a statement that debits a wallet returns; null where the balance did not fall below the threshold.
 * `wallet.low_balance` is sent each time a debit, or a higher threshold, takes it there. The statement finds
 * out itself, under the wallet's lock, so there is no state to reset.
 */
export interface ThresholdCrossing {
  readonly threshold_minor: bigint | null;
  readonly left_minor: bigint | null;
  readonly subscribers: string[] | null;
  readonly at: Date;
}

/**
 * Locks the wallet and returns its balance before the debit, with the crossing. undefined: the account has no
 * wallet.
 */
export async function lockWalletFor(
  trx: WorldDb,
  accountId: string,
  { amountMinor }: Money,
): Promise<({ readonly balance_minor: bigint } & ThresholdCrossing) | undefined> {
  const { rows } = await sql<{ balance_minor: bigint } & ThresholdCrossing>`
    with wallet as (
      select account_id, balance_minor from wallets where account_id = ${accountId} for no key update
    )
    select wallet.balance_minor, low.*, now() as at
      from wallet,
           low_balance_crossing(wallet.account_id, wallet.balance_minor, ${amountMinor}) low`.execute(trx);
  return rows[0];
}

/** What made the wallet low. `key` is unique for ever; `subject` is the purchase or funding. */
interface BecameLow {
  readonly key: string;
  readonly subject: string | null;
  readonly accountId: string;
  readonly currency: AccountCurrency;
}

/** Call it in the transaction of the debit. */
export async function enqueueLowBalance(
  trx: WorldDb,
  { currency, ...because }: BecameLow,
  { threshold_minor, left_minor, subscribers: found, at }: ThresholdCrossing,
): Promise<void> {
  if (threshold_minor === null || left_minor === null) return;
  const facts = { balanceMinor: left_minor, thresholdMinor: threshold_minor, currency };
  const webhook = { event: 'wallet.low_balance', ...because, subscribers: found, facts, at } as const;
  await enqueueWebhook(trx, webhook);
}
