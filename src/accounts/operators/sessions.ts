import { unknownSession, type Session } from '../../domain/callers.ts';
import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { Events } from '../../platform/telemetry/events.ts';
import { writeAudit } from '../store/audit.ts';
import { countFailure } from '../store/failed-logins.ts';
import {
  findPerson,
  hasSecondFactor,
  openSession,
  revokeSessions,
  updatePerson,
  useSession,
  type OpenSessionRow,
  type PersonRow,
} from '../store/people.ts';
import { weakness } from '../users/common-passwords.ts';
import type { Passwords } from '../users/passwords.ts';
import { may, rolesWith, describePermission, type Permission } from '../../domain/operator-roles.ts';

export interface SessionDeps {
  readonly db: AccountsDb;
  readonly clock: Clock;
  readonly passwords: Passwords;
  readonly events: Pick<Events, 'personLockedOut'>;
  /** Whether this is a code of the person's second factor. Wrong ones are counted there. */
  readonly isRightCode?: (attempt: {
    readonly email: string;
    readonly password: string;
    readonly code: string;
    readonly address: string;
  }) => Promise<boolean>;
}

/** For the audit log. */
interface RefusedAttempt {
  readonly subject: string;
  readonly requestId: string;
}

/** A working day. */
export const SESSION_MS = 12 * 3_600_000;
/** Limits what a stranger can do at a screen that was left open. */
export const SESSION_IDLE_MS = 30 * 60_000;
/** Ten guesses at a password of twelve characters are harmless, and owners rarely mistype ten times. */
export const MAX_FAILED_LOGINS = 10;
export const LOCK_MS = 15 * 60_000;

const TOKEN_BYTES = 32;
/** `ops_` and 32 bytes in base64url, so that no token looks like an API key. */
const TOKEN = /^ops_[\w-]{43}$/;

export const NOT_CHANGED = 'The password is wrong, or changing it is not possible for now';
export const NOT_SIGNED_IN = 'E-mail address or password is wrong, or signing in is not possible for now';

/** What the dashboard, where operators sign in too, needs of them. */
export interface OperatorSessions {
  changePassword(
    session: Session,
    change: { readonly current: string; readonly next: string; readonly address: string },
  ): Promise<void>;
}

/** Bound to their dependencies in app/composition. */
export const sessionUseCases = { signIn, authenticate, authorise, signOut, changePassword };

/**
 * Returns the token, for the only time. Throws UNAUTHORIZED. An unknown person, a wrong password, a locked and a disabled person get the same
 * answer after the same work, so that addresses cannot be probed.
 */
async function signIn(
  deps: SessionDeps,
  request: {
    readonly email: string;
    readonly password: string;
    readonly code?: string | undefined;
    readonly address: string;
  },
): Promise<{ readonly token: string; readonly session: Session }> {
  const { db, clock, passwords } = deps;
  const email = request.email.toLowerCase();
  const row = await findPerson(db, { email });
  const isRight = await passwords.isRight(row?.password_hash, request.password);
  if (row && isRight && maySignIn(row, clock.now())) await requireCode(deps, row, request);
  // No further query for a person who is locked out: the right password would then take longer than a wrong one.
  const opened = row && isRight && maySignIn(row, clock.now()) && (await open(deps, row, request.address));
  if (opened) return opened;
  await recordFailure(deps, { email, personId: row?.id, address: request.address });
  throw new DomainError('UNAUTHORIZED', NOT_SIGNED_IN);
}

/** Throws UNAUTHORIZED if the person has a second factor and the code is missing or wrong. */
async function requireCode(
  { db, isRightCode }: SessionDeps,
  row: PersonRow,
  {
    password,
    code,
    address,
  }: { readonly password: string; readonly code?: string | undefined; readonly address: string },
): Promise<void> {
  if (!(await hasSecondFactor(db, row))) return;
  if (code !== undefined && (await isRightCode?.({ email: row.email, password, code, address }))) return;
  throw new DomainError('UNAUTHORIZED', 'Send a code of your second factor too, as `code`');
}

function maySignIn(row: PersonRow, now: Date): boolean {
  const { disabled_at: disabledAt, locked_until: lockedUntil, one_time_until: oneTimeUntil } = row;
  const isOver = oneTimeUntil !== null && oneTimeUntil <= now;
  return disabledAt === null && !isOver && (lockedUntil === null || lockedUntil <= now);
}

/**
 * Opens a session of a person who has let a command in. It ends at `until` at the latest. Returns undefined where
 * the person may not sign in.
 */
export async function openSessionOf(
  deps: SessionDeps,
  personId: string,
  { address, until }: { readonly address: string; readonly until: Date },
): Promise<{ token: string; session: Session } | undefined> {
  const row = await findPerson(deps.db, { id: personId });
  return row && maySignIn(row, deps.clock.now()) ? open(deps, row, address, until) : undefined;
}

/** undefined: since the check the person was locked out or disabled, or got another password. */
async function open(
  { db, clock }: SessionDeps,
  row: PersonRow,
  address: string,
  until = new Date(clock.now().getTime() + SESSION_MS),
): Promise<{ token: string; session: Session } | undefined> {
  const token = `ops_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  const tokenSha256 = hash('sha256', token, 'buffer');
  const now = clock.now();
  const opening = {
    ...{ tokenSha256, personId: row.id, passwordHash: row.password_hash },
    ...{ address, now, expiresAt: until },
  };
  const isOpen = await db.transaction().execute(async (trx) => {
    const opened = await openSession(trx, opening);
    const entry = { actor: row.email, action: 'session.open', subject: row.id, detail: { address } };
    if (opened) await writeAudit(trx, entry);
    return opened;
  });
  if (!isOpen) return undefined;
  return { token, session: toSession({ ...row, person_id: row.id, expires_at: until }, tokenSha256) };
}

/** Runs the same statements whether the person exists or not. */
async function recordFailure(
  { db, clock, events }: SessionDeps,
  { email, personId, address }: { email: string; personId: string | undefined; address: string },
): Promise<void> {
  const limits = { mostFailures: MAX_FAILED_LOGINS, lockMs: LOCK_MS };
  const lockedOut = await db.transaction().execute(async (trx) => {
    const locked = await countFailure(trx, { table: 'people', email }, limits, clock.now());
    // An unknown address is not recorded: it may be a password, typed into the wrong field.
    await writeAudit(trx, {
      actor: personId === undefined ? 'unknown' : email,
      action: 'session.refuse',
      subject: personId ?? 'unknown',
      detail: { address, lockedOut: locked !== undefined },
    });
    return locked;
  });
  if (lockedOut !== undefined) events.personLockedOut({ personId: lockedOut, address });
}

/**
 * Throws INVALID_TOKEN for a token that is malformed (no query), unknown, expired, idle for too long or revoked. Every request asks Postgres,
 * so that revoking a session ends it on every process at once.
 */
async function authenticate({ db, clock }: SessionDeps, token: string): Promise<Session> {
  const tokenSha256 = hash('sha256', token, 'buffer');
  const row = TOKEN.test(token)
    ? await useSession(db, tokenSha256, { now: clock.now(), idleMs: SESSION_IDLE_MS })
    : undefined;
  if (!row) throw unknownSession();
  return toSession(row, tokenSha256);
}

function toSession(row: OpenSessionRow, tokenSha256: Buffer): Session {
  return {
    person: { personId: row.person_id, email: row.email, name: row.name, role: row.role },
    mustChangePassword: row.one_time_until !== null,
    expiresAt: row.expires_at,
    tokenSha256,
  };
}

/** Throws FORBIDDEN if the role lacks the permission, and records the attempt. */
async function authorise(
  { db }: SessionDeps,
  session: Session,
  permission: Permission,
  attempt: RefusedAttempt,
): Promise<void> {
  if (session.mustChangePassword)
    throw new DomainError('FORBIDDEN', 'Choose a password of your own first: POST /ops/me/password');
  if (may(session.person.role, permission)) return;
  const wanted = `${describePermission(permission)} (that takes ${rolesWith(permission).join(' or ')})`;
  await refusePerson(db, session, { ...attempt, wanted });
}

/** Throws FORBIDDEN, after the attempt is in the audit log. */
export async function refusePerson(
  db: AccountsDb,
  { person }: Session,
  { subject, requestId, wanted }: RefusedAttempt & { readonly wanted: string },
): Promise<never> {
  await writeAudit(db, {
    actor: person.email,
    action: 'ops.refuse',
    subject,
    detail: { role: person.role, wanted, requestId },
  });
  throw new DomainError('FORBIDDEN', `Your role ${person.role} may not ${wanted}`);
}

async function signOut({ db, clock }: SessionDeps, { person, tokenSha256 }: Session): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await revokeSessions(trx, { tokenSha256 }, clock.now());
    await writeAudit(trx, { actor: person.email, action: 'session.close', subject: person.personId });
  });
}

/** Ends the person's other sessions. Throws VALIDATION_ERROR, and UNAUTHORIZED where the present password is wrong. */
async function changePassword(
  deps: SessionDeps,
  { person, tokenSha256 }: Session,
  { current, next, address }: { readonly current: string; readonly next: string; readonly address: string },
): Promise<void> {
  const { db, clock, passwords } = deps;
  const { personId, email } = person;
  refuseWeak({ current, next }, person);
  const row = await findPerson(db, { id: personId });
  const isRight = await passwords.isRight(row?.password_hash, current);
  if (!row || !isRight || !maySignIn(row, clock.now())) {
    // A guess here counts like a guess at signing in.
    await recordFailure(deps, { email, personId, address });
    throw new DomainError('UNAUTHORIZED', NOT_CHANGED);
  }
  const password = { hash: await passwords.hash(next), oneTimeUntil: null, replaces: row.password_hash };
  await db.transaction().execute(async (trx) => {
    // False where it was reset while the new one was hashed.
    if (!(await updatePerson(trx, personId, { password })))
      throw new DomainError('UNAUTHORIZED', NOT_CHANGED);
    await revokeSessions(trx, { personId, except: tokenSha256 }, clock.now());
    await writeAudit(trx, { actor: email, action: 'person.change-password', subject: personId });
  });
}

function refuseWeak(
  { current, next }: { readonly current: string; readonly next: string },
  person: Session['person'],
): void {
  const wanted = next === current ? 'be another one' : weakness(next, person);
  if (wanted === undefined) return;
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: `newPassword: must ${wanted}` });
}
