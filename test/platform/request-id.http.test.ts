// Promise D4: a request id on every answer, the caller's own when it is valid, and the same one in the log.
import { expect, test } from 'vitest';
import { startApi, type Ask } from '../support/http/api.ts';
import { forFile } from '../support/world/for-file.ts';

const api = await forFile(startApi({ settings: { publicRequestsPerMinute: 1_000 } }));

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test.each(['a', 'A1._-', 'order-42', '0'.repeat(128), 'f47ac10b-58cc-4372-a567-0e02b2c3d479'])(
  'the request id "%s" is accepted',
  async (id) => {
    const reply = await api.ask('/api/settings/exchange-rate', { headers: { 'x-request-id': id } });
    expect(reply.headers['x-request-id']).toBe(id);
    await expect
      .poll(() => api.logLines.filter((line) => line.includes(`"requestId":"${id}"`)).length)
      .toBe(1);
  },
);

test.each([
  ['empty', ''],
  ['too long', '0'.repeat(129)],
  ['blanks inside', 'a b'],
  ['a line break in disguise', 'a%0d%0aSet-Cookie:x'],
  ['markup', '<script>'],
  ['not ASCII', 'caf\u00e9'],
  ['two of them', ['a', 'b']],
])('a request id that is %s is replaced', async (_why, id) => {
  const reply = await api.ask('/api/settings/exchange-rate', { headers: { 'x-request-id': id } });
  expect(reply.headers['x-request-id']).toMatch(UUID);
});

const EVERYWHERE: readonly (readonly [string, Ask, number])[] = [
  ['/api/esim/regions', { key: 'ngn' }, 200],
  ['/api/esim/regions', {}, 401],
  ['/api/esim/regions', { rawKey: 'junk' }, 401],
  ['/api/esim/regions', { key: 'elsewhere' }, 403],
  ['/api/esim/regions', { key: 'live/ngn' }, 503],
  ['/nope', {}, 404],
  ['/api/esim/buy', {}, 405],
  ['/api/esim/buy', { method: 'OPTIONS' }, 204],
  ['/api/esim/buy', { key: 'ngn', rawBody: '{' }, 400],
  ['/api/esim/buy', { key: 'ngn', rawBody: 'x'.repeat(70_000) }, 413],
  ['/', {}, 200],
  ['/docs/reference', {}, 200],
  ['/docs/reference/swagger-ui.css', {}, 200],
  ['/api/openapi.json', {}, 200],
];

test.each(EVERYWHERE)('the request id is on the answer of %s %o', async (target, ask, status) => {
  const reply = await api.ask(target, { ...ask, headers: { 'x-request-id': 'everywhere' } });
  expect([reply.status, reply.headers['x-request-id']]).toEqual([status, 'everywhere']);
});

test('a request without an id gets a new one each time', async () => {
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => (await api.ask('/nope')).headers['x-request-id']),
  );
  expect(new Set(ids).size).toBe(20);
});

test('a purchase receives the request’s id', async () => {
  const { purchases } = api.shop.useCases.worlds.test;
  const original = purchases.buy;
  let received = '';
  purchases.buy = (principal, command, context) => {
    received = context.requestId;
    return original(principal, command, context);
  };
  const body = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };
  await api.ask('/api/esim/buy', { key: 'ngn', body, headers: { 'x-request-id': 'purchase-7' } });
  expect(received).toBe('purchase-7');
});
