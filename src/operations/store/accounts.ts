/** What an account has in one environment. Of webhooks, secrets, bodies, headers and answers are not read. */
import { sql, type RawBuilder } from 'kysely';
import type { Money } from '../../domain/money.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** Those without a wallet are left out. */
export async function readBalances(db: WorldDb, accountIds: readonly string[]) {
  if (accountIds.length === 0) return new Map<string, Money>();
  const rows = await db
    .selectFrom('wallets')
    .select(['account_id', 'balance_minor', 'currency'])
    .where('account_id', 'in', accountIds)
    .execute();
  return new Map(
    rows.map((row) => [row.account_id, { amountMinor: row.balance_minor, currency: row.currency }]),
  );
}

interface OpenOfAccount {
  readonly endpoints: number;
  readonly openPurchases: number;
  readonly openFundings: number;
}

export async function countOpen(db: WorldDb, accountId: string): Promise<OpenOfAccount> {
  const { rows } = await sql<OpenOfAccount>`
    select (select count(*)::int4 from webhook_endpoints where account_id = ${accountId} and deleted_at is null) as endpoints,
           (select count(*)::int4 from purchases where account_id = ${accountId} and status in ('PENDING', 'PROCESSING'))
             as "openPurchases",
           (select count(*)::int4 from fundings where account_id = ${accountId} and status = 'PENDING') as "openFundings"`.execute(
    db,
  );
  return rows[0] ?? { endpoints: 0, openPurchases: 0, openFundings: 0 };
}

/** Those of these ids of the stuck list that are the account's. */
export async function findOwn(db: WorldDb, accountId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Set<string>();
  const wanted = sql`any(${[...ids]}::text[])`;
  const { rows } = await sql<{ id: string }>`
    select transaction_id as id from purchases where transaction_id = ${wanted} and account_id = ${accountId}
    union all select transaction_id from fundings where transaction_id = ${wanted} and account_id = ${accountId}
    union all select id from webhook_messages where id = ${wanted} and account_id = ${accountId}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Of each message: more than one series of attempts makes. */
export const MAX_ATTEMPTS = 10;

/** Those that exist, then deleted ones, each newest first. */
export function listEndpointsOf(db: WorldDb, accountId: string, limit: number) {
  return db
    .selectFrom('webhook_endpoints')
    .select(['id as endpointId', 'events', 'enabled', 'disabled_reason as disabledReason'])
    .select(hostOf(sql.ref('url')).as('host'))
    .select(['failing_since as failingSince', 'created_at as createdAt', 'deleted_at as deletedAt'])
    .where('account_id', '=', accountId)
    .orderBy(sql`deleted_at is not null`)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function isOwnMessage(db: WorldDb, accountId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('webhook_messages')
    .select('id')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row !== undefined;
}

/** A page of those not delivered, newest first, with their latest attempts; or the one with this id. */
export async function readMessages(
  db: WorldDb,
  {
    accountId,
    messageId,
    after,
    limit,
  }: {
    readonly accountId: string;
    readonly messageId?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  },
) {
  let matching = db
    .selectFrom('webhook_messages as message')
    .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'message.endpoint_id')
    .select(['message.id as messageId', 'message.event', 'message.endpoint_id as endpointId'])
    .select(hostOf(sql.ref('endpoint.url')).as('host'))
    .select(['message.subject as transactionId', 'message.status', 'message.attempts'])
    .select(['message.next_attempt_at as nextAttemptAt', 'message.closed_at as closedAt'])
    .select('message.created_at as createdAt')
    .where('message.account_id', '=', accountId);
  matching =
    messageId === undefined
      ? matching.where('message.status', '<>', sql.lit('DELIVERED'))
      : matching.where('message.id', '=', messageId);
  if (after !== undefined)
    matching = matching.where(
      sql<boolean>`(message.created_at, message.id) < ((select created_at from webhook_messages where id = ${after}), ${after})`,
    );
  const found = await matching
    .orderBy('message.created_at', 'desc')
    .orderBy('message.id', 'desc')
    .limit(limit + 1)
    .execute();
  const shown = found.slice(0, limit);
  const attempts = Map.groupBy(
    await readLatestAttempts(
      db,
      shown.map((message) => message.messageId),
    ),
    (attempt) => attempt.messageId,
  );
  return {
    items: shown.map((message) => ({ ...message, latestAttempts: attempts.get(message.messageId) ?? [] })),
    next: found.length > limit ? shown.at(-1)?.messageId : undefined,
  };
}

interface FoundAttempt {
  readonly messageId: string;
  readonly attempt: number;
  readonly at: Date;
  readonly milliseconds: number;
  readonly outcome: string;
  readonly status: number | null;
}

/** Oldest first. */
async function readLatestAttempts(db: WorldDb, messageIds: readonly string[]): Promise<FoundAttempt[]> {
  if (messageIds.length === 0) return [];
  const { rows } = await sql<FoundAttempt>`
    select message_id as "messageId", latest.attempt, latest.at, latest.ms as milliseconds, latest.outcome, latest.status
      from unnest(${[...messageIds]}::text[]) as message_id
     cross join lateral (
       select attempt, at, ms, outcome, status from webhook_attempts
        where webhook_attempts.message_id = message_id.message_id order by attempt desc limit ${MAX_ATTEMPTS}
     ) latest
     order by latest.attempt`.execute(db);
  return rows;
}

/** The host of a merchant's URL. What stands behind it may be the merchant's own secret. */
export const hostOf = (url: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`substring(${url} from '^[a-z]+://([^/?#]+)')`;
