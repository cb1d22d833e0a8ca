import {
  condition,
  setCurrentDetails,
  setHandler,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  TemporalFailure,
} from '@temporalio/workflow';
import { isId } from '../../src/domain/ids.ts';
import {
  type DeliverWebhookInput,
  deliverNow,
  OPS_QUEUE,
  WEBHOOKS_QUEUE,
  type DeliveryStep,
  type InlineDeliveryStep,
  type OpsActivities,
  type WebhookActivities,
  DELIVER_WEBHOOK_WORKFLOW,
  DELIVERY_SUMMARY,
  type NewMessages,
} from '../contract.ts';
import { continueAsNewIfSuggested, fromRows, startDetached } from '../runs.ts';
import { ACCOUNT_ID, TRANSACTION_ID } from '../search-attributes.ts';

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
      const step = await attempt(input.messageId);
      if (step.messages) await startDeliveries(step.messages, null);
      // A reopened message comes with a signal.
      if (step.state === 'closed' && !wasSignalled()) return step.status;
      if (step.state === 'waiting') {
        setCurrentDetails(step.why);
        continueAsNewIfSuggested();
        await condition(wasSignalled, step.waitMs, { summary: step.why });
      }
    }
  });

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

/**
 * Starts a workflow per message and waits only until they have started: a child not yet started when its
 * parent ends is lost. What cannot be a message is left out: a stranger may have taken the step's task, and
 * Temporal fails a workflow's task for ever where its answer cannot be used.
 */
export async function startDeliveries(
  messages: NewMessages | undefined,
  transactionId: string | null,
): Promise<void> {
  const { accountId, ids } = (messages ?? {}) as Readonly<Record<keyof NewMessages, unknown>>;
  if (typeof accountId !== 'string' || !Array.isArray(ids)) return;
  const known = ids.filter((id): id is string => typeof id === 'string' && isId('message', id));
  await Promise.all(known.map((messageId) => start(messageId, accountId, transactionId)));
}

async function start(messageId: string, accountId: string, transactionId: string | null): Promise<void> {
  const input: DeliverWebhookInput = { messageId };
  await startDetached(DELIVER_WEBHOOK_WORKFLOW, input, {
    workflowId: messageId,
    taskQueue: WEBHOOKS_QUEUE,
    staticSummary: DELIVERY_SUMMARY,
    typedSearchAttributes: [
      { key: ACCOUNT_ID, value: accountId },
      ...(transactionId === null ? [] : [{ key: TRANSACTION_ID, value: transactionId }]),
    ],
  });
}

/** Holds messages back until a caller has been answered. */
interface Outbox {
  add(messages: NewMessages | undefined): void;
  /** Starts deliveries of the messages added since the last call. */
  send(): Promise<void>;
}

export function createOutbox(transactionId: string): Outbox {
  const waiting: NewMessages[] = [];
  return {
    add: (messages) => {
      if (messages) waiting.push(messages);
    },
    send: async () => {
      await Promise.all(waiting.splice(0).map((messages) => startDeliveries(messages, transactionId)));
    },
  };
}
