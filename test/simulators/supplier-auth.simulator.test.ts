/**
 * Authentication at the supplier simulator: the vendor's test vector, and wrong signatures as public client
 * code makes them.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authenticate } from '../../packages/simulators/esim-access/auth.ts';
import { ACCESS_CODE, startSimulator, stopAll, type TestSimulator } from './supplier-simulator.support.ts';

const VECTOR = {
  timestamp: '1628670421',
  requestId: '4ce9d9cdac9e4e17b3a2c66c358c1ce2',
  accessCode: '11111',
  body: '{"imsi":"326543826"}',
  key: '1111',
  signature: '7EB765E27DF5373DEA2DBC8C41A7D9557743E46C8054750F3D851B3FD01D0835',
};
const KEY = 'contract-signing-key';
let signed: TestSimulator;

beforeAll(async () => {
  signed = await startSimulator({ secretKey: KEY, now: Date.now });
});
afterAll(stopAll);

interface Parts {
  timestamp: string;
  requestId: string;
  accessCode: string;
  body: string;
}

function headersFor(parts: Parts, signature: string): Record<string, string> {
  return {
    'RT-AccessCode': parts.accessCode,
    'RT-Timestamp': parts.timestamp,
    'RT-RequestID': parts.requestId,
    'RT-Signature': signature,
  };
}

function freshParts(body: string): Parts {
  return { timestamp: String(Date.now()), requestId: randomUUID(), accessCode: ACCESS_CODE, body };
}

const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex');
const signatureOf = (key: string, { timestamp, requestId, accessCode, body }: Parts) =>
  hmac(key, timestamp + requestId + accessCode + body);

async function codeFor(parts: Parts, signature: string, simulator = signed): Promise<string | null> {
  const options = { headers: headersFor(parts, signature), rawBody: parts.body };
  return (await simulator.call('balance/query', undefined, options)).errorCode;
}

describe('the supplier simulator, the vendor’s test vector', () => {
  it('is accepted at its own time in upper and lower case, and refused with another byte or another time', () => {
    const { key, signature, body, ...parts } = VECTOR;
    const auth = { accessCode: '11111', secretKey: key, acceptEitherKey: false, requireSignature: true };
    const atMs = Number(parts.timestamp) * 1000;
    const lowered = (each: string) =>
      Object.fromEntries(
        Object.entries(headersFor({ ...parts, body }, each)).map(([name, value]) => [
          name.toLowerCase(),
          value,
        ]),
      );
    const check = (each: string, text: string, nowMs: number) => () =>
      authenticate(auth, lowered(each), Buffer.from(text), nowMs);
    expect(check(signature, body, atMs)).not.toThrow();
    expect(check(signature.toLowerCase(), body, atMs + 299_000)).not.toThrow();
    expect(check(signature, `${body} `, atMs)).toThrow(expect.objectContaining({ code: '101003' }));
    expect(check(signature, body, atMs + 301_000)).toThrow(expect.objectContaining({ code: '101001' }));
    expect(check(signature, body, atMs - 301_000)).toThrow(expect.objectContaining({ code: '101001' }));
  });
});

describe('the supplier simulator, signed requests', () => {
  it('accepts a right signature, with a time in milliseconds or seconds and an id with or without dashes', async () => {
    for (const body of ['', '{}', '{"a":"é 😀"}']) {
      const parts = freshParts(body);
      expect(await codeFor(parts, signatureOf(KEY, parts))).toBe('0');
      const seconds = { ...parts, timestamp: String(Math.floor(Date.now() / 1000)) };
      expect(await codeFor(seconds, signatureOf(KEY, seconds).toUpperCase())).toBe('0');
      const dashless = { ...parts, requestId: parts.requestId.replaceAll('-', '') };
      expect(await codeFor(dashless, signatureOf(KEY, dashless))).toBe('0');
    }
  });

  it.each([
    ['access code and timestamp only', (p: Parts) => hmac(KEY, p.accessCode + p.timestamp)],
    ['no body', (p: Parts) => hmac(KEY, p.timestamp + p.requestId + p.accessCode)],
    ['access code first', (p: Parts) => hmac(KEY, p.accessCode + p.timestamp + p.requestId)],
    ['separators', (p: Parts) => hmac(KEY, [p.timestamp, p.requestId, p.accessCode, p.body].join('&'))],
    ['the access code as key', (p: Parts) => signatureOf(ACCESS_CODE, p)],
    ['base64 in place of hex', (p: Parts) => Buffer.from(signatureOf(KEY, p), 'hex').toString('base64')],
    ['a plain hash', (p: Parts) => hmac('', p.timestamp + p.requestId + p.accessCode + p.body)],
    ['another body', (p: Parts) => signatureOf(KEY, { ...p, body: '{"x":1}' })],
    ['a shortened digest', (p: Parts) => signatureOf(KEY, p).slice(0, 40)],
  ])('refuses a signature made with %s: 101003', async (_name, recipe) => {
    const parts = freshParts('{"b":2}');
    expect(await codeFor(parts, recipe(parts))).toBe('101003');
  });

  it('refuses a time that is off by more than five minutes: 101001', async () => {
    for (const offMs of [-301_000, 301_000]) {
      const parts = { ...freshParts('{}'), timestamp: String(Date.now() + offMs) };
      expect(await codeFor(parts, signatureOf(KEY, parts))).toBe('101001');
    }
  });

  it('refuses malformed headers: 000102', async () => {
    const parts = freshParts('{}');
    const uuidV1 = '7c9e6679-7425-10de-944b-e07fc1f90ae7';
    for (const wrong of [
      { timestamp: 'yesterday' },
      { timestamp: '12345' },
      { requestId: 'r1' },
      { requestId: uuidV1 },
    ]) {
      const changed = { ...parts, ...wrong };
      expect(await codeFor(changed, signatureOf(KEY, changed))).toBe('000102');
    }
    expect((await signed.call('balance/query', {}, { headers: { 'RT-AccessCode': 'a b' } })).errorCode).toBe(
      '000102',
    );
  });

  it.each(['RT-Timestamp', 'RT-RequestID', 'RT-Signature'])(
    'refuses a request without %s: 000101',
    async (name) => {
      const parts = freshParts('{}');
      const all = Object.entries(headersFor(parts, signatureOf(KEY, parts)));
      const headers = Object.fromEntries(all.filter(([each]) => each !== name));
      expect((await signed.call('balance/query', undefined, { headers, rawBody: '{}' })).errorCode).toBe(
        '000101',
      );
    },
  );
});

describe('the supplier simulator, unsigned requests', () => {
  it('accepts the access code alone', async () => {
    expect((await signed.call('balance/query')).errorCode).toBe('0');
  });

  it.each([
    ['no header', {}, '000101'],
    ['an empty access code', { 'RT-AccessCode': '' }, '000101'],
    ['a Bearer token', { authorization: `Bearer ${ACCESS_CODE}` }, '000101'],
    ['a header called RT-AccessKey', { 'RT-AccessKey': ACCESS_CODE }, '000101'],
    ['another access code', { 'RT-AccessCode': `${ACCESS_CODE}x` }, '101003'],
  ])('refuses a request with %s', async (_name, headers, code) => {
    const reply = await signed.call('balance/query', {}, { headers });
    expect(reply).toMatchObject({ status: 200, success: false, errorCode: code, obj: null });
  });
});

describe('the supplier simulator, the access code as key', () => {
  it('is the key without a secret, and a second key beside a secret if acceptEitherKey is set', async () => {
    const keyless = await startSimulator({ requireSignature: true, now: Date.now });
    const parts = freshParts('{}');
    expect(await codeFor(parts, signatureOf(ACCESS_CODE, parts), keyless)).toBe('0');
    expect((await keyless.call('balance/query')).errorCode).toBe('000101');
    const either = await startSimulator({ secretKey: KEY, acceptEitherKey: true, now: Date.now });
    expect(await codeFor(parts, signatureOf(ACCESS_CODE, parts), either)).toBe('0');
    expect(await codeFor(parts, signatureOf(KEY, parts), either)).toBe('0');
    expect(await codeFor(parts, signatureOf('other', parts), either)).toBe('101003');
  });
});
