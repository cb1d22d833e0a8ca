import { condition, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import {
  type DeliverWebhookInput,
  deliverNow,
  OPS_QUEUE,
  WEBHOOKS_QUEUE,
  type OpsActivities,
  type WebhookActivities,
} from '../contract.ts';
import { continueAsNewIfSuggested, fromRows } from '../runs.ts';

/**
 * Delivers one message to one endpoint, until it is delivered or its schedule ends. Each attempt reads from
 * the message's row whether it is due, so this may be started and woken any number of times. Returns the
 * message's status.
 */
export const deliverWebhook = (input: DeliverWebhookInput): Promise<string> =>
  fromRows(input, async () => {
    let isSignalled = false;
    const wasSignalled = (): boolean => isSignalled;
    setHandler(deliverNow, () => {
      isSignalled = true;
    });
    for (;;) {
      isSignalled = false;
      const step = await attemptDelivery(input.messageId);
      // A message that is handed over again comes with a signal.
      if (step.state === 'closed' && !wasSignalled()) return step.status;
      if (step.state === 'waiting') {
        setCurrentDetails(step.why);
        continueAsNewIfSuggested();
        await condition(wasSignalled, step.waitMs, { summary: step.why });
      }
    }
  });

/**
 * On a queue of its own, so that slow endpoints delay no purchase. An attempt takes at most 15 s, its
 * database statements 2 s each. A dead worker is noticed after 5 s without a heartbeat. Retried until the
 * result is known: the row says whether an attempt was made.
 */
const { attemptDelivery } = proxyActivities<WebhookActivities>({
  taskQueue: WEBHOOKS_QUEUE,
  startToCloseTimeout: '25s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30s' },
  summary: 'Attempt: send it to the endpoint',
});

/** A run of the sweep ends within half a minute; one whose worker died must not block the next. */
export const { takeBackOverdue, disableFailing, sendNotices } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '45s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 3 },
});
