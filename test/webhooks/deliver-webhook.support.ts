// Messages delivered by the real engine on a stack, without a purchase.
import { connectClient } from '../../src/platform/temporal/connect.ts';
import { composeWebhookEngine } from '../../src/app/composition/webhooks.ts';
import { sampleBody } from '../../src/webhooks/event-samples.ts';
import type { WebhookEvent } from '../../src/webhooks/events.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { listAttempts, findMessage, type Message } from '../../src/webhooks/store/messages.ts';
import type { Stack, TestAccount } from '../support/world/stack.ts';
import { until, type UntilOptions } from '../support/time/until.ts';
import type { Listener } from '../support/people/webhook-receiver.ts';
import { addMessage } from './webhooks.support.ts';

export type DeliveryHarness = ReturnType<typeof createDeliveryHarness>;

/** Close it before the stack. */
export function createDeliveryHarness(stack: Stack) {
  const temporal = connectClient({
    address: stack.env['TEMPORAL_ADDRESS'] ?? '',
    namespace: stack.namespace,
  });
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const engine = composeWebhookEngine(stack.world, temporal, createEvents(silent));
  const event: WebhookEvent = 'esim.purchased';
  const write = async (account: TestAccount, listener: Listener, count = 1): Promise<string[]> => {
    const endpoint = { id: listener.endpointId, accountId: account.accountId };
    const now = new Date();
    const one = () => addMessage(stack.world, { endpoint, event, body: sampleBody(event, now), now });
    return Promise.all(Array.from({ length: count }, one));
  };
  const message = async (account: TestAccount, messageId: string): Promise<Message> =>
    (await findMessage(stack.world, account.accountId, messageId))!;
  return {
    engine,
    temporal,
    /** Messages in the rows, not started in the engine. */
    write,
    /** The same, started in the engine. */
    send: async (account: TestAccount, listener: Listener, count?: number) => {
      const ids = await write(account, listener, count);
      await engine.deliver(ids);
      return ids;
    },
    /** One with earlier attempts, as its row says; answers its id. */
    sendAfter: async (account: TestAccount, listener: Listener, attempts: number) => {
      const [id = ''] = await write(account, listener);
      await stack.owner.updateTable('webhook_messages').set({ attempts }).where('id', '=', id).execute();
      await engine.deliver([id]);
      return id;
    },
    message,
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
