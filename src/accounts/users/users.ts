/** Signing up and in, and what users do about themselves, by better-auth (better-auth.ts). */
import type { Bound } from '../../platform/bind.ts';
import { hash, randomBytes } from 'node:crypto';
import { isAPIError } from 'better-auth/api';
import type { Session, Member, UserSession, BrowserRequest } from '../../domain/callers.ts';
import type { Environment } from '../../domain/account.ts';
import { DAY_MS, HOUR_MS } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import { addressBucket } from '../../platform/client-addresses.ts';
import { unavailable } from '../../platform/database/errors.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { createAccount } from '../manage-accounts.ts';
import { memberMay, memberRolesWith, type MemberPermission } from '../../domain/member-roles.ts';
import { auditAround, writeAudit, writeAuditOnce } from '../store/audit.ts';
import { endOneTime, findPerson, type PersonRow } from '../store/people.ts';
import { takesSecondFactor } from '../../domain/operator-roles.ts';
import { insertMailStop } from '../store/mail-turns.ts';
import * as store from '../store/users.ts';
import type { InvitationRow } from '../store/users.ts';
import {
  type UserDeps,
  recordFailure,
  requirePassword,
  refuseChanged,
  refuseOneTime,
  headersOf,
  purposeOf,
  sessionHeaders,
  tokenOf,
  refuseField,
  cookiesFrom,
} from './better-auth-calls.ts';
import { hashingFor } from './passwords.ts';
import { deviceCookie, doneFrom, isKnownDevice, openedFrom, placeOf } from './devices.ts';
import { collectMails, findVerificationUser } from './better-auth.ts';
import { weakness } from './common-passwords.ts';
import type { SandboxMail } from './mails.ts';
import {
  sendSecondFactor,
  addSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
} from './second-factors.ts';
import { confirmSession, requireConfirmed } from './confirming.ts';
import { endOtherSessions, endOwnSession, listSessions } from './own-sessions.ts';
import { cookieLine, cookieNames, cookieValue, NOT_CHANGED, NOT_SIGNED_IN, SESSION_MS } from './sessions.ts';

interface Login {
  readonly email: string;
  readonly password: string;
}

interface SignUp extends Login {
  readonly name: string;
  readonly companyName: string;
  readonly currency: AccountCurrency;
}

const NOT_THE_PASSWORD =
  'This is not the password that was chosen when signing up. If it was not you, sign up again';

export const userUseCases = {
  signUp,
  confirmUser,
  signIn,
  sendSecondFactor,
  signOut,
  findSession,
  findMember,
  authoriseMember,
  recordInstallReads,
  requireConfirmed,
  confirmSession,
  listSessions,
  endOwnSession,
  endOtherSessions,
  describe: async ({ db, environments }: UserDeps, { user }: UserSession) => ({
    memberships: await store.findMemberships(db, user.userId),
    environments,
  }),
  changePassword,
  addSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  requestPasswordReset,
  resetPassword,
  acceptInvitation,
  canStopMails: ({ mailStops }: UserDeps, token: string) => mailStops.read(token) !== undefined,
  stopMails,
};

export type UserCases = Bound<typeof userUseCases>;

/** As long as a working day, so that a mail that was read in the evening still works in the morning. */
const CONFIRM_MS = DAY_MS;
const TOKEN_BYTES = 32;

/**
 * The same answer after the same work for every address. Several sign-ups of one address wait side by side,
 * so that nobody keeps its owner from signing up. Throws VALIDATION_ERROR for a weak password.
 */
async function signUp(
  deps: UserDeps,
  { email: given, password, name, companyName, currency }: SignUp,
  { requestId, clientAddress }: BrowserRequest & { readonly requestId: string },
): Promise<SandboxMail | undefined> {
  const email = given.toLowerCase();
  refuseWeak('password', password, { email, name });
  const { db, clock } = deps;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const known = await store.findUser(db, { email });
  await store.insertSignUp(db, {
    token_sha256: hash('sha256', token, 'buffer'),
    ...{ email, name, password: await hashPassword(deps, password), company_name: companyName, currency },
    expires_at: new Date(clock.now().getTime() + CONFIRM_MS),
  });
  const mail = { to: email, askedFrom: addressBucket(clientAddress) };
  return deps.sendMail(known ? { kind: 'known', ...mail } : { kind: 'confirm', ...mail, token }, requestId);
}

const hashPassword = async ({ auth }: UserDeps, password: string): Promise<string> =>
  (await auth.$context).password.hash(password);

/**
 * Makes the user and the account. The link shows who reads the mailbox, the password who signed up: only
 * where both are one person is the address theirs. Throws VALIDATION_ERROR for a link that is wrong, was used
 * or has expired; UNAUTHORIZED for a wrong password, ten of which void the link.
 */
async function confirmUser(
  deps: UserDeps,
  { token, password }: { readonly token: string; readonly password: string },
  browser: BrowserRequest,
): ReturnType<typeof signIn> {
  const { db, auth, clock } = deps;
  const tokenSha256 = hash('sha256', token, 'buffer');
  const signedUp = await store.findSignUp(db, tokenSha256, clock.now());
  if (!signedUp) return refuseLink();
  const { email, name, password: passwordHash, company_name: companyName, currency } = signedUp;
  const { verify } = (await auth.$context).password;
  if (!(await verify({ hash: passwordHash, password }))) {
    await store.countWrongPassword(db, tokenSha256);
    const detail = { address: browser.clientAddress, signUp: true };
    await writeAudit(db, { actor: email, action: 'session.refuse', subject: 'unknown', detail });
    throw new DomainError('UNAUTHORIZED', NOT_THE_PASSWORD);
  }
  await db.transaction().execute(async (trx) => {
    const userId = await store.insertUser(trx, { email, name, passwordHash });
    // Another sign-up of the address, or an invitation, was first.
    if (userId === undefined) return refuseLink();
    const account = { type: 'MERCHANT', plan: 'STANDARD', name: companyName, email, currency } as const;
    const accountId = await createAccount(trx, account, email);
    await store.insertMember(trx, { account_id: accountId, user_id: userId, role: 'OWNER' });
    await writeAudit(trx, { actor: email, action: 'user.confirm', subject: userId, detail: { accountId } });
  });
  return signIn(deps, { email, password }, browser, { isFirst: true });
}

function refuseLink(cause?: unknown): never {
  if (cause instanceof Error && !isAPIError(cause)) throw cause;
  const details = 'token: the link is not valid any more: sign in, or ask for another one';
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details });
}

/**
 * Throws UNAUTHORIZED: an unknown address, a wrong password, and a user who is locked out or disabled get the
 * same answer after the same work, so that addresses cannot be probed. Programs are operators' alone.
 */
export async function signIn(
  deps: UserDeps,
  { email: given, password }: Login,
  browser: BrowserRequest,
  { isFirst = false }: { readonly isFirst?: boolean } = {},
): Promise<{ cookies: string[]; secondFactor: boolean }> {
  const { db, auth, publicUrl, clock } = deps;
  const email = given.toLowerCase();
  const found = await store.findSignIn(db, email);
  const isOperator = found?.role != null;
  const isVisible = isOperator ? browser.isForOperators : !browser.isProgram;
  const user = isVisible ? found : undefined;
  // The right password must then take as long as a wrong one.
  const { secret } = await auth.$context;
  const isKnown = isKnownDevice(secret, user, browser, { publicUrl, now: clock.now() });
  const place = placeOf(isKnown, browser.clientAddress);
  const isLocked = await store.isLockedThere(db, user?.id ?? '', place, clock.now());
  const mayTry = user && !isLocked && !isOverForOperators(user, clock.now());
  try {
    // better-auth reads the password of a user whom it knows.
    if (!mayTry) await store.findPasswordHash(db, NOBODY);
    const call = {
      body: { email: mayTry ? email : NOBODY, password },
      headers: headersOf({ ...browser, cookie: undefined }),
      returnHeaders: true,
    } as const;
    const ask = () => auth.api.signInEmail(call);
    const known = { lane: 'known', from: addressBucket(browser.clientAddress) } as const;
    const { headers, response } = await (isKnown ? hashingFor(known, ask) : ask());
    const secondFactor = 'twoFactorRedirect' in response;
    const subject = found?.id ?? '';
    await refuseChanged(deps, subject, found?.password);
    const detail = openedFrom(browser, isKnown || isFirst);
    if (!secondFactor) await writeAudit(db, { actor: email, action: 'session.open', subject, detail });
    await store.forgetFailures(db, subject, place);
    const cookies = cookiesFrom(headers, publicUrl);
    if (found && !secondFactor && !browser.isProgram)
      cookies.push(deviceCookie(secret, found, publicUrl, clock.now()));
    return { cookies, secondFactor };
  } catch (error) {
    if (!isAPIError(error)) throw error;
    const failed = {
      email: isVisible ? email : NOBODY,
      userId: user?.id,
      address: browser.clientAddress,
      place,
    };
    await recordFailure(deps, failed);
    throw new DomainError('UNAUTHORIZED', NOT_SIGNED_IN);
  }
}

/** Whether an operator is disabled, or has a one-time password that has expired. */
const isOverForOperators = (row: Pick<PersonRow, 'disabled_at' | 'one_time_until'>, now: Date): boolean =>
  row.disabled_at !== null || (row.one_time_until !== null && row.one_time_until <= now);

/** An address without an owner. */
const NOBODY = 'nobody@simway.invalid';

interface SignedIn {
  readonly user: Omit<UserSession['user'], 'hasSecondFactor'>;
}

export async function signOut(
  { db, auth, publicUrl }: UserDeps,
  { user }: SignedIn,
  browser: BrowserRequest,
): Promise<{ cookies: string[] }> {
  await auth.api.signOut({ headers: sessionHeaders(browser, publicUrl) });
  await writeAudit(db, { actor: user.email, action: 'session.close', subject: user.userId });
  return { cookies: [cookieLine({ name: cookieNames(publicUrl).session, value: '' }, publicUrl)] };
}

/**
 * undefined: no cookie of a session came. Throws SESSION_EXPIRED for one that is unknown, idle for too long,
 * revoked or over, and for one of another purpose: a program's token opens no dashboard. Asks Postgres each
 * time, so that a session ends on every process at once.
 */
export async function findSession(deps: UserDeps, browser: BrowserRequest): Promise<UserSession | undefined> {
  const { auth, clock, db, publicUrl } = deps;
  const value = cookieValue(browser.cookie, cookieNames(publicUrl).session);
  if (value === undefined || value === '') return undefined;
  const headers = sessionHeaders(browser, publicUrl);
  const found = await auth.api.getSession({ headers }).catch((error: unknown) => {
    // Its answer where Postgres cannot be read.
    throw isAPIError(error) ? unavailable(error) : error;
  });
  if (found?.session.userAgent !== purposeOf(browser)) throw expired();
  const expiresAt = new Date(found.session.createdAt.getTime() + SESSION_MS);
  if (expiresAt <= clock.now()) {
    await auth.api.signOut({ headers });
    throw expired();
  }
  const { id: userId, email, name, twoFactorEnabled } = found.user;
  // A session without it was never confirmed.
  const confirmedAt = found.session.confirmedAt ?? new Date(0);
  const person = await findPerson(db, { id: userId });
  if (person && !browser.isForOperators)
    throw new DomainError('IP_NOT_WHITELISTED', 'Operators may not sign in from your address');
  return {
    user: { userId, email, name, hasSecondFactor: twoFactorEnabled === true },
    ...{ expiresAt, confirmedAt, clientAddress: browser.clientAddress },
    operator: person && operatorOf(deps, person, { expiresAt, confirmedAt }),
  };
}

/** Throws SESSION_EXPIRED for a person who was disabled, or whose one-time password has expired. */
function operatorOf(
  { clock, environments }: UserDeps,
  person: PersonRow,
  times: Pick<Session, 'expiresAt' | 'confirmedAt'>,
): Session {
  if (isOverForOperators(person, clock.now())) throw expired();
  const { id: personId, email, name, role, one_time_until: oneTimeUntil } = person;
  // The logins that `npm start` prints are for the sandbox alone.
  const isWaived = person.second_factor_waived && !environments.includes('live');
  const mustAddSecondFactor = takesSecondFactor(role) && !person.has_second_factor && !isWaived;
  const must = { mustChangePassword: oneTimeUntil !== null, mustAddSecondFactor };
  return { person: { personId, email, name, role }, ...must, ...times };
}

const expired = (): DomainError =>
  new DomainError('SESSION_EXPIRED', 'Your session has ended: sign in again');

/** Throws FORBIDDEN, with one text for accounts of others and unknown ones; also for a disabled account. */
async function findMember({ db }: UserDeps, session: UserSession, accountId: string): Promise<Member> {
  refuseOneTime(session);
  const { user } = session;
  const [membership] = await store.findMemberships(db, user.userId, accountId);
  if (!membership) throw new DomainError('FORBIDDEN', 'You are not a member of this account');
  const { account, role, disabledAt } = membership;
  if (disabledAt) throw new DomainError('FORBIDDEN', 'This account is disabled. Ask us why');
  return { userId: user.userId, email: user.email, account, role, clientAddress: session.clientAddress };
}

/** Throws FORBIDDEN if the member's role lacks the permission. `asked`: what the route does. */
function authoriseMember(
  _deps: UserDeps,
  { role }: Member,
  permission: MemberPermission,
  asked: string,
): void {
  if (memberMay(role, permission)) return;
  const needed = memberRolesWith(permission).join(' or ');
  throw new DomainError('FORBIDDEN', `Your role ${role} may not do this: ${asked} (that takes ${needed})`);
}

/** Once for each person, eSIM and hour. */
async function recordInstallReads(
  { db, clock }: UserDeps,
  { account, email }: Member,
  environment: Environment,
  esimIds: readonly string[],
): Promise<void> {
  const detail = { accountId: account.id, environment };
  const since = new Date(clock.now().getTime() - HOUR_MS);
  for (const subject of esimIds)
    await writeAuditOnce(db, { actor: email, action: 'esim.read-install', subject, detail }, since);
}

export interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
}

/** Ends other sessions and links. Throws VALIDATION_ERROR for a weak one, UNAUTHORIZED for a wrong one. */
export async function changePassword(
  deps: UserDeps,
  { user: { userId, email, name } }: SignedIn,
  { currentPassword, newPassword }: PasswordChange,
  browser: BrowserRequest,
): Promise<{ cookies: string[] }> {
  const { auth, clock, db, publicUrl } = deps;
  refuseWeak('newPassword', newPassword, { email, name });
  if (newPassword === currentPassword) refuseField('newPassword', 'must be another one');
  const replaces = await requirePassword(deps, { email }, { password: currentPassword }, browser);
  const { password, secret } = await auth.$context;
  const hash = await password.hash(newPassword);
  await db.transaction().execute(async (trx) => {
    // False where it was reset while the new one was hashed.
    if (!(await store.setPassword(trx, userId, hash, replaces)))
      throw new DomainError('UNAUTHORIZED', NOT_CHANGED);
    await endOneTime(trx, userId);
    await store.endSessions(trx, userId, tokenOf(browser.cookie, publicUrl));
    const detail = doneFrom(browser);
    await writeAudit(trx, { actor: email, action: 'user.change-password', subject: userId, detail });
  });
  // With another password no browser is known any more, but this one.
  const device = { id: userId, password: hash };
  return { cookies: browser.isProgram ? [] : [deviceCookie(secret, device, publicUrl, clock.now())] };
}

/** The same answer for every address, before anything is looked up. */
async function requestPasswordReset(
  deps: UserDeps,
  email: string,
  { requestId, ...browser }: BrowserRequest & { readonly requestId: string },
): Promise<SandboxMail | undefined> {
  const call = {
    body: { email: email.toLowerCase() },
    headers: headersOf({ ...browser, cookie: undefined }),
  };
  const make = async () => (await collectMails(() => deps.auth.api.requestPasswordReset(call))).mails[0];
  return deps.sendMailLater('reset', make, requestId);
}

/** Ends a lockout, all sessions and the other links. Throws VALIDATION_ERROR. */
async function resetPassword(
  { db, auth }: UserDeps,
  { token, newPassword }: { readonly token: string; readonly newPassword: string },
  browser: BrowserRequest,
): Promise<void> {
  const userId = await findVerificationUser(auth, `reset-password:${token}`);
  const user = userId === undefined ? undefined : await store.findUser(db, { id: userId });
  // Two administrators give an operator a new password, never a mail: also not one from before they were one.
  if (!user || (await findPerson(db, { id: user.id }))) return refuseLink();
  refuseWeak('newPassword', newPassword, user);
  const call = { body: { token, newPassword }, headers: headersOf({ ...browser, cookie: undefined }) };
  const entry = { actor: user.email, action: 'user.reset-password', subject: user.id } as const;
  await auditAround(db, { ...entry, detail: doneFrom(browser) }, async () => {
    await auth.api.resetPassword(call).catch(refuseLink);
    await store.deleteLinks(db, user.id);
  });
}

/** A link works once; for a user who exists it opens no session. Throws VALIDATION_ERROR. */
async function acceptInvitation(
  deps: UserDeps,
  { token, name, password }: { readonly token: string } & Partial<Pick<SignUp, 'name' | 'password'>>,
  browser: BrowserRequest,
): Promise<{ accountId: string; isSignedIn: boolean; cookies: string[] }> {
  const { db, clock } = deps;
  const invitation = await store.findInvitation(db, hash('sha256', token, 'buffer'), clock.now());
  if (!invitation) return refuseLink();
  const { account_id: accountId, email } = invitation;
  const known = await store.findUser(db, { email });
  if (!known) {
    if (name === undefined || password === undefined)
      return refuseField(name === undefined ? 'name' : 'password', 'is required');
    refuseWeak('password', password, { email, name });
    const isNew = await join(db, invitation, {
      email,
      name,
      passwordHash: await hashPassword(deps, password),
    });
    if (isNew) {
      const { cookies } = await signIn(deps, { email, password }, browser, { isFirst: true });
      return { accountId, isSignedIn: true, cookies };
    }
  } else await join(db, invitation);
  return { accountId, isSignedIn: false, cookies: [] };
}

/** Returns whether it made the user. Throws VALIDATION_ERROR where the link was used at this moment. */
function join(db: AccountsDb, invitation: InvitationRow, newUser?: store.NewUser): Promise<boolean> {
  const { account_id: accountId, email, role, invited_by: invitedBy } = invitation;
  return db.transaction().execute(async (trx) => {
    if (!(await store.deleteInvitation(trx, accountId, invitation.id))) refuseLink();
    const made = newUser && (await store.insertUser(trx, newUser));
    const userId = made ?? (await store.findUser(trx, { email }))?.id;
    if (userId === undefined) return refuseLink();
    await store.insertMember(trx, { account_id: accountId, user_id: userId, role });
    const detail = { accountId, role, invitedBy };
    await writeAudit(trx, { actor: email, action: 'member.join', subject: userId, detail });
    return made !== undefined;
  });
}

/** False for a token that is not ours. */
async function stopMails(
  { db, events, mailStops }: UserDeps,
  token: string,
  { requestId }: { readonly requestId: string },
): Promise<boolean> {
  const address = mailStops.read(token);
  if (address && (await insertMailStop(db, address))) events.mailsStopped({ requestId });
  return address !== undefined;
}

function refuseWeak(field: string, password: string, person: Pick<SignUp, 'email' | 'name'>): void {
  const wanted = weakness(password, person);
  if (wanted !== undefined) refuseField(field, `must ${wanted}`);
}
