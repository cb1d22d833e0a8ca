/** Limits of signing in, for operators too, and the cookies of users who have signed in. */

/** A working day. */
export const SESSION_MS = 12 * 3_600_000;
/** Limits what a stranger can do at a screen that was left open. */
export const SESSION_IDLE_MS = 30 * 60_000;
/** Ten guesses at a password of twelve characters are harmless, and owners rarely mistype ten times. */
export const MAX_FAILED_LOGINS = 10;
export const LOCK_MS = 15 * 60_000;
/** After the password, and code, were given; then what needs a person's word asks for them again. */
export const CONFIRMED_FOR_MS = 15 * 60_000;

export const NOT_CHANGED = 'The password is wrong, or too many were wrong: wait before you try again';
export const NOT_SIGNED_IN =
  'E-mail address or password is wrong, the address is not confirmed yet, or signing in is not possible for now';

/** Half a year: a browser that is used less often is met as a new one. */
export const DEVICE_MS = 180 * 24 * 3_600_000;
/** From the password to the code. */
export const SECOND_STEP_MS = 10 * 60_000;

/** Over https `__Host-` binds them to this host. */
export function cookieNames(publicUrl: string) {
  const prefix = isSecure(publicUrl) ? '__Host-' : '';
  return {
    session: `${prefix}simway_session`,
    secondStep: `${prefix}simway_second_factor`,
    device: `${prefix}simway_device`,
  };
}

/** Whether browsers reach us by https. */
export const isSecure = (publicUrl: string): boolean => publicUrl.startsWith('https:');

/** What better-auth writes: a token and its signature, percent-encoded. Nothing else reaches Postgres. */
const READABLE = /^(?:[\w.~!*'()-]|%[2-7][\dA-F])*$/i;

/** The value of the first cookie of this name, as the browser sent it; undefined if it cannot be ours. */
export function cookieValue(cookie: string | undefined, name: string): string | undefined {
  const value = sentValue(cookie, name);
  return value !== undefined && READABLE.test(value) ? value : undefined;
}

/** The token that a cookie holds before its signature; empty without such a cookie. */
export function cookieToken(cookie: string | undefined, name: string): string {
  const text = decodeURIComponent(cookieValue(cookie, name) ?? '');
  return text.slice(0, Math.max(0, text.lastIndexOf('.')));
}

function sentValue(cookie: string | undefined, name: string): string | undefined {
  const parts = (cookie ?? '').split(';').map((part) => part.trim());
  return parts.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Whether the request has one of our cookies. */
export function hasCookie(cookie: string | undefined, publicUrl: string): boolean {
  return Object.values(cookieNames(publicUrl)).some((name) => (sentValue(cookie, name) ?? '') !== '');
}

/** No script can read it, and no other site can have it sent. An empty value removes the cookie. */
export function cookieLine(
  { name, value }: { readonly name: string; readonly value: string },
  publicUrl: string,
): string {
  const { session, device } = cookieNames(publicUrl);
  const lives = { [session]: SESSION_MS, [device]: DEVICE_MS };
  const lifeMs = value === '' ? 0 : (lives[name] ?? SECOND_STEP_MS);
  const attributes = ['Path=/', `Max-Age=${lifeMs / 1_000}`, 'HttpOnly', 'SameSite=Strict'];
  return [`${name}=${value}`, ...attributes, ...(isSecure(publicUrl) ? ['Secure'] : [])].join('; ');
}
