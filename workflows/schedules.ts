import { getExternalWorkflowHandle, patched, proxyActivities, TemporalFailure } from '@temporalio/workflow';
import { afterClosingId, startAfterClosing } from './payments/after-closing.ts';
import {
  CHECK_SIGNAL,
  ORDERS_QUEUE,
  type LateMoney,
  type LatePaymentInput,
  type OpsActivities,
} from './contract.ts';
import { latePayment } from './payments/legacy-after-closing.ts';
import { startBeside } from './start-beside.ts';
import { disableFailing, handOverDue, sendNotices } from './webhooks/steps.ts';

const ops = proxyActivities<OpsActivities>({
  startToCloseTimeout: '2m',
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts: 5 },
});

/** Each answers with one line for the Temporal UI. */
export const syncCatalogue = (): Promise<string> => ops.syncCatalogue({ unlessSyncedWithinMs: 0 });
export const refreshRates = (): Promise<string> => ops.refreshRates();
export const refreshUsage = (): Promise<string> => ops.refreshUsage();
export const tidyWebhooks = (): Promise<string> => ops.tidyWebhooks();
export const applyInbox = (): Promise<string> => ops.applyInbox();

/** Starts deliveries that a crash or an outage left behind, disables failing endpoints, and e-mails their owners. */
export async function sweepWebhooks(): Promise<string> {
  const handedOver = await handOverDue();
  // Runs of earlier builds ended here.
  if (!patched('notices')) return handedOver;
  return [handedOver, await disableFailing(), await sendNotices()].join('; ');
}

/** Deletes old Idempotency-Keys and starts `afterClosing` for late money. */
export async function sweep(): Promise<string> {
  const forgotten = await ops.forgetOldKeys();
  // Releases up to 0.1.0 ended here.
  if (!patched('late-money')) return forgotten;
  const late = await ops.findLateMoney();
  for (const input of late) await follow(input);
  return `${forgotten}; late money for ${late.length} payments`;
}

/** A workflow that is running for the same payment checks it again. */
async function follow({ isClaim, ...input }: LateMoney): Promise<void> {
  if (!patched('after-closing')) return startLatePayment(input);
  const isStarted = await startAfterClosing({ ...input, isFromOutside: true, looks: true });
  // A workflow that waits for a claim to be settled has nothing to check.
  if (!isStarted && isClaim !== true) await checkSoon(afterClosingId(input.transactionId));
}

/** What earlier builds started for late money. */
async function startLatePayment(input: LatePaymentInput): Promise<void> {
  const workflowId = `late-${input.transactionId}`;
  const isStarted = await startBeside(latePayment, input, { workflowId, taskQueue: ORDERS_QUEUE });
  if (!isStarted) await checkSoon(workflowId);
}

/** A workflow that has ended meanwhile made its check a moment ago, and the next sweep makes another. */
async function checkSoon(workflowId: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowId).signal(CHECK_SIGNAL);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
  }
}
