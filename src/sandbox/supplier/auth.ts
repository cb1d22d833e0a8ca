/** Who is calling: the access code alone, or with a signature. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SupplierError } from './errors.ts';

export interface AuthOptions {
  accessCode: string;
  /** The signing key; the access code when null. */
  secretKey: string | null;
  /** Also accept the access code as key while a secret is set. */
  acceptEitherKey: boolean;
  requireSignature: boolean;
}

/** How far RT-Timestamp may be off. */
const TIMESTAMP_SKEW_MS = 300_000;

/** The vendor's recipe: hex(HMAC-SHA256(key, timestamp + requestId + accessCode + rawBody)), lower case. */
export function signatureOf(
  key: string,
  parts: { timestamp: string; requestId: string; accessCode: string; body: string | Buffer },
): string {
  return createHmac('sha256', key)
    .update(parts.timestamp + parts.requestId + parts.accessCode)
    .update(parts.body)
    .digest('hex');
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  const text = Array.isArray(value) ? value[0] : value;
  return text === undefined || text === '' ? undefined : text;
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** RT-Timestamp in milliseconds; the vendor's worked example has seconds. */
function timestampMs(timestamp: string): number {
  if (!/^(\d{10}|\d{13})$/.test(timestamp)) throw new SupplierError('000102', 'RT-Timestamp is not a time');
  return timestamp.length === 10 ? Number(timestamp) * 1000 : Number(timestamp);
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;

/**
 * Checks the RT-* headers of a call. Throws 000101 (header missing), 000102 (format), 101001 (timestamp off by more than five
 * minutes) or 101003 (wrong access code or signature).
 */
export function authenticate(
  options: AuthOptions,
  headers: IncomingHttpHeaders,
  body: Buffer,
  nowMs: number,
): void {
  const accessCode = header(headers, 'RT-AccessCode');
  if (accessCode === undefined) throw new SupplierError('000101', 'RT-AccessCode is missing');
  if (!/^[\w-]{1,128}$/.test(accessCode))
    throw new SupplierError('000102', 'RT-AccessCode has a wrong format');
  if (!sameText(accessCode, options.accessCode))
    throw new SupplierError('101003', 'access code is not known');
  const names = ['RT-Timestamp', 'RT-RequestID', 'RT-Signature'];
  const given = names.map((name) => header(headers, name));
  if (!options.requireSignature && given.every((value) => value === undefined)) return;
  const [timestamp = '', requestId = '', signature = ''] = given.map((value, index) => {
    if (value === undefined) throw new SupplierError('000101', `${names[index]} is missing`);
    return value;
  });
  const sentAtMs = timestampMs(timestamp);
  if (!UUID.test(requestId)) throw new SupplierError('000102', 'RT-RequestID is not a UUID v4');
  if (Math.abs(nowMs - sentAtMs) > TIMESTAMP_SKEW_MS) throw new SupplierError('101001');
  const keys = options.secretKey === null ? [accessCode] : [options.secretKey];
  if (options.acceptEitherKey && options.secretKey !== null) keys.push(accessCode);
  const parts = { timestamp, requestId, accessCode, body };
  if (!keys.some((key) => sameText(signatureOf(key, parts), signature.toLowerCase()))) {
    throw new SupplierError('101003');
  }
}
