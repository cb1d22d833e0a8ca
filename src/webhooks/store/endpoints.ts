/**
 * Where merchants want to hear of their events. Nothing here answers a secret, sealed or not. An endpoint that is deleted stays as a row,
 * since its messages point at it, and is found no more.
 */
import { sql, type Selectable } from 'kysely';
import type { WebhookEvent } from '../rules.ts';
import { inTransaction } from '../../platform/database/in-transaction.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { WebhookEndpointsTable } from './tables.ts';

export interface Endpoint {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly enabled: boolean;
  readonly disabledReason: 'BY_OWNER' | 'GONE' | 'FAILING' | null;
  /** The first failure since the last success. */
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewEndpoint {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly secretSealed: Buffer;
  readonly now: Date;
  readonly maxPerAccount: number;
}

/** Adds an endpoint unless the account has its fill, also when many are added at once. In the caller's transaction, if there is one. */
export async function createEndpoint(db: WorldDb, endpoint: NewEndpoint): Promise<'created' | 'too-many'> {
  const { accountId, now } = endpoint;
  return inTransaction(db, async (trx) => {
    await lockEndpointsOf(trx, accountId);
    const { count } = await trx
      .selectFrom('webhook_endpoints')
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .where('account_id', '=', accountId)
      .where('deleted_at', 'is', null)
      .executeTakeFirstOrThrow();
    if (count >= BigInt(endpoint.maxPerAccount)) return 'too-many';
    await trx
      .insertInto('webhook_endpoints')
      .values({
        id: endpoint.id,
        account_id: accountId,
        url: endpoint.url,
        events: [...endpoint.events],
        disabled_reason: null,
        disabled_at: null,
        failing_since: null,
        secret_sealed: endpoint.secretSealed,
        previous_secret_sealed: null,
        previous_until: null,
        created_at: now,
        updated_at: now,
        deleted_at: null,
      })
      .execute();
    return 'created';
  });
}

/**
 * The endpoint that the account has at this URL already, one that is enabled before any other, or what making a new one came to. Many who ask
 * at once get the same one. In the caller's transaction.
 */
export async function findOrCreateEndpoint(
  trx: WorldDb,
  endpoint: NewEndpoint,
): Promise<Endpoint | 'created' | 'too-many'> {
  await lockEndpointsOf(trx, endpoint.accountId);
  const rows = await owned(trx, endpoint.accountId)
    .select(COLUMNS)
    .orderBy('enabled', 'desc')
    .orderBy('created_at')
    .execute();
  const row = rows.find(({ url }) => URL.parse(url)?.href === URL.parse(endpoint.url)?.href);
  return row ? toEndpoint(row) : createEndpoint(trx, endpoint);
}

/** Whoever adds to an account's endpoints does so one after the other. */
async function lockEndpointsOf(trx: WorldDb, accountId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhook endpoints of ${accountId}`}, 0))`.execute(
    trx,
  );
}

export async function findEndpoint(
  db: WorldDb,
  accountId: string,
  id: string,
): Promise<Endpoint | undefined> {
  const row = await owned(db, accountId).where('id', '=', id).select(COLUMNS).executeTakeFirst();
  return row && toEndpoint(row);
}

/** One page of an account's endpoints, oldest first, and how many there are in all. */
export async function listEndpoints(
  db: WorldDb,
  accountId: string,
  { page, limit }: { readonly page: number; readonly limit: number },
): Promise<{ items: Endpoint[]; total: number }> {
  const [rows, counted] = await Promise.all([
    owned(db, accountId)
      .select(COLUMNS)
      .orderBy('created_at')
      .orderBy('id')
      .limit(limit)
      .offset((page - 1) * limit)
      .execute(),
    owned(db, accountId)
      .select((eb) => eb.fn.countAll<bigint>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { items: rows.map(toEndpoint), total: Number(counted.total) };
}

export interface EndpointChange {
  readonly url?: string;
  readonly events?: readonly WebhookEvent[];
  /** true also ends a disabling that was ours, and forgives what failed before. */
  readonly enabled?: boolean;
  readonly now: Date;
}

/** Changes what is given. Switching off closes what waits to be sent. undefined: no such endpoint of this account. */
export async function updateEndpoint(
  db: WorldDb,
  accountId: string,
  id: string,
  { url, events, enabled, now }: EndpointChange,
): Promise<Endpoint | undefined> {
  return inTransaction(db, async (trx) => {
    const row = await changing(trx, accountId, id)
      .set({
        ...(url === undefined ? {} : { url }),
        ...(events === undefined ? {} : { events: [...events] }),
        ...(enabled === undefined ? {} : enabled ? ENABLED : switchedOff(now)),
        updated_at: now,
      })
      .returning(COLUMNS)
      .executeTakeFirst();
    if (row && enabled === false) await closeWaiting(trx, id);
    return row && toEndpoint(row);
  });
}

const ENABLED = { enabled: true, disabled_reason: null, disabled_at: null, failing_since: null } as const;

/** One that is off already keeps its reason. */
function switchedOff(now: Date) {
  return {
    enabled: false,
    disabled_reason: sql<'BY_OWNER'>`coalesce(disabled_reason, 'BY_OWNER')`,
    disabled_at: sql<Date>`coalesce(disabled_at, ${now})`,
  };
}

/** Forgets an endpoint; what waited to be sent to it ends. */
export async function deleteEndpoint(
  db: WorldDb,
  accountId: string,
  id: string,
  now: Date,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const { numUpdatedRows } = await changing(trx, accountId, id)
      .set({ deleted_at: now, updated_at: now })
      .executeTakeFirst();
    if (numUpdatedRows > 0n) await closeWaiting(trx, id);
    return numUpdatedRows > 0n;
  });
}

/** As many as are closed at once: quick beside the statement time limit. What is left ends at its own next attempt. */
const CLOSE_AT_ONCE = 5_000;

/** Ends what waits to be sent to an endpoint that takes nothing more. It can be recovered. Whatever is being recorded just now is left alone. */
export async function closeWaiting(trx: WorldDb, endpointId: string): Promise<void> {
  await sql`
    update webhook_messages set status = 'FAILED', next_attempt_at = null, closed_at = now(), updated_at = now()
     where status = 'PENDING' and id in (
       select id from webhook_messages where endpoint_id = ${endpointId} and status = 'PENDING'
        order by created_at desc limit ${CLOSE_AT_ONCE} for update skip locked)`.execute(trx);
}

const COLUMNS = [
  'id',
  'account_id',
  'url',
  'events',
  'enabled',
  'disabled_reason',
  'failing_since',
  'created_at',
  'updated_at',
] as const;

function owned(db: WorldDb, accountId: string) {
  return db
    .selectFrom('webhook_endpoints')
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null);
}

function changing(db: WorldDb, accountId: string, id: string) {
  return db
    .updateTable('webhook_endpoints')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null);
}

function toEndpoint(row: Pick<Selectable<WebhookEndpointsTable>, (typeof COLUMNS)[number]>): Endpoint {
  return {
    id: row.id,
    accountId: row.account_id,
    url: row.url,
    events: row.events,
    enabled: row.enabled,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
