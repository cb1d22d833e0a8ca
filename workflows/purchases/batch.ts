/**
 * Buys the rows of a batch, and ends when each purchase has ended. It only sets the pace: rows and purchases say what is left to do, so it may be started
 * again at any time.
 */
import { proxyActivities, setCurrentDetails, sleep, TemporalFailure } from '@temporalio/workflow';
import { OPS_QUEUE, type BatchInput, type OpsActivities } from '../contract.ts';
import { continueAsNewIfSuggested, fromRows } from '../continue-as-new.ts';

/** A run begins rows for 10 s and waits 3 s for the last of them. Rows and ids decide what is left, so it is retried for as long as it takes. */
const { carryOutBatch } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '45s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  summary: 'Buy: begin rows, and see which purchases have ended',
});

/** A run of the sender ends within half a minute. The sweep sends what is left. */
const { sendInstallEmails } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '45s',
  heartbeatTimeout: '5s',
  retry: { maximumAttempts: 1 },
  summary: 'Send the e-mails that are due',
});

const { beginOverdueBatches } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '45s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 3 },
});

export const batch = (input: BatchInput): Promise<string> =>
  fromRows(input, async () => {
    for (;;) {
      const step = await carryOutBatch(input.batchId);
      setCurrentDetails(step.line);
      if (step.hasEmailsDue) await sendOrLeave();
      if (step.waitMs === null) return step.line;
      await sleep(step.waitMs, { summary: 'before the next check' });
      continueAsNewIfSuggested();
    }
  });

/** Starts batches that a crash or an outage left behind, and sends the e-mails whose time has come. */
export async function sweepBatches(): Promise<string> {
  return `${await beginOverdueBatches()}; ${await sendOrLeave()}`;
}

async function sendOrLeave(): Promise<string> {
  try {
    return await sendInstallEmails();
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    return 'e-mails are left to the next sweep';
  }
}
