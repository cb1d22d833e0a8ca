/** Jobs and their rows, of all kinds. */
import { sql, type Insertable, type RawBuilder, type Selectable, type Updateable } from 'kysely';
import type { Page, PageQuery } from '../../domain/page.ts';
import type { WorldDatabase, WorldDb } from '../../platform/database/tables.ts';
import type { JobRef } from '../engine.ts';
import { JOB_KINDS, type JobCounts, type JobKind, type JobRowStatus, type JobStatus } from '../rules.ts';

export type JobRow = Selectable<WorldDatabase['job_rows']>;
export type JobFields = Selectable<WorldDatabase['jobs']>;
export type Job = JobFields & { readonly counts: JobCounts };

type NewJob = Omit<Insertable<WorldDatabase['jobs']>, 'row_count'>;
type NewRow = Omit<Insertable<WorldDatabase['job_rows']>, 'job_id' | 'kind'>;

/** With all its rows, or not at all: in a transaction. */
export async function insertJob(trx: WorldDb, job: NewJob, rows: readonly NewRow[]): Promise<JobFields> {
  const { id, kind } = job;
  const inserted = await trx
    .insertInto('jobs')
    .values({ ...job, row_count: rows.length })
    .returningAll()
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('job_rows')
    .values(rows.map((row) => ({ ...row, job_id: id, kind })))
    .execute();
  return inserted;
}

/** By the status of the rows. */
const COUNTS = sql<JobCounts>`case
  when jobs.closed_at is null then (
    select jsonb_build_object(
      'waiting', count(*) filter (where status = 'WAITING'), 'done', count(*) filter (where status = 'DONE'),
      'refused', count(*) filter (where status = 'REFUSED'), 'unknown', count(*) filter (where status = 'UNKNOWN'),
      'skipped', count(*) filter (where status = 'SKIPPED'))
      from job_rows where job_id = jobs.id)
  else jsonb_build_object('waiting', 0, 'done', done, 'refused', refused, 'unknown', unknown, 'skipped', skipped)
  end`.as('counts');

/** `kind`: undefined for any. */
export function findJob(db: WorldDb, id: string, kind?: JobKind): Promise<Job | undefined> {
  return db
    .selectFrom('jobs')
    .selectAll()
    .select(COUNTS)
    .where('id', '=', id)
    .where('kind', 'in', kind === undefined ? JOB_KINDS : [kind])
    .executeTakeFirst();
}

export const lockJob = (trx: WorldDb, id: string, kind: JobKind): Promise<JobFields | undefined> =>
  trx
    .selectFrom('jobs')
    .selectAll()
    .where('id', '=', id)
    .where('kind', '=', kind)
    .forUpdate()
    .executeTakeFirst();

/** Newest first. */
export async function listJobs(
  db: WorldDb,
  which: {
    readonly kind: JobKind;
    readonly accountId?: string | undefined;
    readonly isOpen?: boolean | undefined;
  },
  { page, limit }: PageQuery,
): Promise<Page<Job>> {
  const { kind, accountId, isOpen } = which;
  const wanted = db
    .selectFrom('jobs')
    .where((eb) => eb.and(accountId === undefined ? { kind } : { kind, account_id: accountId }))
    .$if(isOpen !== undefined, (query) => query.where('closed_at', isOpen ? 'is' : 'is not', null));
  const [items, counted] = await Promise.all([
    wanted
      .selectAll()
      .select(COUNTS)
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .offset((page - 1) * limit)
      .limit(limit)
      .execute(),
    wanted.select(({ fn }) => fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items, total: Number(counted.total), page, limit };
}

/** At most 500, in their order. */
export function listRows(db: WorldDb, jobId: string): Promise<JobRow[]> {
  return db.selectFrom('job_rows').selectAll().where('job_id', '=', jobId).orderBy('row_number').execute();
}

/** Open rows whose turn it is; none where the job does not run, or is to stop. `isDue` speaks of `row`. */
export async function listDueRows(
  db: WorldDb,
  jobId: string,
  which: { readonly now: Date; readonly limit: number; readonly isDue?: RawBuilder<boolean> | undefined },
): Promise<JobRow[]> {
  const { rows } = await sql<JobRow>`
    select row.* from job_rows row join jobs on jobs.id = row.job_id
     where row.job_id = ${jobId} and row.closed_at is null and (row.next_at is null or row.next_at <= ${which.now})
       and jobs.status = 'RUNNING' and jobs.stop_asked_at is null and ${which.isDue ?? sql`true`}
     order by row.row_number limit ${which.limit}`.execute(db);
  return rows;
}

/** null: no row without an end waits for its time. */
export async function findNextRowAt(db: WorldDb, jobId: string): Promise<Date | null> {
  const next = await db
    .selectFrom('job_rows')
    .select(({ fn }) => fn.min('next_at').as('at'))
    .where('job_id', '=', jobId)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  return next?.at ?? null;
}

type RowEnd =
  | { readonly status: Exclude<JobRowStatus, 'WAITING'>; readonly detail: string }
  /** No outcome yet: tried again at this time. */
  | { readonly nextAt: Date; readonly detail: string };

/** Notes an attempt. The first end of a row stays. */
export async function noteRow(
  db: WorldDb,
  row: Pick<JobRow, 'job_id' | 'row_number'>,
  end: RowEnd,
  now: Date,
): Promise<void> {
  const fields =
    'nextAt' in end
      ? { next_at: end.nextAt, detail: end.detail }
      : { status: end.status, detail: end.detail, closed_at: now, terms: null };
  await db
    .updateTable('job_rows')
    .set((eb) => ({ ...fields, attempts: eb('attempts', '+', 1) }))
    .where('job_id', '=', row.job_id)
    .where('row_number', '=', row.row_number)
    .where('closed_at', 'is', null)
    .execute();
}

export const updateJob = (trx: WorldDb, id: string, fields: Updateable<WorldDatabase['jobs']>) =>
  trx.updateTable('jobs').set(fields).where('id', '=', id).execute();

/** Ends a job. Rows without an end are skipped. */
export async function closeJob(
  trx: WorldDb,
  id: string,
  fields: Updateable<WorldDatabase['jobs']> & { readonly status: JobStatus },
  now: Date,
): Promise<void> {
  await trx
    .updateTable('job_rows')
    .set({ status: 'SKIPPED', closed_at: now })
    .where('job_id', '=', id)
    .where('closed_at', 'is', null)
    .execute();
  const count = (status: JobRowStatus) =>
    sql<number>`(select count(*) from job_rows where job_id = ${id} and status = ${status})`;
  const counts = {
    done: count('DONE'),
    refused: count('REFUSED'),
    unknown: count('UNKNOWN'),
    skipped: count('SKIPPED'),
  };
  await trx
    .updateTable('jobs')
    .set({ ...fields, ...counts, next_check_at: null, closed_at: now })
    .where('id', '=', id)
    .execute();
}

/** Jobs that run and have not shown themselves in time. Each is answered once within `againAfterMs`. */
export async function leaseOverdueJobs(
  db: WorldDb,
  { now, againAfterMs, limit }: { readonly now: Date; readonly againAfterMs: number; readonly limit: number },
): Promise<JobRef[]> {
  const { rows } = await sql<JobRef>`
    update jobs set next_check_at = ${new Date(now.getTime() + againAfterMs)}
     where id = any(array(
             select id from jobs where closed_at is null and next_check_at <= ${now}
              order by next_check_at limit ${limit} for update skip locked))
    returning id, kind, account_id as "accountId"`.execute(db);
  return rows;
}
