/**
 * What a delivery step reads and writes. A message is claimed by the statement that reads it, and what an attempt means for message and
 * endpoint is recorded with it, once an attempt number: a step that ran twice is one attempt. Waiting is counted on the database's clock
 * alone, so that no worker's clock matters.
 */
import { sql } from 'kysely';
import type { WebhookEvent } from '../rules.ts';
import { inTransaction } from '../../platform/database/in-transaction.ts';
import { disableEndpoint, type Disabling } from './disabling.ts';
import type { PendingMessages } from './messages.ts';
import { signingSecrets } from './secrets.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

export interface WebhookDelivery {
  readonly messageId: string;
  readonly accountId: string;
  readonly event: WebhookEvent;
  readonly body: string;
  readonly status: 'PENDING' | 'DELIVERED' | 'FAILED';
  /** Attempts that were recorded, ever and since the message was last opened. */
  readonly attempts: number;
  readonly attemptsInSeries: number;
  /** Whoever has it may send; null: nobody may now. */
  readonly claim: string | null;
  /** Without a claim: not to be tried before this has passed. */
  readonly dueInMs: number;
  readonly endpoint: {
    readonly id: string;
    readonly url: string;
    /** Takes messages: neither switched off nor deleted. */
    readonly isOpen: boolean;
    readonly failingSince: Date | null;
    /** Those that sign, the newest first. */
    readonly secretsSealed: readonly Buffer[];
  };
}

/** How long a claim holds: longer than an attempt and its rows take. */
const CLAIM_MS = 20_000;

/**
 * What an attempt needs to know, and in the same statement the claim for it, if the message is due and its endpoint takes messages: it is
 * not due for anybody else until the claim is over. Whoever cannot write gets nothing to send. `claim` is one that was handed on, and counts
 * like being due. undefined: the message was forgotten.
 */
export async function claimDelivery(
  db: WorldDb,
  messageId: string,
  claim: string | null = null,
): Promise<WebhookDelivery | undefined> {
  const row = await db
    .with('found', () => messageAtEndpoint(db, messageId))
    .with('claimed', (qb) =>
      qb
        .updateTable('webhook_messages as message')
        .from('found')
        .set({ next_attempt_at: sql<Date>`clock_timestamp() + ${CLAIM_MS}::float8 * interval '1 ms'` })
        .whereRef('message.id', '=', 'found.id')
        .whereRef('message.attempts', '=', 'found.attempts')
        .where('found.is_open', '=', true)
        .where('message.status', '=', 'PENDING')
        .where(
          sql<boolean>`(message.next_attempt_at <= clock_timestamp() or message.next_attempt_at = ${claim}::timestamptz)`,
        )
        .returning(sql<string>`message.next_attempt_at::text`.as('claim')),
    )
    .selectFrom('found')
    .leftJoin('claimed', (join) => join.onTrue())
    .selectAll('found')
    .select([
      'claimed.claim',
      sql<number>`greatest(0, ceil(extract(epoch from found.next_attempt_at - clock_timestamp()) * 1000))::float8`.as(
        'due_in_ms',
      ),
    ])
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
      claim: row.claim,
      // Due and not claimed: somebody else has claimed it this very moment.
      dueInMs: row.claim === null && row.due_in_ms === 0 ? CLAIM_MS : row.due_in_ms,
      endpoint: {
        id: row.endpoint_id,
        url: row.url,
        isOpen: row.is_open,
        failingSince: row.failing_since,
        secretsSealed: row.secrets_sealed,
      },
    }
  );
}

function messageAtEndpoint(db: WorldDb, messageId: string) {
  return db
    .selectFrom('webhook_messages as message')
    .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'message.endpoint_id')
    .select([
      'message.id',
      'message.account_id',
      'message.event',
      'message.body',
      'message.status',
      'message.attempts',
      'message.series_from',
      'message.next_attempt_at',
      'endpoint.id as endpoint_id',
      'endpoint.url',
      'endpoint.failing_since',
      sql<boolean>`endpoint.enabled and endpoint.deleted_at is null`.as('is_open'),
      signingSecrets('endpoint').as('secrets_sealed'),
    ])
    .where('message.id', '=', messageId);
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
  disabling?: { readonly reason: Disabling; readonly written: PendingMessages },
): Promise<Recorded> {
  if (!disabling) return { isNew: await keep(db, delivery, made, verdict), verdict, isDisabled: false };
  return inTransaction(db, async (trx) => {
    const { reason, written } = disabling;
    const endpoint = { ...delivery.endpoint, accountId: delivery.accountId };
    const isDisabled = await disableEndpoint(trx, endpoint, { reason, at: made.endedAt }, written);
    const final: Verdict = isDisabled ? { status: 'FAILED' } : verdict;
    return { isNew: await keep(trx, delivery, made, final), verdict: final, isDisabled };
  });
}

/**
 * One statement. A message that was closed meanwhile stays so, unless it arrived after all; one that was opened again meanwhile is due with
 * its whole schedule before it, which this attempt is no part of.
 */
async function keep(
  db: WorldDb,
  { messageId, attempts, attemptsInSeries, endpoint }: WebhookDelivery,
  made: AttemptMade,
  verdict: Verdict,
): Promise<boolean> {
  const waitMs = verdict.status === 'PENDING' ? verdict.waitMs : null;
  const isDelivered = verdict.status === 'DELIVERED';
  const openedAgain = sql`(status = 'PENDING' and series_from <> ${attempts - attemptsInSeries} and not ${isDelivered})`;
  const { rows } = await sql`
    with moved as (
      update webhook_messages
         set attempts = attempts + 1, updated_at = now(),
             series_from = case when ${openedAgain} then attempts + 1 else series_from end,
             status = case when ${openedAgain} then status
                           when ${isDelivered} or status = 'PENDING' then ${verdict.status} else status end,
             next_attempt_at = case when ${openedAgain} then next_attempt_at
                                    when status = 'PENDING' then now() + ${waitMs}::float8 * interval '1 ms' end,
             closed_at = case when ${openedAgain} or status = 'PENDING' and ${waitMs}::float8 is not null then null
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

/** Messages that were due before and that nobody seems to carry; those handed over less than `againAfterMs` ago are left out. */
export async function listOverdue(
  db: WorldDb,
  which: { readonly overdueMs: number; readonly againAfterMs: number; readonly limit: number },
): Promise<string[]> {
  const ago = (ms: number) => sql<Date>`now() - ${ms}::float8 * interval '1 ms'`;
  const rows = await db
    .selectFrom('webhook_messages')
    .select('id')
    .where('status', '=', 'PENDING')
    .where('next_attempt_at', '<', ago(which.overdueMs))
    .where((eb) => eb.or([eb('swept_at', 'is', null), eb('swept_at', '<', ago(which.againAfterMs))]))
    .orderBy('next_attempt_at')
    .limit(which.limit)
    .execute();
  return rows.map((row) => row.id);
}

/** Handed over just now, by the sweep. A sweep that dies before has them handed over once more, which does no harm. */
export async function markSwept(db: WorldDb, messageIds: readonly string[]): Promise<void> {
  if (messageIds.length === 0) return;
  await db
    .updateTable('webhook_messages')
    .set({ swept_at: sql`now()` })
    .where('id', 'in', [...messageIds])
    .execute();
}

/** Whom messages belong to and what they are about, for those who look for their workflows. */
export async function findMessageSubjects(
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
