/** How the steps of deliveries are run: attempts on a queue of their own, so that slow endpoints keep no other step waiting. */
import { proxyActivities } from '@temporalio/workflow';
import { OPS_QUEUE, WEBHOOKS_QUEUE, type OpsActivities, type WebhookActivities } from './contract.ts';

/**
 * An attempt takes 15 s at most, its rows 2 s each; a worker that dies is missed after 5 s without a sign of life. Whatever else goes wrong
 * is run again until it is known: the row says whether an attempt was made.
 */
export const { attemptDelivery } = proxyActivities<WebhookActivities>({
  taskQueue: WEBHOOKS_QUEUE,
  startToCloseTimeout: '25s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30s' },
  summary: 'Attempt: send it to the endpoint',
});

/** One run of the sweep is over in half a minute; one whose worker died must not keep the next from coming. */
export const { handOverDue } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '45s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 3 },
});
