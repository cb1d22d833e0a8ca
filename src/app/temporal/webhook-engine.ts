/**
 * Starts and wakes deliveries of messages: a signal that starts the message's workflow where none runs. What
 * cannot be handed over in time is left to the sweep, since the rows say what is due.
 */
import { WorkflowIdReusePolicy } from '@temporalio/common';
import type { WebhookEngine, WebhookSweeper } from '../../webhooks/engine.ts';
import {
  DELIVER_WEBHOOK_WORKFLOW,
  DELIVERY_SUMMARY,
  WEBHOOKS_QUEUE,
  type DeliverWebhookInput,
  deliverNow,
} from '../../../workflows/contract.ts';
import { ACCOUNT_ID, TRANSACTION_ID } from '../../../workflows/search-attributes.ts';
import { requireConnection, type TemporalClient } from '../../platform/temporal/connect.ts';

interface WebhookEngineOptions {
  readonly temporal: TemporalClient;
  /** Accounts and transactions of messages, for the search attributes of their workflows. */
  readonly subjectsOf: (messageIds: readonly string[]) => Promise<readonly MessageSubject[]>;
  readonly onNotHandedOver: (fields: { messages: number; detail: string }) => void;
}

interface MessageSubject {
  readonly id: string;
  readonly accountId: string;
  readonly transactionId: string | null;
}

/** The caller waits, and the sweep comes soon: a thousand messages or two fit in. */
const WITHIN_MS = 3_000;
/** No caller waits for the sweep. */
const SWEEP_WITHIN_MS = 10_000;
const CONNECT_WITHIN_MS = 500;
const AT_ONCE = 20;

export function createWebhookEngine(options: WebhookEngineOptions): WebhookEngine & WebhookSweeper {
  const handOver = async (messageIds: readonly string[], withinMs: number): Promise<readonly string[]> => {
    const left = [...messageIds];
    try {
      await handOverAll(options, left, Date.now() + withinMs);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      options.onNotHandedOver({ messages: left.length, detail });
    }
    return left;
  };
  return {
    deliver: async (messageIds) => {
      await handOver(messageIds, WITHIN_MS);
    },
    handOver: (messageIds) => handOver(messageIds, SWEEP_WITHIN_MS),
  };
}

/** Takes from `left` what it has handed over. */
async function handOverAll(
  { temporal, subjectsOf }: WebhookEngineOptions,
  left: string[],
  deadlineMs: number,
): Promise<void> {
  while (left.length > 0) {
    await requireConnection(temporal, CONNECT_WITHIN_MS);
    if (Date.now() > deadlineMs) throw new Error('too many for the time there is');
    const messages = await subjectsOf(left.slice(0, AT_ONCE));
    await temporal.client.withDeadline(deadlineMs, () =>
      Promise.all(messages.map((message) => beginOrWake(temporal, message))),
    );
    left.splice(0, AT_ONCE);
  }
}

async function beginOrWake(
  { client }: TemporalClient,
  { id, accountId, transactionId }: MessageSubject,
): Promise<void> {
  await client.workflow.signalWithStart<(input: DeliverWebhookInput) => Promise<string>>(
    DELIVER_WEBHOOK_WORKFLOW,
    {
      workflowId: id,
      taskQueue: WEBHOOKS_QUEUE,
      args: [{ messageId: id }],
      signal: deliverNow,
      // A message that was opened again has ended before.
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      staticSummary: DELIVERY_SUMMARY,
      typedSearchAttributes: [
        { key: ACCOUNT_ID, value: accountId },
        ...(transactionId === null ? [] : [{ key: TRANSACTION_ID, value: transactionId }]),
      ],
    },
  );
}
