/** The vendor's test vector, and wrong signatures. Right ones of our client are in test/vendors/. */
import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { authenticate } from '../../packages/simulators/esim-access/api-server.ts';
import { ACCESS_CODE, sharedSimulator, startSimulator } from './supplier-simulator.support.ts';

const KEY = 'contract-signing-key';
const signed = sharedSimulator({ secretKey: KEY, now: Date.now });

interface Parts {
  timestamp: string;
  requestId: string;
  accessCode: string;
  body: string;
}
const headersFor = ({ accessCode, timestamp, requestId }: Parts, signature: string) => ({
  'RT-AccessCode': accessCode,
  'RT-Timestamp': timestamp,
  'RT-RequestID': requestId,
  'RT-Signature': signature,
});
const freshParts = (body = '{}'): Parts => ({
  timestamp: String(Date.now()),
  requestId: randomUUID(),
  accessCode: ACCESS_CODE,
  body,
});
const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex');
const signatureOf = (key: string, { timestamp, requestId, accessCode, body }: Parts) =>
  hmac(key, timestamp + requestId + accessCode + body);
async function codeFor(parts: Parts, signature = signatureOf(KEY, parts), simulator = signed) {
  const options = { headers: headersFor(parts, signature), rawBody: parts.body };
  return (await simulator.call('balance/query', undefined, options)).errorCode;
}

describe('the supplier simulator, signed requests', () => {
  const vector = {
    timestamp: '1628670421',
    requestId: '4ce9d9cdac9e4e17b3a2c66c358c1ce2',
    accessCode: '11111',
    body: '{"imsi":"326543826"}',
  };
  const signature = '7EB765E27DF5373DEA2DBC8C41A7D9557743E46C8054750F3D851B3FD01D0835';

  it.each([
    ['at its own time', signature, vector.body, 0, undefined],
    ['in lower case, almost five minutes later', signature.toLowerCase(), vector.body, 299_000, undefined],
    ['with another byte', signature, `${vector.body} `, 0, '101003'],
    ['more than five minutes late', signature, vector.body, 301_000, '101001'],
    ['more than five minutes early', signature, vector.body, -301_000, '101001'],
  ])('the vendor’s test vector %s', (_name, given, body, offMs, code) => {
    const auth = { accessCode: '11111', secretKey: '1111', acceptEitherKey: false, requireSignature: true };
    const headers = Object.fromEntries(
      Object.entries(headersFor(vector, given)).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const check = () =>
      authenticate(auth, headers, Buffer.from(body), Number(vector.timestamp) * 1000 + offMs);
    if (code === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code }));
  });

  it('are accepted with a time in milliseconds or seconds and an id with or without dashes', async () => {
    for (const body of ['', '{}', '{"a":"é 😀"}']) {
      const parts = freshParts(body);
      expect(await codeFor(parts)).toBe('0');
      expect(await codeFor({ ...parts, timestamp: String(Math.floor(Date.now() / 1000)) })).toBe('0');
      expect(await codeFor({ ...parts, requestId: parts.requestId.replaceAll('-', '') })).toBe('0');
    }
  });

  it.each([
    ['no body', (p: Parts) => hmac(KEY, p.timestamp + p.requestId + p.accessCode)],
    ['access code first', (p: Parts) => hmac(KEY, p.accessCode + p.timestamp + p.requestId)],
    ['the access code as key', (p: Parts) => signatureOf(ACCESS_CODE, p)],
    ['base64 in place of hex', (p: Parts) => Buffer.from(signatureOf(KEY, p), 'hex').toString('base64')],
    ['another body', (p: Parts) => signatureOf(KEY, { ...p, body: '{"x":1}' })],
    ['a shortened digest', (p: Parts) => signatureOf(KEY, p).slice(0, 40)],
  ])('are refused with a signature made with %s: 101003', async (_name, recipe) => {
    const parts = freshParts('{"b":2}');
    expect(await codeFor(parts, recipe(parts))).toBe('101003');
  });

  it.each([
    [{ timestamp: 'yesterday' }, '000102'],
    [{ timestamp: '12345' }, '000102'],
    [{ requestId: 'r1' }, '000102'],
    [{ requestId: '7c9e6679-7425-10de-944b-e07fc1f90ae7' }, '000102'],
    [{ accessCode: 'a b' }, '000102'],
    [{ timestamp: String(Date.now() - 7_200_000) }, '101001'],
  ])('are refused with %j: %s', async (wrong, code) => {
    expect(await codeFor({ ...freshParts(), ...wrong })).toBe(code);
  });

  it.each(['RT-Timestamp', 'RT-RequestID', 'RT-Signature'])(
    'are refused without %s: 000101',
    async (name) => {
      const parts = freshParts();
      const all = Object.entries(headersFor(parts, signatureOf(KEY, parts)));
      const headers = Object.fromEntries(all.filter(([each]) => each !== name));
      const reply = await signed.call('balance/query', undefined, { headers, rawBody: parts.body });
      expect(reply.errorCode).toBe('000101');
    },
  );
});

describe('the supplier simulator, unsigned requests', () => {
  it.each([
    ['the access code alone', { 'RT-AccessCode': ACCESS_CODE }, '0'],
    ['no header', {}, '000101'],
    ['a Bearer token', { authorization: `Bearer ${ACCESS_CODE}` }, '000101'],
    ['another access code', { 'RT-AccessCode': `${ACCESS_CODE}x` }, '101003'],
  ])('with %s are answered with %3$s', async (_name, headers: Record<string, string>, errorCode) => {
    const reply = await signed.call('balance/query', {}, { headers });
    expect(reply).toMatchObject({ status: 200, success: errorCode === '0', errorCode });
  });
});

describe('the supplier simulator, the access code as key', () => {
  it('is the key without a secret, and a second key beside a secret if acceptEitherKey is set', async () => {
    const keyless = await startSimulator({ requireSignature: true, now: Date.now });
    const parts = freshParts();
    expect(await codeFor(parts, signatureOf(ACCESS_CODE, parts), keyless)).toBe('0');
    expect((await keyless.call('balance/query')).errorCode).toBe('000101');
    const either = await startSimulator({ secretKey: KEY, acceptEitherKey: true, now: Date.now });
    for (const [key, code] of [
      [ACCESS_CODE, '0'],
      [KEY, '0'],
      ['other', '101003'],
    ] as const)
      expect(await codeFor(parts, signatureOf(key, parts), either)).toBe(code);
  });
});
