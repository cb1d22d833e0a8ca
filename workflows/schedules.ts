/** The scheduled stories, one activity each: what to do and how often is decided where the schedules are made. */
import { getExternalWorkflowHandle, patched, proxyActivities, TemporalFailure } from '@temporalio/workflow';
import { afterClosingId, startAfterClosing } from './payments/after-closing.ts';
import {
  LOOK_SIGNAL,
  ORDERS_QUEUE,
  type LateMoney,
  type LatePaymentInput,
  type OpsActivities,
} from './contract.ts';
import { latePayment } from './payments/legacy-after-closing.ts';
import { startBeside } from './start-beside.ts';
import { disableFailing, handOverDue, sendNotices } from './webhooks/steps.ts';

const {
  syncCatalogue: sync,
  refreshRates: rates,
  refreshUsage: usage,
  forgetOldKeys,
  findLateMoney,
  applyInbox: inbox,
  tidyWebhooks: tidy,
} = proxyActivities<OpsActivities>({
  startToCloseTimeout: '2m',
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts: 5 },
});

/** Takes over the supplier's catalogue. Each answers with one line for the Temporal UI. */
export const syncCatalogue = (): Promise<string> => sync({ unlessSyncedWithinMs: 0 });

/** Observes exchange rates from every source that is switched on. */
export const refreshRates = (): Promise<string> => rates();

/** Looks up the usage of eSIMs in use. */
export const refreshUsage = (): Promise<string> => usage();

/** Applies gateway events that were kept and not applied. */
export const applyInbox = (): Promise<string> => inbox();

/** Hands over messages to merchants that a crash or an outage left behind; ends endpoints that only fail, and tells owners by e-mail. */
export async function sweepWebhooks(): Promise<string> {
  const handedOver = await handOverDue();
  // Runs of earlier builds ended here.
  if (!patched('notices')) return handedOver;
  return [handedOver, await disableFailing(), await sendNotices()].join('; ');
}

/** Forgets old messages to merchants, wipes their endpoints' secrets that sign no more, and seals the others with the key of today. */
export const tidyWebhooks = (): Promise<string> => tidy();

/** Forgets Idempotency-Keys older than promised, and starts what late money needs. */
export async function sweep(): Promise<string> {
  const forgotten = await forgetOldKeys();
  // Releases up to 0.1.0 ended here.
  if (!patched('late-money')) return forgotten;
  const late = await findLateMoney();
  for (const input of late) await follow(input);
  return `${forgotten}; late money for ${late.length} payments`;
}

/** One that is running for the same payment is asked to look again. */
async function follow({ isClaim, ...input }: LateMoney): Promise<void> {
  if (!patched('after-closing')) return startLatePayment(input);
  const isStarted = await startAfterClosing({ ...input, isFromOutside: true, looks: true });
  // One that waits for a person to settle a claim has nothing new to look for.
  if (!isStarted && isClaim !== true) await lookSoon(afterClosingId(input.transactionId));
}

/** What builds of before started for late money. */
async function startLatePayment(input: LatePaymentInput): Promise<void> {
  const workflowId = `late-${input.transactionId}`;
  const isStarted = await startBeside(latePayment, input, { workflowId, taskQueue: ORDERS_QUEUE });
  if (!isStarted) await lookSoon(workflowId);
}

/** One that has ended meanwhile had looked a moment ago, and the next run looks again. */
async function lookSoon(workflowId: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowId).signal(LOOK_SIGNAL);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
  }
}
