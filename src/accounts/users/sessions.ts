/** The user who has signed in, as routes see them, and the session cookies. */
import type { Account } from '../../domain/account.ts';
import type { MemberRole } from '../member-roles.ts';
import { SESSION_MS, type Session } from '../operators/sessions.ts';

/** What a user's browser sends with each request. */
export interface BrowserRequest {
  readonly cookie: string | undefined;
  readonly clientAddress: string;
  /** Operators may sign in from this address. From others they get the answer for an unknown user. */
  readonly isForOperators: boolean;
}

export interface UserSession {
  readonly user: {
    readonly userId: string;
    readonly email: string;
    readonly name: string;
    readonly hasSecondFactor: boolean;
  };
  /** It ends sooner after 30 minutes without a request. */
  readonly expiresAt: Date;
  /** Of an operator: what `/ops` knows of them. */
  readonly operator: Session | undefined;
}

/** A user in one account. */
export interface Member {
  readonly userId: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly account: Account;
}

/** From the password to the code. */
export const SECOND_STEP_MS = 10 * 60_000;

/** Names of our cookies. Over https `__Host-` binds them to this host. */
export function cookieNames(publicUrl: string) {
  const prefix = isSecure(publicUrl) ? '__Host-' : '';
  return { session: `${prefix}simway_session`, secondStep: `${prefix}simway_second_factor` };
}

/** Whether browsers reach us by https. */
export const isSecure = (publicUrl: string): boolean => publicUrl.startsWith('https:');

/** The value of one cookie, as the browser sent it. */
export function cookieValue(cookie: string | undefined, name: string): string | undefined {
  for (const part of (cookie ?? '').split(';')) {
    const [found = '', ...rest] = part.trim().split('=');
    if (found === name) return rest.join('=');
  }
  return undefined;
}

/** Whether the request has one of our cookies. */
export function hasCookie(cookie: string | undefined, publicUrl: string): boolean {
  return Object.values(cookieNames(publicUrl)).some((name) => (cookieValue(cookie, name) ?? '') !== '');
}

/** Set-Cookie: no script can read it, and no other site can have it sent. An empty value removes the cookie. */
export function cookieLine(
  { name, value }: { readonly name: string; readonly value: string },
  publicUrl: string,
): string {
  const isSession = name === cookieNames(publicUrl).session;
  const lifeMs = value === '' ? 0 : isSession ? SESSION_MS : SECOND_STEP_MS;
  const attributes = ['Path=/', `Max-Age=${lifeMs / 1_000}`, 'HttpOnly', 'SameSite=Strict'];
  return [`${name}=${value}`, ...attributes, ...(isSecure(publicUrl) ? ['Secure'] : [])].join('; ');
}
