/** Hands messages that a step wrote to workflows of their own, which outlive whoever starts them. */
import {
  DELIVER_WEBHOOK_WORKFLOW,
  DELIVERY_SUMMARY,
  WEBHOOKS_QUEUE,
  type DeliverWebhookInput,
  type NewMessages,
} from '../contract.ts';
import { ACCOUNT_ID, TRANSACTION_ID } from '../search-attributes.ts';
import { startBeside } from '../start-beside.ts';

/** Waits until they have begun and no longer: a child that has not begun when its parent ends is lost. */
export async function startDeliveries(
  messages: NewMessages | undefined,
  transactionId: string | null,
): Promise<void> {
  if (!messages) return;
  await Promise.all(messages.ids.map((messageId) => start(messageId, messages.accountId, transactionId)));
}

/** One that somebody else has begun is on its way. */
async function start(messageId: string, accountId: string, transactionId: string | null): Promise<void> {
  const input: DeliverWebhookInput = { messageId, inTask: true };
  await startBeside(DELIVER_WEBHOOK_WORKFLOW, input, {
    workflowId: messageId,
    taskQueue: WEBHOOKS_QUEUE,
    staticSummary: DELIVERY_SUMMARY,
    typedSearchAttributes: [
      { key: ACCOUNT_ID, value: accountId },
      ...(transactionId === null ? [] : [{ key: TRANSACTION_ID, value: transactionId }]),
    ],
  });
}

/** Messages that wait until somebody has been answered. */
export interface Outbox {
  add(messages: NewMessages | undefined): void;
  /** Hands over what was added since. */
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
