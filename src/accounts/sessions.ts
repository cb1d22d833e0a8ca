/**
 * Signing in and being signed in. Guarantee: an unknown person, a wrong password, a locked and a disabled person get the same answer after
 * the same work; a session is asked about in Postgres at every request, so that what ends it ends it at once on every process.
 */
import { hash, randomBytes } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import { may, PERMISSION_WORDS, rolesWith, type Role } from './roles.ts';
import type { Events } from '../platform/telemetry/events.ts';
import { writeAudit } from './store/audit.ts';
import {
  changePerson,
  countFailure,
  findPerson,
  openSession,
  revokeSessions,
  useSession,
  type OpenSessionRow,
  type PersonRow,
} from './store/people.ts';
import type { PeopleDeps } from './people.ts';
import type { SessionUseCases } from './use-cases.ts';
import type { AccountsDb } from '../platform/database/tables.ts';

export interface SessionDeps extends PeopleDeps {
  readonly events: Pick<Events, 'personLockedOut'>;
}

/** A working day; whoever works longer signs in again. */
export const SESSION_MS = 12 * 3_600_000;
/** A screen that was left is of no use to whoever comes by. */
export const SESSION_IDLE_MS = 30 * 60_000;
/** Ten guesses of a password of twelve characters are worth nothing; ten mistakes of its owner are rare. */
export const MOST_FAILED_LOGINS = 10;
export const LOCK_MS = 15 * 60_000;
export const MIN_PASSWORD_CHARACTERS = 12;

const TOKEN_BYTES = 32;
/** `ops_` and 32 bytes in base64url: nothing that could be an API key. */
const TOKEN = /^ops_[\w-]{43}$/;

const LIMITS = { mostFailures: MOST_FAILED_LOGINS, lockMs: LOCK_MS };
const NOT_CHANGED = 'The present password is wrong, or changing it is not possible for now';
const NOT_SIGNED_IN = 'E-mail address or password is wrong, or signing in is not possible for now';

export function createSessions(deps: SessionDeps): SessionUseCases {
  return {
    signIn: (request) => signIn(deps, request),
    authenticate: (token) => authenticate(deps, token),
    authorise: async (session, permission, about) => {
      const { role } = session.person;
      if (session.mustChangePassword) {
        throw new DomainError('FORBIDDEN', 'Choose a password of your own first: POST /ops/me/password');
      }
      if (may(role, permission)) return;
      const wanted = `${PERMISSION_WORDS[permission]} (that takes ${rolesWith(permission).join(' or ')})`;
      await refusePerson(deps.db, session, { ...about, wanted });
    },
    signOut: async (session) => {
      const { db, clock } = deps;
      await db.transaction().execute(async (trx) => {
        await revokeSessions(trx, { tokenSha256: session.tokenSha256 }, clock.now());
        await writeAudit(trx, {
          actor: session.person.email,
          action: 'session.close',
          subject: session.person.personId,
        });
      });
    },
    changePassword: (session, passwords) => changePassword(deps, session, passwords),
  };
}

async function signIn(
  deps: SessionDeps,
  { email, password, address }: Parameters<SessionUseCases['signIn']>[0],
): ReturnType<SessionUseCases['signIn']> {
  const { db, clock, passwords } = deps;
  const row = await findPerson(db, { email: email.toLowerCase() });
  const isRight = await passwords.isRight(row?.password_hash, password);
  // Somebody who cannot come in is not asked about again: that would take longer with the right password.
  const signedIn = row && isRight && mayComeIn(row, clock.now()) && (await open(deps, row, address));
  if (signedIn) return signedIn;
  await noteFailure(deps, { email: email.toLowerCase(), personId: row?.id, address });
  throw new DomainError('UNAUTHORIZED', NOT_SIGNED_IN);
}

function mayComeIn(row: PersonRow, now: Date): boolean {
  const { disabled_at: disabledAt, locked_until: lockedUntil, one_time_until: oneTimeUntil } = row;
  const isOver = oneTimeUntil !== null && oneTimeUntil <= now;
  return disabledAt === null && !isOver && (lockedUntil === null || lockedUntil <= now);
}

/** undefined: between looking and opening somebody was locked out, disabled or given another password. */
async function open(
  { db, clock }: SessionDeps,
  row: PersonRow,
  address: string,
): Promise<{ token: string; session: Session } | undefined> {
  const token = `ops_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  const tokenSha256 = hash('sha256', token, 'buffer');
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + SESSION_MS);
  const isOpen = await db.transaction().execute(async (trx) => {
    const opened = await openSession(trx, {
      tokenSha256,
      personId: row.id,
      passwordHash: row.password_hash,
      address,
      now,
      expiresAt,
    });
    if (opened)
      await writeAudit(trx, {
        actor: row.email,
        action: 'session.open',
        subject: row.id,
        detail: { address },
      });
    return opened;
  });
  if (!isOpen) return undefined;
  const session = toSession({ ...row, person_id: row.id, expires_at: expiresAt }, tokenSha256);
  return { token, session };
}

/** The same statements whether there is such a person or not. */
async function noteFailure(
  { db, clock, events }: SessionDeps,
  { email, personId, address }: { email: string; personId: string | undefined; address: string },
): Promise<void> {
  const lockedOut = await db.transaction().execute(async (trx) => {
    const locked = await countFailure(trx, email, LIMITS, clock.now());
    // What was typed is not kept: it may be the password, in the wrong field.
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

async function authenticate({ db, clock }: SessionDeps, token: string): Promise<Session> {
  const tokenSha256 = hash('sha256', token, 'buffer');
  const row = TOKEN.test(token)
    ? await useSession(db, tokenSha256, { now: clock.now(), idleMs: SESSION_IDLE_MS })
    : undefined;
  if (!row) throw new DomainError('INVALID_TOKEN', 'The session is unknown or has ended: sign in');
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

async function changePassword(
  deps: SessionDeps,
  { person, tokenSha256 }: Session,
  { current, next, address }: Parameters<SessionUseCases['changePassword']>[1],
): Promise<void> {
  const { db, clock, passwords } = deps;
  refuseWeak({ current, next });
  const row = await findPerson(db, { id: person.personId });
  const isRight = await passwords.isRight(row?.password_hash, current);
  if (!row || !isRight || !mayComeIn(row, clock.now())) {
    // Guessing counts here as it does at the door.
    await noteFailure(deps, { email: person.email, personId: person.personId, address });
    throw new DomainError('UNAUTHORIZED', NOT_CHANGED);
  }
  const password = { hash: await passwords.hash(next), oneTimeUntil: null, replaces: row.password_hash };
  await db.transaction().execute(async (trx) => {
    // It may have been reset while the new one was hashed.
    if (!(await changePerson(trx, person.personId, { password })))
      throw new DomainError('UNAUTHORIZED', NOT_CHANGED);
    await revokeSessions(trx, { personId: person.personId, except: tokenSha256 }, clock.now());
    await writeAudit(trx, {
      actor: person.email,
      action: 'person.change-password',
      subject: person.personId,
    });
  });
}

/** Length is what counts; rules about kinds of characters only make passwords worse. */
function refuseWeak({ current, next }: { readonly current: string; readonly next: string }): void {
  const isShort = next.length < MIN_PASSWORD_CHARACTERS;
  if (!isShort && next !== current) return;
  const problem = isShort
    ? `must have at least ${MIN_PASSWORD_CHARACTERS} characters`
    : 'must be another one';
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: `newPassword: ${problem}` });
}

/** Who is signed in. */
export interface Session {
  readonly person: {
    readonly personId: string;
    readonly email: string;
    readonly name: string;
    readonly role: Role;
  };
  /** The password was made for them: all they can do is choose another. */
  readonly mustChangePassword: boolean;
  readonly expiresAt: Date;
  /** Names the session in our rows; it opens nothing. */
  readonly tokenSha256: Buffer;
}

/** What somebody tried, for the record. */
export interface RefusedAttempt {
  readonly subject: string;
  readonly requestId: string;
}

/** FORBIDDEN, on record with who tried what. */
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
