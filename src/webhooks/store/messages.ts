import { sql, type RawBuilder } from 'kysely';
import type { Page, PageQuery } from '../../domain/page.ts';
import type { MessageStatus } from '../rules.ts';
import { webhookBody, type WebhookEvent, type WebhookFacts } from '../events.ts';
import { callFunction } from '../../platform/database/functions.ts';
import { readPage } from '../../platform/database/page.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** Endpoints that ask for an event, for the select list of its statement: one lookup in a small index. */
export function subscribers(
  event: WebhookEvent,
  accountId: RawBuilder<unknown>,
): RawBuilder<string[] | null> {
  return sql<string[] | null>`subscribers(${accountId}, ${event})`;
}

export interface NewWebhook<Event extends WebhookEvent> {
  readonly event: Event;
  /** Unique for this occurrence of the event. */
  readonly key: string;
  /** Id of the purchase or funding. */
  readonly subject: string | null;
  /** null: it is for every account, and sent to all who subscribe. */
  readonly accountId: string | null;
  /** From `subscribers`; not used for an event that is for every account. */
  readonly subscribers: readonly string[] | null;
  readonly facts: WebhookFacts[Event];
  readonly at: Date;
}

/**
 * Writes the event for the feed and one message per subscriber, in the transaction of the change: also
 * without a subscriber. A repeat with the same key writes nothing.
 */
export async function enqueueWebhook<Event extends WebhookEvent>(
  trx: WorldDb,
  webhook: NewWebhook<Event>,
): Promise<void> {
  const { event, accountId, subject, at } = webhook;
  const endpoints =
    accountId === null ? subscribers(event, sql`null`) : webhook.subscribers && [...webhook.subscribers];
  await callFunction(trx, 'write_event', {
    account_id: accountId,
    event,
    event_key: `${event}:${webhook.key}`,
    subject,
    body: webhookBody(event, webhook.facts, at),
    at,
    endpoint_ids: endpoints,
  });
}

const SAMPLE_KEY_PREFIX = 'sample:';

/** Writes a test message; returns its id. */
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
    select given.id, ${endpoint.id}, ${endpoint.accountId}, ${event}, ${SAMPLE_KEY_PREFIX}::text || given.id, ${body}, 'PENDING', now(), ${now}
      from (select 'msg-' || replace(gen_random_uuid()::text, '-', '') as id) given
    returning id`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('the sample was not stored');
  return row.id;
}

export type Message = NonNullable<Awaited<ReturnType<typeof findMessage>>>;

export interface MessageQuery extends PageQuery {
  readonly endpointId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly status?: MessageStatus | undefined;
  readonly event?: WebhookEvent | undefined;
  readonly transactionId?: string | undefined;
  /** Includes `from`, excludes `to`. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Newest first. */
export function listMessages(db: WorldDb, accountId: string, query: MessageQuery): Promise<Page<Message>> {
  const { endpointId, eventId, status, event, transactionId, from, to } = query;
  let matching = db.selectFrom('webhook_messages').where('account_id', '=', accountId);
  if (endpointId !== undefined) matching = matching.where('endpoint_id', '=', endpointId);
  if (eventId !== undefined) matching = matching.where('event_id', '=', eventId);
  if (status !== undefined) matching = matching.where('status', '=', status);
  if (event !== undefined) matching = matching.where('event', '=', event);
  if (transactionId !== undefined) matching = matching.where('subject', '=', transactionId);
  if (from !== undefined) matching = matching.where('created_at', '>=', from);
  if (to !== undefined) matching = matching.where('created_at', '<', to);
  return readPage(matching.select(COLUMNS).orderBy('created_at', 'desc').orderBy('id', 'desc'), query);
}

export const findMessage = (db: WorldDb, accountId: string, id: string) =>
  db
    .selectFrom('webhook_messages')
    .select(COLUMNS)
    .where((eb) => eb.and({ id, account_id: accountId }))
    .executeTakeFirst();

/** Makes a message due now with a new schedule, in any status. undefined: the account has no such message. */
export const reopenMessage = (db: WorldDb, accountId: string, id: string, now: Date) =>
  db
    .updateTable('webhook_messages')
    .set(reopened(now))
    .where((eb) => eb.and({ id, account_id: accountId }))
    .returning(COLUMNS)
    .executeTakeFirst();

/** Per statement; fast enough for the statement timeout. */
const REOPEN_AT_ONCE = 2_000;

/** Those created in the range (without `to`), except samples. Returns how many. */
export async function reopenFailed(
  db: WorldDb,
  accountId: string,
  endpointId: string,
  { from, to, now }: { readonly from: Date; readonly to: Date; readonly now: Date },
): Promise<number> {
  const failed = db
    .selectFrom('webhook_messages')
    .select('id')
    .where((of) => of.and({ account_id: accountId, endpoint_id: endpointId, status: 'FAILED' }))
    .where('created_at', '>=', from)
    .where('created_at', '<', to)
    .where('event_key', 'not like', `${SAMPLE_KEY_PREFIX}%`)
    .orderBy('created_at')
    .limit(REOPEN_AT_ONCE)
    .forNoKeyUpdate();
  let count = 0;
  for (;;) {
    const { numUpdatedRows } = await db
      .updateTable('webhook_messages')
      .set(reopened(now))
      .where('id', '=', sql<string>`any(array(${failed}))`)
      .executeTakeFirst();
    count += Number(numUpdatedRows);
    if (numUpdatedRows < REOPEN_AT_ONCE) return count;
  }
}

function reopened(now: Date) {
  return {
    status: 'PENDING' as const,
    series_from: sql<number>`attempts`,
    next_attempt_at: sql<Date>`now()`,
    handed_over_at: null,
    closed_at: null,
    updated_at: now,
  };
}

const COLUMNS = [
  'id',
  'event_id as eventId',
  'endpoint_id as endpointId',
  'event',
  'subject as transactionId',
  'status',
  'attempts',
  'next_attempt_at as nextAttemptAt',
  'created_at as createdAt',
  'closed_at as closedAt',
  'body',
] as const;

/** Oldest first. The caller has checked that the message belongs to the account. */
export function listAttempts(db: WorldDb, messageId: string, query: PageQuery) {
  const rows = db
    .selectFrom('webhook_attempts')
    .select(['attempt', 'at', 'ms', 'outcome', 'status', 'answer_start as answerStart', 'url'])
    .select(['request_headers as requestHeaders', 'answer_headers as answerHeaders'])
    .where('message_id', '=', messageId)
    .orderBy('attempt');
  return readPage(rows, query);
}
