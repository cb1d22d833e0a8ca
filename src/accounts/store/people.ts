/**
 * People and their sessions. Guarantee: a session is opened only for somebody who is neither locked nor disabled at that moment and whose
 * password is still the one that was checked, however many try at once. Nobody is removed, and no e-mail address changes hands.
 */
import { sql, type Selectable } from 'kysely';
import type { Role } from '../roles.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { PeopleTable } from './tables.ts';

export type PersonRow = Selectable<PeopleTable>;

export interface NewPerson {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly passwordHash: string;
  readonly oneTimeUntil: Date;
}

/** False: somebody has this e-mail address already. */
export async function insertPerson(db: AccountsDb, person: NewPerson): Promise<boolean> {
  const result = await db
    .insertInto('people')
    .values({
      id: person.id,
      email: person.email,
      name: person.name,
      role: person.role,
      password_hash: person.passwordHash,
      one_time_until: person.oneTimeUntil,
      locked_until: null,
      disabled_at: null,
    })
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

/** In the order in which they came. */
export function listPeople(
  db: AccountsDb,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<PersonRow[]> {
  return db
    .selectFrom('people')
    .selectAll()
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
}

export async function countPeople(db: AccountsDb): Promise<number> {
  const { count } = await db
    .selectFrom('people')
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export interface PersonChange {
  readonly name?: string;
  readonly role?: Role;
  /** null: enabled again. */
  readonly disabledAt?: Date | null;
  readonly password?: {
    readonly hash: string;
    readonly oneTimeUntil: Date | null;
    /** The hash of the one before; absent: whatever it was. */
    readonly replaces?: string;
  };
}

/** A new password also ends a lock. False: nobody has this id, or not the password that was to be replaced. */
export async function changePerson(
  db: AccountsDb,
  id: string,
  { name, role, disabledAt, password }: PersonChange,
): Promise<boolean> {
  const replaces = password?.replaces;
  const result = await db
    .updateTable('people')
    .set((eb) => ({
      changed_at: eb.fn<Date>('clock_timestamp'),
      ...(name === undefined ? {} : { name }),
      ...(role === undefined ? {} : { role }),
      ...(disabledAt === undefined ? {} : { disabled_at: disabledAt }),
      ...(password === undefined
        ? {}
        : {
            password_hash: password.hash,
            one_time_until: password.oneTimeUntil,
            failed_logins: 0,
            locked_until: null,
          }),
    }))
    .where('id', '=', id)
    .$if(replaces !== undefined, (query) => query.where('password_hash', '=', replaces ?? ''))
    .executeTakeFirst();
  return Number(result.numUpdatedRows) === 1;
}

/** Ends a person's sessions, all or all but one; returns how many were open. */
export async function revokeSessions(
  db: AccountsDb,
  which: { readonly personId: string; readonly except?: Buffer } | { readonly tokenSha256: Buffer },
  now: Date,
): Promise<number> {
  const result = await db
    .updateTable('sessions')
    .set({ revoked_at: now })
    .where('revoked_at', 'is', null)
    .where((eb) =>
      'tokenSha256' in which
        ? eb('token_sha256', '=', which.tokenSha256)
        : which.except
          ? eb.and([eb('person_id', '=', which.personId), eb('token_sha256', '<>', which.except)])
          : eb('person_id', '=', which.personId),
    )
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

export interface FailureLimits {
  /** So many wrong passwords in a row lock somebody out. */
  readonly mostFailures: number;
  readonly lockMs: number;
}

/**
 * Counts a wrong password of whoever has this e-mail address, if anybody; while locked nothing is counted, so that guessing on does not keep
 * somebody out for ever. Returns who was locked out by it.
 */
export async function countFailure(
  db: AccountsDb,
  email: string,
  { mostFailures, lockMs }: FailureLimits,
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

export interface NewSession {
  readonly tokenSha256: Buffer;
  readonly personId: string;
  /** What the password was checked against. */
  readonly passwordHash: string;
  readonly address: string;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** How long sessions that have ended are kept, for whoever asks when somebody was here. */
const KEPT_MS = 30 * 24 * 3_600_000;

/** False: the person was locked or disabled meanwhile, or the password is another one by now. */
export async function openSession(db: AccountsDb, session: NewSession): Promise<boolean> {
  const { personId, now } = session;
  const { rows } = await sql<{ person_id: string }>`
    with admitted as (
      update people set failed_logins = 0, locked_until = null
       where id = ${personId} and password_hash = ${session.passwordHash} and disabled_at is null
         and (locked_until is null or locked_until <= ${now}) and (one_time_until is null or one_time_until > ${now})
      returning id
    ), forgotten as (
      delete from sessions where person_id = ${personId} and expires_at < ${new Date(now.getTime() - KEPT_MS)}
    )
    insert into sessions (token_sha256, person_id, address, created_at, last_seen_at, expires_at)
    select ${session.tokenSha256}, id, ${session.address}, ${now}, ${now}, ${session.expiresAt} from admitted
    returning person_id`.execute(db);
  return rows.length === 1;
}

/** A session that is good, and whose it is. */
export interface OpenSessionRow {
  readonly person_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly one_time_until: Date | null;
  readonly expires_at: Date;
}

/** Finds a session that is good, and notes that it was used: from here it may be idle for so long again. */
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
