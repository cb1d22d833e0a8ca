import { sql, type RawBuilder } from 'kysely';
import type { Page, PageQuery } from '../../domain/page.ts';
import { readPage } from '../../platform/database/page.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inTransaction, lockByName } from '../../platform/database/transactions.ts';
import type { WebhookEvent } from '../events.ts';
import { MAX_PREVIOUS_SECRETS, type DisabledReason } from '../rules.ts';
import { enqueueWebhook, subscribers } from './messages.ts';
import { writeNotice } from './notices.ts';

export type Endpoint = NonNullable<Awaited<ReturnType<typeof findEndpoint>>>;

export interface NewEndpoint extends Pick<Endpoint, 'id' | 'accountId' | 'url'> {
  readonly events: readonly WebhookEvent[];
  readonly secretSealed: Buffer;
  readonly now: Date;
  readonly maxPerAccount: number;
  readonly createdBy?: string;
}

/** The limit per account holds for concurrent calls too. Joins the caller's transaction, if there is one. */
export async function createEndpoint(db: WorldDb, endpoint: NewEndpoint): Promise<'created' | 'too-many'> {
  const { accountId, now } = endpoint;
  return inTransaction(db, async (trx) => {
    await lockEndpointsOf(trx, accountId);
    const { count } = await selectOwned(trx, accountId)
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .executeTakeFirstOrThrow();
    if (count >= BigInt(endpoint.maxPerAccount)) return 'too-many';
    const { id, url, events, secretSealed: secret_sealed } = endpoint;
    const made = { account_id: accountId, created_by: endpoint.createdBy };
    const columns = { id, ...made, url, events: [...events], secret_sealed };
    await trx
      .insertInto('webhook_endpoints')
      .values({ ...columns, created_at: now, updated_at: now })
      .execute();
    return 'created';
  });
}

/** With this URL, preferably an enabled one; or creates one. Concurrent calls get the same one. */
export async function findOrCreateEndpoint(
  trx: WorldDb,
  endpoint: NewEndpoint,
): Promise<Endpoint | 'created' | 'too-many'> {
  await lockEndpointsOf(trx, endpoint.accountId);
  const rows = await selectOwned(trx, endpoint.accountId)
    .select(COLUMNS)
    .orderBy('enabled', 'desc')
    .orderBy('created_at')
    .execute();
  const row = rows.find(({ url }) => URL.parse(url)?.href === URL.parse(endpoint.url)?.href);
  return row ?? createEndpoint(trx, endpoint);
}

const lockEndpointsOf = (trx: WorldDb, accountId: string) =>
  lockByName(trx, `webhook endpoints of ${accountId}`);

export const findEndpoint = (db: WorldDb, accountId: string, id: string) =>
  selectOwned(db, accountId).where('id', '=', id).select(COLUMNS).executeTakeFirst();

/** Oldest first. */
export const listEndpoints = (db: WorldDb, accountId: string, query: PageQuery): Promise<Page<Endpoint>> =>
  readPage(selectOwned(db, accountId).select(COLUMNS).orderBy('created_at').orderBy('id'), query);

export interface EndpointChange {
  readonly url?: string | undefined;
  readonly events?: readonly WebhookEvent[] | undefined;
  /** true also enables an endpoint that we disabled, and forgets its failures. */
  readonly enabled?: boolean | undefined;
  readonly now: Date;
}

/** Disabling fails the pending messages. undefined: the account has no such endpoint. */
export async function updateEndpoint(
  db: WorldDb,
  accountId: string,
  id: string,
  { url, events, enabled, now }: EndpointChange,
): Promise<Endpoint | undefined> {
  return inTransaction(db, async (trx) => {
    const row = await updateOwned(trx, accountId, id)
      .set({
        url,
        events: events && [...events],
        ...(enabled !== undefined && (enabled ? ENABLED : disabledByOwner(now))),
        updated_at: now,
      })
      .returning(COLUMNS)
      .executeTakeFirst();
    if (row && enabled === false) await failPending(trx, id);
    return row;
  });
}

const ENABLED = { enabled: true, disabled_reason: null, disabled_at: null, failing_since: null } as const;

/** An endpoint that is disabled already keeps its reason. */
function disabledByOwner(now: Date) {
  return {
    enabled: false,
    disabled_reason: sql<'BY_OWNER'>`coalesce(disabled_reason, 'BY_OWNER')`,
    disabled_at: sql<Date>`coalesce(disabled_at, ${now})`,
  };
}

/** Keeps the row, since messages refer to it. Pending messages fail. */
export const deleteEndpoint = (db: WorldDb, accountId: string, id: string, now: Date): Promise<boolean> =>
  inTransaction(db, async (trx) => {
    const deleted = updateOwned(trx, accountId, id).set({ deleted_at: now, updated_at: now });
    const isFound = (await deleted.executeTakeFirst()).numUpdatedRows > 0n;
    if (isFound) await failPending(trx, id);
    return isFound;
  });

/** Those that this person made, or keys of theirs; returns how many. */
export const deleteEndpointsBy = (
  db: WorldDb,
  accountId: string,
  createdBy: string,
  now: Date,
): Promise<number> =>
  inTransaction(db, async (trx) => {
    const theirs = await selectOwned(trx, accountId)
      .select('id')
      .where('created_by', '=', createdBy)
      .execute();
    for (const { id } of theirs) await deleteEndpoint(trx, accountId, id, now);
    return theirs.length;
  });

/** Fast enough for the statement timeout. Any further messages fail at their own next attempt. */
const CLOSE_AT_ONCE = 5_000;

/** They can be recovered. Skips rows that an attempt is recording right now. */
async function failPending(trx: WorldDb, endpointId: string): Promise<void> {
  await sql`
    update webhook_messages set status = 'FAILED', next_attempt_at = null, closed_at = now(), updated_at = now()
     where id = any(array(
       select id from webhook_messages where endpoint_id = ${endpointId} and status = 'PENDING'
        order by created_at desc limit ${CLOSE_AT_ONCE} for update skip locked))`.execute(trx);
}

const COLUMNS = [
  'id',
  'account_id as accountId',
  'url',
  'events',
  'enabled',
  'disabled_reason as disabledReason',
  'failing_since as failingSince',
  'created_at as createdAt',
  'updated_at as updatedAt',
  'created_by as createdBy',
] as const;

const isOwned = (accountId: string) => sql<boolean>`account_id = ${accountId} and deleted_at is null`;

const selectOwned = (db: WorldDb, accountId: string) =>
  db.selectFrom('webhook_endpoints').where(isOwned(accountId));

const updateOwned = (db: WorldDb, accountId: string, id: string) =>
  db.updateTable('webhook_endpoints').where('id', '=', id).where(isOwned(accountId));

export type DisablingReason = Exclude<DisabledReason, 'BY_OWNER'>;

export interface ToDisable {
  readonly id: string;
  readonly accountId: string;
  /** As read when the decision was made: an endpoint that has answered since is not disabled for failing. */
  readonly failingSince: Date | null;
}

/**
 * Fails its pending messages, e-mails the owner and notifies the account's other endpoints, in one
 * transaction. `false`: it was disabled or deleted before, or has recovered.
 */
export async function disableEndpoint(
  db: WorldDb,
  { id, accountId, failingSince }: ToDisable,
  {
    reason,
    at,
    messageId,
  }: { readonly reason: DisablingReason; readonly at: Date; readonly messageId?: string },
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<Disabled>`
      update webhook_endpoints
         set enabled = false, disabled_reason = ${reason}, disabled_at = ${at}, updated_at = ${at}
       where id = ${id} and enabled and deleted_at is null and (${reason} = 'GONE' or failing_since = ${failingSince})
      returning url, failing_since, ${messageId ?? lastFailed} as message_id, ${subscribers('endpoint.disabled', sql.ref('webhook_endpoints.account_id'))} as subscribers`.execute(
      trx,
    );
    const [disabled] = rows;
    if (!disabled) return false;
    const { url, failing_since: since, message_id } = disabled;
    await failPending(trx, id);
    const others = disabled.subscribers?.filter((endpointId) => endpointId !== id) ?? null;
    const event = { event: 'endpoint.disabled', key: `${id}:${at.getTime()}`, subject: null } as const;
    const facts = { endpointId: id, url, reason, messageId: message_id };
    await enqueueWebhook(trx, { ...event, accountId, subscribers: others, facts, at });
    const times = { failingSince: since?.toISOString() ?? null, disabledAt: at.toISOString() };
    const notice = { endpointId: id, host: hostOf(url), reason, ...times };
    await writeNotice(trx, accountId, { kind: 'endpoint-disabled', facts: notice }, at);
    return true;
  });
}

/** Tells the owner of each endpoint that still fails, in the transaction that remembers it. How many. */
export async function warnOfFailing(
  db: WorldDb,
  { since, toldBefore, at }: { readonly since: Date; readonly toldBefore: Date; readonly at: Date },
): Promise<number> {
  return inTransaction(db, async (trx) => {
    const failing = await trx
      .updateTable('webhook_endpoints')
      .set({ owner_warned_at: at })
      .where('enabled', '=', true)
      .where('deleted_at', 'is', null)
      .where('failing_since', '<=', since)
      .where((all) =>
        all.or([
          all('owner_warned_at', 'is', null),
          all.and([
            all('owner_warned_at', '<', all.ref('failing_since')),
            all('owner_warned_at', '<=', toldBefore),
          ]),
        ]),
      )
      .returning(['id', 'account_id', 'url', 'failing_since'])
      .execute();
    for (const { id, account_id, url, failing_since } of failing) {
      const facts = {
        endpointId: id,
        host: hostOf(url),
        failingSince: (failing_since ?? since).toISOString(),
      };
      await writeNotice(trx, account_id, { kind: 'endpoint-failing', facts }, at);
    }
    return failing.length;
  });
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? '';

interface Disabled {
  readonly url: string;
  readonly failing_since: Date | null;
  readonly message_id: string | null;
  readonly subscribers: string[] | null;
}

/** Of the endpoint that a statement changes. */
const lastFailed = sql<string | null>`
  (select message.id from webhook_messages message
    where message.endpoint_id = webhook_endpoints.id and message.status <> 'DELIVERED' and message.attempts > 0
    order by message.updated_at desc limit 1)`;

export interface FailingEndpoint extends ToDisable {
  readonly failingSince: Date;
  /** The highest number of attempts of one message since then. */
  readonly attempts: number;
}

/**
 * Enabled ones that have failed since `since` or longer; pages by id. Where a message is pending, its own
 * attempts decide: after an outage of ours the endpoint may answer again.
 */
export async function listFailing(
  db: WorldDb,
  which: { readonly since: Date; readonly after: string; readonly limit: number },
): Promise<FailingEndpoint[]> {
  const { rows } = await sql<FailingEndpoint>`
    select endpoint.id, endpoint.account_id as "accountId", endpoint.failing_since as "failingSince",
           coalesce((select max(message.attempts - message.series_from) from webhook_messages message
                      where message.endpoint_id = endpoint.id and message.status <> 'DELIVERED'
                        and message.updated_at >= endpoint.failing_since), 0) as attempts
      from webhook_endpoints endpoint
     where endpoint.enabled and endpoint.deleted_at is null and endpoint.failing_since <= ${which.since}
       and endpoint.id > ${which.after}
       and not exists (select from webhook_messages waiting where waiting.endpoint_id = endpoint.id and waiting.status = 'PENDING')
     order by endpoint.id limit ${which.limit}`.execute(db);
  return rows;
}

const OLDER = 'webhook_older_secrets';

/** Every sealed secret that signs now, newest first: for a query over `webhook_endpoints` or its alias. */
export function signingSecrets(endpoint = 'webhook_endpoints'): RawBuilder<Buffer[]> {
  const row = sql.table(endpoint);
  return sql<Buffer[]>`
    array[${row}.secret_sealed]
      || case when ${row}.previous_until > now() then array[${row}.previous_secret_sealed] else '{}' end
      || array(select older.secret_sealed from ${sql.table(OLDER)} older
                where older.endpoint_id = ${row}.id and older.until > now() order by older.until desc)`;
}

/** Newest first. Empty: the account has no such endpoint. */
export async function findSigningSecrets(db: WorldDb, accountId: string, id: string): Promise<Buffer[]> {
  const secrets = selectOwned(db, accountId).select(signingSecrets().as('sealed')).where('id', '=', id);
  return (await secrets.executeTakeFirst())?.sealed ?? [];
}

export interface NextSecret {
  readonly secretSealed: Buffer;
  /** Until when the replaced secret still signs. */
  readonly previousUntil: Date;
  readonly now: Date;
}

/** `firstEndsAt`: the limit is reached, nothing was changed. undefined: no such endpoint. */
export async function rotateSecret(
  db: WorldDb,
  accountId: string,
  endpointId: string,
  next: NextSecret,
): Promise<Endpoint | { readonly firstEndsAt: Date } | undefined> {
  return inTransaction(db, async (trx) => {
    const endpoint = selectOwned(trx, accountId).select('id').where('id', '=', endpointId).forUpdate();
    if (!(await endpoint.executeTakeFirst())) return undefined;
    const { count, firstEndsAt } = await countPreviousSecrets(trx, endpointId);
    if (firstEndsAt !== null && count >= MAX_PREVIOUS_SECRETS) return { firstEndsAt };
    await replaceSecret(trx, endpointId, next);
    return findEndpoint(trx, accountId, endpointId);
  });
}

async function countPreviousSecrets(trx: WorldDb, endpointId: string) {
  const { rows } = await sql<{ count: number; firstEndsAt: Date | null }>`
    select count(*)::int as count, min(until) as "firstEndsAt" from (
      select previous_until as until from webhook_endpoints where id = ${endpointId}
      union all
      select until from ${sql.table(OLDER)} where endpoint_id = ${endpointId}
    ) previous where until > now()`.execute(trx);
  return rows[0] ?? { count: 0, firstEndsAt: null };
}

async function replaceSecret(
  trx: WorldDb,
  endpointId: string,
  { secretSealed, previousUntil, now }: NextSecret,
): Promise<void> {
  await sql`
    insert into ${sql.table(OLDER)} (endpoint_id, secret_sealed, until)
    select id, previous_secret_sealed, previous_until from webhook_endpoints
     where id = ${endpointId} and previous_until > now()`.execute(trx);
  await trx
    .updateTable('webhook_endpoints')
    .set((eb) => ({
      previous_secret_sealed: eb.ref('secret_sealed'),
      previous_until: previousUntil,
      secret_sealed: secretSealed,
      updated_at: now,
    }))
    .where('id', '=', endpointId)
    .execute();
}

/** Deletes secrets that have expired or whose endpoint was deleted; returns how many. */
export async function forgetSecrets(db: WorldDb): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with older as (
      delete from ${sql.table(OLDER)} older using webhook_endpoints endpoint
       where endpoint.id = older.endpoint_id and (older.until <= now() or endpoint.deleted_at is not null)
      returning 1
    ), previous as (
      update webhook_endpoints set previous_secret_sealed = null, previous_until = null
       where previous_until <= now() or (previous_until is not null and deleted_at is not null)
      returning 1
    )
    select ((select count(*) from older) + (select count(*) from previous))::int as count`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Every stored secret, in pages by endpoint id. */
export async function listSealed(
  db: WorldDb,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly id: string; readonly sealed: readonly Buffer[] }[]> {
  const { rows } = await sql<{ id: string; sealed: Buffer[] }>`
    select id, array_remove(array[secret_sealed, previous_secret_sealed], null)
               || array(select older.secret_sealed from ${sql.table(OLDER)} older where older.endpoint_id = endpoint.id) as sealed
      from webhook_endpoints endpoint where id > ${after} order by id limit ${limit}`.execute(db);
  return rows;
}

/** In whichever column or table the secret is now. */
export async function reseal(db: WorldDb, endpointId: string, before: Buffer, after: Buffer): Promise<void> {
  await sql`
    with older as (
      update ${sql.table(OLDER)} set secret_sealed = ${after}
       where endpoint_id = ${endpointId} and secret_sealed = ${before}
    )
    update webhook_endpoints
       set secret_sealed = case when secret_sealed = ${before} then ${after} else secret_sealed end,
           previous_secret_sealed = case when previous_secret_sealed = ${before} then ${after} else previous_secret_sealed end
     where id = ${endpointId} and (secret_sealed = ${before} or previous_secret_sealed = ${before})`.execute(
    db,
  );
}
