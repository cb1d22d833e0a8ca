import { isId } from '../../src/domain/ids.ts';
import {
  DELIVER_WEBHOOK_WORKFLOW,
  DELIVERY_SUMMARY,
  WEBHOOKS_QUEUE,
  type DeliverWebhookInput,
  type NewMessages,
} from '../contract.ts';
import { ACCOUNT_ID, TRANSACTION_ID } from '../search-attributes.ts';
import { startDetached } from '../runs.ts';

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
export interface Outbox {
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
