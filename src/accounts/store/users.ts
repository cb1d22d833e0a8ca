import { hash, randomBytes } from 'node:crypto';
import { sql, type Insertable, type Selectable } from 'kysely';
import { DAY_MS, HOUR_MS } from '../../domain/clock.ts';
import { makeId } from '../../domain/ids.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import type { MemberRole } from '../../domain/member-roles.ts';
import { keepMakerRole, toAccount } from './accounts.ts';
import { takeTurn } from './mail-turns.ts';
import { deleteOldNotices } from './notices.ts';
import type { InvitationsTable, MembersTable, SignUpsTable, UsersTable } from './tables.ts';

export type UserRow = Selectable<UsersTable>;

export type WhichUser = { readonly id: string } | { readonly email: string };

export const findUser = (db: AccountsDb, which: WhichUser): Promise<UserRow | undefined> =>
  db
    .selectFrom('users')
    .selectAll()
    .where((eb) => eb.and(which))
    .executeTakeFirst();

/** What signing in with this e-mail address depends on, in one query. */
export const findSignIn = (db: AccountsDb, email: string) =>
  db
    .selectFrom('users')
    .innerJoin('user_credentials', 'user_credentials.user_id', 'users.id')
    .leftJoin('operators', 'operators.user_id', 'users.id')
    .select(['users.id', 'user_credentials.password'])
    .select(['operators.role', 'operators.disabled_at', 'operators.one_time_until'])
    .where('users.email', '=', email)
    .executeTakeFirst();

/** False: the user may not sign in now, and no session may begin. */
export async function admitSignIn(db: AccountsDb, userId: string, now: Date): Promise<boolean> {
  const { rows } = await sql`
    select 1 from users where id = ${userId} and not exists (
      select from operators where user_id = users.id and (disabled_at is not null or one_time_until <= ${now}))`.execute(
    db,
  );
  return rows.length > 0;
}

/** Asks the same for a user who does not exist. */
export async function isLockedThere(
  db: AccountsDb,
  userId: string,
  place: string,
  now: Date,
): Promise<boolean> {
  const failures = db.selectFrom('sign_in_failures').select('locked_until');
  return isLockedOut(
    await failures.where((eb) => eb.and({ user_id: userId, place })).executeTakeFirst(),
    now,
  );
}

/** Forgets wrong passwords from one place. */
export const forgetFailures = (db: AccountsDb, user_id: string, place: string) =>
  db
    .deleteFrom('sign_in_failures')
    .where((eb) => eb.and({ user_id, place }))
    .execute();

/** Nothing during a lock, or guesses would keep it for ever. Returns whom it locks out. */
export async function countFailure(
  db: AccountsDb,
  { email, place }: { readonly email: string; readonly place: string },
  { mostFailures, lockMs }: { readonly mostFailures: number; readonly lockMs: number },
  now: Date,
): Promise<string | undefined> {
  const until = new Date(now.getTime() + lockMs);
  const { rows } = await sql<{ id: string; is_locked: boolean }>`
    insert into sign_in_failures as known (user_id, place, failed_at)
    select id, ${place}, ${now}::timestamptz from users where email = ${email}
    on conflict (user_id, place) do update
      set failed_at = ${now}, failed = case when known.failed + 1 >= ${mostFailures} then 0 else known.failed + 1 end,
          locked_until = case when known.failed + 1 >= ${mostFailures} then ${until}::timestamptz else known.locked_until end
      where known.locked_until is null or known.locked_until <= ${now}
    returning user_id as id, locked_until is not null and locked_until > ${now} as is_locked`.execute(db);
  return rows[0]?.is_locked === true ? rows[0].id : undefined;
}

export async function unlockUser(db: AccountsDb, userId: string): Promise<void> {
  await db.deleteFrom('sign_in_failures').where('user_id', '=', userId).execute();
}

/** Until when the user is locked out somewhere, in a query that has `users`. */
export const LOCKED_UNTIL = sql<Date | null>`(
  select max(locked_until) from sign_in_failures where user_id = users.id and locked_until > now())`;

export const insertSignUp = (db: AccountsDb, signUp: Insertable<SignUpsTable>) =>
  db.insertInto('sign_ups').values(signUp).execute();

/** After so many wrong passwords its link works no more: guessing costs more than signing up again. */
const MAX_WRONG_PASSWORDS = 10;

/** undefined: it was confirmed, guessed at too often, or has expired. */
export const findSignUp = (db: AccountsDb, tokenSha256: Buffer, now: Date) =>
  db
    .selectFrom('sign_ups')
    .selectAll()
    .where('token_sha256', '=', tokenSha256)
    .where('expires_at', '>', now)
    .where('wrong_passwords', '<', MAX_WRONG_PASSWORDS)
    .executeTakeFirst();

export const countWrongPassword = (db: AccountsDb, tokenSha256: Buffer) =>
  db
    .updateTable('sign_ups')
    .set((eb) => ({ wrong_passwords: eb('wrong_passwords', '+', 1) }))
    .where('token_sha256', '=', tokenSha256)
    .execute();

export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
}

/** Ends the sign-ups of the address. undefined: it has a user already, who stays as they are. */
export async function insertUser(
  trx: AccountsDb,
  { email, name, passwordHash }: NewUser,
): Promise<string | undefined> {
  await trx.deleteFrom('sign_ups').where('email', '=', email).execute();
  const made = await trx
    .insertInto('users')
    .values({ id: makeId('user', randomBytes(16).toString('hex')), email, name })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (made) await setFirstPassword(trx, made.id, passwordHash);
  return made?.id;
}

const setFirstPassword = (trx: AccountsDb, id: string, password: string) =>
  trx
    .insertInto('user_credentials')
    .values({ id, account_id: id, provider_id: 'credential', user_id: id, password })
    .onConflict((conflict) => conflict.columns(['user_id', 'provider_id']).doNothing())
    .execute();

/**
 * A user as an administrator or `npm start` makes one. A user who exists already keeps the id and begins
 * anew, without sessions, links and second factor.
 */
export async function beginUserAnew(trx: AccountsDb, user: NewUser): Promise<string> {
  const made = await insertUser(trx, user);
  if (made !== undefined) return made;
  const { email, name, passwordHash } = user;
  const { id } = await trx
    .updateTable('users')
    .set({ name })
    .where('email', '=', email)
    .returning('id')
    .executeTakeFirstOrThrow();
  await setFirstPassword(trx, id, passwordHash);
  await setPassword(trx, id, passwordHash);
  await endSessions(trx, id);
  await deleteSecondFactor(trx, id);
  return id;
}

/** With the recovery codes, which are in its row. */
export async function deleteSecondFactor(trx: AccountsDb, userId: string): Promise<void> {
  await trx.deleteFrom('user_second_factors').where('user_id', '=', userId).execute();
  await trx.updateTable('users').set({ two_factor_enabled: false }).where('id', '=', userId).execute();
}

/** Ends a lock and all links; the caller ends sessions after it. False: `replaces` is no longer stored. */
export async function setPassword(
  trx: AccountsDb,
  userId: string,
  password: string,
  replaces?: string,
): Promise<boolean> {
  const set = await trx
    .updateTable('user_credentials')
    .set({ password })
    .where('user_id', '=', userId)
    .$if(replaces !== undefined, (query) => query.where('password', '=', replaces ?? ''))
    .executeTakeFirst();
  if (Number(set.numUpdatedRows) !== 1) return false;
  await unlockUser(trx, userId);
  await deleteLinks(trx, userId);
  return true;
}

/** Waits for a transaction that changes it. */
export async function findPasswordHash(db: AccountsDb, userId: string): Promise<string | undefined> {
  const found = db.selectFrom('user_credentials').select('password').where('user_id', '=', userId);
  return (await found.forShare().executeTakeFirst())?.password ?? undefined;
}

/** Links for a new password, and sign-ins that wait for a code. */
export const deleteLinks = (db: AccountsDb, userId: string) =>
  db.deleteFrom('user_verifications').where('value', '=', userId).execute();

/** Whether this session of the user is open still. Until the transaction ends, nothing else ends it. */
export async function holdSession(trx: AccountsDb, userId: string, token: string): Promise<boolean> {
  await lockUser(trx, userId);
  const session = trx.selectFrom('user_sessions').select('id').where('token', '=', token);
  return (await session.where('user_id', '=', userId).executeTakeFirst()) !== undefined;
}

export const markConfirmed = (db: AccountsDb, token: string, now: Date) =>
  db.updateTable('user_sessions').set({ confirmed_at: now }).where('token', '=', token).execute();

export const lockUser = (trx: AccountsDb, userId: string) =>
  trx.selectFrom('users').select('id').where('id', '=', userId).forUpdate().execute();

/** All of a user, or all but the one with this token; and the device logins that the user has approved. */
export const endSessions = (db: AccountsDb, userId: string, except = ''): Promise<unknown> =>
  inTransaction(db, async (trx) => {
    await lockUser(trx, userId);
    await trx.deleteFrom('device_logins').where('approved_by', '=', userId).execute();
    return trx
      .deleteFrom('user_sessions')
      .where('user_id', '=', userId)
      .where('token', '<>', except)
      .execute();
  });

/** Open ones, the last used first; `isCurrent`: the one with this token. */
export const listSessionRows = (
  db: AccountsDb,
  userId: string,
  token: string,
  { now, begunAfter }: { readonly now: Date; readonly begunAfter: Date },
) =>
  db
    .selectFrom('user_sessions')
    .select(['id as sessionId', 'user_agent as purpose', 'ip_address as address', 'device'])
    .select(['created_at as createdAt', 'expires_at as expiresAt'])
    .select(sql<boolean>`token = ${token}`.as('isCurrent'))
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .where('created_at', '>', begunAfter)
    .orderBy('expires_at', 'desc')
    .orderBy('id')
    .execute();

/** One of the user's, and what commands were let in for, perhaps from there. False: there is no such one. */
export async function endSession(trx: AccountsDb, userId: string, sessionId: string): Promise<boolean> {
  await lockUser(trx, userId);
  await trx.deleteFrom('device_logins').where('approved_by', '=', userId).execute();
  const one = trx.deleteFrom('user_sessions').where('user_id', '=', userId).where('id', '=', sessionId);
  return (await one.executeTakeFirst()).numDeletedRows === 1n;
}

/** Changes nothing for a user who is a member already. */
export async function insertMember(db: AccountsDb, member: Insertable<MembersTable>): Promise<void> {
  const { account_id: accountId, user_id: userId, role } = member;
  const inserted = await db
    .insertInto('members')
    .values(member)
    .onConflict((conflict) => conflict.columns(['account_id', 'user_id']).doNothing())
    .executeTakeFirst();
  // Keys of an earlier time as a member.
  if (inserted.numInsertedOrUpdatedRows === 1n) await keepMakerRole(db, { accountId, userId, role });
}

/** The accounts of a user, the oldest first; or one of them. */
export async function findMemberships(db: AccountsDb, userId: string, accountId?: string) {
  const rows = await db
    .selectFrom('members')
    .innerJoin('accounts', 'accounts.id', 'members.account_id')
    .selectAll('accounts')
    .select('members.role')
    .where('members.user_id', '=', userId)
    .$if(accountId !== undefined, (query) => query.where('members.account_id', '=', accountId ?? ''))
    .orderBy('members.joined_at')
    .orderBy('accounts.id')
    .execute();
  return rows.map((row) => ({ account: toAccount(row), role: row.role, disabledAt: row.disabled_at }));
}

/** The oldest first. */
export const memberRows = (db: AccountsDb, accountId: string) =>
  db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['users.id as userId', 'users.email', 'users.name', 'members.role'])
    .select(['users.two_factor_enabled as hasSecondFactor', 'members.joined_at as joinedAt'])
    .where('members.account_id', '=', accountId)
    .orderBy('members.joined_at')
    .orderBy('users.id');

export const findMemberRow = (db: AccountsDb, accountId: string, userId: string) =>
  memberRows(db, accountId).where('users.id', '=', userId).executeTakeFirst();

/** The ids of its owners: until the transaction ends, none of them stops being one elsewhere. */
export async function lockOwners(trx: AccountsDb, accountId: string): Promise<readonly string[]> {
  const rows = await trx
    .selectFrom('members')
    .select('user_id')
    .where((eb) => eb.and({ account_id: accountId, role: 'OWNER' }))
    .orderBy('user_id')
    .forUpdate()
    .execute();
  return rows.map(({ user_id }) => user_id);
}

/** Their keys do no more from then on. */
export async function updateMemberRole(
  trx: AccountsDb,
  account_id: string,
  user_id: string,
  role: MemberRole,
): Promise<void> {
  await trx
    .updateTable('members')
    .set({ role })
    .where((eb) => eb.and({ account_id, user_id }))
    .execute();
  await keepMakerRole(trx, { accountId: account_id, userId: user_id, role });
}

/** Keys that are kept do no more than the member did at last. */
export async function deleteMember(trx: AccountsDb, account_id: string, user_id: string): Promise<void> {
  const deleted = await trx
    .deleteFrom('members')
    .where((eb) => eb.and({ account_id, user_id }))
    .returning('role')
    .executeTakeFirst();
  if (deleted) await keepMakerRole(trx, { accountId: account_id, userId: user_id, role: deleted.role });
}

export type InvitationRow = Selectable<InvitationsTable>;

/** In place of an earlier invitation of the same address. */
export async function replaceInvitation(trx: AccountsDb, invitation: InvitationRow): Promise<void> {
  await trx
    .deleteFrom('invitations')
    .where('account_id', '=', invitation.account_id)
    .where((eb) => eb.or([eb('email', '=', invitation.email), eb('expires_at', '<=', invitation.created_at)]))
    .execute();
  await trx.insertInto('invitations').values(invitation).execute();
}

/** Open ones, the newest first. */
export const listInvitationRows = (db: AccountsDb, accountId: string, now: Date): Promise<InvitationRow[]> =>
  openInvitations(db, now)
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();

export const findInvitation = (db: AccountsDb, tokenSha256: Buffer, now: Date) =>
  openInvitations(db, now).where('token_sha256', '=', tokenSha256).executeTakeFirst();

const openInvitations = (db: AccountsDb, now: Date) =>
  db.selectFrom('invitations').selectAll().where('expires_at', '>', now);

/** Those that this member sent. */
export const deleteInvitationsBy = (trx: AccountsDb, account_id: string, invited_by: string) =>
  trx
    .deleteFrom('invitations')
    .where((eb) => eb.and({ account_id, invited_by }))
    .execute();

/** False where it was taken, withdrawn or replaced before: a link works once. */
export async function deleteInvitation(db: AccountsDb, accountId: string, id: string): Promise<boolean> {
  const one = db.deleteFrom('invitations').where('id', '=', id).where('account_id', '=', accountId);
  return (await one.executeTakeFirst()).numDeletedRows === 1n;
}

/** Sessions, links and sign-ups that have ended. */
export async function deleteEndedSignIns(db: AccountsDb, now: Date): Promise<void> {
  await db.deleteFrom('sign_ups').where('expires_at', '<', now).execute();
  await db.deleteFrom('user_sessions').where('expires_at', '<', now).execute();
  await db.deleteFrom('user_verifications').where('expires_at', '<', now).execute();
  const aDayAgo = new Date(now.getTime() - DAY_MS);
  await db.deleteFrom('mails_to').where('since', '<', aDayAgo).execute();
  await deleteOldNotices(db, now);
  // A lock ends earlier.
  await db.deleteFrom('sign_in_failures').where('failed_at', '<', aDayAgo).execute();
}

/** A code is right for 30 s, and 30 s before and after that. */
const CODE_IS_RIGHT_FOR_MS = 90_000;

/** False: the code was used before, for example by a person who saw it. */
export async function takeCode(db: AccountsDb, userId: string, code: string, now: Date): Promise<boolean> {
  await db
    .deleteFrom('used_codes')
    .where('user_id', '=', userId)
    .where('used_at', '<', new Date(now.getTime() - CODE_IS_RIGHT_FOR_MS))
    .execute();
  const taken = await db
    .insertInto('used_codes')
    .values({ user_id: userId, code_sha256: hash('sha256', code, 'buffer'), used_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (taken.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** After ten wrong codes in a row, for 15 minutes. */
export async function isSecondFactorLocked(db: AccountsDb, userId: string, now: Date): Promise<boolean> {
  const factor = db.selectFrom('user_second_factors').select('locked_until').where('user_id', '=', userId);
  return isLockedOut(await factor.executeTakeFirst(), now);
}

const isLockedOut = (row: { readonly locked_until: Date | null } | undefined, now: Date): boolean =>
  row?.locked_until != null && row.locked_until > now;

/** Ends a session that has just begun. */
export const dropSession = (db: AccountsDb, token: string) =>
  db.deleteFrom('user_sessions').where('token', '=', token).execute();

/** Of one kind: enough for a user whose mail does not come, and no flood. */
export const MAX_MAILS_AN_HOUR = 5;
/** Of sign-ups, from all askers: strangers at three addresses do not keep the owner from signing up. */
const MAX_SIGN_UP_MAILS_AN_HOUR = 20;
/** Room for a large company; more would be a way to send mail to strangers. */
export const MAX_INVITATIONS_A_DAY = 50;

interface CountedMail {
  readonly kind: MailKind;
  readonly to: string;
  /** Mails of this asker are counted apart. */
  readonly askedFrom?: string | undefined;
}

/** By kind: a stranger who signs up with an address does not keep its owner from a new password. */
export async function takeMailTurn(
  db: AccountsDb,
  { kind, to, askedFrom }: CountedMail,
  now: Date,
): Promise<boolean> {
  const ofAll = `${kind} ${to.toLowerCase()}`;
  const turn = { most: MAX_MAILS_AN_HOUR, withinMs: HOUR_MS };
  if (askedFrom === undefined) return takeTurn(db, ofAll, turn, now);
  return (
    (await takeTurn(db, `${ofAll} from ${askedFrom}`, turn, now)) &&
    takeTurn(db, ofAll, { ...turn, most: MAX_SIGN_UP_MAILS_AN_HOUR }, now)
  );
}

export type MailKind = 'sign-up' | 'reset' | 'invitation';

/** Counts an invitation, whatever becomes of it. False: the account may send no more within a day. */
export const takeInvitationTurn = (db: AccountsDb, accountId: string, now: Date): Promise<boolean> =>
  takeTurn(db, `invitations of ${accountId}`, { most: MAX_INVITATIONS_A_DAY, withinMs: DAY_MS }, now);
