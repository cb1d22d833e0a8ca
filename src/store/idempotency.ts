/** Answers kept for Idempotency-Keys. The row itself is written by the purchase's first step; here it is read and completed. */
import { sql, type RawBuilder } from 'kysely';
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

/** What was sent under a key, and what it is about. */
export interface Sent {
  readonly transactionId: string;
  readonly accountId: string;
  readonly idempotency?: IdempotencyMark;
}

/**
 * The key's row, in the transaction of what it was sent for; one that beginKey made is taken over with its answer. Another run that kept its
 * outcome in the meantime makes this one fail and be tried again: it then finds that outcome.
 */
export async function insertKey(trx: WorldDb, sent: Sent, refusal?: Refusal): Promise<void> {
  const queries = keepingKey(sent, refusal, sql<boolean>`true`);
  if (queries.length > 0) await sql`with ${sql.join(queries)} select`.execute(trx);
}

/** Queries for a `with` that do the same where `only` holds; none where there is no key. */
export function keepingKey(
  { accountId, transactionId, idempotency }: Sent,
  refusal: Refusal | undefined,
  only: RawBuilder<boolean>,
): RawBuilder<unknown>[] {
  if (!idempotency) return [];
  const { key, path, fingerprint } = idempotency;
  const [reason, detail] = [refusal?.reason ?? null, refusal?.detail ?? null];
  return [
    sql`taken as (
      update idempotency_keys set begun = false, refusal_reason = ${reason}, refusal_detail = ${detail}
       where account_id = ${accountId} and key = ${key} and transaction_id = ${transactionId} and begun and ${only}
      returning key
    )`,
    sql`kept as (
      insert into idempotency_keys (account_id, key, path, fingerprint, transaction_id, refusal_reason, refusal_detail)
      select ${accountId}, ${key}, ${path}, ${fingerprint}, ${transactionId}, ${reason}, ${detail}
       where ${only} and not exists (select from taken)
    )`,
  ];
}

/**
 * The key's row for a caller who is answered before the first step has written one, so that this answer is kept like any other. Nothing where
 * there is one already.
 */
export async function beginKey(db: WorldDb, { transactionId, accountId, idempotency }: Sent): Promise<void> {
  if (!idempotency) return;
  await db
    .insertInto('idempotency_keys')
    .values({
      account_id: accountId,
      key: idempotency.key,
      path: idempotency.path,
      fingerprint: idempotency.fingerprint,
      transaction_id: transactionId,
      refusal_reason: null,
      refusal_detail: null,
      answer_status: null,
      answer_body: null,
      begun: true,
    })
    .onConflict((conflict) => conflict.columns(['account_id', 'key']).doNothing())
    .execute();
}

/** The key that a purchase or a funding was asked for with, while it is remembered. */
export async function findMarkOf(
  db: WorldDb,
  accountId: string,
  transactionId: string,
): Promise<IdempotencyMark | undefined> {
  return db
    .selectFrom('idempotency_keys')
    .select(['key', 'path', 'fingerprint'])
    .where('account_id', '=', accountId)
    .where('transaction_id', '=', transactionId)
    .executeTakeFirst();
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
