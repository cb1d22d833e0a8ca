import { sql, type Insertable } from 'kysely';
import type { AccountsDb, WorldDb } from '../../platform/database/tables.ts';
import {
  areIndependent,
  INDEPENDENT_AFTER_MS,
  personKey,
  type GivenAccess,
} from '../operators/two-person-rules.ts';
import type { PersonRow } from './people.ts';
import type { AccessGrantsTable } from './tables.ts';

/** Voids the half of an earlier password that still waits. The caller has locked the person's row. */
export async function recordAccess(
  trx: AccountsDb,
  { id: user_id, email, role }: Pick<PersonRow, 'id' | 'email' | 'role'>,
  given: Pick<Insertable<AccessGrantsTable>, 'given_by' | 'given_at' | 'second_half'>,
): Promise<void> {
  await voidWaiting(trx, user_id);
  await trx
    .insertInto('access_grants')
    .values({ user_id, email, role, ...given })
    .execute();
}

/** Access that awaits a second person: at most one row of a person. */
const waitsFor = (userId: string) => sql<boolean>`user_id = ${userId} and second_half is not null`;

export const voidWaiting = (trx: AccountsDb, userId: string) =>
  trx.updateTable('access_grants').set({ second_half: null }).where(waitsFor(userId)).execute();

export const findWaiting = (trx: AccountsDb, userId: string) =>
  trx
    .selectFrom('access_grants')
    .select(['id', 'given_by'])
    .select((eb) => eb.ref('second_half').$notNull().as('second_half'))
    .where(waitsFor(userId))
    .executeTakeFirst();

export const markConfirmed = (trx: AccountsDb, id: bigint, confirmed_by: string, confirmed_at: Date) =>
  trx
    .updateTable('access_grants')
    .set({ second_half: null, confirmed_by, confirmed_at })
    .where('id', '=', id)
    .execute();

/** By the access that was given within a day (two-person-rules.ts). In a transaction. */
export async function areTwoPeople(
  trx: WorldDb | AccountsDb,
  one: string,
  other: string,
  now: Date,
): Promise<boolean> {
  const since = new Date(now.getTime() - INDEPENDENT_AFTER_MS);
  const { rows } = await sql<GivenAccess>`
    select email, given_by as "givenBy", confirmed_by as "confirmedBy" from accounts.access_grants
     where email in (${personKey(one)}, ${personKey(other)}) and coalesce(confirmed_at, given_at) > ${since}`.execute(
    trx,
  );
  return areIndependent(one, other, rows);
}
