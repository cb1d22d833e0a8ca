/** Codes of authenticator apps (TOTP) and recovery codes, which better-auth keeps (better-auth.ts). */
import { isAPIError } from 'better-auth/api';
import type { UserSession, BrowserRequest } from '../../domain/callers.ts';
import { DomainError } from '../../domain/errors.ts';
import { isDuplicate } from '../../platform/database/errors.ts';
import { auditAround, writeAudit } from '../store/audit.ts';
import * as store from '../store/users.ts';
import {
  type UserDeps,
  recordFailure,
  requirePassword,
  refuseChanged,
  refuseOneTime,
  headersOf,
  sessionHeaders,
  tokenOf,
  only,
  cookiesFrom,
  refuseField,
} from './better-auth-calls.ts';
import { deviceCookie, doneFrom, IN_A_SESSION, isKnownDevice, openedFrom } from './devices.ts';
import { findVerificationUser } from './better-auth.ts';
import { cookieNames, cookieToken } from './sessions.ts';

const NOT_THE_CODE = 'The code is wrong, or the time for it is over: try the next code, or sign in again';

const NOTHING_TO_CONFIRM = 'is wrong, or there is no second factor to confirm';

const RECOVERY_CODE = /^([a-z0-9]{5})([a-z0-9]{5})$/;

/** A recovery code in any case, with or without blanks and hyphens, as it was given; another one as typed. */
function codeOf(typed: string): string {
  const letters = typed.toLowerCase().replaceAll(/[\s-]/g, '');
  return RECOVERY_CODE.test(letters) ? letters.replace(RECOVERY_CODE, '$1-$2') : typed;
}

function verifyCode({ auth }: UserDeps, code: string, headers: Headers) {
  const call = { body: { code }, headers, returnHeaders: true } as const;
  return code.includes('-') ? auth.api.verifyBackupCode(call) : auth.api.verifyTOTP(call);
}

/** Throws UNAUTHORIZED. */
export async function sendSecondFactor(
  deps: UserDeps,
  typed: string,
  browser: BrowserRequest,
): Promise<{ cookies: string[] }> {
  const { db, clock, publicUrl } = deps;
  const code = codeOf(typed);
  // better-auth would take a session that is open in this browser in place of the first step.
  const headers = headersOf({ ...browser, cookie: only(browser.cookie, cookieNames(publicUrl).secondStep) });
  // Who has sent the right password, if the time for the code is not over. The last wrong code ends the step.
  const step = cookieToken(browser.cookie, cookieNames(publicUrl).secondStep);
  const userId = step === '' ? undefined : await findVerificationUser(deps.auth, step);
  const attempt = { userId, address: browser.clientAddress };
  const hash = await store.findPasswordHash(db, userId ?? '');
  try {
    const done = await verifyCode(deps, code, headers);
    const { user, token } = done.response as { user: { id: string; email: string }; token: string };
    if (!(await store.takeCode(db, user.id, code, clock.now()))) {
      await store.dropSession(db, token);
      await recordWrongCode(deps, attempt);
      throw new DomainError('UNAUTHORIZED', NOT_THE_CODE);
    }
    await refuseChanged(deps, user.id, hash);
    const { secret } = await deps.auth.$context;
    const known = { id: user.id, password: hash };
    const isKnown = isKnownDevice(secret, known, browser, { publicUrl, now: clock.now() });
    const detail = { ...openedFrom(browser, isKnown), secondFactor: true };
    await writeAudit(db, { actor: user.email, action: 'session.open', subject: user.id, detail });
    const device = deviceCookie(secret, known, publicUrl, clock.now());
    return { cookies: [...cookiesFrom(done.headers, publicUrl), device] };
  } catch (error) {
    if (!isAPIError(error)) throw error;
    await recordWrongCode(deps, { ...attempt, why: error.body?.code });
    throw new DomainError('UNAUTHORIZED', NOT_THE_CODE);
  }
}

/** The right password came before it, so each wrong code is recorded, and ten of them raise an alert. */
async function recordWrongCode(
  { db, clock, events }: Pick<UserDeps, 'db' | 'clock' | 'events'>,
  { userId, address, why }: { userId: string | undefined; address: string; why?: string | undefined },
): Promise<void> {
  const user = userId === undefined ? undefined : await store.findUser(db, { id: userId });
  if (!user) return;
  events.signInRefused('wrong-code');
  const lockedOut = await store.isSecondFactorLocked(db, user.id, clock.now());
  const detail = { address, secondFactor: true, lockedOut };
  await writeAudit(db, { actor: user.email, action: 'session.refuse', subject: user.id, detail });
  // The word for a code that was compared: not again for each code during the lock.
  if (lockedOut && why === 'INVALID_CODE') events.personLockedOut({ personId: user.id, address });
}

/** In use once confirmed. UNAUTHORIZED for a wrong password; VALIDATION_ERROR where there is one. */
export async function addSecondFactor(
  deps: UserDeps,
  session: UserSession,
  password: string,
  browser: BrowserRequest,
): Promise<{ otpauthUri: string; recoveryCodes: string[] }> {
  refuseOneTime(session);
  await requirePassword(deps, session.user, { password }, browser);
  const headers = sessionHeaders(browser, deps.publicUrl);
  const made = await deps.auth.api
    .enableTwoFactor({ body: { password, method: 'totp' }, headers })
    .catch(refuseWith('You have a second factor already, or asked for one at this moment: remove it first'));
  if (made.method !== 'totp') throw new Error('a second factor of another kind was made');
  return { otpauthUri: made.totpURI, recoveryCodes: made.backupCodes };
}

/** Ends the user's other sessions, which began without it. */
export async function confirmSecondFactor(
  { auth, db, clock, publicUrl }: UserDeps,
  session: UserSession,
  code: string,
  browser: BrowserRequest,
): Promise<{ cookies: string[] }> {
  refuseOneTime(session);
  const { user } = session;
  // better-auth does not count codes that are sent with a session: one in use must not be guessed here.
  if (user.hasSecondFactor) refuseField('code', NOTHING_TO_CONFIRM);
  const headers = sessionHeaders(browser, publicUrl);
  const entry = { actor: user.email, action: 'user.add-second-factor', subject: user.userId } as const;
  return auditAround(db, { ...entry, detail: doneFrom(browser) }, async () => {
    const confirmed = await auth.api
      .verifyTOTP({ body: { code }, headers, returnHeaders: true })
      .catch(refuseWith(`code: ${NOTHING_TO_CONFIRM}`));
    // Someone who saw it being typed must not sign in with it.
    await store.takeCode(db, user.userId, code, clock.now());
    const cookies = cookiesFrom(confirmed.headers, publicUrl);
    await store.endSessions(db, user.userId, tokenOf(cookies[0] ?? browser.cookie, publicUrl));
    return { cookies };
  });
}

/** Takes a code once it is in use. UNAUTHORIZED for a wrong password, VALIDATION_ERROR for a wrong code. */
export async function removeSecondFactor(
  deps: UserDeps,
  session: UserSession,
  { password, code }: { readonly password: string; readonly code?: string | undefined },
  browser: BrowserRequest,
): Promise<{ cookies: string[] }> {
  refuseOneTime(session);
  const { user } = session;
  const { auth, db, publicUrl } = deps;
  const headers = sessionHeaders(browser, publicUrl);
  if (user.hasSecondFactor && code === undefined) return refuseField('code', 'is required');
  await requirePassword(deps, user, { password }, browser);
  if (user.hasSecondFactor) await requireOwnCode(deps, user, code, browser);
  const entry = { actor: user.email, action: 'user.remove-second-factor', subject: user.userId } as const;
  const removed = await auditAround(db, { ...entry, detail: doneFrom(browser) }, () =>
    auth.api
      .disableTwoFactor({ body: { password }, headers, returnHeaders: true })
      .catch(refuseWith('Another request of yours removes the second factor at this moment')),
  );
  return { cookies: cookiesFrom(removed.headers, publicUrl) };
}

/**
 * For a user who has a second factor. Throws VALIDATION_ERROR. Counts wrong codes: better-auth does not count
 * those that are sent with a session.
 */
export async function requireOwnCode(
  deps: UserDeps,
  { userId, email }: UserSession['user'],
  typed: string | undefined,
  browser: BrowserRequest,
): Promise<void> {
  if (typed === undefined) return refuseField('code', 'is required');
  const code = codeOf(typed);
  const { db, clock, publicUrl } = deps;
  try {
    await verifyCode(deps, code, sessionHeaders(browser, publicUrl));
    if (await store.takeCode(db, userId, code, clock.now())) return;
  } catch (error) {
    if (!isAPIError(error)) throw error;
  }
  await recordFailure(deps, { email, userId, address: browser.clientAddress, place: IN_A_SESSION });
  refuseField('code', 'is wrong');
}

/** The same where another request of the user was first. */
const refuseWith =
  (details: string) =>
  (error: unknown): never => {
    if (!isAPIError(error) && !isDuplicate(error)) throw error;
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details });
  };
