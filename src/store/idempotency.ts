/** Answers kept for Idempotency-Keys. The row itself is written by the purchase's first step; here it is read and completed. */
import type { IdempotencyMark } from '../domain/purchase.ts';
import { asFailureReason, type Refusal } from '../domain/refusals.ts';
import type { WorldDb } from './tables.ts';

export interface IdempotencyRecord {
  readonly path: string;
  readonly fingerprint: string;
  readonly transactionId: string;
  readonly refusal: Refusal | undefined;
  readonly answer: { readonly statusCode: number; readonly body: string } | undefined;
  readonly createdAt: Date;
}

export async function findIdempotencyKey(
  db: WorldDb,
  accountId: string,
  key: string,
): Promise<IdempotencyRecord | undefined> {
  const row = await db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .executeTakeFirst();
  return (
    row && {
      path: row.path,
      fingerprint: row.fingerprint,
      transactionId: row.transaction_id,
      refusal:
        row.refusal_reason === null
          ? undefined
          : { reason: asFailureReason(row.refusal_reason), detail: row.refusal_detail ?? '' },
      answer:
        row.answer_status === null || row.answer_body === null
          ? undefined
          : { statusCode: row.answer_status, body: row.answer_body },
      createdAt: row.created_at,
    }
  );
}

/**
 * The key's row, in the transaction of what it was sent for. Another run that kept its outcome in the meantime makes this one fail and be
 * tried again: it then finds that outcome.
 */
export async function insertKey(
  trx: WorldDb,
  sent: {
    readonly transactionId: string;
    readonly accountId: string;
    readonly idempotency?: IdempotencyMark;
  },
  refusal?: Refusal,
): Promise<void> {
  if (!sent.idempotency) return;
  await trx
    .insertInto('idempotency_keys')
    .values({
      account_id: sent.accountId,
      key: sent.idempotency.key,
      path: sent.idempotency.path,
      fingerprint: sent.idempotency.fingerprint,
      transaction_id: sent.transactionId,
      refusal_reason: refusal?.reason ?? null,
      refusal_detail: refusal?.detail ?? null,
      answer_status: null,
      answer_body: null,
    })
    .execute();
}

/** Completes a key's row with its answer; the first answer stays. Returns false when there is no such row. */
export async function keepAnswer(
  db: WorldDb,
  accountId: string,
  key: string,
  answer: { readonly statusCode: number; readonly body: string },
): Promise<boolean> {
  const result = await db
    .updateTable('idempotency_keys')
    .set({ answer_status: answer.statusCode, answer_body: answer.body })
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .where('answer_status', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Forgets keys older than the promised 30 days; returns how many. */
export async function forgetOldKeys(db: WorldDb, before: Date): Promise<number> {
  const result = await db.deleteFrom('idempotency_keys').where('created_at', '<', before).executeTakeFirst();
  return Number(result.numDeletedRows);
}
