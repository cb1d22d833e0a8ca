// Every refusal in its documented shape: body, status, code and exact words.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startApi, type Ask, type TestApi } from '../support/http/api.ts';
import { baseError, topUpError, generalError, required, unauthorised } from '../support/http/error-bodies.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const BASE = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };
const TOPUP = { packageCode: 'TOPUP_NG-1GB-7D', paymentMethod: 'WALLET', packageType: 'TOPUP' };
const NO_ESIM = 'esim-ffffffffffffffffffffffffffffffff';

const NO_TRANSACTION = `txn-${'f'.repeat(32)}`;
const BAD_KEY = 'Invalid or expired API key';
const WRONG_ADDRESS = 'This key may not be used from your address, 127.0.0.1';

type Case = readonly [target: string, ask: Ask, status: number, body: unknown];

const key = 'ngn';
const NO_REGION = baseError('MISSING_REGION_CODE', 'regionCode is required');
const REGION_IS_MISSING = { ...NO_REGION, error: { ...NO_REGION.error, ...required('regionCode') } };
const NO_TARGET = topUpError(
  400,
  'VALIDATION_ERROR',
  'regionCode and packageCode are required for TOPUP type',
);
const NO_PACKAGE = topUpError(404, 'PACKAGE_NOT_FOUND', 'Package not found');
const NO_TOP_UP = 'eSIM not found or does not belong to your account';
const lacks = (scope: string): string => `This key lacks the permission "${scope}"`;

/** The same refusal of each of these targets. */
const refused = (targets: readonly string[], ask: Ask, status: number, body: unknown): Case[] =>
  targets.map((target) => [target, ask, status, body]);
const buying = (sent: object, status: number, body: unknown): Case => [
  '/api/esim/buy',
  { key, body: sent },
  status,
  body,
];

const [CONFIRM, FUND] = ['/api/esim/confirm-payment', '/api/wallet/fund'];
const invalid = (message: string) => generalError(400, 'VALIDATION_ERROR', message);
const confirming = (bodies: readonly object[], status: number, body: unknown): Case[] =>
  bodies.map((sent) => [CONFIRM, { key, body: sent }, status, body]);
const funding = (bodies: readonly string[], body: unknown): Case[] =>
  bodies.map((rawBody) => [FUND, { key, rawBody }, 400, body]);

const CASES: readonly Case[] = [
  ...refused(
    ['/api/esim/packages', '/api/esim/packages?regionCode=&regionType=LC'],
    { key },
    400,
    REGION_IS_MISSING,
  ),
  [
    '/api/esim/packages?regionCode=XX',
    { key },
    404,
    baseError('REGION_NOT_FOUND', 'No packages found for this region', 'nothing is sold for region "XX"'),
  ],
  [
    '/api/esim/packages?regionCode=NG&regionType=RG',
    { key },
    404,
    baseError(
      'REGION_NOT_FOUND',
      'No packages found for this region',
      'nothing is sold for region "NG" with regionType RG',
    ),
  ],
  ...[
    ['', 'regionCode', 'packageCode'],
    ['&regionCode=NG', 'packageCode'],
    ['&packageCode=NG-5GB-30D', 'regionCode'],
    ['&regionCode=&packageCode=', 'regionCode', 'packageCode'],
  ].map(([query = '', ...missing]): Case => {
    return [`/api/esim/packages?type=TOPUP${query}`, { key }, 400, { ...NO_TARGET, ...required(...missing) }];
  }),
  ...refused(
    ['NOPE', '%00', '%E0%A4%A', 'p'.repeat(65), '%ED%A0%80'].map((code) => `/api/esim/packages/${code}`),
    {},
    404,
    NO_PACKAGE,
  ),
  [
    '/api/esim/packages/NG-5GB-30D?currency=XTS',
    {},
    400,
    topUpError(400, 'VALIDATION_ERROR', 'currency: no rate is held for XTS'),
  ],
  buying(
    { ...BASE, packageCode: 'NOPE' },
    404,
    baseError('PACKAGE_NOT_FOUND', 'Package not found', 'no package with this code is sold'),
  ),
  ...[undefined, null, ''].map((esimId) =>
    buying({ ...TOPUP, esimId }, 400, {
      ...topUpError(400, 'VALIDATION_ERROR', 'esimId is required for TOPUP package type'),
      ...required('esimId'),
    }),
  ),
  ...[NO_ESIM, 'x', 'esim-1', "' or 1=1 --", 'esim-\u0000', '\ud800', 'e'.repeat(5_000)].map((esimId) =>
    buying({ ...TOPUP, esimId }, 404, topUpError(404, 'ESIM_NOT_FOUND', NO_TOP_UP)),
  ),
  [
    `/api/esim/${NO_ESIM}`,
    { key },
    404,
    baseError('ESIM_NOT_FOUND', 'eSIM not found', 'no eSIM order has this id'),
  ],
  ...refused(
    ['x', 'esim-1', '%00', '%E0%A4%A', 'esim-%F0%9F', '..%2f..%2fetc', 'e'.repeat(5_000), 'nothing'].map(
      (esimId) => `/api/esim/${esimId}`,
    ),
    { key },
    404,
    baseError('ESIM_NOT_FOUND', 'eSIM not found'),
  ),
  ...refused(
    [NO_TRANSACTION, 'x', '%00', '%E0%A4%A', NO_ESIM].map((id) => `/api/esim/transactions/${id}`),
    { key },
    404,
    generalError(404, 'TRANSACTION_NOT_FOUND', 'Transaction not found'),
  ),
  ...refused(
    [
      ...['/api', '/api/', '/api/esim/', '/api/esim/regions/', '/API/esim/regions'],
      ...['//api/esim/regions', '/docs', '/docs/nope.js', '/docs/reference/nope.js', '*'],
    ],
    { key },
    404,
    generalError(404, 'NOT_FOUND', 'No such route'),
  ),
  ...(
    [
      ['GET', '/api/esim/buy', 'POST, OPTIONS'],
      ['DELETE', '/api/esim/buy', 'POST, OPTIONS'],
      ['POST', '/api/esim/regions', 'GET, HEAD, OPTIONS'],
      ['PUT', '/api/wallet/balance', 'GET, HEAD, OPTIONS'],
      ['PATCH', `/api/esim/${NO_ESIM}`, 'GET, HEAD, OPTIONS'],
      ['PROPFIND', '/api/settings/exchange-rate', 'GET, HEAD, OPTIONS'],
    ] as const
  ).map(([method, target, allow]): Case => [
    target,
    { key, method },
    405,
    generalError(405, 'METHOD_NOT_ALLOWED', `This path takes ${allow}`),
  ]),
  ...refused(
    [
      ...['/api/esim/regions', '/api/esim/packages?regionCode=NG', '/api/esim/my-esims'],
      ...[`/api/esim/${NO_ESIM}`, '/api/wallet/balance'],
    ],
    {},
    401,
    unauthorised('UNAUTHORIZED', 'Send your API key in the X-API-Key header'),
  ),
  ...refused(
    [
      ...['/api/esim/regions', '/api/esim/packages/NG-5GB-30D', '/api/settings/exchange-rate'],
      ...['/', '/docs/reference', '/nope'],
    ],
    { rawKey: 'nonsense' },
    401,
    unauthorised('INVALID_TOKEN', BAD_KEY),
  ),
  ['/api/wallet/balance', { rawKey: 'nonsense' }, 401, unauthorised('UNAUTHORIZED', BAD_KEY)],
  ...(
    [
      ['/api/esim/regions', baseError('IP_NOT_WHITELISTED', WRONG_ADDRESS)],
      ['/api/esim/packages?type=TOPUP', topUpError(403, 'IP_NOT_WHITELISTED', WRONG_ADDRESS)],
      ['/api/esim/packages/NG-5GB-30D', topUpError(403, 'IP_NOT_WHITELISTED', WRONG_ADDRESS)],
      ['/api/wallet/balance', generalError(403, 'IP_NOT_WHITELISTED', WRONG_ADDRESS)],
      ['/api/settings/exchange-rate', generalError(403, 'IP_NOT_WHITELISTED', WRONG_ADDRESS)],
      ['/nope', generalError(403, 'IP_NOT_WHITELISTED', WRONG_ADDRESS)],
    ] as const
  ).map(([target, body]): Case => [target, { key: 'elsewhere' }, 403, body]),
  ['/api/esim/buy', { key: 'readonly', body: BASE }, 403, baseError('FORBIDDEN', lacks('purchase'))],
  ['/api/wallet/balance', { key: 'buyonly' }, 403, generalError(403, 'FORBIDDEN', lacks('read'))],
  ['/api/esim/packages?type=TOPUP', { key: 'buyonly' }, 403, topUpError(403, 'FORBIDDEN', lacks('read'))],
  ...refused(
    [
      ...['/api/esim/regions', '/api/wallet/balance', '/api/settings/exchange-rate'],
      '/api/esim/packages/NG-5GB-30D',
    ],
    { key: 'live/ngn' },
    503,
    generalError(503, 'ENVIRONMENT_UNAVAILABLE', 'The live environment is not available here'),
  ),
  ...confirming(
    [
      {},
      { transactionId: null },
      { orderNo: 'x' },
      { transactionId: NO_TRANSACTION, gatewayReference: NO_TRANSACTION },
      { transactionId: '', gatewayReference: '', trackingReference: '' },
    ],
    400,
    invalid('body: exactly one of transactionId, gatewayReference, trackingReference must be given'),
  ),
  ...confirming(
    [{ transactionId: 1, gatewayReference: [], trackingReference: {} }],
    400,
    invalid(
      'transactionId: must be a string; gatewayReference: must be a string; trackingReference: must be a string',
    ),
  ),
  ...confirming(
    ['transactionId', 'gatewayReference', 'trackingReference'].flatMap((name) =>
      [NO_TRANSACTION, '', 'x', "' or 1=1 --", 'txn-\u0000', '\ud800', 't'.repeat(5_000), NO_ESIM].map(
        (text) => ({ [name]: text }),
      ),
    ),
    404,
    generalError(404, 'TRANSACTION_NOT_FOUND', 'Transaction not found'),
  ),
  ...funding(
    [
      ...['10.123', '10.100', '1e400', '1e2', '1E2', '-10.50', '-0', '0', '0.00', '0.001', '10000000.01'],
      ...['123456789012345678901234567890', '"10"', '"10.10"', 'null', 'true', '[10]', '{"rawJSON":"10"}'],
    ].map((amount) => `{"amount":${amount},"paymentMethod":"CARD"}`),
    invalid('amount: must be a number from 0.01 to 10000000.00 with at most two decimals'),
  ),
  ...funding(
    ['NaN', 'Infinity', '+10', '.5', '10.', '010', '0x10', '1_000'].map(
      (amount) => `{"amount":${amount},"paymentMethod":"CARD"}`,
    ),
    generalError(400, 'INVALID_JSON', 'The request body is not valid JSON'),
  ),
  ...funding(
    ['"WALLET"', '"CASH"', '"card"', '""', 'null', '1'].map(
      (method) => `{"amount":100,"paymentMethod":${method}}`,
    ),
    invalid('paymentMethod: must be one of CARD, BANK_TRANSFER, MOBILE_MONEY, APPLE_PAY'),
  ),
  ...funding(['{}'], invalid('amount: is required; paymentMethod: is required')),
  ...funding(
    ['{"amount":99.99,"paymentMethod":"BANK_TRANSFER"}'],
    generalError(
      400,
      'PAYMENT_METHOD_UNAVAILABLE',
      'BANK_TRANSFER takes NGN 100.00 to 10000000.00, this would be NGN 99.99',
    ),
  ),
  [FUND, { rawKey: 'nonsense', body: {} }, 401, unauthorised('UNAUTHORIZED', BAD_KEY)],
  [CONFIRM, { rawKey: 'nonsense', body: {} }, 401, unauthorised('INVALID_TOKEN', BAD_KEY)],
  [FUND, { key: 'readonly', body: {} }, 403, generalError(403, 'FORBIDDEN', lacks('fund'))],
  [CONFIRM, { key: 'readonly', body: {} }, 403, generalError(403, 'FORBIDDEN', lacks('purchase'))],
];

const named = CASES.map((one) => [`${one[0]} ${JSON.stringify(one[1])}`.slice(0, 100), one] as const);
test.each(named)('%s', async (_name, [target, ask, status, body]) => {
  const reply = await api.ask(target, ask);
  expect(reply.json).toEqual(body);
  expect(reply.status).toBe(status);
  expect(reply.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
  const mine = api.shop.db.selectFrom('fundings').where('account_id', '=', api.shop.accountId());
  expect(await mine.select('transaction_id').execute()).toEqual([]);
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
  expect([topUp.status, topUp.json]).toEqual([404, topUpError(404, 'ESIM_NOT_FOUND', NO_TOP_UP)]);
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
      'INSUFFICIENT_BALANCE: the price is NGN 19178.13, the wallet has NGN 0.01, nothing was charged',
    ),
  ]);
  const esimId = 'esim-00000000000000000000000000000001';
  const topUp = await api.ask('/api/esim/buy', { key: 'ngn', body: { ...TOPUP, esimId } });
  const words: unknown = expect.stringMatching(/the price is NGN \d+\.\d\d, the wallet has NGN 0\.01/);
  const refusal = topUpError(400, 'INSUFFICIENT_BALANCE', 'Insufficient wallet balance');
  expect([topUp.status, topUp.json]).toEqual([400, { ...refusal, details: words }]);
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
