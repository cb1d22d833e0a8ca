/** Wallets being funded from outside, one transaction a step. */
import { sql, type Selectable } from 'kysely';
import type { FundingInput } from '../funding-rules.ts';
import type { FailureReason } from '../../domain/refusals.ts';
import { insertKey } from '../../platform/idempotency/store.ts';
import type { FundingsTable, WorldDb } from '../../platform/database/tables.ts';

export type FundingRow = Selectable<FundingsTable>;

/** Writes the funding and its idempotency row together. Twice is once. */
export async function openFunding(db: WorldDb, input: FundingInput, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const inserted = await trx
      .insertInto('fundings')
      .values({
        transaction_id: input.transactionId,
        account_id: input.accountId,
        payment_method: input.paymentMethod,
        status: 'PENDING',
        reason: null,
        amount_minor: BigInt(input.amountMinor),
        currency: input.currency,
        needs_attention_since: null,
        attention_reason: null,
        request_id: input.requestId,
        created_at: now,
        closed_at: null,
      })
      .onConflict((conflict) => conflict.column('transaction_id').doNothing())
      .executeTakeFirst();
    if (inserted.numInsertedOrUpdatedRows !== 0n) await insertKey(trx, input);
  });
}

/** Never paid: closes it. `paid`: money came first. Twice is once. */
export async function closeFundingUnpaid(
  db: WorldDb,
  transactionId: string,
  reason: FailureReason,
): Promise<'closed' | 'paid'> {
  await close(db, transactionId, { status: 'FAILED', reason });
  return (await findFunding(db, transactionId))?.status === 'SUCCESS' ? 'paid' : 'closed';
}

/** Money came into the wallet. */
export async function closeFundingPaid(db: WorldDb, transactionId: string): Promise<void> {
  await close(db, transactionId, { status: 'SUCCESS' });
}

/** One that is open; nobody is needed for it any more. */
async function close(
  db: WorldDb,
  transactionId: string,
  how: { readonly status: 'FAILED'; readonly reason: FailureReason } | { readonly status: 'SUCCESS' },
): Promise<void> {
  await db
    .updateTable('fundings')
    .set({
      ...how,
      closed_at: sql`now()`,
      updated_at: sql`now()`,
      needs_attention_since: null,
      attention_reason: null,
    })
    .where('transaction_id', '=', transactionId)
    .where('status', '=', 'PENDING')
    .execute();
}

export function findFunding(db: WorldDb, transactionId: string): Promise<FundingRow | undefined> {
  return db.selectFrom('fundings').selectAll().where('transaction_id', '=', transactionId).executeTakeFirst();
}
