// Endpoints and messages in a test's own Postgres, without a sender.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Updateable } from 'kysely';
import type { WebhookEvent } from '../../src/webhooks/events.ts';
import { addSample, listAttempts, findMessage } from '../../src/webhooks/store/messages.ts';
import {
  leaseDelivery,
  recordAttempt,
  type AttemptMade,
  type Verdict,
} from '../../src/webhooks/store/deliveries.ts';
import { createEndpoint, findEndpoint, type Endpoint } from '../../src/webhooks/store/endpoints.ts';
import type { WebhookEndpointsTable, WebhookMessagesTable } from '../../src/webhooks/store/tables.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';

export const NOW = new Date('2026-03-01T10:00:00.000Z');

export const newAccountId = (): string => `acc-${randomUUID()}`;
const hex32 = (): string => randomBytes(16).toString('hex');

export interface EndpointOptions {
  readonly events?: readonly WebhookEvent[];
  readonly secretSealed?: Buffer;
  readonly now?: Date;
}

/** A new endpoint of an account. */
export async function newEndpoint(
  db: WorldDb,
  accountId: string,
  options: EndpointOptions = {},
): Promise<Endpoint> {
  const id = `ep-${hex32()}`;
  const outcome = await createEndpoint(db, {
    id,
    accountId,
    url: `https://m.example/${id}`,
    events: options.events ?? ['esim.purchased'],
    secretSealed: options.secretSealed ?? Buffer.from('sealed'),
    now: options.now ?? NOW,
    maxPerAccount: 1_000,
  });
  const endpoint = await findEndpoint(db, accountId, id);
  if (outcome !== 'created' || !endpoint) throw new Error(`no endpoint: ${outcome}`);
  return endpoint;
}

/** A message that waits at its endpoint as if a change had written it. Answers its id. */
export async function addMessage(db: WorldDb, message: Parameters<typeof addSample>[1]): Promise<string> {
  const id = await addSample(db, message);
  // No sample: recovering leaves samples out.
  await setMessage(db, id, { event_key: `a-test:${id}` });
  return id;
}

/** As time or a fault would change it. */
export const setMessage = (db: WorldDb, id: string, columns: Updateable<WebhookMessagesTable>) =>
  db.updateTable('webhook_messages').set(columns).where('id', '=', id).execute();

export const setEndpoint = (db: WorldDb, id: string, columns: Updateable<WebhookEndpointsTable>) =>
  db.updateTable('webhook_endpoints').set(columns).where('id', '=', id).execute();

export const rowOfEndpoint = (db: WorldDb, id: string) =>
  db.selectFrom('webhook_endpoints').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** Those of an endpoint. */
export const messagesAt = (db: WorldDb, endpointId: string) =>
  db.selectFrom('webhook_messages').selectAll().where('endpoint_id', '=', endpointId).execute();

/** A message that waits at an endpoint. */
export function newMessage(db: WorldDb, endpoint: Endpoint, createdAt: Date = NOW): Promise<string> {
  return addMessage(db, { endpoint, event: 'esim.purchased', body: '{"a":1}', now: createdAt });
}

/** An account's messages, oldest first. */
export async function messagesOf(db: WorldDb, accountId: string) {
  const rows = await db
    .selectFrom('webhook_messages')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('event_key')
    .execute();
  return rows.map((row) => ({
    endpoint: row.endpoint_id,
    event: row.event,
    key: row.event_key,
    subject: row.subject,
    status: row.status,
    body: JSON.parse(row.body) as unknown,
  }));
}

export const DELIVERED: Verdict = { status: 'DELIVERED' };
export const AGAIN: Verdict = { status: 'PENDING', waitMs: 60_000, isHandedOver: true };
export const GIVEN_UP: Verdict = { status: 'FAILED' };

export const made = (given: Partial<AttemptMade> = {}): AttemptMade => ({
  at: NOW,
  endedAt: new Date(NOW.getTime() + 20),
  ms: 20,
  outcome: 'answered',
  url: 'https://shop.example/hooks',
  requestHeaders: [],
  answerHeaders: [],
  status: 200,
  answerStart: 'ok',
  ...given,
});
export const refused = made({ status: 500, answerStart: 'oh no' });

/** A message that waits, and the result of a delivery step, on these books. */
export function deliveringOn(world: WorldDb) {
  const load = async (messageId: string) => (await leaseDelivery(world, messageId))!;
  return {
    load,
    waiting: async (accountId = newAccountId()): Promise<{ endpoint: Endpoint; messageId: string }> => {
      const endpoint = await newEndpoint(world, accountId);
      return { endpoint, messageId: await newMessage(world, endpoint) };
    },
    /** Whether it is the first to record this attempt. */
    attempt: async (messageId: string, how: AttemptMade, verdict: Verdict): Promise<boolean> =>
      (await recordAttempt(world, await load(messageId), how, verdict)).isNew,
    stateOf: async ({ endpoint, messageId }: { endpoint: Endpoint; messageId: string }) => {
      const message = (await findMessage(world, endpoint.accountId, messageId))!;
      const { items } = await listAttempts(world, messageId, { page: 1, limit: 50 });
      return { status: message.status, attempts: message.attempts, log: items.map(({ status }) => status) };
    },
  };
}
