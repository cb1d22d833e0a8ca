// The Idempotency-Key header over HTTP: what the use cases receive, what is replayed, and what is never
// stored.
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DomainError } from '../../src/domain/errors.ts';
import { startApi, type Ask, type TestApi, type Reply } from '../support/http/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const BODY = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };

function buy(idempotencyKey: string | string[], changes: Ask = {}): Promise<Reply> {
  const { headers, ...rest } = changes;
  return api.ask('/api/esim/buy', {
    key: 'ngn',
    body: BODY,
    ...rest,
    headers: { ...headers, 'idempotency-key': idempotencyKey },
  });
}

test('the same key and body get the first answer again, status and bytes, and one purchase', async () => {
  const first = await buy('order-1');
  expect(first.headers['idempotent-replayed']).toBeUndefined();
  for (let round = 0; round < 3; round += 1) {
    const again = await buy('order-1');
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([
      201,
      first.text,
      'true',
    ]);
    expect(again.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  }
  expect(await api.shop.purchases()).toBe(1);
});

test('the path and the validated fields are compared: order, spaces and unknown fields do not matter', async () => {
  const first = await buy('order-2');
  const rawBody =
    '{ "color":"red", "esimId":null,"packageType" : "BASE","paymentMethod":"WALLET","packageCode":"NG-5GB-30D"}';
  const again = await buy('order-2', { rawBody });
  expect([again.status, again.text]).toEqual([201, first.text]);
  const fields = '{"packageCode":"NG-5GB-30D","packageType":"BASE","paymentMethod":"WALLET"}';
  expect(await api.shop.storedAnswers()).toMatchObject([
    {
      key: 'order-2',
      path: '/api/esim/buy',
      fingerprint: createHash('sha256').update(`/api/esim/buy\n${fields}`).digest('hex'),
    },
  ]);
});

test('another body with the key gets 422 in the route’s shape', async () => {
  await buy('order-3');
  const reply = await buy('order-3', { body: { ...BODY, packageCode: 'OTHER' } });
  expect([reply.status, reply.json]).toEqual([
    422,
    {
      success: false,
      message: 'This Idempotency-Key was used with another request',
      error: {
        code: 'IDEMPOTENCY_KEY_REUSED',
        details: 'send a new key with a new request, or the same request with this key',
      },
    },
  ]);
  const topUp = await buy('order-3', { body: { ...BODY, packageType: 'TOPUP', esimId: 'x' } });
  expect([topUp.status, topUp.json]).toMatchObject([
    422,
    { statusCode: 422, code: 'IDEMPOTENCY_KEY_REUSED' },
  ]);
});

test('a repeat while the first request runs gets 409 with Retry-After', async () => {
  await buy('order-4');
  await api.shop.forgetAnswer('order-4');
  const reply = await buy('order-4');
  expect([reply.status, reply.headers['retry-after']]).toEqual([409, '1']);
  expect(reply.text).toContain('IDEMPOTENCY_KEY_IN_USE');
});

test("another account's key is another key", async () => {
  await buy('order-5');
  const other = await buy('order-5', { key: 'usd' });
  expect(other.headers['idempotent-replayed']).toBeUndefined();
  expect([await api.shop.purchases(), await api.shop.purchases('usd')]).toEqual([1, 1]);
});

test('a refusal before anything was opened is not stored: the same key buys once the wallet is filled', async () => {
  await api.shop.setBalance(0n);
  for (let again = 0; again < 3; again += 1) expect((await buy('order-6')).status).toBe(400);
  await api.shop.setBalance(5_000_000n);
  const bought = await buy('order-6');
  expect([bought.status, bought.headers['idempotent-replayed']]).toEqual([201, undefined]);
  const replayed = await buy('order-6');
  expect([replayed.text, replayed.headers['idempotent-replayed']]).toEqual([bought.text, 'true']);
});

describe('these answers are never stored', () => {
  const kept = async (): Promise<number> =>
    (await api.shop.storedAnswers()).filter((one) => one.answer_status !== null).length;

  test('those given before the purchase began', async () => {
    const asks: [Ask, number][] = [
      [{ body: { ...BODY, packageType: 'X' } }, 400],
      [{ rawBody: '{' }, 400],
      [{ rawBody: 'x', headers: { 'content-type': 'text/plain' } }, 415],
      [{ rawBody: 'x'.repeat(70_000) }, 413],
      [{ key: 'readonly' }, 403],
      [{ key: 'elsewhere' }, 403],
      [{ rawKey: 'junk' }, 401],
      [{ body: { ...BODY, packageCode: 'NOPE' } }, 404],
    ];
    for (const [ask, status] of asks) expect((await buy('order-7', ask)).status).toBe(status);
    expect(await kept()).toBe(0);
    expect((await buy('order-7')).status).toBe(201);
  });

  test.each([
    new DomainError('SERVICE_UNAVAILABLE', 'later'),
    new DomainError('INTERNAL_ERROR', 'x'),
    new Error('boom'),
  ])('those of 500 and above: %s', async (error) => {
    api.shop.failNext = error;
    expect((await buy('order-8')).status).toBeGreaterThanOrEqual(500);
    expect(api.shop.calls).toEqual(['buy']);
    expect((await buy('order-8')).status).toBe(201);
  });

  test.each(['IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED'] as const)(
    '%s, when it comes from the purchase itself',
    async (code) => {
      api.shop.failNext = new DomainError(code, 'words');
      await buy('order-9');
      expect(api.shop.calls).toEqual(['buy']);
    },
  );
});

test('an answer that cannot be stored is still sent, and the failure is logged', async () => {
  const { storedAnswers } = api.shop.useCases.worlds.test;
  storedAnswers.storeAnswer = () => Promise.reject(new Error('storage is away'));
  expect((await buy('order-10')).status).toBe(201);
  expect(
    api.logLines.some((line) => line.includes('storage is away') && line.includes('"level":"error"')),
  ).toBe(true);
});

describe('the header', () => {
  test.each([
    ['one character', 'a'],
    ['255 characters', 'k'.repeat(255)],
    ['blanks and punctuation inside', 'a b/c, d~!'],
  ])('is accepted as %s', async (_why, key) => {
    expect((await buy(key)).status).toBe(201);
    expect(await api.shop.storedAnswers()).toMatchObject([{ key }]);
  });

  test.each([
    ['empty', ''],
    ['blank', '   '],
    ['256 characters', 'k'.repeat(256)],
    ['not ASCII', 'caf\u00e9'],
    ['a tab inside', 'a\tb'],
    ['given twice', ['a', 'b']],
    ['given twice, the same', ['a', 'a']],
  ])('is refused as %s', async (_why, key) => {
    const reply = await buy(key);
    expect(reply.json).toMatchObject({
      error: {
        code: 'VALIDATION_ERROR',
        details: 'Idempotency-Key: must be given once, with 1 to 255 printable ASCII characters',
      },
    });
    expect([reply.status, api.shop.calls.length]).toEqual([400, 0]);
  });

  test('is ignored on a read', async () => {
    const reply = await api.ask('/api/esim/regions', {
      key: 'ngn',
      headers: { 'idempotency-key': 'a'.repeat(999) },
    });
    expect([reply.status, await api.shop.storedAnswers()]).toEqual([200, []]);
  });
});
