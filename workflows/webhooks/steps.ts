/**
 * How the steps of deliveries are run: an attempt at a quick endpoint inside of the workflow's own task, which is half the work for
 * everybody; all others over the queue. Neither is on the orders queue, so that slow endpoints keep no purchase waiting.
 */
import { isCancellation, proxyActivities, proxyLocalActivities, TemporalFailure } from '@temporalio/workflow';
import {
  OPS_QUEUE,
  WEBHOOKS_QUEUE,
  type DeliveryStep,
  type DeliveryStepInTask,
  type OpsActivities,
  type WebhookActivities,
} from '../contract.ts';

/** An attempt takes 15 s at most, its rows 2 s each. */
const ONE_ATTEMPT = '25s';

/**
 * A worker that dies is missed after 5 s without a sign of life. Whatever else goes wrong is run again until it is known: the row says
 * whether an attempt was made.
 */
export const { attemptDelivery } = proxyActivities<WebhookActivities>({
  taskQueue: WEBHOOKS_QUEUE,
  startToCloseTimeout: ONE_ATTEMPT,
  heartbeatTimeout: '5s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30s' },
  summary: 'Attempt: send it to the endpoint',
});

/** Once: what goes wrong here is tried over the queue. Run again after a worker's death, it finds the claim of the first run. */
const { attemptInTask } = proxyLocalActivities<WebhookActivities>({
  startToCloseTimeout: ONE_ATTEMPT,
  retry: { maximumAttempts: 1 },
  summary: 'Attempt, in this task: send it to the endpoint',
});

/** One attempt, wherever it is made. */
export async function attempt(messageId: string): Promise<DeliveryStep> {
  const step = await elsewhereOnFailure(attemptInTask(messageId));
  if (step.state !== 'over-the-queue') return step;
  return step.claim === undefined ? attemptDelivery(messageId) : attemptDelivery(messageId, step.claim);
}

async function elsewhereOnFailure(step: Promise<DeliveryStepInTask>): Promise<DeliveryStepInTask> {
  try {
    return await step;
  } catch (error) {
    if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
    return { state: 'over-the-queue' };
  }
}

/** One run of the sweep is over in half a minute; one whose worker died must not keep the next from coming. */
export const { handOverDue, disableFailing, sendNotices } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '45s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 3 },
});
