// Messages delivered by the real engine on a stack, without a purchase.
import { connectClient, type TemporalClient } from '../../src/platform/temporal/connect.ts';
import { composeWebhookEngine } from '../../src/app/composition/webhooks.ts';
import { sampleBody } from '../../src/webhooks/event-samples.ts';
import type { WebhookEvent } from '../../src/webhooks/events.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import type { WebhookEngine } from '../../src/webhooks/engine.ts';
import {
  listAttempts,
  type StoredAttempt,
  findMessage,
  type Message,
} from '../../src/webhooks/store/messages.ts';
import type { Stack, TestAccount } from '../support/world/stack.ts';
import { until, type UntilOptions } from '../support/time/until.ts';
import type { Listener } from '../support/people/webhook-receiver.ts';
import { addMessage } from './webhooks.support.ts';

export interface DeliveryHarness {
  readonly engine: WebhookEngine;
  readonly temporal: TemporalClient;
  /** Messages in the rows, not started in the engine. */
  write(account: TestAccount, listener: Listener, count?: number): Promise<string[]>;
  /** The same, started in the engine. */
  send(account: TestAccount, listener: Listener, count?: number): Promise<string[]>;
  /** One with earlier attempts, as its row says; answers its id. */
  sendAfter(account: TestAccount, listener: Listener, attempts: number): Promise<string>;
  message(account: TestAccount, messageId: string): Promise<Message>;
  untilState(
    account: TestAccount,
    messageId: string,
    status: Message['status'],
    options?: UntilOptions,
  ): Promise<Message>;
  attempts(messageId: string): Promise<readonly StoredAttempt[]>;
  close(): Promise<void>;
}

/** Close it before the stack. */
export function createDeliveryHarness(stack: Stack): DeliveryHarness {
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
    write,
    send: async (account, listener, count) => {
      const ids = await write(account, listener, count);
      await engine.deliver(ids);
      return ids;
    },
    sendAfter: async (account, listener, attempts) => {
      const [id = ''] = await write(account, listener);
      await stack.owner.updateTable('webhook_messages').set({ attempts }).where('id', '=', id).execute();
      await engine.deliver([id]);
      return id;
    },
    message,
    untilState: (account, messageId, status, options) =>
      until(
        () => message(account, messageId),
        (found) => found.status === status,
        { what: `${messageId} ${status}`, ...options },
      ),
    attempts: async (messageId) =>
      (await listAttempts(stack.world, messageId, { page: 1, limit: 100 })).items,
    close: () => temporal.close(),
  };
}
