// The OpenAPI document: complete, valid, and matching the service's answers.
import { beforeEach, describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/domain/errors.ts';
import { createRouteTable } from '../../src/app/routes/route-table.ts';
import { compileRoutes } from '../../src/platform/http/middleware/routing.ts';
import { readContract, type JsonSchema, type Operation } from '../support/http/contract.ts';
import { startApi, type Ask } from '../support/http/api.ts';
import { ACP_ASKS } from '../support/http/acp-asks.ts';
import { sandboxAsks } from '../support/http/sandbox-asks.ts';
import { WEBHOOK_ASKS, type DocumentedAsk } from '../support/http/webhook-asks.ts';
import { forFile } from '../support/world/for-file.ts';

const api = await forFile(startApi());
const contract = await readContract(api);
beforeEach(() => api.shop.setBalance(1_000_000_000n));

// The routes under /ops have their own document, for operators (ops.http.test.ts).
const routes = createRouteTable({ version: '1.2.3', brand: 'simway' }).filter(
  (route) => !route.path.startsWith('/ops'),
);

test('every route of the table is in the document, and no other', () => {
  const documented = contract.operations.map(({ method, path }) => `${method} ${path}`).sort();
  const inTable = routes.filter((route) => route.docs).map(({ method, path }) => `${method} ${path}`);
  expect(documented).toEqual(inTable.sort());
  expect(routes.filter((route) => !route.docs).map((route) => route.path)).toEqual([
    '/',
    '/docs/reference',
    '/docs/reference/{file}',
    '/pay/return',
    '/pay/status',
    '/i/{token}',
    '/i/{token}/top-ups',
    '/i/copy.js',
    '/i/logos/{hash}',
    '/webhooks/paystack/live',
    '/webhooks/paystack/test',
    '/webhooks/esim-access/live',
    '/webhooks/esim-access/test',
    // A link in mails.
    '/mails/stop/{token}',
    '/mails/stop/{token}',
  ]);
});

const MANDATE = {
  limit: 50_000,
  currency: 'NGN',
  expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
};
const THIS_MONTH = new Date().toISOString().slice(0, 7);
const BATCHES = '/api/esim/orders/batch';
const BATCH_ID = 'batch-00000000000000000000000000000001';
const BATCH = { rows: [{ reference: 'a', packageCode: 'NG-5GB-30D', email: 'traveller@example.com' }] };

test('the document contains the documented API: the eight endpoints, their parameters and values', () => {
  const parametersOf = (path: string): Record<string, unknown> => {
    const found = contract.operations.find((one) => one.path === path);
    return Object.fromEntries(
      (found?.operation.parameters ?? []).map(({ name, in: place, required, schema }) => {
        const rules = Object.fromEntries(Object.entries(schema).filter(([word]) => word !== 'description'));
        return [`${place} ${name}`, { ...(required ? { required } : {}), ...rules }];
      }),
    );
  };
  const ifNoneMatch = { 'header If-None-Match': { type: 'string' } };
  expect(parametersOf('/api/esim/regions')).toEqual({
    'query type': { type: 'integer', format: 'int64', enum: [1, 2] },
    ...ifNoneMatch,
  });
  expect(parametersOf('/api/esim/packages')).toEqual({
    'query regionCode': { required: true, type: 'string', minLength: 1, maxLength: 64, example: 'NG' },
    'query type': { type: 'string', enum: ['BASE', 'TOPUP'], default: 'BASE' },
    'query regionType': { type: 'string', enum: ['LC', 'RG', 'GL'] },
    'query packageCode': { type: 'string', minLength: 1, maxLength: 64 },
    'query currency': { type: 'string', pattern: '^[A-Z]{3}$', default: 'USD', example: 'NGN' },
    ...ifNoneMatch,
  });
  expect(parametersOf('/api/esim/packages/{packageCode}')).toMatchObject({
    'path packageCode': { required: true, type: 'string' },
    'query type': { enum: ['BASE', 'TOPUP'], default: 'BASE' },
    'query currency': { default: 'USD' },
  });
  expect(parametersOf('/api/esim/my-esims')).toMatchObject({
    'query page': { type: 'integer', minimum: 1, default: 1 },
    'query limit': { type: 'integer', minimum: 1, maximum: 100, default: 10 },
    'query status': { enum: ['ACTIVE', 'EXPIRED', 'PENDING', 'FAILED', 'CANCELLED'] },
    'query search': { type: 'string', maxLength: 100 },
  });
  const paths = contract.operations.map((one) => one.path);
  for (const path of [
    '/api/esim/buy',
    '/api/esim/{esimId}',
    '/api/wallet/balance',
    '/api/settings/exchange-rate',
  ]) {
    expect(paths).toContain(path);
  }
  expect(contract.document.components.schemas['BuyRequest']).toMatchObject({
    required: ['packageCode', 'paymentMethod', 'packageType'],
    properties: { paymentMethod: { enum: ['WALLET', 'CARD', 'BANK_TRANSFER', 'MOBILE_MONEY', 'APPLE_PAY'] } },
  });
});

describe('the document', () => {
  test('has a version, information and security schemes', () => {
    expect(contract.document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'eSIM Reseller API', version: '1.2.3', license: { identifier: 'Apache-2.0' } },
      components: { securitySchemes: { ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
    });
  });

  test('describes every operation, under a listed tag', () => {
    const ids = contract.operations.map((one) => one.operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = contract.document.tags.map((tag) => tag.name);
    for (const { operation } of contract.operations) {
      expect(operation.summary).toMatch(/^[A-Z].{5,60}[^.]$/);
      expect(operation.description?.length).toBeGreaterThan(20);
      expect(operation.tags?.every((tag) => tags.includes(tag))).toBe(true);
      expect(operation.security).toBeDefined();
      for (const parameter of operation.parameters ?? []) expect(parameter.description).not.toBe('');
    }
  });

  test('declares each path parameter once', () => {
    for (const { path, operation } of contract.operations) {
      const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), (match) => match[1]);
      const declared = (operation.parameters ?? []).filter((one) => one.in === 'path').map((one) => one.name);
      expect(declared).toEqual(inPath);
    }
  });

  test('resolves every reference and uses every component', () => {
    const text = JSON.stringify(contract.document);
    const referred = new Set(
      Array.from(text.matchAll(/"#\/components\/schemas\/(\w+)"/g), (match) => match[1]),
    );
    expect([...referred].sort()).toEqual(Object.keys(contract.document.components.schemas).sort());
  });

  test('has the refusals, limits and headers of every operation', () => {
    for (const { operation } of contract.operations) {
      const statuses = Object.keys(operation.responses);
      expect(statuses).toEqual(expect.arrayContaining(['400', '403', '408', '429', '431', '500', '503']));
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(response.description).not.toBe('');
        // The server answers 408 and 431 before a request is counted.
        const limits = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
        const isCounted = status !== '408' && status !== '431';
        expect(Object.keys(response.headers ?? {})).toEqual(
          isCounted ? expect.arrayContaining(['X-Request-Id', ...limits]) : ['X-Request-Id'],
        );
        if (status === '429' || status === '503') expect(response.headers).toHaveProperty('Retry-After');
      }
    }
  });

  test('names the codes of each refusal, and the permitted callers', () => {
    for (const route of routes) {
      const found = contract.operations.find((one) => one.path === route.path && one.method === route.method);
      if (!found) continue;
      const { responses } = found.operation;
      const { key, keyErrors } = route;
      const isForUsers = key === 'anybody' || key === 'user' || key === 'member';
      const takesSession = key === 'required' || key === 'optional' || key === 'user' || key === 'member';
      const says = (status: string, code: string) =>
        responses[status]?.description.includes(`\`${code}\``) ?? false;
      expect(says('403', 'FORBIDDEN')).toBe(takesSession || isForUsers);
      expect(says('401', 'SESSION_EXPIRED')).toBe(takesSession);
      expect(says('401', 'INVALID_TOKEN')).toBe(keyErrors !== 'wallet' && !isForUsers);
      const named = Object.values(responses).flatMap((one) => one.description.match(/`[A-Z_]+`/g) ?? []);
      for (const code of route.errors) expect(named).toContain(`\`${code}\``);
    }
  });

  test('has exactly the known error codes', () => {
    expect(contract.document.components.schemas['ErrorCode']).toMatchObject({ enum: [...ERROR_CODES] });
  });

  test('says for each operation whether a key is required, optional or not used, as in the route table', () => {
    for (const route of routes) {
      const found = contract.operations.find((one) => one.path === route.path && one.method === route.method);
      if (!found) continue;
      const expected = {
        required: [
          ...(route.protocol === 'acp' ? [{ BearerKey: [] }] : []),
          { ApiKey: [] },
          { SessionCookie: [] },
        ],
        optional: [{}, { ApiKey: [] }, { SessionCookie: [] }],
        public: [],
        vendor: undefined,
        session: undefined,
        login: undefined,
        anybody: [],
        user: [{ SessionCookie: [] }],
        member: [{ SessionCookie: [] }],
      };
      expect(found.operation.security).toEqual(expected[route.key]);
    }
  });
});

describe('the answers', () => {
  const BASE = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };
  const ESIM = 'esim-00000000000000000000000000000001';
  const BUY = '/api/esim/buy';
  const FUND = '/api/wallet/fund';
  const CONFIRM = '/api/esim/confirm-payment';
  const LINK = `/api/esim/${ESIM}/install/link`;
  const TRANSACTION = '/api/esim/transactions/txn-0000000000000000000000000000000';
  const key = 'ngn';
  const headers = { 'idempotency-key': 'k' };
  const topUp = { ...BASE, packageType: 'TOPUP' };
  const ASKS: readonly DocumentedAsk[] = [
    [BUY, { key, body: BASE, headers }, 201],
    [BUY, { key, body: BASE, headers }, 201],
    [BUY, { key, body: { ...BASE, packageCode: 'X' }, headers }, 422],
    [BUY, { key, body: { ...topUp, packageCode: 'TOPUP_NG-1GB-7D', esimId: ESIM } }, 200],
    [BUY, { key, body: topUp }, 400],
    [BUY, { key, body: {} }, 400],
    [BUY, { key, rawBody: '{' }, 400],
    [BUY, { key, rawBody: 'x'.repeat(70_000) }, 413],
    [BUY, { key, body: BASE, headers: { 'content-type': 'text/plain' } }, 415],
    [BUY, { key: 'readonly', body: BASE }, 403],
    [BUY, { body: BASE }, 401],
    ['/api/esim/regions', { key }, 200],
    ['/api/esim/regions', { key: 'live/ngn' }, 503],
    ['/api/esim/packages?regionCode=NG', { key }, 200],
    ['/api/esim/packages?regionCode=NG&type=TOPUP&packageCode=NG-5GB-30D', { key }, 200],
    ['/api/esim/packages', { key }, 400],
    ['/api/esim/packages?type=TOPUP', { key }, 400],
    ['/api/esim/packages?regionCode=XX', { key }, 404],
    ['/api/esim/packages/NG-5GB-30D', {}, 200],
    ['/api/esim/packages/X', {}, 404],
    ['/api/esim/price-list?limit=5', { key }, 200],
    ['/api/esim/price-list?limit=0', { key }, 400],
    ['/api/esim/packages/changes', { key }, 200],
    ['/api/esim/packages/changes?since=x', { key }, 400],
    ['/api/esim/quotes', { key, body: BASE }, 201],
    ['/api/esim/quotes', { key, body: { ...BASE, packageCode: 'X' } }, 404],
    ['/api/esim/quotes', { key, body: {} }, 400],
    [`/api/esim/quotes/quote-${'0'.repeat(32)}`, { key }, 404],
    [`/api/esim/${ESIM}/mandate`, { key }, 404],
    [`/api/esim/${ESIM}/mandate`, { key, method: 'PUT', body: MANDATE }, 200],
    [`/api/esim/${ESIM}/mandate`, { key, method: 'PUT', body: {} }, 400],
    [`/api/esim/${ESIM}/mandate`, { key }, 200],
    [`/api/esim/${ESIM}/mandate`, { key: 'usd' }, 403],
    [`/api/esim/${ESIM}/mandate`, { key, method: 'DELETE' }, 200],
    [`/api/esim/${ESIM}/return-terms`, { key }, 200],
    [`/api/esim/${ESIM}/return-terms`, { key: 'usd' }, 403],
    [`/api/esim/${ESIM}/returns`, { key, body: {} }, 409],
    ['/api/esim/returns', { key, body: { esimIds: [ESIM] } }, 202],
    ['/api/esim/returns', { key, body: {} }, 400],
    ['/api/esim/returns', { key }, 200],
    ['/api/esim/returns?state=x', { key }, 400],
    [`/api/esim/returns/return-${'0'.repeat(32)}`, { key }, 404],
    ['/api/esim/replacements', { key }, 200],
    ['/api/esim/replacements?state=x', { key }, 400],
    [`/api/esim/${ESIM}/replacement-terms`, { key }, 200],
    [`/api/esim/${ESIM}/replacement-terms`, { key: 'usd' }, 403],
    [`/api/esim/${ESIM}/replacements`, { key, body: {} }, 201],
    [`/api/esim/replacements/replacement-${'0'.repeat(32)}`, { key }, 404],
    ['/api/esim/my-esims', { key }, 200],
    ['/api/esim/top-destinations', { key }, 200],
    ['/api/esim/statistics', { key }, 200],
    ['/api/esim/statistics?from=2026-01-31&to=2026-01-01', { key }, 400],
    ['/api/esim/spending', { key }, 200],
    ['/api/esim/spending?from=2025-01-01&to=2026-01-02', { key }, 400],
    ['/api/esim/transactions', { key }, 200],
    ['/api/esim/transactions?type=REFUND', { key }, 400],
    [`/api/search?text=${ESIM}`, { key }, 200],
    ['/api/search', { key }, 400],
    ['/api/wallet/entries', { key }, 200],
    ['/api/wallet/entries', { key, headers: { accept: 'text/csv' } }, 200],
    [`/api/wallet/statements/${THIS_MONTH}`, { key }, 200],
    [`/api/wallet/statements/${THIS_MONTH}`, { key, headers: { accept: 'text/csv' } }, 200],
    ['/api/wallet/statements/2026-13', { key }, 404],
    ['/api/wallet/invoices', { key }, 200],
    ['/api/wallet/invoices/2026-999999', { key }, 404],
    ['/api/wallet/billing-details', { key }, 200],
    ['/api/wallet/billing-details', { key, method: 'PUT', body: {} }, 400],
    [`/api/esim/transactions/txn-${'0'.repeat(32)}/receipt`, { key }, 404],
    ['/api/wallet/entries?kind=GIFT', { key }, 400],
    ['/api/wallet/entries', { rawKey: 'x' }, 401],
    ...['', '/install', '/diagnosis', '/timeline'].flatMap((what): DocumentedAsk[] => [
      [`/api/esim/${ESIM}${what}`, { key }, 200],
      [`/api/esim/${ESIM}${what}`, { key: 'usd' }, 403],
      [`/api/esim/x${what}`, { key }, 404],
    ]),
    [LINK, { key, method: 'DELETE' }, 200],
    [LINK, { key: 'usd', method: 'DELETE' }, 403],
    [`${TRANSACTION}1`, { key }, 200],
    [`${TRANSACTION}2`, { key }, 200],
    ['/api/esim/transactions/x', { key }, 404],
    ...['CARD', 'BANK_TRANSFER', 'MOBILE_MONEY', 'APPLE_PAY'].flatMap((paymentMethod): DocumentedAsk[] => [
      [BUY, { key, body: { ...BASE, paymentMethod } }, 201],
      [BUY, { key: 'usduser', body: { ...BASE, paymentMethod } }, 201],
      [FUND, { key: 'usduser', body: { amount: 100.5, paymentMethod } }, 201],
    ]),
    [FUND, { key, body: { amount: 1, paymentMethod: 'CARD' } }, 400],
    [FUND, { key, body: {} }, 400],
    [FUND, { rawKey: 'x', body: {} }, 401],
    [CONFIRM, { key, body: { transactionId: 'txn-00000000000000000000000000000001' } }, 200],
    [CONFIRM, { key: 'usduser', body: { trackingReference: 'txn-00000000000000000000000000000008' } }, 200],
    [CONFIRM, { key, body: { transactionId: 'x' } }, 404],
    [CONFIRM, { key, body: {} }, 400],
    ['/api/wallet/balance', { key }, 200],
    ['/api/wallet/budget', { key }, 200],
    ['/api/wallet/balance', { rawKey: 'x' }, 401],
    ['/api/wallet/balance', { key: 'elsewhere' }, 403],
    [BATCHES, { key, body: BATCH }, 202],
    [BATCHES, { key, body: {} }, 400],
    [BATCHES, { key }, 200],
    [`${BATCHES}/${BATCH_ID}`, { key }, 200],
    [`${BATCHES}/${BATCH_ID}`, { key: 'usd' }, 404],
    [`${BATCHES}/${BATCH_ID}/csv`, { key }, 200],
    [`${BATCHES}/${BATCH_ID}/sheets`, { key }, 200],
    [`${BATCHES}/${BATCH_ID}/cancel`, { key, method: 'POST', body: {} }, 409],
    ['/api/settings/exchange-rate', {}, 200],
    ['/api/openapi.json', {}, 200],
    ...WEBHOOK_ASKS,
    ...ACP_ASKS,
    ...sandboxAsks(ESIM),
  ];
  const match = compileRoutes(routes);
  /** `METHOD path` of the operation that is asked. */
  const asked = (target: string, ask: Ask): string => {
    const method = ask.method ?? (ask.body === undefined && ask.rawBody === undefined ? 'GET' : 'POST');
    const found = match(method, target.replace(/\?.*/, ''));
    return found.kind === 'route' ? nameOf(found.route) : '';
  };
  const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

  test.each(ASKS.map((one, index) => [index, ...one] as const))(
    '%i: %s matches the document',
    async (_index, target, ask, status) => {
      const operation = contract.operations.find((one) => nameOf(one) === asked(target, ask)) as Operation;
      const reply = await api.ask(target, ask);
      expect(reply.status).toBe(status);
      expect(contract.judge(operation, reply)).toBeUndefined();
    },
  );

  // Users' requests are checked where there are users: test/accounts/users.e2e.test.ts.
  test('cover every operation', () => {
    const isForUsers = ({ path }: Operation): boolean => /^\/(auth|account)(\/|$)/.test(path);
    expect([...new Set(ASKS.map(([target, ask]) => asked(target, ask)))].sort()).toEqual(
      contract.operations
        .filter((one) => !isForUsers(one))
        .map(nameOf)
        .sort(),
    );
  });

  test('are checked strictly: an undocumented field, status or type, or a missing header, is found', async () => {
    const operation = contract.operations.find((one) => one.path === '/api/wallet/balance') as Operation;
    const reply = await api.ask('/api/wallet/balance', { key: 'ngn' });
    const data = (reply.json as { data: object }).data;
    const changed = (change: object): string | undefined =>
      contract.judge(operation, { ...reply, json: { success: true, data: { ...data, ...change } } });
    expect(changed({})).toBeUndefined();
    expect(changed({ cost: 1 })).toBeDefined();
    expect(changed({ balance: '1' })).toBeDefined();
    expect(changed({ currency: 'EUR' })).toBeDefined();
    expect(contract.judge(operation, { ...reply, status: 202 })).toBeDefined();
    expect(contract.judge(operation, { ...reply, headers: {} })).toBeDefined();
  });

  test('in the examples of the document fit their own schemas', () => {
    const check = (schema: JsonSchema): void => {
      const types = [schema['type']].flat();
      if (typeof schema['example'] === 'string') expect(types).toContain('string');
      if (typeof schema['example'] === 'number')
        expect(types.some((type) => type === 'number' || type === 'integer')).toBe(true);
      for (const inner of Object.values((schema['properties'] ?? {}) as Record<string, JsonSchema>))
        check(inner);
    };
    for (const schema of Object.values(contract.document.components.schemas)) check(schema);
  });
});
