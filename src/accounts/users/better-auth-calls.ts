/** What every call to better-auth needs: its headers and cookies, and the count of wrong passwords. */
import type { UserSession, BrowserRequest } from '../../domain/callers.ts';
import type { Environment } from '../../domain/account.ts';
import type { Clock } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { Events } from '../../platform/telemetry/events.ts';
import { writeAudit } from '../store/audit.ts';
import {
  countFailure,
  deleteLinks,
  endSessions,
  findPasswordHash,
  findSignIn,
  forgetFailures,
  isLockedThere,
} from '../store/users.ts';
import { IN_A_SESSION } from './devices.ts';
import { ADDRESS_HEADER, DEVICE_HEADER, type Auth } from './better-auth.ts';
import type { MailStops } from '../mail-stops.ts';
import type { SandboxMail, UserMail } from './mails.ts';
import {
  cookieLine,
  cookieNames,
  cookieToken,
  cookieValue,
  LOCK_MS,
  MAX_FAILED_LOGINS,
  NOT_CHANGED,
  NOT_SIGNED_IN,
} from './sessions.ts';

export interface UserDeps {
  readonly db: AccountsDb;
  readonly clock: Clock;
  readonly auth: Auth;
  readonly publicUrl: string;
  readonly environments: readonly Environment[];
  readonly events: Pick<Events, 'personLockedOut' | 'signInRefused' | 'mailsStopped'>;
  readonly mailStops: Pick<MailStops, 'read'>;
  /** Sends it without waiting; returns it where nothing could be delivered and no money moves. */
  readonly sendMail: (mail: UserMail, requestId: string) => SandboxMail | undefined;
  /** The same for a mail that is made first, while the answer is on its way. */
  readonly sendMailLater: (
    kind: UserMail['kind'],
    make: () => Promise<UserMail | undefined>,
    requestId: string,
  ) => Promise<SandboxMail | undefined>;
}

/** Runs the same statements whether the user exists or not. */
export async function recordFailure(
  { db, clock, events }: UserDeps,
  {
    email,
    userId,
    address,
    place,
  }: { email: string; userId: string | undefined; address: string; place: string },
): Promise<void> {
  const limits = { mostFailures: MAX_FAILED_LOGINS, lockMs: LOCK_MS };
  const lockedOut = await db.transaction().execute(async (trx) => {
    const locked = await countFailure(trx, { email, place }, limits, clock.now());
    // An unknown address is not recorded: it may be a password, typed into the wrong field.
    await writeAudit(trx, {
      actor: userId === undefined ? 'unknown' : email,
      action: 'session.refuse',
      subject: userId ?? 'unknown',
      detail: { address, lockedOut: locked !== undefined },
    });
    return locked;
  });
  events.signInRefused('wrong-password');
  if (lockedOut !== undefined) events.personLockedOut({ personId: lockedOut, address });
}

/** Throws UNAUTHORIZED, which counts like a failed sign-in. Returns the hash that the password fits. */
export async function requirePassword(
  deps: UserDeps,
  { email }: { readonly email: string },
  { password }: { readonly password: string },
  { clientAddress: address }: BrowserRequest,
): Promise<string> {
  const { verify } = (await deps.auth.$context).password;
  const found = await findSignIn(deps.db, email);
  const isLocked = await isLockedThere(deps.db, found?.id ?? '', IN_A_SESSION, deps.clock.now());
  const hash = isLocked ? undefined : found?.password;
  if (found && hash != null && (await verify({ hash, password }))) {
    await forgetFailures(deps.db, found.id, IN_A_SESSION);
    return hash;
  }
  await recordFailure(deps, { email, userId: found?.id, address, place: IN_A_SESSION });
  throw new DomainError('UNAUTHORIZED', NOT_CHANGED);
}

/** Voids a sign-in, with UNAUTHORIZED, where another password than that of the hash was set meanwhile. */
export async function refuseChanged({ db }: UserDeps, userId: string, hash?: string | null): Promise<void> {
  if (hash === (await findPasswordHash(db, userId))) return;
  await endSessions(db, userId);
  await deleteLinks(db, userId);
  throw new DomainError('UNAUTHORIZED', NOT_SIGNED_IN);
}

export function refuseOneTime({ operator }: UserSession): void {
  if (operator?.mustChangePassword) throw new DomainError('FORBIDDEN', 'Choose a password of your own first');
}

/** What a session is for, as better-auth stores it with each. */
export const purposeOf = ({ isProgram }: Pick<BrowserRequest, 'isProgram'>): 'program' | 'dashboard' =>
  isProgram ? 'program' : 'dashboard';

/** The only headers of a request that better-auth gets. */
export function headersOf({ cookie, device, ...request }: Omit<BrowserRequest, 'isForOperators'>): Headers {
  const fixed = {
    [ADDRESS_HEADER]: request.clientAddress,
    'user-agent': purposeOf(request),
    ...(device === undefined ? {} : { [DEVICE_HEADER]: device }),
  };
  return new Headers(cookie === undefined ? fixed : { ...fixed, cookie });
}

/** The session alone: of two cookies with one name, better-auth might take the other. */
export const sessionHeaders = (browser: BrowserRequest, publicUrl: string): Headers =>
  headersOf({ ...browser, cookie: only(browser.cookie, cookieNames(publicUrl).session) });

/** The token that a cookie of the session holds before its signature. */
export const tokenOf = (cookie: string | undefined, publicUrl: string): string =>
  cookieToken(cookie, cookieNames(publicUrl).session);

export function only(cookie: string | undefined, name: string): string | undefined {
  const value = cookieValue(cookie, name);
  return value === undefined ? undefined : `${name}=${value}`;
}

/** The cookies that better-auth sets, with attributes of ours. */
export function cookiesFrom(headers: Headers, publicUrl: string): string[] {
  const ours = Object.values(cookieNames(publicUrl));
  const latest = new Map<string, string>();
  for (const line of headers.getSetCookie()) {
    const [name = '', ...rest] = (line.split(';', 1)[0] ?? '').split('=');
    if (ours.includes(name)) latest.set(name, rest.join('='));
  }
  return Array.from(latest, ([name, value]) => cookieLine({ name, value }, publicUrl));
}

export function refuseField(field: string, what: string): never {
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: `${field}: ${what}` });
}
