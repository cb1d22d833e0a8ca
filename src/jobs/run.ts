/** Rows say what is left to do, so a job may be run again, or twice at once: each row takes effect once. */
import type { RawBuilder } from 'kysely';
import type { Clock } from '../domain/clock.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import {
  closeJob,
  findJob,
  findNextRowAt,
  listDueRows,
  lockJob,
  updateJob,
  type Job,
  type JobRow,
} from './store/jobs.ts';

/** Of one job: its rows may lock one wallet, and buyers' purchases must get their turn. */
const ROWS_AT_ONCE = 4;
/** Short, so that a few workers serve many jobs in turn, and a stop or a shutdown comes soon. */
const RUNS_FOR_MS = 10_000;
/** When the next check is so late, the sweep makes sure that a workflow runs. */
export const OVERDUE_MS = 60_000;

/** What one job of a kind does; made anew for each run. */
export interface JobWork {
  /** How many rows are read together. Those are tried even if a stop is asked for meanwhile. */
  readonly readAtOnce: number;
  /** What a row must be beside open, in SQL about `row`. */
  readonly isDue?: RawBuilder<boolean>;
  /** Tries a row, perhaps again. `false`: no outcome yet, and the others wait for the next run. */
  readonly tryRow: (row: JobRow) => Promise<boolean>;
  /** Ends the rows that have ended elsewhere. In the transaction that looks whether all have. */
  readonly settleRows?: (trx: WorldDb, now: Date) => Promise<void>;
  /** Until the next check, in ms. `nextRowAt`: when the first of the rows that wait for a time is due. */
  readonly waitMs: (job: Job, now: Date, nextRowAt: Date | null) => number;
  /** In the transaction that completes the job. */
  readonly onCompleted?: (trx: WorldDb, job: Job, now: Date) => Promise<void>;
  /** After the commit of a check. `true`: e-mails are due. */
  readonly afterCheck?: (now: Date) => Promise<boolean>;
}

/** Tries rows while there is time, then settles the job. `waitMs`: until the next check; null: ended. */
export async function runJob(
  { db, clock }: { readonly db: WorldDb; readonly clock: Clock },
  { id, kind, status }: Job,
  work: JobWork,
  signal: AbortSignal,
): Promise<{ readonly job: Job; readonly waitMs: number | null }> {
  if (status === 'RUNNING') await tryRows({ db, clock }, id, work, signal);
  const now = clock.now();
  return db.transaction().execute(async (trx) => {
    const waitMs =
      (await lockJob(trx, id, kind))?.status === 'RUNNING' ? await settleJob(trx, id, work, now) : null;
    return { job: await requireJob(trx, id), waitMs };
  });
}

async function tryRows(
  { db, clock }: { readonly db: WorldDb; readonly clock: Clock },
  jobId: string,
  { readAtOnce: limit, isDue, tryRow }: JobWork,
  signal: AbortSignal,
): Promise<void> {
  const endsAtMs = clock.now().getTime() + RUNS_FOR_MS;
  let areAllAnswered = true;
  const mayGoOn = (): boolean => areAllAnswered && !signal.aborted && clock.now().getTime() < endsAtMs;
  while (mayGoOn()) {
    const rows = await listDueRows(db, jobId, { now: clock.now(), limit, isDue });
    if (rows.length === 0) return;
    const tryNext = async (): Promise<void> => {
      for (let row = rows.shift(); row && mayGoOn(); row = rows.shift())
        if (!(await tryRow(row))) areAllAnswered = false;
    };
    await Promise.all(Array.from({ length: ROWS_AT_ONCE }, tryNext));
  }
}

/** Ends a job that runs where no row is left, or it is to stop. */
async function settleJob(trx: WorldDb, id: string, work: JobWork, now: Date): Promise<number | null> {
  await work.settleRows?.(trx, now);
  const job = await requireJob(trx, id);
  const isCompleted = job.counts.waiting === 0;
  if (isCompleted || job.stop_asked_at !== null) {
    await closeJob(trx, id, { status: isCompleted ? 'COMPLETED' : 'STOPPED' }, now);
    if (isCompleted) await work.onCompleted?.(trx, job, now);
    return null;
  }
  const waitMs = work.waitMs(job, now, await findNextRowAt(trx, id));
  await updateJob(trx, id, { next_check_at: new Date(now.getTime() + waitMs + OVERDUE_MS) });
  return waitMs;
}

async function requireJob(db: WorldDb, id: string): Promise<Job> {
  const job = await findJob(db, id);
  if (!job) throw new Error(`${id} is no job`);
  return job;
}
