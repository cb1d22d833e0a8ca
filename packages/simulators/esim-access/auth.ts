/** Who is calling: the access code alone, or with a signature. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { hmacHex } from '../kit/events.ts';
import { SupplierError } from './errors.ts';

export interface AuthOptions {
  accessCode: string;
  /** Key of signed requests; null or absent: the access code. */
  secretKey?: string | null;
  /** With a secret set, take the access code as key too. */
  acceptEitherKey?: boolean;
  requireSignature?: boolean;
}

/** How far RT-Timestamp may be off. */
const TIMESTAMP_SKEW_MS = 300_000;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** RT-Timestamp in milliseconds; the vendor's worked example has seconds. */
function timestampMs(timestamp: string): number {
  if (!/^(\d{10}|\d{13})$/.test(timestamp)) throw new SupplierError('000102', 'RT-Timestamp is not a time');
  return timestamp.length === 10 ? Number(timestamp) * 1000 : Number(timestamp);
}

/**
 * Checks the RT-* headers of a call. Throws 000101 (header missing), 000102 (format), 101001 (timestamp off
 * by more than five minutes) or 101003 (wrong access code or signature). The vendor's recipe of a signature:
 * hex(HMAC-SHA256(key, timestamp + requestId + accessCode + rawBody)), lower case.
 */
export function authenticate(
  options: AuthOptions,
  headers: IncomingHttpHeaders,
  body: Buffer,
  nowMs: number,
): void {
  const header = (name: string) => [headers[name.toLowerCase()]].flat()[0] || undefined;
  const accessCode = header('RT-AccessCode');
  if (accessCode === undefined) throw new SupplierError('000101', 'RT-AccessCode is missing');
  if (!/^[\w-]{1,128}$/.test(accessCode))
    throw new SupplierError('000102', 'RT-AccessCode has a wrong format');
  if (!sameText(accessCode, options.accessCode))
    throw new SupplierError('101003', 'access code is not known');
  const names = ['RT-Timestamp', 'RT-RequestID', 'RT-Signature'];
  const given = names.map(header);
  if (options.requireSignature !== true && given.every((value) => value === undefined)) return;
  const [timestamp = '', requestId = '', signature = ''] = given.map((value, index) => {
    if (value === undefined) throw new SupplierError('000101', `${names[index]} is missing`);
    return value;
  });
  const sentAtMs = timestampMs(timestamp);
  if (!UUID.test(requestId)) throw new SupplierError('000102', 'RT-RequestID is not a UUID v4');
  if (Math.abs(nowMs - sentAtMs) > TIMESTAMP_SKEW_MS) throw new SupplierError('101001');
  const keys = [options.secretKey ?? accessCode];
  if (options.acceptEitherKey === true) keys.push(accessCode);
  const signatures = keys.map((key) => hmacHex('sha256', key, timestamp, requestId, accessCode, body));
  if (!signatures.some((expected) => sameText(expected, signature.toLowerCase()))) {
    throw new SupplierError('101003');
  }
}
