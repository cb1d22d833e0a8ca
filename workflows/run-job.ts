/**
 * Carries out a batch or a batch repair, and ends when each row has ended. It only sets the pace: rows say
 * what is left to do, so it may be started again at any time.
 */
import { proxyActivities, setCurrentDetails, sleep, TemporalFailure } from '@temporalio/workflow';
import { OPS_QUEUE, type JobInput, type OpsActivities } from './contract.ts';
import { continueAsNewIfSuggested, fromRows } from './runs.ts';

/**
 * A run begins rows for 10 s; the last of them take a minute and a half at most. Rows say what is left, so it
 * is retried for as long as it takes.
 */
const { tryRows } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '3m',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  summary: 'Try the rows that are due, and see which have ended',
});

/** A run of the sender ends within half a minute. The sweep sends what is left. */
const { sendInstallEmails } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '45s',
  heartbeatTimeout: '5s',
  retry: { maximumAttempts: 1 },
  summary: 'Send the e-mails that are due',
});

const { beginOverdueJobs } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '45s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 3 },
});

export const runJob = (input: JobInput): Promise<string> =>
  fromRows(input, async () => {
    for (;;) {
      const step = await tryRows(input.jobId);
      setCurrentDetails(step.line);
      if (step.hasEmailsDue) await sendOrLeave();
      if (step.waitMs === null) return step.line;
      await sleep(step.waitMs, { summary: 'before the next check' });
      continueAsNewIfSuggested();
    }
  });

/** Starts jobs that a crash or an outage left behind, and sends the e-mails whose time has come. */
export async function sweepJobs(): Promise<string> {
  return `${await beginOverdueJobs()}; ${await sendOrLeave()}`;
}

async function sendOrLeave(): Promise<string> {
  try {
    return await sendInstallEmails();
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    return 'e-mails are left to the next sweep';
  }
}
