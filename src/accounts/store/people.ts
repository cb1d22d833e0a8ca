/** Operators: users with a role in `operators`. */
import { sql } from 'kysely';
import type { Page, PageQuery } from '../../domain/page.ts';
import { readPage } from '../../platform/database/page.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { Role } from '../../domain/operator-roles.ts';
import { beginUserAnew, LOCKED_UNTIL, setPassword, type NewUser, type WhichUser } from './users.ts';

/** With the access that awaits confirmation. */
const people = (db: AccountsDb) =>
  db
    .selectFrom('operators')
    .innerJoin('users', 'users.id', 'operators.user_id')
    .leftJoin('access_grants as waiting', (join) =>
      join.onRef('waiting.user_id', '=', 'users.id').on('waiting.second_half', 'is not', null),
    )
    .select(['users.id', 'users.email', 'users.name', 'operators.role'])
    .select(LOCKED_UNTIL.as('locked_until'))
    .select(['operators.one_time_until', 'operators.disabled_at', 'operators.created_at'])
    .select(['operators.second_factor_waived', 'users.two_factor_enabled as has_second_factor'])
    .leftJoinLateral(
      // Several may have asked: the last one is shown.
      (eb) =>
        eb
          .selectFrom('admin_removals')
          .selectAll()
          .whereRef('admin_removals.user_id', '=', 'users.id')
          .orderBy('asked_at', 'desc')
          .limit(1)
          .as('removal'),
      (join) => join.onTrue(),
    )
    .select(['waiting.given_by as waiting_by', 'waiting.given_at as waiting_since'])
    .select([
      'removal.change as removal',
      'removal.asked_by as removal_by',
      'removal.asked_at as removal_at',
    ]);

export type PersonRow = NonNullable<Awaited<ReturnType<typeof findPerson>>>;

/** undefined: no such user, or one without a role. */
export const findPerson = (db: AccountsDb, which: WhichUser) =>
  people(db)
    .where((eb) => ('id' in which ? eb('users.id', '=', which.id) : eb('users.email', '=', which.email)))
    .executeTakeFirst();

/** Locks the person until the transaction ends. */
export const lockPerson = (trx: AccountsDb, id: string): Promise<PersonRow> =>
  people(trx).where('users.id', '=', id).forNoKeyUpdate('operators').executeTakeFirstOrThrow();

/** Returns the user's id; undefined: the user has a role already, and the caller rolls back. */
export async function insertPerson(
  trx: AccountsDb,
  { role, oneTimeUntil, ...user }: NewUser & { readonly role: Role; readonly oneTimeUntil: Date | null },
): Promise<string | undefined> {
  const id = await beginUserAnew(trx, user);
  const made = await trx
    .insertInto('operators')
    .values({ user_id: id, role, one_time_until: oneTimeUntil, disabled_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return made?.user_id;
}

export async function hasAdmin(db: AccountsDb): Promise<boolean> {
  const admin = await db
    .selectFrom('operators')
    .select('user_id')
    .where('role', '=', 'ADMIN')
    .executeTakeFirst();
  return admin !== undefined;
}

/** A page, newest first: who waits for a confirmation is at the top. */
export const readPeople = (db: AccountsDb, query: PageQuery): Promise<Page<PersonRow>> =>
  readPage(people(db).orderBy('operators.created_at', 'desc').orderBy('users.id'), query);

export interface PersonUpdate {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  /** null enables the person again. */
  readonly disabledAt?: Date | null | undefined;
  /** Only for the sandbox: its logins need none. */
  readonly secondFactorWaived?: true;
  readonly password?: { readonly hash: string; readonly oneTimeUntil: Date | null };
}

export async function updatePerson(
  trx: AccountsDb,
  id: string,
  { name, role, disabledAt, secondFactorWaived, password }: PersonUpdate,
): Promise<void> {
  if (name !== undefined) await trx.updateTable('users').set({ name }).where('id', '=', id).execute();
  if (password) await setPassword(trx, id, password.hash);
  await trx
    .updateTable('operators')
    // Kysely leaves out columns whose value is undefined.
    .set({ role, disabled_at: disabledAt, one_time_until: password?.oneTimeUntil })
    .set({ second_factor_waived: secondFactorWaived })
    .set({ changed_at: sql<Date>`clock_timestamp()` })
    .where('user_id', '=', id)
    .execute();
}

/** The person has chosen a password. Changes nothing for a user without a role. */
export async function endOneTime(trx: AccountsDb, id: string): Promise<void> {
  await trx.updateTable('operators').set({ one_time_until: null }).where('user_id', '=', id).execute();
}
