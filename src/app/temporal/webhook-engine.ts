/**
 * Gives messages to workflows: a signal that starts the message's workflow where none runs, after its wait.
 * What cannot be handed over in time stays with the dispatcher, since the rows say what is due.
 */
import { WorkflowIdReusePolicy } from '@temporalio/common';
import type { HandedOver, WebhookEngine } from '../../webhooks/engine.ts';
import {
  DELIVER_WEBHOOK_WORKFLOW,
  DELIVERY_SUMMARY,
  WEBHOOKS_QUEUE,
  type DeliverWebhookInput,
  deliverNow,
} from '../../../workflows/contract.ts';
import { ACCOUNT_ID, TRANSACTION_ID } from '../../../workflows/search-attributes.ts';
import { requireConnection, type TemporalClient } from '../../platform/temporal/connect.ts';

const WITHIN_MS = 10_000;
const CONNECT_WITHIN_MS = 500;
const AT_ONCE = 20;

/** `onNotHandedOver`: how many were left, and why. */
export function createWebhookEngine(
  temporal: TemporalClient,
  onNotHandedOver: (fields: { messages: number; detail: string }) => void,
): WebhookEngine {
  return {
    handOver: async (messages) => {
      const deadlineMs = Date.now() + WITHIN_MS;
      const taken: string[] = [];
      try {
        for (let from = 0; from < messages.length; from += AT_ONCE) {
          await requireConnection(temporal, CONNECT_WITHIN_MS);
          if (Date.now() > deadlineMs) throw new Error('too many for the time there is');
          const some = messages.slice(from, from + AT_ONCE);
          const begun = await temporal.client.withDeadline(deadlineMs, () =>
            Promise.allSettled(some.map((message) => beginOrWake(temporal, message))),
          );
          taken.push(
            ...some.filter((_, nth) => begun[nth]?.status === 'fulfilled').map(({ messageId }) => messageId),
          );
          const failed = begun.find((one) => one.status === 'rejected');
          if (failed) throw failed.reason;
        }
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        onNotHandedOver({ messages: messages.length - taken.length, detail });
      }
      return taken;
    },
  };
}

async function beginOrWake(
  { client }: TemporalClient,
  { messageId, accountId, transactionId, requestId, waitMs }: HandedOver,
): Promise<void> {
  await client.workflow.signalWithStart<(input: DeliverWebhookInput) => Promise<string>>(
    DELIVER_WEBHOOK_WORKFLOW,
    {
      workflowId: messageId,
      taskQueue: WEBHOOKS_QUEUE,
      args: [{ messageId }],
      signal: deliverNow,
      // A message that was opened again has ended before.
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      startDelay: waitMs,
      staticSummary: DELIVERY_SUMMARY,
      // For the log lines of its steps.
      ...(requestId === null ? {} : { memo: { requestId } }),
      typedSearchAttributes: [
        { key: ACCOUNT_ID, value: accountId },
        ...(transactionId === null ? [] : [{ key: TRANSACTION_ID, value: transactionId }]),
      ],
    },
  );
}
