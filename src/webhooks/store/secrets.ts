/**
 * The sealed secrets of endpoints: which of them sign now, replacing one, and keeping no more of them than sign. One that was replaced signs on
 * until its own end; the one replaced last stands in the endpoint's row, those before it in a table. Must not open them, nor be asked by
 * anything that lists.
 */
import { sql, type RawBuilder } from 'kysely';
import { inTransaction } from '../../platform/database/in-transaction.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { findEndpoint, type Endpoint } from './endpoints.ts';

const OLDER = 'webhook_older_secrets';

/** For the select list of a query over `webhook_endpoints`, called so or by an alias: every secret that signs now, the newest first. */
export function signingSecrets(endpoint = 'webhook_endpoints'): RawBuilder<Buffer[]> {
  const of = sql.table(endpoint);
  return sql<Buffer[]>`
    array[${of}.secret_sealed]
      || case when ${of}.previous_until > now() then array[${of}.previous_secret_sealed] else '{}' end
      || array(select older.secret_sealed from ${sql.table(OLDER)} older
                where older.endpoint_id = ${of}.id and older.until > now() order by older.until desc)`;
}

/** Every secret that signs now, the newest first. Empty: no such endpoint of this account. */
export async function findSigningSecrets(
  db: WorldDb,
  accountId: string,
  endpointId: string,
): Promise<Buffer[]> {
  const row = await db
    .selectFrom('webhook_endpoints')
    .select(signingSecrets().as('sealed'))
    .where('id', '=', endpointId)
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row?.sealed ?? [];
}

export interface NextSecret {
  readonly secretSealed: Buffer;
  /** Until when the one that it replaces signs beside it. */
  readonly previousUntil: Date;
  readonly maxPrevious: number;
  readonly now: Date;
}

/** As many replaced ones sign as may: nothing was changed, and nothing can be before the first of them has ended. */
export interface TooManySecrets {
  readonly firstEndsAt: Date;
}

/** Replaces the secret, also where many do at once; those before it go on signing. undefined: no such endpoint of this account. */
export async function rotateSecret(
  db: WorldDb,
  accountId: string,
  endpointId: string,
  next: NextSecret,
): Promise<Endpoint | TooManySecrets | undefined> {
  return inTransaction(db, async (trx) => {
    const endpoint = await trx
      .selectFrom('webhook_endpoints')
      .select('id')
      .where('id', '=', endpointId)
      .where('account_id', '=', accountId)
      .where('deleted_at', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (!endpoint) return undefined;
    const { count, firstEndsAt } = await countPrevious(trx, endpointId);
    if (firstEndsAt !== null && count >= next.maxPrevious) return { firstEndsAt };
    await replace(trx, endpointId, next);
    return findEndpoint(trx, accountId, endpointId);
  });
}

/** Of a locked endpoint, whose secrets nobody else replaces. */
async function countPrevious(
  trx: WorldDb,
  endpointId: string,
): Promise<{ readonly count: number; readonly firstEndsAt: Date | null }> {
  const { rows } = await sql<{ count: number; firstEndsAt: Date | null }>`
    select count(*)::int as count, min(until) as "firstEndsAt" from (
      select previous_until as until from webhook_endpoints where id = ${endpointId}
      union all
      select until from ${sql.table(OLDER)} where endpoint_id = ${endpointId}
    ) previous where until > now()`.execute(trx);
  return rows[0] ?? { count: 0, firstEndsAt: null };
}

async function replace(
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

/** Wipes secrets that sign no more: their time is over, or their endpoint was deleted. Answers how many. */
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

/** All that is kept of endpoints' secrets, by pages of ids, for sealing them anew. */
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

/** The same secret under another seal, wherever it stands by now; nothing where it was wiped meanwhile. */
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
