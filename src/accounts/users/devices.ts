/**
 * Where a try to sign in comes from: a browser in which this user has signed in before, or a network address.
 * Wrong passwords are counted by it, so that nobody's guesses lock out the owner.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { BrowserRequest } from '../../domain/callers.ts';
import { addressBucket } from '../../platform/client-addresses.ts';
import { cookieLine, cookieNames, cookieValue, DEVICE_MS } from './sessions.ts';

interface Known {
  readonly id: string;
  /** Its hash: with another password no device is known any more. */
  readonly password: string | null | undefined;
}

const DEVICE = /^(\d{13})\.([\w-]{43})$/;

const sign = (secret: string, { id, password }: Known, until: string): Buffer =>
  createHmac('sha256', secret)
    .update(`simway device\n${until}\n${id}\n${password ?? ''}`)
    .digest();

/** For a browser in which the user has signed in; it holds no secret of theirs. */
export function deviceCookie(secret: string, user: Known, publicUrl: string, now: Date): string {
  const until = String(now.getTime() + DEVICE_MS);
  const value = `${until}.${sign(secret, user, until).toString('base64url')}`;
  return cookieLine({ name: cookieNames(publicUrl).device, value }, publicUrl);
}

export function isKnownDevice(
  secret: string,
  user: Known | undefined,
  { cookie }: Pick<BrowserRequest, 'cookie'>,
  { publicUrl, now }: { readonly publicUrl: string; readonly now: Date },
): boolean {
  const [, until = '', signature = ''] =
    DEVICE.exec(cookieValue(cookie, cookieNames(publicUrl).device) ?? '') ?? [];
  if (!user || Number(until) <= now.getTime()) return false;
  return timingSafeEqual(Buffer.from(signature, 'base64url'), sign(secret, user, until));
}

/** A known device has a count of its own, also behind an address that others share. */
export const placeOf = (isKnown: boolean, clientAddress: string): string =>
  isKnown ? `known device at ${addressBucket(clientAddress)}` : addressBucket(clientAddress);

/** For the audit log and the notice that is made of its entry. */
export const doneFrom = ({ clientAddress: address, device }: BrowserRequest) => ({ address, device });

/** The same of a sign-in; the person is told of one from a browser or program that is not known. */
export const openedFrom = (browser: BrowserRequest, isKnown: boolean) =>
  isKnown ? { address: browser.clientAddress } : { ...doneFrom(browser), newDevice: true };

/** Wrong passwords of somebody who has signed in. */
export const IN_A_SESSION = 'a session';
