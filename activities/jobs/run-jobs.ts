/**
 * Jobs of many rows. Only the id of a job comes from Temporal: what is done, on what, and who approved it is
 * read from its rows.
 */
import { Context } from '@temporalio/activity';
import { isId } from '../../src/domain/ids.ts';
import type { JobKind } from '../../src/jobs/rules.ts';
import { OVERDUE_MS, runJob, type JobWork } from '../../src/jobs/run.ts';
import { findJob, leaseOverdueJobs, type Job } from '../../src/jobs/store/jobs.ts';
import type { JobStep, OpsActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';
import { createEmailActivities } from './install-emails.ts';
import { orderWork } from './orders.ts';
import { repairWork } from './repairs.ts';

/** A few dozen starts a second; the next sweep takes the rest. */
const MAX_BEGUN_PER_SWEEP = 100;

const KINDS: Readonly<Record<JobKind, (deps: ActivityDeps, job: Job) => JobWork>> = {
  order: orderWork,
  repair: repairWork,
};

export function createJobActivities(
  deps: ActivityDeps,
): Pick<OpsActivities, 'tryRows' | 'beginOverdueJobs' | 'sendInstallEmails'> {
  return {
    tryRows: (jobId) => checkJob(deps, jobId, Context.current().cancellationSignal),
    beginOverdueJobs: () => beginOverdue(deps),
    ...createEmailActivities(deps),
  };
}

/** Tries rows while there is time, then says how the job stands. */
export async function checkJob(deps: ActivityDeps, jobId: string, signal: AbortSignal): Promise<JobStep> {
  const found = await findJob(deps.db, jobId);
  if (!found || ['WAITS_FOR_APPROVAL', 'EXPIRED'].includes(found.status)) return refuse(deps, jobId);
  const work = KINDS[found.kind](deps, found);
  const { job, waitMs } = await runJob(deps, found, work, signal);
  const hasEmailsDue = (await work.afterCheck?.(deps.clock.now())) ?? false;
  const line = lineOf(job);
  if (waitMs === null) deps.events.jobEnded({ jobId, status: job.status, line });
  return { line, waitMs, hasEmailsDue };
}

/**
 * A person started the workflow by hand. The API starts only jobs on record, and repairs only once approved.
 */
function refuse({ events }: ActivityDeps, jobId: string): JobStep {
  const ended = { waitMs: null, hasEmailsDue: false };
  if (isId('repair', jobId)) {
    const detail = 'this batch repair is not approved';
    events.unverifiedRequest({ what: 'action', transactionId: jobId, detail });
    return { ...ended, line: 'Not approved; nothing done.' };
  }
  const line = 'No such batch.';
  events.unverifiedRequest({ what: 'batch', batchId: jobId, detail: line });
  return { ...ended, line };
}

function lineOf({ row_count, counts: { waiting, done, refused, unknown, skipped } }: Job): string {
  return `${row_count} rows: ${waiting} waiting, ${done} done, ${refused} refused, ${unknown} unknown, ${skipped} skipped`;
}

async function beginOverdue({ db, clock, jobEngine }: ActivityDeps): Promise<string> {
  const overdue = await leaseOverdueJobs(db, {
    now: clock.now(),
    againAfterMs: OVERDUE_MS,
    limit: MAX_BEGUN_PER_SWEEP,
  });
  for (const job of overdue) await jobEngine.begin(job);
  return `${overdue.length} jobs started again`;
}
