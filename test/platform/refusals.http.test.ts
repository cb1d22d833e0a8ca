// Every refusal in its documented shape: body, status, code and exact words.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startApi, type Ask, type TestApi } from '../support/http/api.ts';
import { baseError, topUpError, generalError, unauthorised } from '../support/http/error-bodies.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const BASE = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };
const TOPUP = { packageCode: 'TOPUP_NG-1GB-7D', paymentMethod: 'WALLET', packageType: 'TOPUP' };
const NO_ESIM = 'esim-ffffffffffffffffffffffffffffffff';

const NO_KEY = 'Send your API key in the X-API-Key header';
const BAD_KEY = 'Invalid or expired API key';
const WRONG_ADDRESS = 'This key may not be used from your address';

interface Case {
  readonly why: string;
  readonly target: string;
  readonly ask: Ask;
  readonly status: number;
  readonly body: unknown;
}

const CASES: readonly Case[] = [
  {
    why: 'packages without a region',
    target: '/api/esim/packages',
    ask: { key: 'ngn' },
    status: 400,
    body: baseError('MISSING_REGION_CODE', 'regionCode is required'),
  },
  {
    why: 'packages with an empty region',
    target: '/api/esim/packages?regionCode=&regionType=LC',
    ask: { key: 'ngn' },
    status: 400,
    body: baseError('MISSING_REGION_CODE', 'regionCode is required'),
  },
  {
    why: 'packages of a region that sells nothing',
    target: '/api/esim/packages?regionCode=XX',
    ask: { key: 'ngn' },
    status: 404,
    body: baseError(
      'REGION_NOT_FOUND',
      'No packages found for this region',
      'nothing is sold for region "XX"',
    ),
  },
  ...[
    'type=TOPUP',
    'type=TOPUP&regionCode=NG',
    'type=TOPUP&packageCode=NG-5GB-30D',
    'type=TOPUP&regionCode=&packageCode=',
  ].map((query) => ({
    why: `top-up list with only "${query}"`,
    target: `/api/esim/packages?${query}`,
    ask: { key: 'ngn' },
    status: 400,
    body: topUpError(400, 'VALIDATION_ERROR', 'regionCode and packageCode are required for TOPUP type'),
  })),
  {
    why: 'package details of an unknown package',
    target: '/api/esim/packages/NOPE',
    ask: {},
    status: 404,
    body: topUpError(404, 'PACKAGE_NOT_FOUND', 'Package not found'),
  },
  {
    why: 'package details in an unsupported currency',
    target: '/api/esim/packages/NG-5GB-30D?currency=XTS',
    ask: {},
    status: 400,
    body: topUpError(400, 'VALIDATION_ERROR', 'currency: no rate is held for XTS'),
  },
  {
    why: 'buy, unknown package',
    target: '/api/esim/buy',
    ask: { key: 'ngn', body: { ...BASE, packageCode: 'NOPE' } },
    status: 404,
    body: baseError('PACKAGE_NOT_FOUND', 'Package not found', 'no package with this code is sold'),
  },
  ...[undefined, null, ''].map((esimId) => ({
    why: `top-up with esimId ${String(esimId)}`,
    target: '/api/esim/buy',
    ask: { key: 'ngn', body: { ...TOPUP, esimId } },
    status: 400,
    body: topUpError(400, 'VALIDATION_ERROR', 'esimId is required for TOPUP package type'),
  })),
  ...[NO_ESIM, 'x', 'esim-1', "' or 1=1 --", 'esim-\u0000', '\ud800', 'e'.repeat(5_000)].map((esimId) => ({
    why: `top-up of an eSIM that is not there: ${JSON.stringify(esimId).slice(0, 40)}`,
    target: '/api/esim/buy',
    ask: { key: 'ngn', body: { ...TOPUP, esimId } },
    status: 404,
    body: topUpError(404, 'ESIM_NOT_FOUND', 'eSIM not found or does not belong to your account'),
  })),
  ...[NO_ESIM, 'x', 'esim-1', '%00', '%E0%A4%A', 'esim-%F0%9F', '..%2f..%2fetc', 'e'.repeat(5_000)].map(
    (esimId) => ({
      why: `an eSIM that cannot be: ${esimId.slice(0, 40)}`,
      target: `/api/esim/${esimId}`,
      ask: { key: 'ngn' },
      status: 404,
      body: baseError(
        'ESIM_NOT_FOUND',
        'eSIM not found',
        esimId === NO_ESIM ? 'no eSIM order has this id' : 'eSIM not found',
      ),
    }),
  ),
  ...[
    'txn-ffffffffffffffffffffffffffffffff',
    'x',
    '%00',
    '%E0%A4%A',
    'esim-ffffffffffffffffffffffffffffffff',
  ].map((id) => ({
    why: `a transaction that cannot be: ${id}`,
    target: `/api/esim/transactions/${id}`,
    ask: { key: 'ngn' },
    status: 404,
    body: generalError(404, 'TRANSACTION_NOT_FOUND', 'Transaction not found'),
  })),
  ...['%00', '%E0%A4%A', 'p'.repeat(65), '%ED%A0%80'].map((code) => ({
    why: `a package that cannot be: ${code.slice(0, 40)}`,
    target: `/api/esim/packages/${code}`,
    ask: {},
    status: 404,
    body: topUpError(404, 'PACKAGE_NOT_FOUND', 'Package not found'),
  })),
  {
    why: 'a path that reads as an eSIM which cannot be',
    target: '/api/esim/nothing',
    ask: { key: 'ngn' },
    status: 404,
    body: baseError('ESIM_NOT_FOUND', 'eSIM not found'),
  },
  ...[
    '/',
    '/api',
    '/api/',
    '/api/esim/',
    '/api/esim/regions/',
    '/API/esim/regions',
    '//api/esim/regions',
    '/docs/nope.js',
    '*',
  ].map((target) => ({
    why: `an unknown path: ${target}`,
    target,
    ask: { key: 'ngn' },
    status: 404,
    body: generalError(404, 'NOT_FOUND', 'No such route'),
  })),
  ...(
    [
      ['GET', '/api/esim/buy', 'POST, OPTIONS'],
      ['HEAD', '/api/esim/buy', 'POST, OPTIONS'],
      ['DELETE', '/api/esim/buy', 'POST, OPTIONS'],
      ['POST', '/api/esim/regions', 'GET, HEAD, OPTIONS'],
      ['PUT', '/api/wallet/balance', 'GET, HEAD, OPTIONS'],
      ['PATCH', `/api/esim/${NO_ESIM}`, 'GET, HEAD, OPTIONS'],
      ['PROPFIND', '/api/settings/exchange-rate', 'GET, HEAD, OPTIONS'],
    ] as const
  )
    .filter(([method]) => method !== 'HEAD')
    .map(([method, target, allow]) => ({
      why: `a wrong method: ${method} ${target}`,
      target,
      ask: { key: 'ngn', method },
      status: 405,
      body: generalError(405, 'METHOD_NOT_ALLOWED', `This path takes ${allow}`),
    })),
  ...[
    '/api/esim/regions',
    '/api/esim/packages?regionCode=NG',
    '/api/esim/my-esims',
    `/api/esim/${NO_ESIM}`,
  ].map((target) => ({
    why: `no key: ${target}`,
    target,
    ask: {},
    status: 401,
    body: unauthorised('UNAUTHORIZED', NO_KEY),
  })),
  ...[
    '/api/esim/regions',
    '/api/esim/packages/NG-5GB-30D',
    '/api/settings/exchange-rate',
    '/docs',
    '/nope',
  ].map((target) => ({
    why: `a malformed key: ${target}`,
    target,
    ask: { rawKey: 'nonsense' },
    status: 401,
    body: unauthorised('INVALID_TOKEN', BAD_KEY),
  })),
  {
    why: 'wallet, no key',
    target: '/api/wallet/balance',
    ask: {},
    status: 401,
    body: unauthorised('UNAUTHORIZED', NO_KEY),
  },
  {
    why: 'wallet, an invalid key',
    target: '/api/wallet/balance',
    ask: { rawKey: 'nonsense' },
    status: 401,
    body: unauthorised('UNAUTHORIZED', BAD_KEY),
  },
  ...(
    [
      ['/api/esim/regions', baseError('IP_NOT_WHITELISTED', WRONG_ADDRESS)],
      ['/api/esim/packages?type=TOPUP', topUpError(403, 'IP_NOT_WHITELISTED', WRONG_ADDRESS)],
      ['/api/esim/packages/NG-5GB-30D', topUpError(403, 'IP_NOT_WHITELISTED', WRONG_ADDRESS)],
      ['/api/wallet/balance', generalError(403, 'IP_NOT_WHITELISTED', WRONG_ADDRESS)],
      ['/api/settings/exchange-rate', generalError(403, 'IP_NOT_WHITELISTED', WRONG_ADDRESS)],
      ['/nope', generalError(403, 'IP_NOT_WHITELISTED', WRONG_ADDRESS)],
    ] as const
  ).map(([target, body]) => ({
    why: `from a wrong address: ${target}`,
    target,
    ask: { key: 'elsewhere' },
    status: 403,
    body,
  })),
  {
    why: 'a key that may only read buys',
    target: '/api/esim/buy',
    ask: { key: 'readonly', body: BASE },
    status: 403,
    body: baseError('FORBIDDEN', 'This key lacks the permission "purchase"'),
  },
  {
    why: 'a key that may only buy reads the wallet',
    target: '/api/wallet/balance',
    ask: { key: 'buyonly' },
    status: 403,
    body: generalError(403, 'FORBIDDEN', 'This key lacks the permission "read"'),
  },
  {
    why: 'a key that may only buy lists top-ups',
    target: '/api/esim/packages?type=TOPUP',
    ask: { key: 'buyonly' },
    status: 403,
    body: topUpError(403, 'FORBIDDEN', 'This key lacks the permission "read"'),
  },
  ...[
    '/api/esim/regions',
    '/api/wallet/balance',
    '/api/settings/exchange-rate',
    '/api/esim/packages/NG-5GB-30D',
  ].map((target) => ({
    why: `a live key while live is off: ${target}`,
    target,
    ask: { key: 'live/ngn' },
    status: 503,
    body: generalError(503, 'ENVIRONMENT_UNAVAILABLE', 'The live environment is not available here'),
  })),
];

test.each(CASES.map((one) => [one.why, one] as const))('%s', async (_why, { target, ask, status, body }) => {
  const reply = await api.ask(target, ask);
  expect(reply.json).toEqual(body);
  expect(reply.status).toBe(status);
  expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
});

test('405 names the methods in Allow, on HEAD too', async () => {
  const reply = await api.ask('/api/esim/buy', { key: 'ngn', method: 'HEAD' });
  expect([reply.status, reply.headers['allow'], reply.text]).toEqual([405, 'POST, OPTIONS', '']);
});

test("another account's eSIM gets 403 on reading, and 404 with the documented message on topping up", async () => {
  await api.ask('/api/esim/buy', { key: 'usd', body: BASE });
  const esimId = 'esim-00000000000000000000000000000001';
  const read = await api.ask(`/api/esim/${esimId}`, { key: 'ngn' });
  expect([read.status, read.json]).toEqual([
    403,
    baseError('NOT_YOUR_ESIM', 'This eSIM belongs to another account', 'the eSIM order is not yours'),
  ]);
  const topUp = await api.ask('/api/esim/buy', { key: 'ngn', body: { ...TOPUP, esimId } });
  expect([topUp.status, topUp.json]).toEqual([
    404,
    topUpError(404, 'ESIM_NOT_FOUND', 'eSIM not found or does not belong to your account'),
  ]);
});

test('too low a balance gets 400 in both shapes', async () => {
  await api.ask('/api/esim/buy', { key: 'ngn', body: BASE });
  await api.shop.setBalance(1n);
  const base = await api.ask('/api/esim/buy', { key: 'ngn', body: BASE });
  expect([base.status, base.json]).toEqual([
    400,
    baseError(
      'INSUFFICIENT_BALANCE',
      'Insufficient wallet balance',
      'INSUFFICIENT_BALANCE: nothing was charged',
    ),
  ]);
  const esimId = 'esim-00000000000000000000000000000001';
  const topUp = await api.ask('/api/esim/buy', { key: 'ngn', body: { ...TOPUP, esimId } });
  expect([topUp.status, topUp.json]).toEqual([
    400,
    topUpError(400, 'INSUFFICIENT_BALANCE', 'Insufficient wallet balance'),
  ]);
});

test('impossible ids never reach a use case', async () => {
  await api.ask('/api/esim/x', { key: 'ngn' });
  await api.ask('/api/esim/transactions/x', { key: 'ngn' });
  await api.ask('/api/esim/packages/%00');
  await api.ask('/api/esim/buy', { key: 'ngn', body: { ...TOPUP, esimId: 'x' } });
  for (const name of ['transactionId', 'gatewayReference', 'trackingReference'])
    await api.ask('/api/esim/confirm-payment', { key: 'ngn', body: { [name]: 'txn-1' } });
  await api.ask('/pay/return?reference=x');
  await api.ask('/pay/status?trxref=txn-%00');
  expect(api.shop.calls).toEqual([]);
});
