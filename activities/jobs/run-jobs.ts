/**
 * Jobs of many rows. Only the id of a job comes from Temporal: what is done, on what, and who approved it is
 * read from its rows.
 */
import { Context } from '@temporalio/activity';
import { isId } from '../../src/domain/ids.ts';
import type { JobKind } from '../../src/jobs/rules.ts';
import { OVERDUE_MS, runJob, type JobWork } from '../../src/jobs/run.ts';
import { findJob, leaseOverdueJobs, type Job, type JobRow } from '../../src/jobs/store/jobs.ts';
import type { JobStep, OpsActivities } from '../../workflows/contract.ts';
import { nextRepairCheckMs } from '../../src/operations/batch-repair-rules.ts';
import { repairRow } from '../../src/operations/batch-repairs.ts';
import { EngineUnavailable } from '../../src/domain/outcome.ts';
import type { Refusal } from '../../src/domain/refusals.ts';
import { nextBatchCheckMs } from '../../src/purchases/batches/rules.ts';
import {
  closeRefused,
  enqueueCompleted,
  hasDueEmails,
  IS_UNBEGUN,
  settleBatchRows,
} from '../../src/purchases/store/batches.ts';
import { emailWaitMs, installEmailText } from '../../src/purchases/batches/emails.ts';
import type { Mailer, MailOutcome } from '../../src/accounts/port.ts';
import {
  admitStrangerMail,
  giveStrangerMailBack,
  isMembersAddress,
  type MailRefusal,
} from '../../src/accounts/store/mail-turns.ts';
import {
  leaseEmail,
  closeEmail,
  postponeEmail,
  type LeasedEmail,
} from '../../src/purchases/store/batch-emails.ts';
import type { ActivityDeps } from '../deps.ts';

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
    sendInstallEmails: () => sendInstallEmails(deps),
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

/** Equals the number of rows tried at once. A stop does not hold back rows that were read. */
const REPAIR_ROWS_READ_AT_ONCE = 4;

/** Batch repairs: one action on many stuck items, approved by a second person. */
function repairWork({ db, clock, repairs }: ActivityDeps, repair: Job): JobWork {
  return {
    readAtOnce: REPAIR_ROWS_READ_AT_ONCE,
    tryRow: async (row) => {
      await repairRow({ db, clock, ...repairs }, repair, row);
      return true;
    },
    waitMs: (_job, now, nextRowAt) => nextRepairCheckMs(nextRowAt && nextRowAt.getTime() - now.getTime()),
  };
}

const ORDER_ROWS_READ_AT_ONCE = 20;
/** A purchase continues without this step, and the next check finds its row. Other jobs need this queue. */
const ANSWER_WITHIN_MS = 3_000;
/** As long as the next row may wait for its turn among all batches; then this one lets others go first. */
const TURN_WITHIN_MS = 1_500;

/** Batches of orders: each row is bought as any purchase is, by what the API has signed for it. */
function orderWork(deps: ActivityDeps, { id, account_id: accountId, email_count: emails }: Job): JobWork {
  const { db } = deps;
  const pacer = deps.batchPacer(accountId);
  // What an empty wallet refuses never reaches the supplier, so it needs no turn.
  let isWalletEmpty = false;
  return {
    readAtOnce: ORDER_ROWS_READ_AT_ONCE,
    isDue: IS_UNBEGUN,
    tryRow: async (row) => {
      const mayBuy = isWalletEmpty || (await pacer.takeSlot(TURN_WITHIN_MS));
      const answer = mayBuy ? await buyRow(deps, row) : 'later';
      isWalletEmpty = answer === 'INSUFFICIENT_BALANCE';
      return answer !== 'later';
    },
    settleRows: (trx, now) => settleBatchRows(trx, id, now),
    waitMs: ({ created_at, start_at, all_begun_at }, now) =>
      nextBatchCheckMs(now.getTime() - (start_at ?? created_at).getTime(), all_begun_at === null),
    onCompleted: (trx, job, now) => enqueueCompleted(trx, job, now),
    afterCheck: async (now) => emails > 0 && hasDueEmails(db, id, now),
  };
}

/** `later`: no outcome yet. It is asked about again, under the same id. */
async function buyRow(
  { db, clock, engine }: ActivityDeps,
  row: JobRow,
): Promise<'opened' | 'later' | Refusal['reason']> {
  const { terms } = row;
  if (!terms) throw new Error(`row ${row.row_number} of ${row.job_id} is open and has no terms`);
  try {
    const answer = await engine.purchase(terms, ANSWER_WITHIN_MS, `eSIM ${terms.packageCode} of a batch`);
    if (answer === 'unknown' || answer.status === 'UNANSWERED') return 'later';
    if (answer.status !== 'REFUSED') return 'opened';
    const { reason } = answer.refusal;
    await closeRefused(db, row, { reason, now: clock.now() });
    return reason;
  } catch (error) {
    if (error instanceof EngineUnavailable) return 'later';
    throw error;
  }
}

/** Longer than one e-mail takes (15 s). After that another sender repeats one whose sender died. */
const EMAIL_LEASE_MS = 30_000;
/** A run with e-mails still being sent ends within the activity's 45 s. */
const EMAILS_RUN_FOR_MS = 20_000;
/** Connections to the mail server: 500 e-mails of a second each take about two minutes. */
const EMAILS_AT_ONCE = 4;

async function sendInstallEmails(deps: ActivityDeps): Promise<string> {
  const { db, clock } = deps;
  const { mailer } = deps.notices;
  if (!mailer) return 'e-mails to travellers are not available';
  const endsAtMs = clock.now().getTime() + EMAILS_RUN_FOR_MS;
  let [sent, left] = [0, 0];
  const sendNext = async (): Promise<void> => {
    while (clock.now().getTime() < endsAtMs) {
      const leased = await leaseEmail(db, clock.now(), EMAIL_LEASE_MS);
      if (!leased) return;
      if (await sendOne(deps, mailer, leased)) sent += 1;
      else left += 1;
    }
  };
  await Promise.all(Array.from({ length: EMAILS_AT_ONCE }, sendNext));
  return `${sent} e-mails sent, ${left} not`;
}

async function sendOne(deps: ActivityDeps, mailer: Mailer, leased: LeasedEmail): Promise<boolean> {
  const { db, clock, events } = deps;
  const { transactionId, attempts, dueAt } = leased;
  if (leased.isOver) {
    await closeEmail(db, leased, 'NOT_SENT', clock.now());
    return false;
  }
  const refusal = await refusalOf(deps, leased);
  if (refusal !== undefined) events.strangerMailHeld({ kind: 'traveller', why: refusal });
  if (refusal === 'stopped' || refusal === 'not-a-member') {
    await closeEmail(db, leased, 'NOT_SENT', clock.now());
    return false;
  }
  const outcome: MailOutcome =
    refusal === undefined
      ? await mail(deps, mailer, leased)
      : { outcome: 'unknown', detail: 'the limit of a day is reached' };
  const now = clock.now();
  if (outcome.outcome === 'done') {
    await closeEmail(db, leased, 'SENT', now);
    events.strangerMailSent({ kind: 'traveller' });
    events.installEmailSent({ transactionId, attempts });
    return true;
  }
  if (refusal === undefined) await giveStrangerMailBack(db, leased.email);
  const waitMs = emailWaitMs(attempts, now.getTime() - dueAt.getTime());
  if (waitMs === undefined) await closeEmail(db, leased, 'FAILED', now);
  else await postponeEmail(db, leased, new Date(now.getTime() + waitMs));
  const isGivenUp = waitMs === undefined;
  events.installEmailNotSent({ transactionId, attempts, isGivenUp, ...outcome });
  return false;
}

/** Sandbox money is free, so its mail goes to people who have confirmed their address alone. */
async function refusalOf(
  { db, clock, notices: { environment } }: ActivityDeps,
  { accountId, email }: LeasedEmail,
): Promise<MailRefusal | 'not-a-member' | undefined> {
  if (environment === 'test' && !(await isMembersAddress(db, accountId, email))) return 'not-a-member';
  return admitStrangerMail(db, email, clock.now());
}

/**
 * The same id every time, so that receivers can recognise a copy. Neither address nor link is in what is
 * returned.
 */
async function mail(
  { notices: { environment, us, mailStops }, installUrl }: ActivityDeps,
  mailer: Mailer,
  leased: LeasedEmail,
): Promise<MailOutcome> {
  const { transactionId, email, esimId } = leased;
  let url: string;
  try {
    url = await installUrl(esimId);
  } catch (error) {
    return {
      outcome: 'unknown',
      detail: `no install link: ${error instanceof Error ? error.name : 'failed'}`,
    };
  }
  const id = `install-${transactionId}`;
  const stopUrl = mailStops.urlFor(email);
  return mailer.send({
    id,
    to: email,
    stopUrl,
    ...installEmailText({ ...leased, us, url, stopUrl }, environment),
  });
}
