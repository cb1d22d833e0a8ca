import { isCancellation, proxyActivities, proxyLocalActivities, TemporalFailure } from '@temporalio/workflow';
import {
  OPS_QUEUE,
  WEBHOOKS_QUEUE,
  type DeliveryStep,
  type InlineDeliveryStep,
  type OpsActivities,
  type WebhookActivities,
} from '../contract.ts';

/** An attempt takes at most 15 s, its database statements 2 s each. */
const ONE_ATTEMPT = '25s';

/**
 * On a queue of its own, so that slow endpoints delay no purchase. A dead worker is noticed after 5 s without
 * a heartbeat. Retried until the result is known: the row says whether an attempt was made.
 */
export const { attemptDelivery } = proxyActivities<WebhookActivities>({
  taskQueue: WEBHOOKS_QUEUE,
  startToCloseTimeout: ONE_ATTEMPT,
  heartbeatTimeout: '5s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30s' },
  summary: 'Attempt: send it to the endpoint',
});

/**
 * For quick endpoints: takes half the work of an attempt over the queue. A failed one is retried over the
 * queue; the lease prevents two attempts at the same time.
 */
const { attemptInline } = proxyLocalActivities<WebhookActivities>({
  startToCloseTimeout: ONE_ATTEMPT,
  retry: { maximumAttempts: 1 },
  summary: 'Attempt, in this task: send it to the endpoint',
});

export async function attempt(messageId: string): Promise<DeliveryStep> {
  const step = await overTheQueueOnFailure(attemptInline(messageId));
  if (step.state !== 'use-queue') return step;
  return step.lease === undefined ? attemptDelivery(messageId) : attemptDelivery(messageId, step.lease);
}

async function overTheQueueOnFailure(step: Promise<InlineDeliveryStep>): Promise<InlineDeliveryStep> {
  try {
    return await step;
  } catch (error) {
    if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
    return { state: 'use-queue' };
  }
}

/** A run of the sweep ends within half a minute; one whose worker died must not block the next. */
export const { handOverDue, disableFailing, sendNotices } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '45s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 3 },
});
