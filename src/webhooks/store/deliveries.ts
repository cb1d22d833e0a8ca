import { sql, type RawBuilder } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import type { Header, MessageStatus } from '../rules.ts';
import { disableEndpoint, signingSecrets, type DisablingReason } from './endpoints.ts';

/** A message at its endpoint, as an attempt needs it. */
export type WebhookDelivery = ReturnType<typeof toDelivery>;

interface DeliveryRow {
  readonly id: string;
  readonly event_id: string | null;
  readonly account_id: string;
  readonly subject: string | null;
  readonly request_id: string | null;
  readonly body: string;
  readonly status: MessageStatus;
  readonly attempts: number;
  readonly series_from: number;
  readonly endpoint_id: string;
  readonly url: string;
  readonly is_open: boolean;
  readonly failing_since: Date | null;
  readonly secrets_sealed: readonly Buffer[];
}

const toDelivery = (row: DeliveryRow) => ({
  messageId: row.id,
  /** What receivers recognise a repeat by: the same for every attempt, on every endpoint. */
  webhookId: row.event_id ?? row.id,
  accountId: row.account_id,
  /** Of the purchase or funding that it is about. */
  transactionId: row.subject,
  /** The request that opened that. */
  requestId: row.request_id,
  body: row.body,
  status: row.status,
  /** Recorded attempts: all, and those since the message was last reopened. */
  attempts: row.attempts,
  attemptsInSeries: row.attempts - row.series_from,
  endpoint: {
    id: row.endpoint_id,
    url: row.url,
    /** Enabled and not deleted. */
    isOpen: row.is_open,
    failingSince: row.failing_since,
    /** Newest first. */
    secretsSealed: row.secrets_sealed,
  },
});

/** What both kinds of lease read, from tables `message` and `endpoint`. */
const DELIVERY_COLUMNS = sql`
  message.id, message.event_id, message.account_id, message.subject,
  request_of(message.subject) as request_id, message.body, message.status,
  message.attempts, message.series_from, message.endpoint_id, endpoint.url, endpoint.failing_since,
  ${signingSecrets('endpoint')} as secrets_sealed, endpoint.enabled and endpoint.deleted_at is null as is_open`;

/** Longer than an attempt (15 s) and its record take: three tries of 2 s, behind those of a batch before. */
const LEASE_MS = 35_000;
const LEASED = sql`clock_timestamp() + ${LEASE_MS}::float8 * interval '1 ms'`;

/**
 * Reads a message and, if it is due and its endpoint open, leases it in the same statement: for others it is
 * not due until the lease expires. Due times are compared on the database's clock, so that workers' clocks do
 * not matter. undefined: the message was deleted.
 */
export async function leaseDelivery(db: WorldDb, messageId: string) {
  const { rows } = await sql<DeliveryRow & { is_leased: boolean; due_in_ms: number }>`
    with found as (
      select ${DELIVERY_COLUMNS}, message.next_attempt_at
        from webhook_messages message join webhook_endpoints endpoint on endpoint.id = message.endpoint_id
       where message.id = ${messageId}
    ), leased as (
      update webhook_messages message set next_attempt_at = ${LEASED}
        from found
       where message.id = found.id and message.attempts = found.attempts and found.is_open
         and message.status = 'PENDING' and message.next_attempt_at <= clock_timestamp()
      returning message.id
    )
    select found.*, leased.id is not null as is_leased,
           greatest(0, ceil(extract(epoch from found.next_attempt_at - clock_timestamp()) * 1000))::float8 as due_in_ms
      from found left join leased on true`.execute(db);
  const [row] = rows;
  return (
    row && {
      ...toDelivery(row),
      /** Permission to send now. */
      isLeased: row.is_leased,
      /** Without a lease: the wait before the next try. */
      // Due and not leased: another worker has leased it at this moment.
      dueInMs: !row.is_leased && row.due_in_ms === 0 ? LEASE_MS : row.due_in_ms,
    }
  );
}

/** No workflow carries it. */
const TO_DISPATCH = sql`status = 'PENDING' and handed_over_at is null`;

/** Endpoints of one turn: some milliseconds. */
const MAX_ENDPOINTS_A_TURN = 500;

/**
 * Leases due messages that no workflow carries. Endpoints take turns, so that ten thousand messages for one
 * delay no other: at most `perEndpoint` of each, the longest due first. Any number of dispatchers may ask at
 * once. Walks an index from endpoint to endpoint, behind the one named `after`, so its cost grows with the
 * endpoints that have such messages, and not with the messages. That takes `now()`: an index is not searched
 * for what changes within a statement. Returns where the next turn goes on; empty: from the beginning.
 */
export async function leaseDue(
  db: WorldDb,
  {
    after,
    limit,
    perEndpoint,
  }: { readonly after: string; readonly limit: number; readonly perEndpoint: number },
): Promise<{ readonly due: WebhookDelivery[]; readonly after: string }> {
  const { rows } = await sql<(DeliveryRow | { readonly id: null }) & { readonly after: string | null }>`
    with recursive endpoints as (
      (select endpoint_id, 1 as nth from webhook_messages
        where ${TO_DISPATCH} and endpoint_id > ${after} order by endpoint_id limit 1)
      union all
      select (select next.endpoint_id from webhook_messages next
               where ${TO_DISPATCH} and next.endpoint_id > endpoints.endpoint_id
               order by next.endpoint_id limit 1), nth + 1
        from endpoints where endpoints.endpoint_id is not null and nth < ${MAX_ENDPOINTS_A_TURN}
    ), turns as (
      select due.id from endpoints cross join lateral (
        select id, next_attempt_at, row_number() over (order by next_attempt_at) as turn
          from webhook_messages
         where ${TO_DISPATCH} and endpoint_id = endpoints.endpoint_id and next_attempt_at <= now()
         order by next_attempt_at limit ${perEndpoint}
      ) due
      order by due.turn, due.next_attempt_at limit ${limit}
    ), free as (
      select id from webhook_messages
       where id in (select id from turns) and ${TO_DISPATCH} and next_attempt_at <= now()
         for update skip locked
    ), leased as (
      update webhook_messages message set next_attempt_at = ${LEASED}
        from free, webhook_endpoints endpoint
       where message.id = free.id and endpoint.id = message.endpoint_id
      returning ${DELIVERY_COLUMNS}
    )
    select leased.*, last.after
      from (select max(endpoint_id) filter (where nth = ${MAX_ENDPOINTS_A_TURN}) as after from endpoints) last
      left join leased on true`.execute(db);
  const due = rows.flatMap((row) => (row.id === null ? [] : [toDelivery(row)]));
  return { due, after: rows[0]?.after ?? '' };
}

export interface AttemptMade {
  readonly at: Date;
  readonly endedAt: Date;
  readonly ms: number;
  readonly outcome: string;
  readonly status: number | null;
  readonly answerStart: string;
  readonly url: string;
  /** As they are kept (rules.ts). Null: no connection, and no answer. */
  readonly requestHeaders: readonly Header[] | null;
  readonly answerHeaders: readonly Header[] | null;
}

/** What an attempt means for its message. */
export type Verdict = { readonly status: 'DELIVERED' } | NotDelivered;
/** `isHandedOver`: a workflow carries it to its next attempt. */
type NotDelivered =
  | { readonly status: 'FAILED' }
  | { readonly status: 'PENDING'; readonly waitMs: number; readonly isHandedOver: boolean };

export type Recorded = Awaited<ReturnType<typeof recordAttempt>>;

/**
 * Records an attempt, once per attempt number, with what it means for message and endpoint. When it disables
 * the endpoint, the message fails. Not `isNew`: an earlier run of this step has recorded it.
 */
export async function recordAttempt(
  db: WorldDb,
  delivery: WebhookDelivery,
  made: AttemptMade,
  verdict: Verdict,
  disabling?: DisablingReason,
) {
  if (verdict.status === 'DELIVERED') {
    const recorded = await recordDelivered(db, [{ delivery, made }]);
    return { isNew: recorded.size > 0, verdict, isDisabled: false };
  }
  if (!disabling)
    return { isNew: await writeFailed(db, delivery, made, verdict), verdict, isDisabled: false };
  return inTransaction(db, async (trx) => {
    const { messageId, accountId } = delivery;
    const closed = { reason: disabling, at: made.endedAt, messageId };
    const isDisabled = await disableEndpoint(trx, { ...delivery.endpoint, accountId }, closed);
    const final = isDisabled ? ({ status: 'FAILED' } as const) : verdict;
    return { isNew: await writeFailed(trx, delivery, made, final), verdict: final, isDisabled };
  });
}

/**
 * Records attempts that were accepted, each once, and that their endpoints work. Returns the ids of the
 * messages whose attempt was new. One statement for all of them.
 */
export async function recordDelivered(
  db: WorldDb,
  attempts: readonly { readonly delivery: WebhookDelivery; readonly made: AttemptMade }[],
): Promise<ReadonlySet<string>> {
  const given = attempts.map(({ delivery, made }) => ({
    id: delivery.messageId,
    made_before: delivery.attempts,
    ...columnsOf(made),
  }));
  const { rows } = await sql<{ id: string }>`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as given (
        id text, made_before integer, at timestamptz, ms integer, outcome text, status integer,
        answer_start text, url text, request_headers jsonb, answer_headers jsonb)
    ), message as (
      update webhook_messages message
         set attempts = message.attempts + 1, status = 'DELIVERED', next_attempt_at = null,
             closed_at = now(), updated_at = now()
        from given
       where message.id = given.id and message.attempts = given.made_before and message.status <> 'DELIVERED'
      returning message.endpoint_id, given.*
    ), attempt as (
      insert into webhook_attempts (message_id, attempt, at, ms, outcome, status, answer_start, url, request_headers, answer_headers)
      select id, made_before + 1, at, ms, outcome, status, answer_start, url, request_headers, answer_headers from message
    ), endpoint as (
      update webhook_endpoints set failing_since = null
       where id = any(array(
               select id from webhook_endpoints
                where id in (select endpoint_id from message) and failing_since is not null
                order by id for no key update))
    )
    select id from message`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

const columnsOf = ({
  at,
  ms,
  outcome,
  status,
  answerStart,
  url,
  requestHeaders,
  answerHeaders,
}: AttemptMade) => ({
  ...{ at, ms, outcome, status, url },
  answer_start: answerStart,
  request_headers: requestHeaders,
  answer_headers: answerHeaders,
});

async function writeFailed(
  db: WorldDb,
  { messageId, attempts, attemptsInSeries, endpoint }: WebhookDelivery,
  made: AttemptMade,
  verdict: NotDelivered,
): Promise<boolean> {
  const { rows } = await sql`
    with message as (
      update webhook_messages
         set attempts = attempts + 1, updated_at = now(), ${changesBy(verdict, attempts - attemptsInSeries)}
       where id = ${messageId} and attempts = ${attempts} and status <> 'DELIVERED'
      returning id
    ), attempt as (
      insert into webhook_attempts (message_id, attempt, at, ms, outcome, status, answer_start, url, request_headers, answer_headers)
      select id, ${attempts + 1}, ${made.at}, ${made.ms}, ${made.outcome}, ${made.status}, ${made.answerStart}, ${made.url},
             ${made.requestHeaders && JSON.stringify(made.requestHeaders)}::jsonb, ${made.answerHeaders && JSON.stringify(made.answerHeaders)}::jsonb
        from message
    ), endpoint as (
      update webhook_endpoints set failing_since = ${made.endedAt}
       where id = ${endpoint.id} and failing_since is null and exists (select from message)
    )
    select id from message`.execute(db);
  return rows.length > 0;
}

/**
 * A failed attempt changes a message only while it is pending in the attempt's series. One that was reopened
 * meanwhile keeps its new schedule, and its new series starts after this attempt. A workflow that carries it
 * keeps it.
 */
function changesBy(verdict: NotDelivered, seriesFrom: number): RawBuilder<unknown> {
  const isReopened = sql`status = 'PENDING' and series_from <> ${seriesFrom}`;
  const isCurrent = sql`status = 'PENDING' and series_from = ${seriesFrom}`;
  const nextAttemptAt = verdict.status === 'PENDING' ? inMs(verdict.waitMs) : sql`null`;
  const closedAt = verdict.status === 'PENDING' ? sql`null` : sql`now()`;
  const isHandedOver = verdict.status === 'PENDING' && verdict.isHandedOver;
  return sql`
    series_from = case when ${isReopened} then attempts + 1 else series_from end,
    status = case when ${isCurrent} then ${verdict.status} else status end,
    next_attempt_at = case when ${isCurrent} then ${nextAttemptAt} else next_attempt_at end,
    handed_over_at = case when ${isCurrent} and ${isHandedOver} then coalesce(handed_over_at, now()) else handed_over_at end,
    closed_at = case when ${isCurrent} then ${closedAt} else closed_at end`;
}

const inMs = (ms: number) => sql<Date>`now() + ${ms}::float8 * interval '1 ms'`;

export interface Postponed {
  readonly delivery: WebhookDelivery;
  readonly waitMs: number;
  /** A workflow carries it from now on. */
  readonly isHandedOver?: boolean;
}

/** Moves the next attempts of these, without recording one. */
export async function postpone(db: WorldDb, deliveries: readonly Postponed[]): Promise<void> {
  const given = deliveries.map(({ delivery, waitMs, isHandedOver = false }) => ({
    ...{ id: delivery.messageId, attempts: delivery.attempts },
    ...{ wait_ms: waitMs, is_handed_over: isHandedOver },
  }));
  await sql`
    update webhook_messages message
       set next_attempt_at = now() + given.wait_ms * interval '1 ms',
           handed_over_at = case when given.is_handed_over then now() else message.handed_over_at end
      from jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
           as given (id text, attempts integer, wait_ms float8, is_handed_over boolean)
     where message.id = given.id and message.attempts = given.attempts and message.status = 'PENDING'`.execute(
    db,
  );
}

/** Fails pending messages whose endpoint is closed, and still is. They can be recovered. */
export async function failUnsent(db: WorldDb, messageIds: readonly string[]): Promise<void> {
  await db
    .updateTable('webhook_messages')
    .set({ status: 'FAILED', next_attempt_at: null, closed_at: sql`now()`, updated_at: sql`now()` })
    .where('id', 'in', messageIds)
    .where('status', '=', 'PENDING')
    .where('endpoint_id', 'in', (eb) =>
      eb
        .selectFrom('webhook_endpoints')
        .select('id')
        .where((of) => of.or([of('enabled', '=', false), of('deleted_at', 'is not', null)])),
    )
    .execute();
}

/** No workflow took these: they are sent from their rows again. */
export async function takeBack(db: WorldDb, messageIds: readonly string[]): Promise<void> {
  await db
    .updateTable('webhook_messages')
    .set({ handed_over_at: null })
    .where('id', 'in', messageIds)
    .where('status', '=', 'PENDING')
    .where('handed_over_at', 'is not', null)
    .execute();
}

/** Messages overdue by so much, which their workflows do not attempt: they are sent from their rows again. */
export async function takeBackOverdue(
  db: WorldDb,
  { overdueMs, limit }: { readonly overdueMs: number; readonly limit: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    update webhook_messages set handed_over_at = null
     where id = any(array(
             select id from webhook_messages
              where status = 'PENDING' and handed_over_at is not null and next_attempt_at < ${inMs(-overdueMs)}
              order by next_attempt_at limit ${limit} for update skip locked))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** Deletes messages closed before then, with their attempts; returns how many. */
export async function forgetMessages(db: WorldDb, closedBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('webhook_messages')
    .select('id')
    .where('closed_at', '<', closedBefore)
    .orderBy('closed_at')
    .limit(limit);
  const deleted = await db.deleteFrom('webhook_messages').where('id', 'in', old).executeTakeFirst();
  return Number(deleted.numDeletedRows);
}
