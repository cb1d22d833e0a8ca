import { sql, type Insertable, type Selectable } from 'kysely';
import type { Page } from '../../domain/page.ts';
import type { Role } from '../roles.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
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

export type WhichPerson = { readonly id: string } | { readonly email: string };

export function findPerson(db: AccountsDb, which: WhichPerson): Promise<PersonRow | undefined> {
  return db
    .selectFrom('people')
    .selectAll()
    .where((eb) => ('id' in which ? eb('id', '=', which.id) : eb('email', '=', which.email)))
    .executeTakeFirst();
}

/** A page, oldest first. */
export async function readPeople(
  db: AccountsDb,
  { page, limit }: { readonly page: number; readonly limit: number },
): Promise<Page<PersonRow>> {
  const people = db.selectFrom('people');
  const { total } = await people.select((eb) => eb.fn.countAll().as('total')).executeTakeFirstOrThrow();
  const items = await people
    .selectAll()
    .orderBy('created_at')
    .orderBy('id')
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
  await (except ? chosen.where('token_sha256', '<>', except) : chosen).execute();
}

/**
 * Counts a wrong password for the person with this e-mail address, if there is one. Counts nothing during a lock, so that further guesses do not
 * lock the owner out for ever. Returns the id of a person who is locked out by this failure.
 */
export async function countFailure(
  db: AccountsDb,
  email: string,
  { mostFailures, lockMs }: { readonly mostFailures: number; readonly lockMs: number },
  now: Date,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string; is_locked: boolean }>`
    update people
       set failed_logins = case when failed_logins + 1 >= ${mostFailures} then 0 else failed_logins + 1 end,
           locked_until = case when failed_logins + 1 >= ${mostFailures}
             then ${new Date(now.getTime() + lockMs)}::timestamptz else locked_until end
     where email = ${email} and disabled_at is null and (locked_until is null or locked_until <= ${now})
    returning id, locked_until is not null and locked_until > ${now} as is_locked`.execute(db);
  return rows[0]?.is_locked === true ? rows[0].id : undefined;
}

/** Ended sessions are kept so that an inquiry can see who was signed in when. */
const KEEP_ENDED_MS = 30 * 24 * 3_600_000;

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
