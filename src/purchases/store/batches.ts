/**
 * Batches and their rows. What became of a row is read from its purchase, so result, ledger and supplier
 * cannot differ.
 */
import { sql } from 'kysely';
import { DAY_MS } from '../../domain/clock.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import {
  closeJob,
  findJob,
  insertJob,
  updateJob,
  type Job,
  type JobFields,
  type JobRow,
} from '../../jobs/store/jobs.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { lockByName } from '../../platform/database/transactions.ts';
import { enqueueWebhook, subscribers } from '../../webhooks/store/messages.ts';
import type { BatchCounts, BatchRowCommand, BatchRowView, CancelReason } from '../batches/rules.ts';
import type { PurchaseInput } from '../purchase.ts';

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
  readonly maxEmailsADay: number;
  /** Of batches that wait for their start. */
  readonly maxScheduled: number;
  /** Bought then, at the prices of then. */
  readonly later?: { readonly startAt: Date; readonly caller: string; readonly maxTotalMinor: bigint | null };
}

/** Its workflow starts at once. The sweep starts it if that failed. */
const FIRST_CHECK_MS = 30_000;

/**
 * In a transaction. Accounts are counted under a lock, so requests that come together cannot pass a bound
 * together.
 */
export async function insertBatch(
  trx: WorldDb,
  batch: NewBatch,
): Promise<JobFields | 'too-many-batches' | 'too-many-emails'> {
  const { id, accountId, now, rows, maxEmailsADay, later } = batch;
  await lockByName(trx, `batches of ${accountId}`);
  const emails = rows.filter(({ email }) => email !== undefined).length;
  const before = await countBefore(trx, accountId, now);
  if (later ? before.scheduled >= batch.maxScheduled : before.beginning >= batch.maxBeginning)
    return 'too-many-batches';
  if (emails > 0 && before.emails + emails > maxEmailsADay) return 'too-many-emails';
  return insertJob(
    trx,
    {
      id,
      kind: 'order',
      ...(later
        ? {
            status: 'SCHEDULED',
            start_at: later.startAt,
            caller: later.caller,
            max_total_minor: later.maxTotalMinor,
          }
        : { status: 'RUNNING', next_check_at: new Date(now.getTime() + FIRST_CHECK_MS) }),
      account_id: accountId,
      sender_name: batch.senderName,
      email_count: emails,
      total_minor: batch.totalMinor,
      currency: batch.currency,
      created_at: now,
    },
    rows.map(({ terms, email, ...row }, index) => ({
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
  );
}

async function countBefore(trx: WorldDb, accountId: string, now: Date) {
  const since = new Date(now.getTime() - DAY_MS);
  const { rows } = await sql<{ beginning: number; scheduled: number; emails: number }>`
    select count(*) filter (where status = 'RUNNING')::integer as beginning,
           count(*) filter (where status = 'SCHEDULED')::integer as scheduled,
           (select coalesce(sum(email_count), 0)::integer from jobs
             where kind = 'order' and account_id = ${accountId} and created_at > ${since}) as emails
      from jobs where kind = 'order' and account_id = ${accountId} and all_begun_at is null and closed_at is null`.execute(
    trx,
  );
  return rows[0] ?? { beginning: 0, scheduled: 0, emails: 0 };
}

/** A row's outcome, where `row` is in `job_rows` and `purchase` its purchase, if there is one. */
const STATUS = sql<BatchRowView['status']>`
  coalesce(purchase.status, case when row.status in ('REFUSED', 'SKIPPED') then 'FAILED' else 'QUEUED' end)`;

/** By batch. While it is open its purchases say how it stands, afterwards its own row. */
export async function countRows(db: WorldDb, batches: readonly Job[]): Promise<Map<string, BatchCounts>> {
  const open = batches.filter(({ closed_at }) => closed_at === null).map(({ id }) => id);
  const counted = open.length === 0 ? [] : await countOpen(db, open);
  const byId = new Map(counted.map(({ job_id, ...counts }) => [job_id, counts]));
  return new Map(
    batches.map(({ id, row_count: rows, counts: { done, refused, skipped } }) => [
      id,
      { ...(byId.get(id) ?? { queued: 0, processing: 0, succeeded: done, failed: refused + skipped }), rows },
    ]),
  );
}

type OpenCounts = Omit<BatchCounts, 'rows'> & { readonly job_id: string };

async function countOpen(db: WorldDb, batchIds: readonly string[]): Promise<OpenCounts[]> {
  const { rows } = await sql<OpenCounts>`
    select job_id, count(*) filter (where status = 'QUEUED')::integer as queued,
           count(*) filter (where status in ('PENDING', 'PROCESSING'))::integer as processing,
           count(*) filter (where status = 'SUCCESS')::integer as succeeded,
           count(*) filter (where status = 'FAILED')::integer as failed
      from (select row.job_id, ${STATUS} as status
              from job_rows row left join purchases purchase on purchase.transaction_id = row.transaction_id
             where row.job_id = any(${[...batchIds]})) outcome
     group by job_id`.execute(db);
  return rows;
}

/** In the order of the request, from row number `from`. */
export async function listBatchRows(
  db: WorldDb,
  batchId: string,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<BatchRowView[]> {
  const { rows } = await sql<BatchRowView>`
    select row.row_number, row.reference, row.package_code, purchase.transaction_id, ${STATUS} as status,
           coalesce(purchase.reason, row.detail) as reason, purchase.esim_id,
           row.email, row.email_status, row.language, row.send_at, row.email_closed_at,
           purchase.price_minor, purchase.currency, esim.iccid
      from job_rows row left join purchases purchase on purchase.transaction_id = row.transaction_id
           left join esims esim on esim.id = purchase.esim_id
     where row.job_id = ${batchId} and row.row_number >= ${from}
     order by row.row_number limit ${limit}`.execute(db);
  return rows;
}

/** Of an open `row`: no purchase is written. */
export const IS_UNBEGUN = sql<boolean>`
  not exists (select from purchases where purchases.transaction_id = row.transaction_id)`;

/** A refusal that left no purchase. Where there is one, that says how the row ended. */
export async function closeRefused(
  db: WorldDb,
  row: { readonly job_id: string; readonly row_number: number },
  { reason, now }: { readonly reason: string; readonly now: Date },
): Promise<void> {
  await sql`
    update job_rows row set status = 'REFUSED', detail = ${reason}, closed_at = ${now}, terms = null, ${emailOver(now)}
     where job_id = ${row.job_id} and row_number = ${row.row_number} and closed_at is null and ${IS_UNBEGUN}`.execute(
    db,
  );
}

const emailOver = (now: Date) => sql`
  email_status = case when email_status is null then null else 'NOT_SENT' end,
  email_closed_at = case when email_status is null then null else ${now}::timestamptz end`;

/**
 * Ends the rows whose purchase is closed, which never opens again. An e-mail is due once its eSIM is
 * delivered and its date has come. Notes when all rows have begun.
 */
export async function settleBatchRows(trx: WorldDb, batchId: string, now: Date): Promise<void> {
  const ended = sql`
      from purchases
     where purchases.transaction_id = row.transaction_id and row.job_id = ${batchId} and row.closed_at is null`;
  await sql`
    update job_rows row set status = 'DONE', closed_at = ${now}, terms = null,
           email_due_at = case when email is not null then greatest(send_at, ${now}) end,
           email_next_at = case when email is not null then greatest(send_at, ${now}) end
    ${ended} and purchases.status = 'SUCCESS'`.execute(trx);
  await sql`
    update job_rows row set status = 'REFUSED', closed_at = ${now}, terms = null, ${emailOver(now)}
    ${ended} and purchases.status = 'FAILED'`.execute(trx);
  await sql`
    update jobs set all_begun_at = ${now}
     where id = ${batchId} and all_begun_at is null
       and not exists (select from job_rows row where job_id = ${batchId} and closed_at is null and ${IS_UNBEGUN})`.execute(
    trx,
  );
}

/**
 * Batches whose start has come by the database's clock. Of more than `limit` any: those that cannot start
 * keep no others waiting.
 */
export async function listDueStarts(db: WorldDb, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from (select id, start_at from jobs where status = 'SCHEDULED' and start_at <= clock_timestamp()
                     order by random() limit ${limit}) due
     order by start_at`.execute(db);
  return rows.map(({ id }) => id);
}

export interface ScheduledBatch extends JobFields {
  /** Since its start was due; negative before. */
  readonly late_ms: number;
  /** Others of the account that have not begun all their rows. */
  readonly beginning: number;
}

/**
 * For the transaction. Undefined where it does not wait for its start any more, or where another one has it
 * and this one does not wait for that.
 */
export async function lockScheduled(
  trx: WorldDb,
  batchId: string,
  ifLocked: 'waits' | 'skips' = 'skips',
): Promise<ScheduledBatch | undefined> {
  const { rows } = await sql<ScheduledBatch>`
    select jobs.*, (extract(epoch from clock_timestamp() - start_at) * 1000)::float8 as late_ms,
           (select count(*)::integer from jobs other where other.kind = 'order' and other.account_id = jobs.account_id
               and other.status = 'RUNNING' and other.all_begun_at is null) as beginning
      from jobs where id = ${batchId} and status = 'SCHEDULED' for update
      ${sql.raw(ifLocked === 'skips' ? 'skip locked' : '')}`.execute(trx);
  return rows[0];
}

/** Lets the workers buy its rows by these terms; a row without terms is refused. */
export async function startBatch(
  trx: WorldDb,
  batchId: string,
  {
    rows,
    totalMinor,
    now,
  }: {
    readonly rows: readonly { readonly row_number: number; readonly terms: PurchaseInput | undefined }[];
    readonly totalMinor: bigint;
    readonly now: Date;
  },
): Promise<void> {
  for (const { row_number, terms } of rows)
    if (terms) await setTerms(trx, { job_id: batchId, row_number }, terms);
    else await closeRefused(trx, { job_id: batchId, row_number }, { reason: 'PACKAGE_WITHDRAWN', now });
  const next_check_at = new Date(now.getTime() + FIRST_CHECK_MS);
  await updateJob(trx, batchId, {
    ...{ status: 'RUNNING', next_check_at },
    started_total_minor: totalMinor === 0n ? null : totalMinor,
  });
}

const setTerms = (
  trx: WorldDb,
  { job_id, row_number }: Pick<JobRow, 'job_id' | 'row_number'>,
  terms: PurchaseInput,
) =>
  trx
    .updateTable('job_rows')
    .set({ terms: JSON.stringify(terms) })
    .where('job_id', '=', job_id)
    .where('row_number', '=', row_number)
    .execute();

/** Ends it with nothing bought, and tells its merchant. */
export async function cancelScheduled(
  trx: WorldDb,
  { id }: Pick<JobFields, 'id'>,
  { reason, now }: { readonly reason: CancelReason; readonly now: Date },
): Promise<void> {
  await sql`
    update job_rows row set status = 'SKIPPED', detail = ${reason}, closed_at = ${now}, terms = null, ${emailOver(now)}
     where job_id = ${id} and closed_at is null`.execute(trx);
  await closeJob(trx, id, { status: 'STOPPED', cancel_reason: reason }, now);
  const closed = await findJob(trx, id, 'order');
  if (closed) await enqueueCompleted(trx, closed, now);
}

/** Whether an e-mail of its rows is due. */
export async function hasDueEmails(db: WorldDb, batchId: string, now: Date): Promise<boolean> {
  const due = await db
    .selectFrom('job_rows')
    .select('row_number')
    .where('job_id', '=', batchId)
    .where('email_next_at', '<=', now)
    .limit(1)
    .executeTakeFirst();
  return due !== undefined;
}

export async function enqueueCompleted(
  trx: WorldDb,
  { id: batchId, account_id: accountId, row_count: rows, counts }: Job,
  now: Date,
): Promise<void> {
  const to = await trx
    .selectFrom('jobs')
    .select(subscribers('batch.completed', sql.ref('jobs.account_id')).as('subscribers'))
    .where('id', '=', batchId)
    .executeTakeFirstOrThrow();
  const facts = { batchId, rows, succeeded: counts.done, failed: counts.refused + counts.skipped };
  await enqueueWebhook(trx, {
    event: 'batch.completed',
    key: batchId,
    subject: null,
    accountId,
    ...to,
    facts,
    at: now,
  });
}
