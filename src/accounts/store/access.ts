import { sql, type Insertable, type Selectable } from 'kysely';
import type { AccountsDb, WorldDb } from '../../platform/database/tables.ts';
import {
  areIndependent,
  INDEPENDENT_AFTER_MS,
  personKey,
  type GivenAccess,
} from '../operators/two-person-rules.ts';
import type { AccessGrantsTable } from './tables.ts';

/**
 * Records access that was given. The half of an earlier password that still waits is void. The caller has
 * locked the person's row.
 */
export async function recordAccess(trx: AccountsDb, grant: Insertable<AccessGrantsTable>): Promise<void> {
  await voidWaiting(trx, grant.user_id);
  await trx.insertInto('access_grants').values(grant).execute();
}

export async function voidWaiting(trx: AccountsDb, userId: string): Promise<void> {
  await trx
    .updateTable('access_grants')
    .set({ second_half: null })
    .where('user_id', '=', userId)
    .where('second_half', 'is not', null)
    .execute();
}

export type WaitingAccess = Selectable<AccessGrantsTable> & { readonly second_half: string };

/** Access that awaits a second person; there is at most one of a person. */
export async function findWaiting(trx: AccountsDb, userId: string): Promise<WaitingAccess | undefined> {
  const row = await trx
    .selectFrom('access_grants')
    .selectAll()
    .where('user_id', '=', userId)
    .where('second_half', 'is not', null)
    .executeTakeFirst();
  return row as WaitingAccess | undefined;
}

export async function markConfirmed(
  trx: AccountsDb,
  { id }: WaitingAccess,
  confirmedBy: string,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('access_grants')
    .set({ second_half: null, confirmed_by: confirmedBy, confirmed_at: now })
    .where('id', '=', id)
    .execute();
}

/**
 * Whether the two people are independent (two-person-rules.ts), by the access that was given within a day.
 * Runs in an environment's transaction.
 */
export async function areTwoPeople(trx: WorldDb, one: string, other: string, now: Date): Promise<boolean> {
  const since = new Date(now.getTime() - INDEPENDENT_AFTER_MS);
  const { rows } = await sql<GivenAccess>`
    select email, given_by as "givenBy", confirmed_by as "confirmedBy" from accounts.access_grants
     where email in (${personKey(one)}, ${personKey(other)}) and coalesce(confirmed_at, given_at) > ${since}`.execute(
    trx,
  );
  return areIndependent(one, other, rows);
}
