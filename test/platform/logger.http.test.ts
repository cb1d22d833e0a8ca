// Promise A9 at the source: no key, secret or install code gets into the log, in any field or text.
import { expect, test } from 'vitest';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { startApi } from '../support/http/api.ts';
import { keyOf } from '../support/http/shop.ts';
import { forFile } from '../support/world/for-file.ts';

function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  write(createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } }));
  return lines.join('');
}

const MARK = 'FIXTURE-SECRET';

test.each([
  'apiKey',
  'api_key',
  'X-API-Key',
  'key',
  'rawKey',
  'secret',
  'secretKey',
  'webhookSecret',
  'authorization',
  'password',
  'token',
  'accessCode',
  'ac',
  'activationCode',
  'matchingId',
  'matching_id',
  'qrCodeUrl',
  'qr_code_url',
  'shortUrl',
  'pin',
  'PUK',
  'cookie',
  'Set-Cookie',
  'currentPassword',
  'newPassword',
  'oneTimePassword',
  'password_hash',
  'privateKey',
  'Proxy-Authorization',
  'RT-AccessCode',
  'RT-Signature',
  'idSecret',
  'secretKeys',
  'previousKeys',
  'previousSecretKey',
  'sessionToken',
  'signingSecret',
  'X-Paystack-Signature',
  'webhook-signature',
])('a field called %s is redacted at any depth', (name) => {
  const text = logged((logger) => {
    logger.info({ [name]: MARK }, 'flat');
    logger.warn({ a: { b: [{ [name]: MARK }] } }, 'deep');
    logger.error({ error: Object.assign(new Error('x', { cause: { [name]: MARK } }), {}) }, 'in a cause');
    logger.child({ [name]: MARK }).info({}, 'in a child');
    logger.child({ a: { [name]: MARK } }).info({}, 'deep in a child');
  });
  expect(text).not.toContain(MARK);
  expect(text.match(/\[redacted\]/g)?.length).toBe(5);
});

test.each([
  ['a test key', `got ${keyOf('test', 'someone')} here`],
  ['a live key', `got ${keyOf('live', 'someone')} here`],
  ['an activation code', 'LPA:1$rsp.example.com$SECRET-MATCHING'],
  [
    'an activation code in an address',
    'https://qr.example/?data=LPA%3A1%24rsp.example.com%24SECRET-MATCHING',
  ],
  ['a webhook secret', 'whsec_c2VjcmV0c2VjcmV0'],
  ["a person's token", `ops_${'someone-'.repeat(5)}abc`],
  ['a bearer token', 'authorization: Bearer someone.someone_someone'],
  ['a header with a password', 'authorization: Basic c2VjcmV0OmMyVmpjbVYw'],
  ['the hash of a password', 'scrypt$16384$8$1$someone$someone'],
  ['a password in a URL without a user', 'redis://:hunter2hunter2@127.0.0.1:6379'],
  ['a password in a URL', 'postgres://simway:hunter2hunter2@127.0.0.1:5432/x'],
])('%s inside any text is redacted', (_why, text) => {
  const line = logged((logger) => logger.info({ detail: text, error: new Error(text) }, text));
  for (const secret of ['someone', 'SECRET-MATCHING', 'c2VjcmV0', 'MyVmpj', 'hunter2'])
    expect(line).not.toContain(secret);
  expect(() => JSON.parse(line) as unknown).not.toThrow();
});

test.each([
  ['a path', 'GET /ops/sessions/current'],
  ['a name that only begins like a token', 'ops_addresses'],
  ['a word', 'a basic check of the bearer'],
])('%s is not redacted', (_why, text) => {
  expect(logged((logger) => logger.info({ detail: text }, text))).not.toContain('[redacted]');
});

test('the rest stays: levels, times, fields, errors with their causes', () => {
  const line = logged((logger) =>
    logger.error(
      { n: 1n, when: new Date(0), error: new TypeError('outer', { cause: new Error('inner') }) },
      'words',
    ),
  );
  expect(JSON.parse(line)).toMatchObject({
    level: 'error',
    n: '1',
    when: '1970-01-01T00:00:00.000Z',
    error: { type: 'TypeError', message: 'outer', cause: { message: 'inner' } },
    msg: 'words',
  });
  expect((JSON.parse(line) as { time: string }).time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('lines below the level are not written; circular objects are cut', () => {
  const loop: Record<string, unknown> = {};
  loop['self'] = loop;
  expect(logged((logger) => logger.info({ loop }, 'x'))).toContain('[deep]');
  const lines: string[] = [];
  createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } }).info({}, 'x');
  expect(lines).toEqual([]);
});

const api = await forFile(startApi());

test('what is sent over HTTP does not show in the log', async () => {
  const body = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };
  await api.ask('/api/esim/buy', { key: 'ngn', body, headers: { 'idempotency-key': 'my-idempotency-key' } });
  await api.ask('/api/esim/my-esims?search=private-words', { key: 'ngn' });
  await api.ask('/api/wallet/balance', { rawKey: keyOf('test', 'wrong') });
  await api.ask(`/api/esim/${keyOf('test', 'path')}`, { key: 'ngn' });
  await expect.poll(() => api.logLines.filter((line) => line.includes('"route"')).length).toBe(4);
  const text = api.logLines.join('');
  for (const secret of [
    keyOf('test', 'ngn'),
    keyOf('test', 'wrong'),
    'LPA:1',
    'MATCHING',
    'private-words',
    'qr.example.com',
    '"1234"',
  ]) {
    expect(text).not.toContain(secret);
  }
});
