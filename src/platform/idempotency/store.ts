import { sql, type RawBuilder, type Selectable } from 'kysely';
import { asFailureReason, type Refusal } from '../../domain/refusals.ts';
import { inBatches } from '../database/retention.ts';
import type { IdempotencyKeysTable, WorldDb } from '../database/tables.ts';
import type { IdempotencyKeyInfo, IdempotencyRecord, StoredAnswer } from './tag.ts';

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
  return row && toRecord(row);
}

/**
 * The key's row, and whether this id was ever used, in one statement. A purchase and its key's row are written in one transaction, so a used id
 * without a row belongs to a forgotten key.
 */
export async function findKeyOrUsed(
  db: WorldDb,
  accountId: string,
  key: string,
  transactionId: string,
): Promise<{ readonly record: IdempotencyRecord | undefined; readonly isUsed: boolean }> {
  const { is_used, ...row } = await db
    .selectFrom(
      sql<{ is_used: boolean }>`(select exists (select from purchases where transaction_id = ${transactionId})
                                     or exists (select from fundings where transaction_id = ${transactionId})
                                     or exists (select from retired_transaction_ids where transaction_id = ${transactionId}) as is_used)`.as(
        'id',
      ),
    )
    .leftJoin('idempotency_keys as keys', (join) =>
      join.on('keys.account_id', '=', accountId).on('keys.key', '=', key),
    )
    .selectAll('keys')
    .select('id.is_used')
    .executeTakeFirstOrThrow();
  return { record: row.key === null ? undefined : toRecord(row as IdempotencyRow), isUsed: is_used };
}

type IdempotencyRow = Selectable<IdempotencyKeysTable>;

function toRecord(row: IdempotencyRow): IdempotencyRecord {
  return {
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
  };
}

export interface Sent {
  readonly transactionId: string;
  readonly accountId: string;
  readonly idempotency?: IdempotencyKeyInfo;
}

/**
 * Writes the key's row in the transaction of its request; a row from beginKey is completed and keeps its answer. If another run has kept its outcome in
 * the meantime, this one fails, is retried and finds that outcome.
 */
export async function insertKey(trx: WorldDb, sent: Sent, refusal?: Refusal): Promise<void> {
  const queries = keepingKey(sent, refusal, sql<boolean>`true`);
  if (queries.length > 0) await sql`with ${sql.join(queries)} select`.execute(trx);
}

/** The same as CTEs that write only if `only` is true; none without a key. */
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

/** Writes the key's row for a caller who is answered before the first step has, so that the answer can be kept. An existing row stays. */
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
      begun: true,
    })
    .onConflict((conflict) => conflict.columns(['account_id', 'key']).doNothing())
    .execute();
}

/**
 * Frees the key of a request that was refused for now: the same request under it is a new one, under another id. If its caller was answered before the
 * refusal, that answer stays.
 */
export async function releaseKey(
  trx: WorldDb,
  { accountId, transactionId, idempotency }: Sent,
): Promise<void> {
  if (!idempotency) return;
  await sql`
    with answered as (
      update idempotency_keys set begun = false
       where account_id = ${accountId} and key = ${idempotency.key} and transaction_id = ${transactionId} and begun
      returning key
    )
    insert into retired_transaction_ids (transaction_id)
    select ${transactionId} where not exists (select from answered)
    on conflict do nothing`.execute(trx);
}

/** Keeps a refusal that leaves no other row, so that what was refused is not opened when it is sent again. The first refusal stays. */
export async function keepRefusedId(
  trx: WorldDb,
  transactionId: string,
  { reason, detail }: Refusal,
): Promise<void> {
  await trx
    .insertInto('refused_transaction_ids')
    .values({ transaction_id: transactionId, reason, detail })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Deletes older refusals in batches; returns how many. */
export function forgetRefusedIds(db: WorldDb, before: Date, isOver?: () => boolean): Promise<number> {
  return inBatches(async (limit) => {
    const { numAffectedRows } = await sql`
      delete from refused_transaction_ids where transaction_id in (
        select transaction_id from refused_transaction_ids where refused_at < ${before}
         order by refused_at limit ${limit})`.execute(db);
    return Number(numAffectedRows ?? 0n);
  }, isOver);
}

/** The key of a purchase or funding, while it is remembered. */
export async function findMarkOf(
  db: WorldDb,
  accountId: string,
  transactionId: string,
): Promise<IdempotencyKeyInfo | undefined> {
  return db
    .selectFrom('idempotency_keys')
    .select(['key', 'path', 'fingerprint'])
    .where('account_id', '=', accountId)
    .where('transaction_id', '=', transactionId)
    .executeTakeFirst();
}

/** Adds the answer to the key's row; the first answer stays. Returns false if there is no row, or an earlier answer. */
export async function keepAnswer(
  db: WorldDb,
  accountId: string,
  key: string,
  answer: StoredAnswer,
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

/**
 * Deletes older keys in batches; returns how many. A key whose purchase is not opened yet (`begun`) is kept. A refused request leaves no purchase, so its
 * id is retired: a reused key must not find the old workflow, which Temporal may still remember.
 */
export function forgetOldKeys(db: WorldDb, before: Date, isOver?: () => boolean): Promise<number> {
  return inBatches(async (limit) => {
    const { rows } = await sql<{ count: bigint }>`
      with forgotten as (
        delete from idempotency_keys where (account_id, key) in (
          select account_id, key from idempotency_keys where created_at < ${before} and not begun
           order by created_at limit ${limit} for update skip locked)
        returning transaction_id
      ), retired as (
        insert into retired_transaction_ids (transaction_id)
        select transaction_id from forgotten
         where transaction_id like 'txn-%'
           and not exists (select from purchases where purchases.transaction_id = forgotten.transaction_id)
           and not exists (select from fundings where fundings.transaction_id = forgotten.transaction_id)
        on conflict do nothing
      )
      select count(*) from forgotten`.execute(db);
    return Number(rows[0]?.count ?? 0);
  }, isOver);
}
