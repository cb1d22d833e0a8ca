/**
 * Who is calling: the secret key as a bearer token. Guarantee: comparison takes the same time for any key. Must not log or echo keys.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { GatewayError } from './errors.ts';

function refused(message: string, code: string): GatewayError {
  const nextStep = 'Provide the secret key of this integration as Authorization: Bearer SECRET_KEY';
  return new GatewayError(message, { code, status: 401, nextStep });
}

function sameKey(given: string, wanted: string): boolean {
  const [left, right] = [given, wanted].map((key) => createHash('sha256').update(key).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}

/** Checks the Authorization header; throws the documented 401. */
export function authenticate(header: string | undefined, secretKey: string): void {
  if (header === undefined || header === '') {
    throw refused('No Authorization Header was found', 'missing_key');
  }
  const key = /^Bearer +(\S+)$/.exec(header)?.[1];
  if (key === undefined) {
    throw refused('Format is Authorization: Bearer [secret key]', 'invalid_Key');
  }
  if (!sameKey(key, secretKey)) throw refused('Invalid key', 'invalid_Key');
}
