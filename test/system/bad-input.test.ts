// Every kind of bad input by a client gets the documented error in the route's shape, never a 500, and no row
// is written.
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createKey, revoke } from '../../src/accounts/keys/manage-keys.ts';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { startStack, type Answer, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

let stack: Stack;
let buyer: Buyer;
let strangersEsim: string;
beforeAll(async () => {
  stack = await startStack();
  buyer = await newBuyer(stack);
  const stranger = await newBuyer(stack);
  strangersEsim = (await stranger.activeEsim()).esimId;
});
afterAll(() => stack.close());
afterAll(() => expectSoundBooks(stack));

/** Every row that a purchase could write, and the orders of the supplier. */
async function everythingWritten(): Promise<unknown> {
  const { rows } = await sql`
    select (select count(*) from purchases) as purchases, (select count(*) from purchase_events) as events,
           (select count(*) from esims) as esims, (select count(*) from holds) as holds,
           (select count(*) from ledger_transactions) as transactions, (select count(*) from ledger_entries) as entries,
           (select count(*) from idempotency_keys) as keys, (select sum(balance_minor) from wallets) as money`.execute(
    stack.owner,
  );
  const orders = await fetch(`${stack.supplierControlUrl}/orders?limit=1000`);
  return { rows, orders: ((await orders.json()) as unknown[]).length };
}

let written: unknown;
beforeAll(async () => {
  written = await everythingWritten();
});
afterEach(async () => {
  expect(await everythingWritten()).toEqual(written);
});

const GOOD = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };
const GOOD_TOP_UP = { packageCode: 'TOPUP_SIM-OK', packageType: 'TOPUP', paymentMethod: 'WALLET' };

const buy = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  stack.call('POST', '/api/esim/buy', { key: buyer.account.apiKey, body, headers });

function expectBaseError(answer: Answer, status: number, code: string): void {
  expect(answer.status).toBe(status);
  const { message, error } = answer.body;
  expect(answer.body).toEqual({ success: false, message, error: { code, details: error.details } });
  expect([typeof message, typeof error.details]).toEqual(['string', 'string']);
}

function expectTopUpError(answer: Answer, status: number, code: string): void {
  expect(answer.status).toBe(status);
  const { message } = answer.body;
  expect(answer.body).toEqual({ success: false, message, statusCode: status, code });
  expect(typeof message).toBe('string');
}

function expectGeneralError(answer: Answer, status: number, code: string): void {
  expect(answer.status).toBe(status);
  const { error } = answer.body;
  expect(answer.body).toEqual({
    success: false,
    error: { code, message: error.message },
    statusCode: status,
  });
  expect(typeof error.message).toBe('string');
}

function expectUnauthorized(answer: Answer, code: string): void {
  expect(answer.status).toBe(401);
  expect(answer.body).toEqual({ error: code, message: answer.body.message, statusCode: 401 });
  expect(typeof answer.body.message).toBe('string');
}

describe('an invalid body is refused', () => {
  it.each([
    { what: 'malformed JSON', body: '{"packageCode": "SIM-OK"', code: 'INVALID_JSON' },
    { what: 'not JSON', body: 'packageCode=SIM-OK', code: 'INVALID_JSON' },
    { what: 'two values', body: '{}{}', code: 'INVALID_JSON' },
    { what: 'a trailing comma', body: '{"packageCode":"SIM-OK",}', code: 'INVALID_JSON' },
    { what: 'NaN', body: '{"packageCode":NaN}', code: 'INVALID_JSON' },
  ])('$what', async ({ body, code }) => {
    expectGeneralError(await buy(body), 400, code);
  });

  it.each(['[]', 'null', '"SIM-OK"', '42', 'true'])(
    'a JSON value that is not an object: %s',
    async (body) => {
      expectBaseError(await buy(body), 400, 'VALIDATION_ERROR');
    },
  );

  it('without a body', async () => {
    expectBaseError(await buy(undefined), 400, 'VALIDATION_ERROR');
  });

  it('with another content type than JSON', async () => {
    const answer = await buy(JSON.stringify(GOOD), { 'Content-Type': 'text/plain' });
    expectGeneralError(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  it('with too many bytes', async () => {
    expectGeneralError(await buy({ ...GOOD, more: 'x'.repeat(70_000) }), 413, 'PAYLOAD_TOO_LARGE');
  });
});

describe('an invalid field is refused', () => {
  const WRONG: readonly unknown[] = [
    42,
    true,
    null,
    ['SIM-OK'],
    { code: 'SIM-OK' },
    '',
    'x'.repeat(10_000),
    'SIM-OK\u0000',
    '\ud800',
  ];
  const FIELDS = ['packageCode', 'packageType', 'paymentMethod'] as const;
  it.each(FIELDS.flatMap((field) => WRONG.map((value) => ({ field, value }))))(
    '$field: $value',
    async ({ field, value }) => {
      const answer = await buy({ ...GOOD, [field]: value });
      expectBaseError(answer, 400, 'VALIDATION_ERROR');
      expect(answer.body.error.details).toMatch(new RegExp(`^${field}:`));
    },
  );

  it.each([42, true, ['esim'], { id: 'esim' }])('esimId of a top-up: %j', async (esimId) => {
    const answer = await buy({ ...GOOD_TOP_UP, esimId });
    expectTopUpError(answer, 400, 'VALIDATION_ERROR');
    expect(answer.body.message).toContain('esimId');
  });

  it('together with every other wrong field, not only the first', async () => {
    const answer = await buy({ packageCode: 1, packageType: 'GIFT', paymentMethod: [] });
    for (const field of ['packageCode', 'packageType', 'paymentMethod']) {
      expect(answer.body.error.details).toContain(`${field}:`);
    }
  });

  it.each([undefined, null, ''])(
    'as a top-up without esimId (%j), with the documented message',
    async (esimId) => {
      const answer = await buy({ ...GOOD_TOP_UP, esimId });
      expectTopUpError(answer, 400, 'VALIDATION_ERROR');
      expect(answer.body.message).toBe('esimId is required for TOPUP package type');
    },
  );
});

describe('an unknown code or id is not found', () => {
  it.each(['NO-SUCH-PACKAGE', '__proto__', 'constructor', '%', "' or 1=1 --", 'sim-ok'])(
    'as BASE of %j',
    async (packageCode) => {
      expectBaseError(await buy({ ...GOOD, packageCode }), 404, 'PACKAGE_NOT_FOUND');
    },
  );

  it.each([
    'nothing',
    'esim-1',
    `esim-${'0'.repeat(32)}`,
    `esim-${'0'.repeat(5_000)}`,
    '../../etc',
    'esim\u0000',
  ])('as TOPUP of %j', async (esimId) => {
    const answer = await buy({ ...GOOD_TOP_UP, esimId });
    expectTopUpError(answer, 404, 'ESIM_NOT_FOUND');
    expect(answer.body.message).toBe('eSIM not found or does not belong to your account');
  });

  it.each(['nothing', `esim-${'0'.repeat(32)}`, 'esim-%00', '..%2F..', '%F0%9F%98%80'])(
    'reading %j',
    async (id) => {
      expectBaseError(await buyer.read(`/api/esim/${id}`), 404, 'ESIM_NOT_FOUND');
    },
  );

  it.each(['nothing', `txn-${'0'.repeat(32)}`, 'txn-%00'])('as the transaction %j', async (id) => {
    expectGeneralError(await buyer.read(`/api/esim/transactions/${id}`), 404, 'TRANSACTION_NOT_FOUND');
  });
});

describe('data of another account', () => {
  it('is not shown as an eSIM', async () => {
    expectBaseError(await buyer.read(`/api/esim/${strangersEsim}`), 403, 'NOT_YOUR_ESIM');
  });

  it('cannot be topped up: the answer is the same as for an unknown eSIM', async () => {
    expectTopUpError(await buy({ ...GOOD_TOP_UP, esimId: strangersEsim }), 404, 'ESIM_NOT_FOUND');
  });

  it('is not found as a transaction', async () => {
    const row = await stack.owner
      .selectFrom('esims')
      .select('transaction_id')
      .where('id', '=', strangersEsim)
      .executeTakeFirstOrThrow();
    const answer = await buyer.read(`/api/esim/transactions/${row.transaction_id}`);
    expectGeneralError(answer, 404, 'TRANSACTION_NOT_FOUND');
  });
});

describe('an invalid page or filter is refused', () => {
  it.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=one',
    'page=',
    'page=1&page=2',
    'limit=0',
    'limit=101',
    'limit=1e2',
    'status=NEW',
  ])('my-esims?%s', async (query) => {
    const answer = await buyer.read(`/api/esim/my-esims?${query}`);
    expectBaseError(answer, 400, 'VALIDATION_ERROR');
    expect(answer.body.error.details).toContain(query.split('=')[0]);
  });

  it.each([`search=${'x'.repeat(101)}`, 'search=%00', 'search=%E0%A4%A'])('my-esims?%s', async (query) => {
    expectBaseError(await buyer.read(`/api/esim/my-esims?${query}`), 400, 'VALIDATION_ERROR');
  });

  it('but the highest page number is an empty page', async () => {
    const answer = await buyer.read('/api/esim/my-esims?page=1000000&limit=100');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ esims: [], page: 1_000_000, limit: 100 });
  });
});

describe('an API key is refused', () => {
  const newKey = (environment: 'test' | 'live', extra: object = {}) =>
    createKey(
      stack.accounts,
      {
        accountId: buyer.account.accountId,
        environment,
        brand: 'simway',
        scopes: ['read', 'purchase'],
        allowedAddresses: ['127.0.0.1'],
        companyName: 'Test',
        websiteUrl: 'https://test.example',
        expiresAt: null,
        ...extra,
      },
      'a test',
    );
  const buyWith = (key: string | undefined): Promise<Answer> =>
    stack.call('POST', '/api/esim/buy', { body: GOOD, ...(key === undefined ? {} : { key }) });

  it('when it is missing', async () => {
    expectUnauthorized(await buyWith(undefined), 'UNAUTHORIZED');
  });

  it.each(['x', 'simway_test_', `simway_test_${'a'.repeat(38)}`, 'k'.repeat(5_000)])(
    'when it never existed: %s',
    async (key) => {
      expectUnauthorized(await buyWith(key), 'INVALID_TOKEN');
    },
  );

  it('when it is for live while live is off', async () => {
    const { apiKey } = await newKey('live');
    expectGeneralError(await buyWith(apiKey), 503, 'ENVIRONMENT_UNAVAILABLE');
    const read = await stack.call('GET', '/api/settings/exchange-rate', { key: apiKey });
    expectGeneralError(read, 503, 'ENVIRONMENT_UNAVAILABLE');
  });

  it('when it is revoked, within 5 s', async () => {
    const { apiKey, keyId } = await newKey('test');
    const works = await stack.call('GET', '/api/wallet/balance', { key: apiKey });
    expect(works.status).toBe(200);
    await revoke(stack.accounts, { keyId }, 'a test');
    const refused = await until(
      () => stack.call('GET', '/api/esim/my-esims', { key: apiKey }),
      ({ status }) => status !== 200,
      { what: 'the revoked key refused' },
    );
    expectUnauthorized(refused, 'INVALID_TOKEN');
    expectUnauthorized(await buyWith(apiKey), 'INVALID_TOKEN');
    expectUnauthorized(await stack.call('GET', '/api/wallet/balance', { key: apiKey }), 'UNAUTHORIZED');
  });

  it('when it has expired', async () => {
    const { apiKey } = await newKey('test', { expiresAt: new Date(Date.now() - 1_000) });
    expectUnauthorized(await buyWith(apiKey), 'INVALID_TOKEN');
  });

  it('when it is read-only', async () => {
    const { apiKey } = await newKey('test', { scopes: ['read'] });
    expectBaseError(await buyWith(apiKey), 403, 'FORBIDDEN');
  });

  it('when it is for other addresses', async () => {
    const { apiKey } = await newKey('test', { allowedAddresses: ['192.0.2.1'] });
    expectBaseError(await buyWith(apiKey), 403, 'IP_NOT_WHITELISTED');
  });
});
