import { sql, type RawBuilder } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import type { Header } from '../rules.ts';
import { disableEndpoint, signingSecrets, type DisablingReason } from './endpoints.ts';
import type { PendingMessages } from './messages.ts';

export type WebhookDelivery = NonNullable<Awaited<ReturnType<typeof leaseDelivery>>>;

/** Longer than an attempt and its database writes take. */
const LEASE_MS = 20_000;

/**
 * Reads a message and, if it is due and its endpoint open, leases it in the same statement: for others it is
 * not due until the lease expires. Due times are compared on the database's clock, so that workers' clocks do
 * not matter. `lease` is a lease passed on by another step; it counts as due. undefined: the message was
 * deleted.
 */
export async function leaseDelivery(db: WorldDb, messageId: string, lease: string | null = null) {
  const row = await db
    .with('found', () => messageAtEndpoint(db, messageId))
    .with('leased', (qb) =>
      qb
        .updateTable('webhook_messages as message')
        .from('found')
        .set({ next_attempt_at: sql<Date>`clock_timestamp() + ${LEASE_MS}::float8 * interval '1 ms'` })
        .whereRef('message.id', '=', 'found.id')
        .whereRef('message.attempts', '=', 'found.attempts')
        .where('found.is_open', '=', true)
        .where('message.status', '=', 'PENDING')
        .where(
          sql<boolean>`(message.next_attempt_at <= clock_timestamp() or message.next_attempt_at = ${lease}::timestamptz)`,
        )
        .returning(sql<string>`message.next_attempt_at::text`.as('lease')),
    )
    .selectFrom('found')
    .leftJoin('leased', (join) => join.onTrue())
    .selectAll('found')
    .select([
      'leased.lease',
      sql<number>`greatest(0, ceil(extract(epoch from found.next_attempt_at - clock_timestamp()) * 1000))::float8`.as(
        'due_in_ms',
      ),
    ])
    .executeTakeFirst();
  return (
    row && {
      messageId,
      /** What receivers recognise a repeat by: the same for every attempt, on every endpoint. */
      webhookId: row.event_id ?? row.id,
      accountId: row.account_id,
      event: row.event,
      body: row.body,
      status: row.status,
      /** Recorded attempts: all, and those since the message was last reopened. */
      attempts: row.attempts,
      attemptsInSeries: row.attempts - row.series_from,
      /** Permission to send now; null: not now. */
      lease: row.lease,
      /** Without a lease: the wait before the next try. */
      // Due and not leased: another worker has leased it at this moment.
      dueInMs: row.lease === null && row.due_in_ms === 0 ? LEASE_MS : row.due_in_ms,
      endpoint: {
        id: row.endpoint_id,
        url: row.url,
        /** Enabled and not deleted. */
        isOpen: row.is_open,
        failingSince: row.failing_since,
        /** Newest first. */
        secretsSealed: row.secrets_sealed,
      },
    }
  );
}

function messageAtEndpoint(db: WorldDb, messageId: string) {
  return db
    .selectFrom('webhook_messages as message')
    .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'message.endpoint_id')
    .selectAll('message')
    .select(['endpoint.url', 'endpoint.failing_since', signingSecrets('endpoint').as('secrets_sealed')])
    .select(sql<boolean>`endpoint.enabled and endpoint.deleted_at is null`.as('is_open'))
    .where('message.id', '=', messageId);
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
export type Verdict =
  { readonly status: 'DELIVERED' | 'FAILED' } | { readonly status: 'PENDING'; readonly waitMs: number };

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
  disabling?: { readonly reason: DisablingReason; readonly pending: PendingMessages },
) {
  if (!disabling)
    return { isNew: await writeAttempt(db, delivery, made, verdict), verdict, isDisabled: false };
  return inTransaction(db, async (trx) => {
    const { reason, pending } = disabling;
    const endpoint = { ...delivery.endpoint, accountId: delivery.accountId };
    const { messageId } = delivery;
    const isDisabled = await disableEndpoint(trx, endpoint, { reason, at: made.endedAt, messageId }, pending);
    const final: Verdict = isDisabled ? { status: 'FAILED' } : verdict;
    return { isNew: await writeAttempt(trx, delivery, made, final), verdict: final, isDisabled };
  });
}

async function writeAttempt(
  db: WorldDb,
  { messageId, attempts, attemptsInSeries, endpoint }: WebhookDelivery,
  made: AttemptMade,
  verdict: Verdict,
): Promise<boolean> {
  const isDelivered = verdict.status === 'DELIVERED';
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
      update webhook_endpoints set failing_since = ${isDelivered ? null : made.endedAt}
       where id = ${endpoint.id} and (failing_since is null) <> ${isDelivered} and exists (select from message)
    )
    select id from message`.execute(db);
  return rows.length > 0;
}

/**
 * A failed attempt changes a message only while it is pending in the attempt's series. One that was reopened
 * meanwhile keeps its new schedule, and its new series starts after this attempt.
 */
function changesBy(verdict: Verdict, seriesFrom: number): RawBuilder<unknown> {
  if (verdict.status === 'DELIVERED')
    return sql`status = 'DELIVERED', next_attempt_at = null, closed_at = now()`;
  const isReopened = sql`status = 'PENDING' and series_from <> ${seriesFrom}`;
  const isCurrent = sql`status = 'PENDING' and series_from = ${seriesFrom}`;
  const nextAttemptAt = verdict.status === 'PENDING' ? inMs(verdict.waitMs) : sql`null`;
  const closedAt = verdict.status === 'PENDING' ? sql`null` : sql`now()`;
  return sql`
    series_from = case when ${isReopened} then attempts + 1 else series_from end,
    status = case when ${isCurrent} then ${verdict.status} else status end,
    next_attempt_at = case when ${isCurrent} then ${nextAttemptAt} else next_attempt_at end,
    closed_at = case when ${isCurrent} then ${closedAt} else closed_at end`;
}

const inMs = (ms: number) => sql<Date>`now() + ${ms}::float8 * interval '1 ms'`;

/** Moves the next attempt without recording one. */
export async function postpone(db: WorldDb, delivery: WebhookDelivery, waitMs: number): Promise<void> {
  await db
    .updateTable('webhook_messages')
    .set({ next_attempt_at: inMs(waitMs) })
    .where((eb) => eb.and({ id: delivery.messageId, attempts: delivery.attempts, status: 'PENDING' }))
    .execute();
}

/** Fails a pending message whose endpoint is closed. It can be recovered. */
export async function failUnsent(db: WorldDb, messageId: string): Promise<void> {
  await db
    .updateTable('webhook_messages')
    .set({ status: 'FAILED', next_attempt_at: null, closed_at: sql`now()`, updated_at: sql`now()` })
    .where((eb) => eb.and({ id: messageId, status: 'PENDING' }))
    .execute();
}

/** Messages overdue by `overdueMs`, except those that the sweep handed over in the last `againAfterMs`. */
export async function listOverdue(
  db: WorldDb,
  which: { readonly overdueMs: number; readonly againAfterMs: number; readonly limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('webhook_messages')
    .select('id')
    .where('status', '=', 'PENDING')
    .where('next_attempt_at', '<', inMs(-which.overdueMs))
    .where((eb) => eb.or([eb('swept_at', 'is', null), eb('swept_at', '<', inMs(-which.againAfterMs))]))
    .orderBy('next_attempt_at')
    .limit(which.limit)
    .execute();
  return rows.map((row) => row.id);
}

/** Called after the hand-over: a sweep that dies in between hands over again, which does no harm. */
export async function markSwept(db: WorldDb, messageIds: readonly string[]): Promise<void> {
  if (messageIds.length === 0) return;
  await db
    .updateTable('webhook_messages')
    .set({ swept_at: sql`now()` })
    .where('id', 'in', messageIds)
    .execute();
}

/** For the search attributes of the messages' workflows. */
export const findMessageSubjects = (db: WorldDb, messageIds: readonly string[]) =>
  db
    .selectFrom('webhook_messages')
    .select(['id', 'account_id as accountId', 'event', 'subject as transactionId'])
    .where('id', 'in', messageIds)
    .execute();

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
