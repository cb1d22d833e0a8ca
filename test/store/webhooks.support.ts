// Endpoints and messages in a test's own Postgres, without anybody who sends.
import { randomBytes, randomUUID } from 'node:crypto';
import type { WebhookEvent } from '../../src/domain/webhooks.ts';
import { createEndpoint, findEndpoint, type Endpoint } from '../../src/store/webhook-endpoints.ts';
import type { WorldDb } from '../../src/store/tables.ts';
import { addMessage } from '../support/told-message.ts';

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

/** A message that waits at an endpoint. */
export function newMessage(db: WorldDb, endpoint: Endpoint, createdAt: Date = NOW): Promise<string> {
  return addMessage(db, { endpoint, event: 'esim.purchased', body: '{"a":1}', now: createdAt });
}

export interface MessageFacts {
  readonly endpoint: string;
  readonly event: string;
  readonly key: string;
  readonly subject: string | null;
  readonly status: string;
  readonly body: unknown;
}

/** An account's messages, oldest first. */
export async function messagesOf(db: WorldDb, accountId: string): Promise<MessageFacts[]> {
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
