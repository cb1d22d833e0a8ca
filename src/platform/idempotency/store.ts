import { sql, type RawBuilder, type Selectable } from 'kysely';
import { asFailureReason, refusalOf, type Refusal } from '../../domain/refusals.ts';
import { callFunction } from '../database/functions.ts';
import { inBatches } from '../database/retention.ts';
import type { IdempotencyKeysTable, WorldDb } from '../database/tables.ts';
import type { IdempotencyKeyInfo, IdempotencyRecord, StoredAnswer } from './tag.ts';

/** Another request with the same key wrote its row first. */
export const KEY_TAKEN = 'idempotency_keys_pkey';

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
 * The key's row, and whether this id was ever used, in one statement. A purchase and its key's row are
 * written in one transaction, so a used id without a row belongs to a forgotten key.
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
        : refusalOf(asFailureReason(row.refusal_reason), row.refusal_detail ?? ''),
    isBegun: row.begun,
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
 * Writes the key's row in the transaction of its request. A row from beginKey is completed and keeps its
 * answer. If another run has written its outcome in the meantime, this one fails, is retried and finds that
 * outcome.
 */
export async function insertKey(
  trx: WorldDb,
  { accountId, transactionId, idempotency }: Sent,
): Promise<void> {
  if (!idempotency) return;
  const { key, path, fingerprint, follows = null } = idempotency;
  const args = { transaction_id: transactionId, account_id: accountId, key, path, fingerprint, follows };
  await callFunction(trx, 'take_key', args);
}

/** The key's last request was refused without effect, and it is the one that this request follows. */
function isFreeFor({ follows }: IdempotencyKeyInfo): RawBuilder<boolean> {
  if (follows === undefined) return sql<boolean>`false`;
  return sql<boolean>`idempotency_keys.refusal_reason is not null and idempotency_keys.transaction_id = ${follows}`;
}

/**
 * Writes the key's row if the key is free: `begun` for a caller who is answered now, or with the refusal that
 * frees the key. Returns the row as it then is; the first writer wins.
 */
async function claimKey(
  db: WorldDb,
  { accountId, transactionId, idempotency }: Required<Sent>,
  refusal: Refusal | undefined,
): Promise<IdempotencyRecord> {
  const { key, path, fingerprint } = idempotency;
  const [reason, detail] = [refusal?.reason ?? null, refusal?.detail ?? null];
  const { rows } = await sql<IdempotencyRow>`
    insert into idempotency_keys (account_id, key, path, fingerprint, transaction_id, begun, refusal_reason, refusal_detail)
    values (${accountId}, ${key}, ${path}, ${fingerprint}, ${transactionId}, ${!refusal}, ${reason}, ${detail})
    on conflict (account_id, key) do update
       set path = excluded.path, fingerprint = excluded.fingerprint, transaction_id = excluded.transaction_id,
           begun = excluded.begun, refusal_reason = excluded.refusal_reason, refusal_detail = excluded.refusal_detail,
           created_at = now()
     where ${isFreeFor(idempotency)}
    returning *`.execute(db);
  if (rows[0]) return toRecord(rows[0]);
  const record = await findIdempotencyKey(db, accountId, key);
  if (!record) throw new Error(`the row of the key of ${transactionId} was deleted in between`);
  return record;
}

/**
 * For a caller who is answered before the first step has run, so that the answer can be kept. Returns whose
 * row it is; undefined without a key.
 */
export async function beginKey(
  db: WorldDb,
  { idempotency, ...sent }: Sent,
): Promise<IdempotencyRecord | undefined> {
  return idempotency && claimKey(db, { ...sent, idempotency }, undefined);
}

/**
 * Frees the key of a request that is refused for the next one. Whether its caller has an answer already: then
 * that answer stays. Nothing changes where another run has opened the request, or the key belongs to another
 * one.
 */
export async function refuseKey(
  trx: WorldDb,
  { idempotency, ...sent }: Sent,
  refusal: Refusal,
): Promise<boolean> {
  if (!idempotency) return false;
  const { accountId, transactionId } = sent;
  const owner = await claimKey(trx, { ...sent, idempotency }, refusal);
  if (owner.transactionId !== transactionId || !owner.isBegun) return false;
  await trx
    .updateTable('idempotency_keys')
    .set({ begun: false })
    .where('account_id', '=', accountId)
    .where('key', '=', idempotency.key)
    .where('transaction_id', '=', transactionId)
    .execute();
  return true;
}

/** Whether the key has the row of another request, which this one does not follow. */
export async function isKeyOfAnother(
  db: WorldDb,
  { accountId, transactionId, idempotency }: Sent,
): Promise<boolean> {
  const owner = idempotency && (await findIdempotencyKey(db, accountId, idempotency.key));
  if (!owner || owner.transactionId === transactionId) return false;
  return !(owner.refusal && owner.transactionId === idempotency.follows);
}

/**
 * Refuses the id before anything is opened under it: a slower request with the same key, which was accepted a
 * moment ago, is then refused by its first step. Returns the key's row, which may be of another request that
 * was faster.
 */
export function refuseUnopened(
  db: WorldDb,
  sent: Required<Sent>,
  refusal: Refusal,
): Promise<IdempotencyRecord> {
  return db.transaction().execute(async (trx) => {
    const owner = await claimKey(trx, sent, refusal);
    if (owner.transactionId === sent.transactionId && owner.refusal)
      await keepRefusedId(trx, sent.transactionId, refusal);
    return owner;
  });
}

/**
 * Keeps a refusal that leaves no other row, so that what was refused is not opened when it is sent again. The
 * first refusal stays.
 */
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

/**
 * Adds the answer to the row of its own request; the first answer stays. Returns false if there is no such
 * row, or an earlier answer. A refusal is only kept for the transaction that it is about: what was refused
 * without effect has no row. A row of another write has the id of what it made.
 */
export async function keepAnswer(
  db: WorldDb,
  { accountId, key, path, fingerprint, transactionId }: AnswerOwner,
  answer: StoredAnswer,
): Promise<boolean> {
  const isSuccess = answer.statusCode < 400;
  const result = await db
    .updateTable('idempotency_keys')
    .set({ answer_status: answer.statusCode, answer_body: answer.body })
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .where('path', '=', path)
    .where('fingerprint', '=', fingerprint)
    .where('answer_status', 'is', null)
    .where('refusal_reason', 'is', null)
    .where(
      sql<boolean>`(transaction_id = ${transactionId} or ${isSuccess} and transaction_id not like 'txn-%')`,
    )
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Whose answer it is. `transactionId`: the id that its request had, see findRequest. */
export interface AnswerOwner extends Pick<IdempotencyKeyInfo, 'key' | 'path' | 'fingerprint'> {
  readonly accountId: string;
  readonly transactionId: string;
}

/**
 * Deletes older keys in batches; returns how many. A key whose purchase is not opened yet (`begun`) is kept.
 * A refused request leaves no purchase, so its id is retired: a reused key must not find the old workflow,
 * which Temporal may still remember. The ids before it are older. A day more lets Temporal forget those.
 */
export function forgetOldKeys(db: WorldDb, before: Date, isOver?: () => boolean): Promise<number> {
  return inBatches(async (limit) => {
    const { rows } = await sql<{ count: bigint }>`
      with old as (
        select account_id, key from idempotency_keys
         where created_at < ${before} and not begun
           and (refusal_reason is null or created_at < ${before}::timestamptz - interval '1 day')
         order by created_at limit ${limit} for update skip locked
      ), forgotten as (
        delete from idempotency_keys using old
         where idempotency_keys.account_id = old.account_id and idempotency_keys.key = old.key
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
