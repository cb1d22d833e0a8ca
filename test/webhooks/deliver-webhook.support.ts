// Messages on a stack without a purchase: sent from their rows, and by workflows.
import { connectClient } from '../../src/platform/temporal/connect.ts';
import { createWebhookEngine } from '../../src/app/temporal/webhook-engine.ts';
import { sampleBody } from '../../src/webhooks/event-samples.ts';
import type { WebhookEvent } from '../../src/webhooks/events.ts';
import { listAttempts, findMessage, type Message } from '../../src/webhooks/store/messages.ts';
import type { Stack, TestAccount } from '../support/world/stack.ts';
import { until, type UntilOptions } from '../support/time/until.ts';
import type { Listener } from '../support/people/webhook-receiver.ts';
import { addMessage, setMessage } from './webhooks.support.ts';

export type DeliveryHarness = ReturnType<typeof createDeliveryHarness>;

/** Close it before the stack. */
export function createDeliveryHarness(stack: Stack) {
  const temporal = connectClient({
    address: stack.env['TEMPORAL_ADDRESS'] ?? '',
    namespace: stack.namespace,
  });
  const left: object[] = [];
  const engine = createWebhookEngine(temporal, (fields) => left.push(fields));
  const event: WebhookEvent = 'esim.purchased';
  /** Due at once. `columns`: as earlier attempts or a workflow have left them. */
  const send = async (
    account: TestAccount,
    listener: Listener,
    columns: Parameters<typeof setMessage>[2] = {},
  ): Promise<string> => {
    const endpoint = { id: listener.endpointId, accountId: account.accountId };
    const now = new Date();
    return stack.owner.transaction().execute(async (trx) => {
      const id = await addMessage(trx, { endpoint, event, body: sampleBody(event, now), now });
      if (Object.keys(columns).length > 0) await setMessage(trx, id, columns);
      return id;
    });
  };
  const message = async (account: TestAccount, messageId: string): Promise<Message> =>
    (await findMessage(stack.world, account.accountId, messageId))!;
  return {
    temporal,
    send,
    /** To its workflow, which it starts or wakes. */
    handOver: async (account: TestAccount, messageId: string) => {
      const { accountId } = account;
      const taken = await engine.handOver([
        { messageId, accountId, transactionId: null, requestId: null, waitMs: 0 },
      ]);
      if (taken.length === 0) throw new Error(`not handed over: ${JSON.stringify(left)}`);
    },
    message,
    /** Until a workflow has begun to carry it. */
    untilCarried: (messageId: string) =>
      until(
        () =>
          stack.temporal.workflow
            .getHandle(messageId)
            .describe()
            .catch(() => undefined),
        (found) => found !== undefined,
        { what: `a workflow that carries ${messageId}` },
      ),
    untilState: (
      account: TestAccount,
      messageId: string,
      status: Message['status'],
      options?: UntilOptions,
    ) =>
      until(
        () => message(account, messageId),
        (found) => found.status === status,
        { what: `${messageId} ${status}`, ...options },
      ),
    attempts: async (messageId: string) =>
      (await listAttempts(stack.world, messageId, { page: 1, limit: 100 })).items,
    close: () => temporal.close(),
  };
}
