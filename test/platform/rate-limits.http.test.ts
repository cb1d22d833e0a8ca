// Counting requests: the bucket of each request, and the headers on every counted answer (promise A8, one
// process).
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startApi, RESET_AT_MS, type Ask, type TestApi, type Reply } from '../support/http/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi({ live: true, settings: { publicRequestsPerMinute: 3, failedAuthPerMinute: 2 } });
});
afterEach(() => api.close());

const NO_ESIM = '/api/esim/esim-ffffffffffffffffffffffffffffffff';

function limitsOf(reply: Reply): (string | undefined)[] {
  return ['limit', 'remaining', 'reset'].map((name) => {
    const value = reply.headers[`x-ratelimit-${name}`];
    return typeof value === 'string' ? value : undefined;
  });
}

const RESET = String(RESET_AT_MS / 1000);

describe('rate limit headers', () => {
  const COUNTED: readonly (readonly [string, Ask, number])[] = [
    ['/api/esim/regions', { key: 'slow' }, 200],
    ['/api/wallet/balance', { key: 'slow' }, 200],
    ['/api/esim/packages', { key: 'slow' }, 400],
    ['/api/esim/buy', { key: 'slow', rawBody: '{' }, 400],
    ['/api/esim/buy', { key: 'slow', rawBody: 'x'.repeat(70_000) }, 413],
    ['/api/esim/buy', { key: 'slow', rawBody: '{}', headers: { 'content-type': 'text/plain' } }, 415],
    [NO_ESIM, { key: 'slow' }, 404],
    ['/nope', { key: 'slow' }, 404],
    ['/api/esim/buy', { key: 'slow' }, 405],
    ['/api/esim/buy', { key: 'slow', method: 'OPTIONS' }, 204],
  ];
  test.each(COUNTED.map((one, index) => [index, ...one] as const))(
    'are on a counted answer (%i: %s)',
    async (_index, target, ask, status) => {
      const reply = await api.ask(target, ask);
      expect(reply.status).toBe(status);
      expect(limitsOf(reply)).toEqual(['5', '4', RESET]);
    },
  );

  test.each([
    ['/api/settings/exchange-rate', 200],
    ['/api/esim/packages/NG-5GB-30D', 200],
    ['/api/openapi.json', 200],
    ['/', 200],
    ['/docs/reference', 200],
    ['/pay/return', 404],
    ['/pay/status?reference=x', 404],
    ['/i/x', 404],
    ['/i/copy.js', 200],
    ['/nope', 404],
  ] as const)('are on public answers: %s', async (target, status) => {
    const reply = await api.ask(target);
    expect([reply.status, ...limitsOf(reply)]).toEqual([status, '3', '2', RESET]);
  });

  test.each([
    ['/api/esim/regions', {}, 401],
    ['/api/esim/regions', { rawKey: 'junk' }, 401],
    ['/api/settings/exchange-rate', { rawKey: 'junk' }, 401],
    ['/nope', { rawKey: 'junk' }, 401],
    ['/api/esim/regions', { key: 'elsewhere' }, 403],
  ] as const)('are on failed authentications: %s %o', async (target, ask, status) => {
    const reply = await api.ask(target, ask);
    expect([reply.status, ...limitsOf(reply)]).toEqual([status, '2', '1', RESET]);
  });
});

async function statuses(times: number, target: string, ask: Ask): Promise<number[]> {
  const found: number[] = [];
  for (let round = 0; round < times; round += 1) found.push((await api.ask(target, ask)).status);
  return found;
}

test('past the limit a request gets 429 in the general shape with Retry-After, before any use case', async () => {
  expect(await statuses(5, '/api/wallet/balance', { key: 'slow' })).toEqual([200, 200, 200, 200, 200]);
  api.shop.calls.length = 0;
  const reply = await api.ask('/api/esim/packages?type=TOPUP', { key: 'slow' });
  expect(reply.status).toBe(429);
  expect(reply.json).toEqual({
    success: false,
    error: { code: 'RATE_LIMIT_EXCEEDED', message: 'At most 5 requests a minute are allowed' },
    statusCode: 429,
  });
  expect(limitsOf(reply)).toEqual(['5', '0', RESET]);
  expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(api.shop.calls).toEqual([]);
});

test('one account has one bucket in each environment, whatever the path or address, and one for keys that only read', async () => {
  await api.ask('/api/wallet/balance', { key: 'ngn', from: '127.0.0.2' });
  await api.ask('/nope', { key: 'readonly' });
  await api.ask('/api/wallet/balance', { key: 'live/ngn' });
  const account = api.shop.accountId();
  expect(Object.fromEntries(api.limiter.counts)).toEqual({
    [`account:test:${account}`]: 1,
    [`account:test:${account}:read`]: 1,
    [`account:live:${account}`]: 1,
  });
});

test('without a key each address has its own bucket, and a key does not use it', async () => {
  expect(await statuses(4, '/api/settings/exchange-rate', {})).toEqual([200, 200, 200, 429]);
  expect(await statuses(1, '/api/settings/exchange-rate', { from: '127.0.0.2' })).toEqual([200]);
  expect(await statuses(1, '/api/settings/exchange-rate', { key: 'ngn' })).toEqual([200]);
});

test('failed authentications are limited by address, and a good key from there still works', async () => {
  expect(await statuses(3, '/api/esim/regions', { rawKey: 'junk' })).toEqual([401, 401, 429]);
  expect(await statuses(1, '/api/esim/regions', {})).toEqual([429]);
  expect(await statuses(1, '/api/esim/regions', { key: 'ngn' })).toEqual([200]);
  expect(await statuses(1, '/api/settings/exchange-rate', {})).toEqual([200]);
  expect(await statuses(1, '/api/esim/regions', { rawKey: 'junk', from: '127.0.0.3' })).toEqual([401]);
});

test("a key used from a wrong address uses the caller's bucket, never its owner's", async () => {
  expect(await statuses(3, '/api/esim/regions', { key: 'elsewhere' })).toEqual([403, 403, 429]);
  expect([...api.limiter.counts.keys()]).toEqual(['failed-auth:127.0.0.1']);
});
