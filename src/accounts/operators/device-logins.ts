/**
 * Signing in a command, as in RFC 8628: the command gets a secret device code and a short code, a person who
 * has signed in types the short one, and the command then gets a session of that person, once.
 */
import { hash, randomBytes, randomInt } from 'node:crypto';
import { unknownSession, type BrowserRequest, type Session } from '../../domain/callers.ts';
import { DomainError } from '../../domain/errors.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { writeAudit } from '../store/audit.ts';
import * as store from '../store/device-logins.ts';
import { holdSession } from '../store/users.ts';
import { tokenOf, type UserDeps } from '../users/better-auth-calls.ts';
import { openSession, type Opened } from './sessions.ts';

/** Long enough to sign in first. */
export const DEVICE_CODE_MS = 10 * 60_000;
export const DEVICE_POLL_SECONDS = 3;
/** Those of RFC 8628: no vowels, so that no word appears. 25 billion codes. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const CODE_LETTERS = 8;
const DEVICE_CODE_BYTES = 32;

export const deviceLoginUseCases = { ask, preview, approve, redeem };

/** Returns both codes, for the only time. */
async function ask(
  { db, clock, publicUrl }: UserDeps,
  { machine, address }: { readonly machine: string; readonly address: string },
) {
  const deviceCode = randomBytes(DEVICE_CODE_BYTES).toString('base64url');
  const letters = Array.from({ length: CODE_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  const now = clock.now();
  await store.insertDeviceLogin(db, {
    device_sha256: sha256(deviceCode),
    code_sha256: sha256(letters),
    ...{ machine, address, created_at: now },
    expires_at: new Date(now.getTime() + DEVICE_CODE_MS),
  });
  return {
    deviceCode,
    userCode: `${letters.slice(0, 4)}-${letters.slice(4)}`,
    verificationUrl: `${publicUrl}/dashboard/operators/test/device`,
    expiresInSeconds: DEVICE_CODE_MS / 1_000,
    intervalSeconds: DEVICE_POLL_SECONDS,
  };
}

/** Lets the command in as this person. Throws NOT_FOUND. */
async function approve(
  { db, clock, publicUrl }: UserDeps,
  session: Session,
  userCode: string,
  { cookie, clientAddress: from }: BrowserRequest,
): Promise<void> {
  const { device_sha256: device, machine, address } = await preview({ db, clock }, userCode);
  const { personId, email } = session.person;
  await db.transaction().execute(async (trx) => {
    // Since the request began, the session may have ended with a new password, and all approvals with it.
    if (!(await holdSession(trx, personId, tokenOf(cookie, publicUrl)))) throw unknownSession();
    // The command's session ends with the one that let it in, so that no chain of them outlives a password.
    const approval = { approved_by: personId, session_until: session.expiresAt };
    if (!(await store.approveDeviceLogin(trx, device, approval))) throw unknownCode();
    const detail = { machine, address, from };
    await writeAudit(trx, { actor: email, action: 'device-login.approve', subject: personId, detail });
  });
}

/** undefined: nobody has let it in yet. Throws NOT_FOUND; RATE_LIMIT_EXCEEDED where it is asked too often. */
async function redeem(deps: UserDeps, deviceCode: string): Promise<Opened | undefined> {
  const { db, clock } = deps;
  const deviceSha256 = sha256(deviceCode);
  const now = clock.now();
  const found = await store.findDeviceLogin(db, { deviceSha256 }, now);
  if (!found) throw unknownCode();
  if (found.polled_at !== null && now.getTime() - found.polled_at.getTime() < DEVICE_POLL_SECONDS * 1_000)
    throw new DomainError('RATE_LIMIT_EXCEEDED', `Ask once every ${DEVICE_POLL_SECONDS} seconds`, {
      retryAfterSeconds: DEVICE_POLL_SECONDS,
    });
  const { approved_by: personId, session_until: until, address, machine } = found;
  if (personId === null || until === null) {
    await store.notePoll(db, deviceSha256, now);
    return undefined;
  }
  const take = (trx: AccountsDb): Promise<boolean> => store.takeDeviceLogin(trx, deviceSha256);
  return openSession(deps, personId, { address, machine, until, take }).catch((error: unknown) => {
    throw error instanceof DomainError && error.code === 'UNAUTHORIZED' ? unknownCode() : error;
  });
}

/** Who asks with this code. Throws NOT_FOUND. */
async function preview({ db, clock }: Pick<UserDeps, 'db' | 'clock'>, userCode: string) {
  const letters = userCode.toUpperCase().replaceAll(/[^A-Z]/g, '');
  const found = await store.findDeviceLogin(db, { codeSha256: sha256(letters) }, clock.now());
  if (!found) throw unknownCode();
  return found;
}

const UNKNOWN = `This code is wrong, was used, or is older than ${DEVICE_CODE_MS / 60_000} minutes: ask for a new one`;
const unknownCode = (): DomainError => new DomainError('NOT_FOUND', UNKNOWN);

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
