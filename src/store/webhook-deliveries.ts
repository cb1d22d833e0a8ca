/**
 * What a delivery step reads and writes. An attempt and what it means for message and endpoint are recorded together, once an attempt
 * number: a step that ran twice is one attempt. Waiting is counted on the database's clock alone, so that no worker's clock matters.
 */
import { sql } from 'kysely';
import type { WebhookEvent } from '../domain/webhooks.ts';
import { inTransaction } from './in-transaction.ts';
import { closeWaiting } from './webhook-endpoints.ts';
import { listeners, tell, type Written } from './webhook-messages.ts';
import type { WorldDb } from './tables.ts';

export interface WebhookDelivery {
  readonly messageId: string;
  readonly accountId: string;
  readonly event: WebhookEvent;
  readonly body: string;
  readonly status: 'PENDING' | 'DELIVERED' | 'FAILED';
  /** Attempts that were recorded, ever and since the message was last opened. */
  readonly attempts: number;
  readonly attemptsInSeries: number;
  /** Not to be tried before this has passed. */
  readonly dueInMs: number;
  readonly endpoint: {
    readonly id: string;
    readonly url: string;
    /** Takes messages: neither switched off nor deleted. */
    readonly isOpen: boolean;
    readonly failingSince: Date | null;
    /** The newest first; an older one only while it still signs. */
    readonly secretsSealed: readonly Buffer[];
  };
}

/** undefined: it was forgotten. */
export async function loadWebhookDelivery(
  db: WorldDb,
  messageId: string,
): Promise<WebhookDelivery | undefined> {
  const row = await db
    .selectFrom('webhook_messages as message')
    .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'message.endpoint_id')
    .select([
      'message.account_id',
      'message.event',
      'message.body',
      'message.status',
      'message.attempts',
      'message.series_from',
      sql<number>`greatest(0, ceil(extract(epoch from message.next_attempt_at - clock_timestamp()) * 1000))::float8`.as(
        'due_in_ms',
      ),
      'endpoint.id as endpoint_id',
      'endpoint.url',
      'endpoint.failing_since',
      'endpoint.secret_sealed',
      sql<boolean>`endpoint.enabled and endpoint.deleted_at is null`.as('is_open'),
      sql<Buffer | null>`case when endpoint.previous_until > now() then endpoint.previous_secret_sealed end`.as(
        'previous_secret_sealed',
      ),
    ])
    .where('message.id', '=', messageId)
    .executeTakeFirst();
  return (
    row && {
      messageId,
      accountId: row.account_id,
      event: row.event,
      body: row.body,
      status: row.status,
      attempts: row.attempts,
      attemptsInSeries: row.attempts - row.series_from,
      dueInMs: row.due_in_ms,
      endpoint: {
        id: row.endpoint_id,
        url: row.url,
        isOpen: row.is_open,
        failingSince: row.failing_since,
        secretsSealed: [
          row.secret_sealed,
          ...(row.previous_secret_sealed === null ? [] : [row.previous_secret_sealed]),
        ],
      },
    }
  );
}

/** One attempt as it went. */
export interface AttemptMade {
  readonly at: Date;
  readonly endedAt: Date;
  readonly ms: number;
  readonly outcome: string;
  readonly status: number | null;
  readonly answerStart: string;
}

/** What an attempt means for its message. */
export type Verdict =
  { readonly status: 'DELIVERED' | 'FAILED' } | { readonly status: 'PENDING'; readonly waitMs: number };

/** What it means for the endpoint: to be called no more. */
export type Disabling = 'GONE' | 'FAILING';

export interface Recorded {
  /** `false`: this attempt is on record already, by a twin of this step. */
  readonly isNew: boolean;
  readonly verdict: Verdict;
  readonly isDisabled: boolean;
}

/** Records an attempt with all that it means. A message whose endpoint is disabled by it has failed, whatever was left of its schedule. */
export async function recordAttempt(
  db: WorldDb,
  delivery: WebhookDelivery,
  made: AttemptMade,
  verdict: Verdict,
  disabling?: { readonly reason: Disabling; readonly written: Written },
): Promise<Recorded> {
  if (!disabling) return { isNew: await keep(db, delivery, made, verdict), verdict, isDisabled: false };
  return inTransaction(db, async (trx) => {
    const isDisabled = await disable(trx, delivery, disabling.reason, made.endedAt, disabling.written);
    const final: Verdict = isDisabled ? { status: 'FAILED' } : verdict;
    return { isNew: await keep(trx, delivery, made, final), verdict: final, isDisabled };
  });
}

/** One statement. A message that was closed meanwhile stays so, unless it arrived after all. */
async function keep(
  db: WorldDb,
  { messageId, attempts, endpoint }: WebhookDelivery,
  made: AttemptMade,
  verdict: Verdict,
): Promise<boolean> {
  const waitMs = verdict.status === 'PENDING' ? verdict.waitMs : null;
  const isDelivered = verdict.status === 'DELIVERED';
  const { rows } = await sql`
    with moved as (
      update webhook_messages
         set attempts = attempts + 1, updated_at = now(),
             status = case when ${isDelivered} or status = 'PENDING' then ${verdict.status} else status end,
             next_attempt_at = case when status = 'PENDING' then now() + ${waitMs}::float8 * interval '1 ms' end,
             closed_at = case when status = 'PENDING' and ${waitMs}::float8 is not null then null
                              when status = 'PENDING' or ${isDelivered} then now() else closed_at end
       where id = ${messageId} and attempts = ${attempts} and status <> 'DELIVERED'
      returning id
    ), logged as (
      insert into webhook_attempts (message_id, attempt, at, ms, outcome, status, answer_start)
      select id, ${attempts + 1}, ${made.at}, ${made.ms}, ${made.outcome}, ${made.status}, ${made.answerStart} from moved
    ), endpoint as (
      update webhook_endpoints set failing_since = case when ${isDelivered} then null else ${made.endedAt}::timestamptz end
       where id = ${endpoint.id} and (failing_since is null) <> ${isDelivered} and exists (select from moved)
    )
    select id from moved`.execute(db);
  return rows.length > 0;
}

/**
 * Calls the endpoint no more: at its own word, or since it failed for too long, unless it answered somebody else meanwhile. The owner
 * hears of it at the other endpoints that ask.
 */
async function disable(
  trx: WorldDb,
  { accountId, endpoint }: WebhookDelivery,
  reason: Disabling,
  at: Date,
  written: Written,
): Promise<boolean> {
  const { rows } = await sql<{ url: string; listeners: string[] | null }>`
    update webhook_endpoints
       set enabled = false, disabled_reason = ${reason}, disabled_at = ${at}, updated_at = ${at}
     where id = ${endpoint.id} and enabled and deleted_at is null
       and (${reason} = 'GONE' or failing_since = ${endpoint.failingSince})
    returning url, ${listeners('endpoint.disabled', sql.ref('webhook_endpoints.account_id'))} as listeners`.execute(
    trx,
  );
  const [disabled] = rows;
  if (!disabled) return false;
  await closeWaiting(trx, endpoint.id);
  await tell(
    trx,
    {
      event: 'endpoint.disabled',
      key: `${endpoint.id}:${at.getTime()}`,
      subject: null,
      accountId,
      listeners: disabled.listeners?.filter((id) => id !== endpoint.id) ?? null,
      facts: { endpointId: endpoint.id, url: disabled.url, reason },
      at,
    },
    written,
  );
  return true;
}

/** There was no room to try it now, which is no attempt. */
export async function postpone(db: WorldDb, delivery: WebhookDelivery, waitMs: number): Promise<void> {
  await db
    .updateTable('webhook_messages')
    .set({ next_attempt_at: sql<Date>`now() + ${waitMs}::float8 * interval '1 ms'` })
    .where('id', '=', delivery.messageId)
    .where('attempts', '=', delivery.attempts)
    .where('status', '=', 'PENDING')
    .execute();
}

/** Its endpoint takes nothing more: it ends, and can be recovered. */
export async function closeUnsent(db: WorldDb, messageId: string): Promise<void> {
  await db
    .updateTable('webhook_messages')
    .set({ status: 'FAILED', next_attempt_at: null, closed_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', messageId)
    .where('status', '=', 'PENDING')
    .execute();
}

/** Messages that were due before and that nobody seems to carry, each at most once in `againAfterMs`. */
export async function claimOverdue(
  db: WorldDb,
  which: { readonly overdueMs: number; readonly againAfterMs: number; readonly limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update webhook_messages set swept_at = now()
     where id in (
       select id from webhook_messages
        where status = 'PENDING' and next_attempt_at < now() - ${which.overdueMs}::float8 * interval '1 ms'
          and (swept_at is null or swept_at < now() - ${which.againAfterMs}::float8 * interval '1 ms')
        order by next_attempt_at limit ${which.limit} for update skip locked)
    returning id`.execute(db);
  return rows.map((row) => row.id);
}

/** Claimed, and not handed over after all: whoever looks next may have them. */
export async function giveBack(db: WorldDb, messageIds: readonly string[]): Promise<void> {
  if (messageIds.length === 0) return;
  await db
    .updateTable('webhook_messages')
    .set({ swept_at: null })
    .where('id', 'in', [...messageIds])
    .execute();
}

/** Whom messages belong to and what they are about, for those who look for their workflows. */
export async function whoseMessages(
  db: WorldDb,
  messageIds: readonly string[],
): Promise<{ id: string; accountId: string; event: WebhookEvent; transactionId: string | null }[]> {
  const rows = await db
    .selectFrom('webhook_messages')
    .select(['id', 'account_id', 'event', 'subject'])
    .where('id', 'in', [...messageIds])
    .execute();
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    event: row.event,
    transactionId: row.subject,
  }));
}

/** Forgets messages that were closed before, and their attempts; answers how many. */
export async function forgetMessages(db: WorldDb, closedBefore: Date, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('webhook_messages')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('webhook_messages')
        .select('id')
        .where('closed_at', '<', closedBefore)
        .orderBy('closed_at')
        .limit(limit),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Secrets of endpoints by pages of ids, for sealing them anew. */
export function listSealed(
  db: WorldDb,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ id: string; secret_sealed: Buffer; previous_secret_sealed: Buffer | null }[]> {
  return db
    .selectFrom('webhook_endpoints')
    .select(['id', 'secret_sealed', 'previous_secret_sealed'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** The same secrets under another seal, unless they were replaced meanwhile. */
export async function reseal(
  db: WorldDb,
  id: string,
  before: { readonly secret: Buffer; readonly previous: Buffer | null },
  after: { readonly secret: Buffer; readonly previous: Buffer | null },
): Promise<void> {
  await db
    .updateTable('webhook_endpoints')
    .set({ secret_sealed: after.secret, previous_secret_sealed: after.previous })
    .where('id', '=', id)
    .where('secret_sealed', '=', before.secret)
    .where('previous_secret_sealed', 'is not distinct from', before.previous)
    .execute();
}
