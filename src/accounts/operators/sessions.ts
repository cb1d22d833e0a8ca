/** Operators' programs sign in for a token. Its session is like that of a browser (../users/users.ts). */
import { createHmac } from 'node:crypto';
import { unknownSession, type BrowserRequest, type Session } from '../../domain/callers.ts';
import { DomainError } from '../../domain/errors.ts';
import { may, rolesWith, describePermission, type Permission } from '../../domain/operator-roles.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { writeAudit } from '../store/audit.ts';
import { findPerson } from '../store/people.ts';
import { dropSession } from '../store/users.ts';
import { only, purposeOf, tokenOf, type UserDeps } from '../users/better-auth-calls.ts';
import { requireConfirmed } from '../users/confirming.ts';
import { sendSecondFactor } from '../users/second-factors.ts';
import { cookieNames, NOT_SIGNED_IN, SESSION_MS } from '../users/sessions.ts';
import { changePassword, findSession, signIn, signOut, type PasswordChange } from '../users/users.ts';

/** For the audit log. */
interface RefusedAttempt {
  readonly subject: string;
  readonly requestId: string;
}

interface ProgramLogin {
  readonly email: string;
  readonly password: string;
  readonly code?: string | undefined;
  readonly address: string;
}

/** `ops_`, so that no token looks like an API key; better-auth's token; its signature in base64url. */
const TOKEN = /^ops_([0-9A-Za-z]{32})([\w-]{43})$/;

export const sessionUseCases = {
  signIn: signInProgram,
  find: findSession,
  authenticate,
  authorise,
  requireConfirmed,
  signOut: async (deps: UserDeps, { person }: Session, browser: BrowserRequest) => {
    await signOut(deps, userOf(person), browser);
  },
  changePassword: (deps: UserDeps, { person }: Session, change: PasswordChange, browser: BrowserRequest) =>
    changePassword(deps, userOf(person), change, browser),
};

const userOf = ({ personId: userId, email, name }: Session['person']) => ({ user: { userId, email, name } });

export interface Opened {
  readonly token: string;
  readonly session: Session;
}

/** Returns the token, for the only time. Throws UNAUTHORIZED, also without the code of a second factor. */
async function signInProgram(deps: UserDeps, { code, address, ...login }: ProgramLogin): Promise<Opened> {
  const browser = { cookie: undefined, clientAddress: address, isForOperators: true, isProgram: true };
  const first = await signIn(deps, login, browser);
  let { cookies } = first;
  if (first.secondFactor) {
    if (code === undefined)
      throw new DomainError('UNAUTHORIZED', 'Send a code of your second factor too, as `code`');
    const step = only(cookies.join('; '), cookieNames(deps.publicUrl).secondStep);
    ({ cookies } = await sendSecondFactor(deps, code, { ...browser, cookie: step }));
  }
  return opened(deps, tokenOf(cookies.join('; '), deps.publicUrl), address);
}

interface Approval {
  readonly address: string;
  /** The name of the machine. */
  readonly machine: string;
  /** The session ends then, or when others do. */
  readonly until: Date;
  /**
   * Spends the approval, once the session exists: what ends all sessions of the person meanwhile ends one of
   * the two. False: it is spent or void.
   */
  readonly take: (trx: AccountsDb) => Promise<boolean>;
}

/** For an operator whom the caller has checked, second factor included. Throws UNAUTHORIZED. */
export async function openSession(
  deps: UserDeps,
  userId: string,
  { address, machine, until, take }: Approval,
): Promise<Opened> {
  const { internalAdapter } = await deps.auth.$context;
  const person = await findPerson(deps.db, { id: userId });
  // findSession ends a session twelve hours after this.
  const createdAt = new Date(until.getTime() - SESSION_MS);
  const device = `Command line on ${machine}`;
  const session = { ipAddress: address, userAgent: purposeOf({ isProgram: true }), createdAt, device };
  // null where the person may not sign in at this moment.
  const made = person && (await internalAdapter.createSession(userId, false, session, true));
  if (!made) throw new DomainError('UNAUTHORIZED', NOT_SIGNED_IN);
  const isTaken = await deps.db.transaction().execute(async (trx) => {
    const entry = {
      actor: person.email,
      action: 'session.open',
      subject: userId,
      detail: { address },
    } as const;
    return (await take(trx)) && writeAudit(trx, entry).then(() => true);
  });
  if (!isTaken) {
    await dropSession(deps.db, made.token);
    throw new DomainError('UNAUTHORIZED', NOT_SIGNED_IN);
  }
  return opened(deps, made.token, address);
}

async function opened(deps: UserDeps, sessionToken: string, address: string): Promise<Opened> {
  const { secret } = await deps.auth.$context;
  const token = `ops_${sessionToken}${createHmac('sha256', secret).update(sessionToken).digest('base64url')}`;
  const { session } = await authenticate(deps, token, address);
  return { token, session };
}

/** Throws INVALID_TOKEN where findSession refuses it. `browser` is a request that would have this session. */
async function authenticate(
  deps: UserDeps,
  token: string,
  clientAddress: string,
): Promise<{ readonly session: Session; readonly browser: BrowserRequest }> {
  const [, sessionToken, signature = ''] = TOKEN.exec(token) ?? [];
  if (sessionToken === undefined) throw unknownSession();
  const value = `${sessionToken}.${Buffer.from(signature, 'base64url').toString('base64')}`;
  const cookie = `${cookieNames(deps.publicUrl).session}=${encodeURIComponent(value)}`;
  const browser = { cookie, clientAddress, isForOperators: true, isProgram: true };
  const found = await findSession(deps, browser).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'SESSION_EXPIRED') throw unknownSession();
    throw error;
  });
  if (!found?.operator) throw unknownSession();
  return { session: found.operator, browser };
}

/**
 * Throws FORBIDDEN if the role lacks the permission, and records the attempt; SECOND_FACTOR_REQUIRED where
 * the role takes one and there is none.
 */
async function authorise(
  { db }: Pick<UserDeps, 'db'>,
  session: Session,
  permission: Permission,
  attempt: RefusedAttempt,
): Promise<void> {
  if (session.mustChangePassword)
    throw new DomainError('FORBIDDEN', 'Choose a password of your own first: POST /ops/me/password');
  if (session.mustAddSecondFactor)
    throw new DomainError(
      'SECOND_FACTOR_REQUIRED',
      `The role ${session.person.role} takes a second factor: set one up under Your login at the dashboard, then sign in again`,
    );
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
  const detail = { role: person.role, wanted, requestId };
  await writeAudit(db, { actor: person.email, action: 'ops.refuse', subject, detail });
  throw new DomainError('FORBIDDEN', `Your role ${person.role} may not ${wanted}`);
}
