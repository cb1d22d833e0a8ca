/**
 * Messages to merchants: written in the transaction of the change that they tell of, once an event and endpoint, with the very bytes that
 * are signed and sent. Where an account has no endpoint that asks for an event, nothing runs but a look in a small index, folded into the
 * statement that makes the change.
 */
import { sql, type RawBuilder, type Selectable } from 'kysely';
import { webhookBody, type WebhookEvent, type WebhookFacts } from '../rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { WebhookMessagesTable } from './tables.ts';

/** Messages that a step wrote and that wait to be sent; worth something once the step has committed. */
export interface PendingMessages {
  accountId: string;
  readonly ids: string[];
}

/** A fresh one for every run of a step: one that is rolled back has written nothing. */
export function newPendingMessages(): PendingMessages {
  return { accountId: '', ids: [] };
}

/** As a step answers it: nothing where nothing was written. */
export function messagesOf({ accountId, ids }: PendingMessages): {
  readonly messages?: { readonly accountId: string; readonly ids: readonly string[] };
} {
  return ids.length === 0 ? {} : { messages: { accountId, ids } };
}

/**
 * The endpoints that ask for an event, for the select list of whatever statement makes the change: an array, or null for none. One that we
 * have disabled for its failures counts too: what it misses can be recovered.
 */
export function subscribers(
  event: WebhookEvent,
  accountId: RawBuilder<unknown>,
): RawBuilder<string[] | null> {
  return sql<string[] | null>`(
    select array_agg(endpoint.id) from webhook_endpoints endpoint
     where endpoint.account_id = ${accountId} and endpoint.deleted_at is null
       and (endpoint.enabled or endpoint.disabled_reason = 'FAILING') and ${event} = any(endpoint.events))`;
}

export interface NewWebhook<Event extends WebhookEvent> {
  readonly event: Event;
  /** Of this happening, once for ever. */
  readonly key: string;
  /** The purchase or funding that it is about. */
  readonly subject: string | null;
  readonly accountId: string;
  /** What `listeners` found. */
  readonly subscribers: readonly string[] | null;
  readonly facts: WebhookFacts[Event];
  readonly at: Date;
}

/** Writes one message for each endpoint that listens. Twice is once. Belongs into the transaction of the change. */
export async function enqueueWebhook<Event extends WebhookEvent>(
  trx: WorldDb,
  telling: NewWebhook<Event>,
  written: PendingMessages,
): Promise<void> {
  const { event, accountId, subject, at } = telling;
  if (telling.subscribers === null || telling.subscribers.length === 0) return;
  const { rows } = await sql<{ id: string; status: string }>`
    insert into webhook_messages
      (id, endpoint_id, account_id, event, event_key, subject, body, status, next_attempt_at, closed_at, created_at)
    select ${NEW_ID}, id, account_id, ${event}, ${`${event}:${telling.key}`}, ${subject}, ${webhookBody(event, telling.facts, at)},
           case when enabled then 'PENDING' else 'FAILED' end,
           case when enabled then now() end, case when enabled then null else now() end, ${at}
      from webhook_endpoints where id = any(${[...telling.subscribers]})
    on conflict (endpoint_id, event_key) do nothing
    returning id, status`.execute(trx);
  written.accountId = accountId;
  written.ids.push(...rows.filter((row) => row.status === 'PENDING').map((row) => row.id));
}

/** Begins the key of a message that tells of nothing. */
const SAMPLE = 'sample:';

const NEW_ID = sql`'msg-' || replace(gen_random_uuid()::text, '-', '')`;

/** A message that tells of nothing, to try an endpoint with; answers its id. */
export async function addSample(
  db: WorldDb,
  sample: {
    readonly endpoint: { readonly id: string; readonly accountId: string };
    readonly event: WebhookEvent;
    readonly body: string;
    readonly now: Date;
  },
): Promise<string> {
  const { endpoint, event, body, now } = sample;
  const { rows } = await sql<{ id: string }>`
    insert into webhook_messages (id, endpoint_id, account_id, event, event_key, body, status, next_attempt_at, created_at)
    select given.id, ${endpoint.id}, ${endpoint.accountId}, ${event}, ${SAMPLE}::text || given.id, ${body}, 'PENDING', now(), ${now}
      from (select ${NEW_ID} as id) given
    returning id`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('a sample was not kept');
  return row.id;
}

export interface Message {
  readonly id: string;
  readonly endpointId: string;
  readonly event: WebhookEvent;
  readonly transactionId: string | null;
  readonly status: 'PENDING' | 'DELIVERED' | 'FAILED';
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly closedAt: Date | null;
  readonly body: string;
}

export interface MessageQuery {
  readonly endpointId?: string;
  readonly status?: Message['status'];
  readonly event?: WebhookEvent;
  readonly transactionId?: string;
  /** Made at or after, and before. */
  readonly from?: Date;
  readonly to?: Date;
  readonly page: number;
  readonly limit: number;
}

/** One page of an account's messages, newest first, and how many there are in all. */
export async function listMessages(
  db: WorldDb,
  accountId: string,
  query: MessageQuery,
): Promise<{ items: Message[]; total: number }> {
  const { endpointId, status, event, transactionId, from, to } = query;
  const matching = db
    .selectFrom('webhook_messages')
    .where('account_id', '=', accountId)
    .$if(endpointId !== undefined, (q) => q.where('endpoint_id', '=', endpointId ?? ''))
    .$if(status !== undefined, (q) => q.where('status', '=', status ?? 'PENDING'))
    .$if(event !== undefined, (q) => q.where('event', '=', event ?? 'esim.purchased'))
    .$if(transactionId !== undefined, (q) => q.where('subject', '=', transactionId ?? ''))
    .$if(from !== undefined, (q) => q.where('created_at', '>=', from ?? new Date()))
    .$if(to !== undefined, (q) => q.where('created_at', '<', to ?? new Date()));
  const [rows, counted] = await Promise.all([
    matching
      .select(COLUMNS)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(query.limit)
      .offset((query.page - 1) * query.limit)
      .execute(),
    matching.select((eb) => eb.fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items: rows.map(toMessage), total: Number(counted.total) };
}

export async function findMessage(db: WorldDb, accountId: string, id: string): Promise<Message | undefined> {
  const row = await db
    .selectFrom('webhook_messages')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row && toMessage(row);
}

/** To be sent again, due now and with its whole schedule before it, also where it still waits. undefined: no such message. */
export async function reopenMessage(
  db: WorldDb,
  accountId: string,
  id: string,
  now: Date,
): Promise<Message | undefined> {
  const row = await db
    .updateTable('webhook_messages')
    .set({ series_from: sql<number>`attempts`, ...reopened(now) })
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row && toMessage(row);
}

/** As many as one statement reopens: quick beside the statement time limit. */
const REOPEN_AT_ONCE = 2_000;

/** Reopens every failed message of an endpoint that was made in the range, from and without to, but samples. Answers their ids; each once. */
export async function reopenFailed(
  db: WorldDb,
  accountId: string,
  endpointId: string,
  { from, to, now }: { readonly from: Date; readonly to: Date; readonly now: Date },
): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const rows = await db
      .updateTable('webhook_messages')
      .set({ series_from: sql<number>`attempts`, ...reopened(now) })
      .where('status', '=', 'FAILED')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('webhook_messages')
          .select('id')
          .where('account_id', '=', accountId)
          .where('endpoint_id', '=', endpointId)
          .where('status', '=', 'FAILED')
          .where('created_at', '>=', from)
          .where('created_at', '<', to)
          .where('event_key', 'not like', `${SAMPLE}%`)
          .orderBy('created_at')
          .limit(REOPEN_AT_ONCE),
      )
      .returning('id')
      .execute();
    ids.push(...rows.map((row) => row.id));
    if (rows.length < REOPEN_AT_ONCE) return ids;
  }
}

function reopened(now: Date) {
  return {
    status: 'PENDING' as const,
    next_attempt_at: sql<Date>`now()`,
    swept_at: null,
    closed_at: null,
    updated_at: now,
  };
}

const COLUMNS = [
  'id',
  'endpoint_id',
  'event',
  'subject',
  'status',
  'attempts',
  'next_attempt_at',
  'created_at',
  'closed_at',
  'body',
] as const;

function toMessage(row: Pick<Selectable<WebhookMessagesTable>, (typeof COLUMNS)[number]>): Message {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    event: row.event,
    transactionId: row.subject,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
    closedAt: row.closed_at,
    body: row.body,
  };
}
