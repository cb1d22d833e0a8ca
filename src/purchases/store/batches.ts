/** Batches and their rows. What became of a row is read from its purchase, so result, ledger and supplier cannot differ. */
import { sql, type Selectable } from 'kysely';
import { DAY_MS } from '../../domain/clock.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import type { PageQuery } from '../../domain/page.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import {
  enqueueWebhook,
  newPendingMessages,
  subscribers,
  type PendingMessages,
} from '../../webhooks/store/messages.ts';
import type { BatchCounts, BatchRowCommand, BatchRowView } from '../batches/rules.ts';
import type { PurchaseInput } from '../purchase.ts';
import type { BatchesTable } from './tables.ts';

export type BatchRow = Selectable<BatchesTable>;
export interface NewBatch {
  readonly id: string;
  readonly accountId: string;
  readonly senderName: string;
  readonly currency: AccountCurrency;
  readonly totalMinor: bigint;
  readonly rows: readonly (BatchRowCommand & { readonly terms: PurchaseInput })[];
  readonly now: Date;
  /** Of batches that have not begun all their rows. */
  readonly maxBeginning: number;
  /** E-mails that an account may ask for within a day; null: any number. */
  readonly maxEmailsADay: number | null;
}

/** Its workflow starts at once. The sweep starts it if that failed. */
const FIRST_CHECK_MS = 30_000;

/** In a transaction. Accounts are counted under a lock, so requests that come together cannot pass a bound together. */
export async function insertBatch(
  trx: WorldDb,
  batch: NewBatch,
): Promise<BatchRow | 'too-many-batches' | 'too-many-emails'> {
  const { id, accountId, now, rows, maxEmailsADay } = batch;
  await sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || ' batches of ' || ${accountId}::text, 0))`.execute(
    trx,
  );
  const emails = rows.filter(({ email }) => email !== undefined).length;
  const before = await countBefore(trx, accountId, now);
  if (before.beginning >= batch.maxBeginning) return 'too-many-batches';
  if (emails > 0 && maxEmailsADay !== null && before.emails + emails > maxEmailsADay)
    return 'too-many-emails';
  const inserted = await trx
    .insertInto('batches')
    .values({
      id,
      account_id: accountId,
      sender_name: batch.senderName,
      row_count: rows.length,
      email_count: emails,
      total_minor: batch.totalMinor,
      currency: batch.currency,
      next_check_at: new Date(now.getTime() + FIRST_CHECK_MS),
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('batch_rows')
    .values(
      rows.map(({ terms, email, ...row }, index) => ({
        batch_id: id,
        row_number: index,
        reference: row.reference,
        package_code: row.packageCode,
        transaction_id: terms.transactionId,
        terms: JSON.stringify(terms),
        email: email ?? null,
        language: email === undefined ? null : (row.language ?? 'en'),
        send_at: row.sendAt ?? null,
        email_status: email === undefined ? null : ('WAITING' as const),
      })),
    )
    .execute();
  return inserted;
}

async function countBefore(trx: WorldDb, accountId: string, now: Date) {
  const since = new Date(now.getTime() - DAY_MS);
  const { rows } = await sql<{ beginning: number; emails: number }>`
    select (select count(*)::integer from batches where account_id = ${accountId} and all_begun_at is null) as beginning,
           (select coalesce(sum(email_count), 0)::integer from batches
             where account_id = ${accountId} and created_at > ${since}) as emails`.execute(trx);
  return rows[0] ?? { beginning: 0, emails: 0 };
}

export async function findBatch(
  db: WorldDb,
  accountId: string,
  batchId: string,
): Promise<BatchRow | undefined> {
  return db
    .selectFrom('batches')
    .selectAll()
    .where('id', '=', batchId)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
}

export async function listBatches(db: WorldDb, accountId: string, { page, limit }: PageQuery) {
  const total = await db
    .selectFrom('batches')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  const items = await db
    .selectFrom('batches')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset((page - 1) * limit)
    .execute();
  return { items, total: Number(total.count), page, limit };
}

/** A row's outcome, where `row` is in `batch_rows` and `purchase` its purchase, if there is one. */
const STATUS = sql<BatchRowView['status']>`
  coalesce(purchase.status, case when row.refused_reason is null then 'QUEUED' else 'FAILED' end)`;

/** By batch; a batch is closed once its counts cannot change any more, and then they are on its own row. */
export async function countRows(
  db: WorldDb,
  batches: readonly BatchRow[],
): Promise<ReadonlyMap<string, BatchCounts>> {
  const open = batches.filter(({ closed_at }) => closed_at === null).map(({ id }) => id);
  const counted = open.length === 0 ? [] : await countOpen(db, open);
  const byId = new Map(counted.map(({ batch_id, ...counts }) => [batch_id, counts]));
  return new Map(
    batches.map(({ id, row_count: rows, succeeded, failed }) => [
      id,
      {
        ...(byId.get(id) ?? { queued: 0, processing: 0, succeeded: succeeded ?? 0, failed: failed ?? 0 }),
        rows,
      },
    ]),
  );
}

type OpenCounts = Omit<BatchCounts, 'rows'> & { readonly batch_id: string };

async function countOpen(db: WorldDb, batchIds: readonly string[]): Promise<OpenCounts[]> {
  const { rows } = await sql<OpenCounts>`
    select batch_id, count(*) filter (where status = 'QUEUED')::integer as queued,
           count(*) filter (where status in ('PENDING', 'PROCESSING'))::integer as processing,
           count(*) filter (where status = 'SUCCESS')::integer as succeeded,
           count(*) filter (where status = 'FAILED')::integer as failed
      from (select row.batch_id, ${STATUS} as status
              from batch_rows row left join purchases purchase on purchase.transaction_id = row.transaction_id
             where row.batch_id = any(${[...batchIds]})) outcome
     group by batch_id`.execute(db);
  return rows;
}

/** In the order of the request, from row number `from`. */
export async function listRows(
  db: WorldDb,
  batchId: string,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<BatchRowView[]> {
  const { rows } = await sql<BatchRowView>`
    select row.row_number, row.reference, row.package_code, purchase.transaction_id, ${STATUS} as status,
           coalesce(purchase.reason, row.refused_reason) as reason, purchase.esim_id,
           row.email, row.email_status, row.send_at, row.email_closed_at
      from batch_rows row left join purchases purchase on purchase.transaction_id = row.transaction_id
     where row.batch_id = ${batchId} and row.row_number >= ${from}
     order by row.row_number limit ${limit}`.execute(db);
  return rows;
}

export interface UnbegunRow {
  readonly row_number: number;
  readonly terms: PurchaseInput;
}

/** Rows without an outcome: no purchase is written, and none was refused. */
export async function listUnbegun(db: WorldDb, batchId: string, limit: number): Promise<UnbegunRow[]> {
  const { rows } = await sql<UnbegunRow>`
    select row.row_number, row.terms from batch_rows row
     where row.batch_id = ${batchId} and row.closed_at is null
       and not exists (select from purchases where purchases.transaction_id = row.transaction_id)
     order by row.row_number limit ${limit}`.execute(db);
  return rows;
}

/** A refusal that left no purchase. Where there is one, that says how the row ended. */
export async function closeRefused(
  db: WorldDb,
  batchId: string,
  rowNumber: number,
  { reason, now }: { readonly reason: string; readonly now: Date },
): Promise<void> {
  await sql`
    update batch_rows set refused_reason = ${reason}, closed_at = ${now}, terms = null, ${emailOver(now)}
     where batch_id = ${batchId} and row_number = ${rowNumber} and closed_at is null
       and not exists (select from purchases where purchases.transaction_id = batch_rows.transaction_id)`.execute(
    db,
  );
}

const emailOver = (now: Date) => sql`
  email_status = case when email_status is null then null else 'NOT_SENT' end,
  email_closed_at = case when email_status is null then null else ${now}::timestamptz end`;

/** Rows whose purchase is closed, which never opens again. An e-mail is due once its eSIM is delivered and its date has come. */
async function closeDelivered(db: WorldDb, batchId: string, now: Date): Promise<void> {
  await sql`
    update batch_rows set closed_at = ${now}, terms = null,
           email_due_at = greatest(send_at, ${now}), email_next_at = greatest(send_at, ${now})
      from purchases
     where purchases.transaction_id = batch_rows.transaction_id and purchases.status = 'SUCCESS'
       and batch_id = ${batchId} and batch_rows.closed_at is null and email is not null`.execute(db);
  await sql`
    update batch_rows set closed_at = ${now}, terms = null, ${emailOver(now)}
      from purchases
     where purchases.transaction_id = batch_rows.transaction_id
       and (purchases.status = 'FAILED' or (purchases.status = 'SUCCESS' and email is null))
       and batch_id = ${batchId} and batch_rows.closed_at is null`.execute(db);
}

export interface BatchProgress {
  readonly counts: BatchCounts;
  readonly isClosed: boolean;
  /** Of its rows. */
  readonly hasEmailsDue: boolean;
  readonly createdAt: Date;
}

/**
 * Brings rows and batch up to what the purchases say. `nextCheckMs`: when the sweep checks that the workflow still runs, by the counts. The batch
 * is closed, once, when each purchase is; undefined: there is no such batch.
 */
export async function settleBatch(
  db: WorldDb,
  batchId: string,
  options: {
    readonly now: Date;
    readonly nextCheckMs: (progress: BatchProgress) => number;
  },
  pending: PendingMessages = newPendingMessages(),
): Promise<BatchProgress | undefined> {
  const { now, nextCheckMs } = options;
  return inTransaction(db, async (trx) => {
    const batch = await trx
      .selectFrom('batches')
      .selectAll()
      .where('id', '=', batchId)
      .forUpdate()
      .executeTakeFirst();
    if (!batch) return undefined;
    const isOpen = batch.closed_at === null;
    if (isOpen) await closeDelivered(trx, batchId, now);
    const counts = requireCounts(await countRows(trx, [batch]), batchId);
    const isClosed = counts.queued + counts.processing === 0;
    const hasEmailsDue = batch.email_count > 0 && (await hasDueEmails(trx, batchId, now));
    const progress = { counts, isClosed, hasEmailsDue, createdAt: batch.created_at };
    if (!isOpen) return progress;
    const changed = await trx
      .updateTable('batches')
      .set({
        ...(counts.queued === 0 && batch.all_begun_at === null ? { all_begun_at: now } : {}),
        ...(isClosed
          ? { closed_at: now, next_check_at: null, succeeded: counts.succeeded, failed: counts.failed }
          : { next_check_at: new Date(now.getTime() + nextCheckMs(progress)) }),
      })
      .where('id', '=', batchId)
      .returning(subscribers('batch.completed', sql.ref('batches.account_id')).as('subscribers'))
      .executeTakeFirstOrThrow();
    if (isClosed) await enqueueCompleted(trx, batch, { counts, now, ...changed }, pending);
    return progress;
  });
}

async function hasDueEmails(trx: WorldDb, batchId: string, now: Date): Promise<boolean> {
  const due = await trx
    .selectFrom('batch_rows')
    .select('row_number')
    .where('batch_id', '=', batchId)
    .where('email_next_at', '<=', now)
    .limit(1)
    .executeTakeFirst();
  return due !== undefined;
}

async function enqueueCompleted(
  trx: WorldDb,
  { id: batchId, account_id: accountId }: BatchRow,
  closed: { readonly counts: BatchCounts; readonly now: Date; readonly subscribers: string[] | null },
  pending: PendingMessages,
): Promise<void> {
  const { rows, succeeded, failed } = closed.counts;
  await enqueueWebhook(
    trx,
    {
      event: 'batch.completed',
      key: batchId,
      subject: null,
      accountId,
      subscribers: closed.subscribers,
      facts: { batchId, rows, succeeded, failed },
      at: closed.now,
    },
    pending,
  );
}

export function requireCounts(counts: ReadonlyMap<string, BatchCounts>, batchId: string): BatchCounts {
  const found = counts.get(batchId);
  if (!found) throw new Error(`${batchId} was not counted`);
  return found;
}

/** Open batches whose workflow has not shown itself in time. */
export async function leaseOverdue(
  db: WorldDb,
  { now, againAfterMs, limit }: { readonly now: Date; readonly againAfterMs: number; readonly limit: number },
): Promise<{ id: string; accountId: string }[]> {
  const { rows } = await sql<{ id: string; accountId: string }>`
    update batches set next_check_at = ${new Date(now.getTime() + againAfterMs)}
     where id in (select id from batches where closed_at is null and next_check_at <= ${now}
                   order by next_check_at limit ${limit} for update skip locked)
    returning id, account_id as "accountId"`.execute(db);
  return rows;
}
