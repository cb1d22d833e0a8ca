// Access by key: every route of the table with every kind of key, in both environments. A new route in the
// table is covered automatically.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import type { Route } from '../../src/platform/http/route.ts';
import { startApi, type TestApi } from '../support/http/api.ts';
import { keyOf } from '../support/http/shop.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const all = createRouteTable({ version: '1.2.3', brand: 'simway' });
/** The other routes take sessions, not keys (test/accounts). */
const FUNDING = new Set(['/api/wallet/fund', '/api/wallet/low-balance', '/api/wallet/billing-details']);
const takesKeys = ({ key }: Route): boolean => ['required', 'optional', 'public'].includes(key);
const routes = all.filter(takesKeys);

function targetOf(route: Route): string {
  return route.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => route.params?.[name]?.example ?? '');
}

/** Status with a key. A POST without a body is enough, since keys are checked before bodies. */
async function statusOf(route: Route, rawKey?: string | string[]): Promise<number> {
  const reply = await api.ask(targetOf(route), {
    method: route.method,
    ...(rawKey === undefined ? {} : { rawKey }),
  });
  return reply.status;
}

describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_name, route) => {
    test('answers 401 without a key', async () => {
      const status = await statusOf(route);
      if (route.key === 'required') expect(status).toBe(401);
      else expect([200, 404]).toContain(status);
    });

    test.each([
      ['junk', 'junk'],
      ['an empty key', ''],
      ['a very long key', 'k'.repeat(5_000)],
      ['a key of another brand', keyOf('test', 'ngn').replace('simway', 'other')],
      ['a key in lower case', keyOf('test', 'ngn').toUpperCase()],
      ['a good key with something behind it', `${keyOf('test', 'ngn')}x`],
      ['a good key twice', [keyOf('test', 'ngn'), keyOf('test', 'ngn')]],
      ['a good and a bad key', [keyOf('test', 'ngn'), 'junk']],
      ['a good key in a list', `${keyOf('test', 'ngn')}, ${keyOf('test', 'usd')}`],
      ['a Bearer word in front', `Bearer ${keyOf('test', 'ngn')}`],
    ])('answers 401 with %s, before any use case', async (_why, rawKey) => {
      expect(await statusOf(route, rawKey)).toBe(401);
      expect(api.shop.calls).toEqual([]);
    });

    test('accepts a good key', async () => {
      expect([200, 400, 404]).toContain(await statusOf(route, keyOf('test', 'ngn')));
    });

    test('needs the read scope for GET, purchase or fund otherwise, and none when public', async () => {
      const [readonly, buyonly] = [
        await statusOf(route, keyOf('test', 'readonly')),
        await statusOf(route, keyOf('test', 'buyonly')),
      ];
      expect(readonly === 403).toBe(route.scope === 'purchase' || route.scope === 'fund');
      expect(buyonly === 403).toBe(route.scope === 'read' || route.scope === 'fund');
      const writing = FUNDING.has(route.path) ? 'fund' : 'purchase';
      if (route.key === 'required') expect(route.scope).toBe(route.method === 'GET' ? 'read' : writing);
      else expect(route.scope).toBeUndefined();
    });

    test('answers 503 to a live key while live is off, before any other check', async () => {
      expect(await statusOf(route, keyOf('live', 'ngn'))).toBe(503);
      expect(await statusOf(route, keyOf('live', 'unknown'))).toBe(401);
      expect(api.shop.calls).toEqual([]);
    });
  },
);

describe.each(
  all
    .filter((route) => route.key === 'vendor')
    .map((route) => [`${route.method} ${route.path}`, route] as const),
)('%s, for vendors only', (_name, route) => {
  test.each([undefined, 'junk', '', 'k'.repeat(5_000), keyOf('test', 'ngn'), keyOf('live', 'ngn')])(
    'ignores a key: %s',
    async (rawKey) => {
      const { accounts } = api.shop.useCases;
      accounts.authenticate = () => Promise.reject(new Error('no key is checked here'));
      // Not an event of the vendor at an environment that is on; 404 at one that is off.
      const isSigned = route.path.startsWith('/webhooks/paystack/');
      expect(await statusOf(route, rawKey)).toBe(route.environment === 'test' ? (isSigned ? 401 : 400) : 404);
      expect([...api.limiter.counts]).toEqual([]);
    },
  );

  test('has no scopes, no error shape of its own, and no place in the reference', () => {
    expect([route.scope, route.docs, route.shapes]).toEqual([undefined, undefined, ['general']]);
  });
});

test('a key that is far too long causes no lookup', async () => {
  const { accounts } = api.shop.useCases;
  let asked = 0;
  const original = accounts.authenticate.bind(accounts);
  accounts.authenticate = (rawKey) => {
    asked += 1;
    return original(rawKey);
  };
  await api.ask('/api/wallet/balance', { rawKey: 'k'.repeat(201) });
  expect(asked).toBe(0);
  await api.ask('/api/wallet/balance', { rawKey: 'k'.repeat(200) });
  expect(asked).toBe(1);
});

test('a key in memory is refused where a new one is: from another address, and on routes of users and operators', async () => {
  api.shop.allowedAddresses = ['127.0.0.1'];
  const rawKey = keyOf('test', 'list');
  for (let times = 0; times < 2; times += 1)
    expect((await api.ask('/api/wallet/balance', { rawKey })).status).toBe(200);
  expect((await api.ask('/api/wallet/balance', { rawKey, from: '127.0.0.2' })).status).toBe(403);
  for (const route of all.filter((one) => !takesKeys(one) && one.key !== 'vendor')) {
    const reply = await api.ask(targetOf(route), { method: route.method, rawKey });
    // Neither is served here.
    expect([reply.status, reply.json], route.path).toMatchObject([404, { error: { code: 'NOT_FOUND' } }]);
  }
  expect(api.shop.calls).toEqual(['getWallet', 'getWallet']);
});

test('the Authorization header is not a key', async () => {
  const reply = await api.ask('/api/wallet/balance', { headers: { authorization: keyOf('test', 'ngn') } });
  expect(reply.status).toBe(401);
});

describe('environments', () => {
  test.each([
    ['live on', true, undefined, 'live'],
    ['live on', true, 'ngn', 'test'],
    ['live on', true, 'live/ngn', 'live'],
    ['live off', false, undefined, 'test'],
    ['live off', false, 'ngn', 'test'],
  ] as const)('%s (%s), key %s: served by %s', async (_why, live, key, expected) => {
    const other = await startApi({ live });
    try {
      const asked: string[] = [];
      const { worlds } = other.shop.useCases;
      for (const world of [worlds.test, worlds.live]) {
        if (!world) continue;
        const original = world.catalogue.getExchangeRate;
        world.catalogue.getExchangeRate = () => {
          asked.push(world.environment);
          return original();
        };
      }
      await other.ask('/api/settings/exchange-rate', key === undefined ? {} : { key });
      expect(asked).toEqual([expected]);
    } finally {
      await other.close();
    }
  });
});
