import { sql, type Insertable, type Selectable } from 'kysely';
import { DAY_MS } from '../../domain/clock.ts';
import type { Page, PageQuery } from '../../domain/page.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { Role } from '../../domain/operator-roles.ts';
import type { PeopleTable, SessionsTable } from './tables.ts';

export type PersonRow = Selectable<PeopleTable>;

/** False: the e-mail address is taken. */
export async function insertPerson(db: AccountsDb, person: Insertable<PeopleTable>): Promise<boolean> {
  const result = await db
    .insertInto('people')
    .values(person)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirst();
  return Number(result.numInsertedOrUpdatedRows) === 1;
}

export type WhichPerson = { readonly id: string } | { readonly email: string } | { readonly userId: string };

export function findPerson(db: AccountsDb, which: WhichPerson): Promise<PersonRow | undefined> {
  return db
    .selectFrom('people')
    .selectAll()
    .where((eb) => {
      if ('id' in which) return eb('id', '=', which.id);
      return 'email' in which ? eb('email', '=', which.email) : eb('user_id', '=', which.userId);
    })
    .executeTakeFirst();
}

/** Locks the person until the transaction ends. */
export function lockPerson(trx: AccountsDb, id: string): Promise<PersonRow> {
  return trx.selectFrom('people').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirstOrThrow();
}

export async function hasAdmin(db: AccountsDb): Promise<boolean> {
  const admin = await db.selectFrom('people').select('id').where('role', '=', 'ADMIN').executeTakeFirst();
  return admin !== undefined;
}

export type ListedPersonRow = Awaited<ReturnType<typeof readPerson>>;

const listed = (db: AccountsDb) =>
  db
    .selectFrom('people')
    .leftJoin('access_grants as waiting', (join) =>
      join.onRef('waiting.person_id', '=', 'people.id').on('waiting.second_half', 'is not', null),
    )
    .selectAll('people')
    .select(['waiting.given_by as waiting_by', 'waiting.given_at as waiting_since']);

/** With the access that awaits confirmation. */
export const readPerson = (db: AccountsDb, id: string) =>
  listed(db).where('people.id', '=', id).executeTakeFirstOrThrow();

/** A page, oldest first. */
export async function readPeople(db: AccountsDb, { page, limit }: PageQuery): Promise<Page<ListedPersonRow>> {
  const { total } = await db
    .selectFrom('people')
    .select((eb) => eb.fn.countAll().as('total'))
    .executeTakeFirstOrThrow();
  const items = await listed(db)
    .orderBy('people.created_at')
    .orderBy('people.id')
    .limit(limit)
    .offset((page - 1) * limit)
    .execute();
  return { items, total: Number(total), page, limit };
}

export interface PersonUpdate {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  /** null enables the person again. */
  readonly disabledAt?: Date | null | undefined;
  readonly password?: {
    readonly hash: string;
    readonly oneTimeUntil: Date | null;
    /** Update only while this is still the stored hash. */
    readonly replaces?: string;
  };
}

/** A new password also ends a lock. False: no such person, or `replaces` is no longer the stored hash. */
export async function updatePerson(
  db: AccountsDb,
  id: string,
  { name, role, disabledAt, password }: PersonUpdate,
): Promise<boolean> {
  const replaces = password?.replaces;
  const unlocked = password && {
    password_hash: password.hash,
    one_time_until: password.oneTimeUntil,
    failed_logins: 0,
    locked_until: null,
  };
  const result = await db
    .updateTable('people')
    // Kysely leaves out columns whose value is undefined.
    .set({ name, role, disabled_at: disabledAt, ...unlocked, changed_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .$if(replaces !== undefined, (query) => query.where('password_hash', '=', replaces ?? ''))
    .executeTakeFirst();
  return Number(result.numUpdatedRows) === 1;
}

/** Revokes one session, or all of a person's except one. */
export async function revokeSessions(
  db: AccountsDb,
  which: { readonly personId: string; readonly except?: Buffer } | { readonly tokenSha256: Buffer },
  now: Date,
): Promise<void> {
  const open = db.updateTable('sessions').set({ revoked_at: now }).where('revoked_at', 'is', null);
  const chosen =
    'tokenSha256' in which
      ? open.where('token_sha256', '=', which.tokenSha256)
      : open.where('person_id', '=', which.personId);
  const except = 'personId' in which ? which.except : undefined;
  // What the person let in, and has not been used yet.
  if ('personId' in which)
    await db.deleteFrom('device_logins').where('approved_by', '=', which.personId).execute();
  await (except ? chosen.where('token_sha256', '<>', except) : chosen).execute();
  await deleteBrowserSessions(db, which);
}

/** The person's sessions at the dashboard, whose tokens are hashed alike for this. */
async function deleteBrowserSessions(
  db: AccountsDb,
  which: { readonly personId: string; readonly except?: Buffer } | { readonly tokenSha256: Buffer },
): Promise<void> {
  const tokenSha256 = sql<Buffer>`sha256(convert_to(token, 'UTF8'))`;
  const sessions = db.deleteFrom('user_sessions');
  if ('tokenSha256' in which) {
    await sessions.where(tokenSha256, '=', which.tokenSha256).execute();
    return;
  }
  const { personId, except } = which;
  await sessions
    .where('user_id', '=', (eb) => eb.selectFrom('people').select('user_id').where('id', '=', personId))
    .$if(except !== undefined, (query) => query.where(tokenSha256, '<>', except ?? Buffer.alloc(0)))
    .execute();
}

/** Forgets wrong passwords. False: the person is locked out, disabled, or has a one-time password that has expired. */
export async function admitPerson(db: AccountsDb, id: string, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('people')
    .set({ failed_logins: 0, locked_until: null })
    .where('id', '=', id)
    .where('disabled_at', 'is', null)
    .where((eb) => eb.or([eb('locked_until', 'is', null), eb('locked_until', '<=', now)]))
    .where((eb) => eb.or([eb('one_time_until', 'is', null), eb('one_time_until', '>', now)]))
    .executeTakeFirst();
  return Number(result.numUpdatedRows) === 1;
}

/** Whether the person signs in with a second factor. */
export async function hasSecondFactor(db: AccountsDb, { user_id: userId }: PersonRow): Promise<boolean> {
  const user = await db
    .selectFrom('users')
    .select('two_factor_enabled')
    .where('id', '=', userId)
    .executeTakeFirst();
  return user?.two_factor_enabled === true;
}

/** Ended sessions are kept so that an inquiry can see who was signed in when. */
const KEEP_ENDED_MS = 30 * DAY_MS;

/**
 * Opens a session only if the person is neither locked nor disabled at this moment and still has the password that was checked, however many
 * requests arrive at once. False: not opened.
 */
export async function openSession(
  db: AccountsDb,
  session: {
    readonly tokenSha256: Buffer;
    readonly personId: string;
    /** The hash that the password was checked against. */
    readonly passwordHash: string;
    readonly address: string;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<boolean> {
  const { personId, now } = session;
  const { rows } = await sql<{ person_id: string }>`
    with admitted as (
      update people set failed_logins = 0, locked_until = null
       where id = ${personId} and password_hash = ${session.passwordHash} and disabled_at is null
         and (locked_until is null or locked_until <= ${now}) and (one_time_until is null or one_time_until > ${now})
      returning id
    ), forgotten as (
      delete from sessions where person_id = ${personId} and expires_at < ${new Date(now.getTime() - KEEP_ENDED_MS)}
    )
    insert into sessions (token_sha256, person_id, address, created_at, last_seen_at, expires_at)
    select ${session.tokenSha256}, id, ${session.address}, ${now}, ${now}, ${session.expiresAt} from admitted
    returning person_id`.execute(db);
  return rows.length === 1;
}

export type OpenSessionRow = Pick<PersonRow, 'email' | 'name' | 'role' | 'one_time_until'> &
  Pick<Selectable<SessionsTable>, 'person_id' | 'expires_at'>;

/** Finds a valid session and restarts its idle time. */
export async function useSession(
  db: AccountsDb,
  tokenSha256: Buffer,
  { now, idleMs }: { readonly now: Date; readonly idleMs: number },
): Promise<OpenSessionRow | undefined> {
  const { rows } = await sql<OpenSessionRow>`
    update sessions set last_seen_at = greatest(last_seen_at, ${now}::timestamptz)
      from people
     where people.id = sessions.person_id
       and token_sha256 = ${tokenSha256} and revoked_at is null and expires_at > ${now}
       and last_seen_at > ${new Date(now.getTime() - idleMs)}
       and people.disabled_at is null and (one_time_until is null or one_time_until > ${now})
    returning person_id, email, name, role, one_time_until, expires_at`.execute(db);
  return rows[0];
}
