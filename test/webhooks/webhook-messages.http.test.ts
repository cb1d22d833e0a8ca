// Messages, attempts and the low balance over HTTP: exact answers, filters, every wrong field named, the
// account's own only.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WEBHOOK_EVENTS } from '../../src/webhooks/events.ts';
import { startApi, type TestApi, type Reply } from '../support/http/api.ts';
import { generalError } from '../support/http/error-bodies.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi({ live: true });
});
afterEach(() => api.close());

const MESSAGES = '/api/webhooks/messages';
const EP = `ep-${'1'.padStart(32, '0')}`;
const MSG = `msg-${'1'.padStart(32, '0')}`;
const FAILED_MSG = `msg-${'2'.padStart(32, '0')}`;
const TXN = `txn-${'a'.repeat(32)}`;
/** The name TXN in answers, the first id of a purchase in them. */
const FIRST_TXN = `txn-${'1'.padStart(32, '0')}`;
const AT: unknown = expect.stringMatching(/^20\d\d-.*Z$/);
const FIRST_AT = new Date('2026-01-31T09:30:00.250Z');
const EARLY = '2026-01-31T09:30:00Z';
const NOT_FOUND = generalError(404, 'WEBHOOK_MESSAGE_NOT_FOUND', 'Webhook message not found');

/** An endpoint with messages `…1` and `…2`: a purchase that was delivered, and a low balance that failed. */
beforeEach(async () => {
  await api.ask('/api/webhooks/endpoints', { key: 'ngn', body: { url: 'https://shop.example.com/' } });
  for (const event of ['esim.purchased', 'wallet.low_balance'])
    await api.ask(`/api/webhooks/endpoints/${EP}/sample`, { key: 'ngn', body: { event } });
  const { owner } = api.shop;
  const message = api.idOf(MSG);
  await api.shop.closeMessages('DELIVERED', message);
  await api.shop.closeMessages('FAILED', api.idOf(FAILED_MSG));
  await owner.updateTable('webhook_messages').set({ subject: TXN }).where('id', '=', message).execute();
  const attempt = { message_id: message, at: FIRST_AT, url: 'https://shop.example.com/' };
  await owner
    .insertInto('webhook_attempts')
    .values([
      { ...attempt, attempt: 1, ms: 15_000, outcome: 'time-limit', status: null, answer_start: '' },
      { ...attempt, attempt: 2, ms: 12, outcome: 'answered', status: 204, answer_start: 'thanks "all"' },
    ])
    .execute();
  api.shop.calls.length = 0;
});

const MESSAGE = {
  id: MSG,
  eventId: null,
  endpointId: EP,
  event: 'esim.purchased',
  transactionId: FIRST_TXN,
  status: 'DELIVERED',
  attempts: 1,
  nextAttemptAt: null,
  createdAt: AT,
  closedAt: AT,
};

test('one message is shown with the bytes that are sent', async () => {
  const reply = await api.ask(`${MESSAGES}/${MSG}`, { key: 'ngn', example: 'delivered' });
  const { body, ...rest } = reply.json as { body: string };
  expect([reply.status, rest]).toEqual([200, MESSAGE]);
  expect(JSON.parse(body)).toMatchObject({
    event: 'esim.purchased',
    data: { status: 'SUCCESS' },
    timestamp: AT,
  });
});

test('the attempts of a message are shown', async () => {
  const example = 'no answer in time, then one';
  const reply = await api.ask(`${MESSAGES}/${MSG}/attempts`, { key: 'ngn', example });
  expect([reply.status, reply.json]).toMatchObject([
    200,
    {
      success: true,
      data: {
        items: [
          { attempt: 1, at: AT, milliseconds: 15_000, outcome: 'time-limit', status: null, answer: '' },
          { attempt: 2, at: AT, milliseconds: 12, outcome: 'answered', status: 204, answer: 'thanks "all"' },
        ],
        pagination: { totalItems: 2 },
      },
    },
  ]);
});

test('a message is sent again with its own id', async () => {
  const ask = { key: 'ngn', method: 'POST', example: 'on its way' };
  const reply = await api.ask(`${MESSAGES}/${MSG}/resend`, ask);
  await api.ask(`${MESSAGES}/${MSG}`, { key: 'ngn', example: 'to be tried again' });
  expect([reply.status, reply.json]).toEqual([
    200,
    { ...MESSAGE, status: 'PENDING', nextAttemptAt: AT, closedAt: null },
  ]);
});

describe('the list', () => {
  const idsOf = (reply: Reply): string[] =>
    (reply.json as { data: { items: { id: string }[] } }).data.items.map((one) => one.id.slice(-1));

  test('has no bodies', async () => {
    const reply = await api.ask(`${MESSAGES}?limit=1`, { key: 'ngn', example: 'one message' });
    expect(reply.json).toMatchObject({
      data: { items: [{ id: FAILED_MSG }], pagination: { totalItems: 2 } },
    });
    expect(reply.text).not.toContain('"body"');
  });

  test.each([
    ['', ['2', '1']],
    ['?status=FAILED', ['2']],
    ['?event=esim.purchased', ['1']],
    [`?transactionId=${TXN}`, ['1']],
    [`?endpointId=${EP}&status=DELIVERED`, ['1']],
    [`?endpointId=ep-${'9'.repeat(32)}`, []],
    [`?from=${EARLY}`, ['2', '1']],
    [`?to=${EARLY}`, []],
    ['?from=2026-01-31T10:30:00%2B01:00&to=2999-01-31T09:31:00Z', ['2', '1']],
    ['?page=2', []],
  ])('can be filtered by %s', async (query, ids) => {
    const reply = await api.ask(`${MESSAGES}${query}`, { key: 'ngn' });
    expect([reply.status, idsOf(reply)]).toEqual([200, ids]);
  });

  test('refuses every wrong filter by name', async () => {
    const reply = await api.ask(
      `${MESSAGES}?status=SENT&event=x&from=now&to=2026-13-01T00:00:00Z&limit=0&endpointId=a&endpointId=b`,
      { key: 'ngn' },
    );
    const time = 'must be a time such as 2026-01-31T09:30:00Z';
    expect([reply.status, reply.json]).toEqual([
      400,
      generalError(
        400,
        'VALIDATION_ERROR',
        [
          'endpointId: must be given once',
          'limit: must be a whole number from 1 to 100',
          'status: must be one of PENDING, DELIVERED, FAILED',
          `event: must be one of ${WEBHOOK_EVENTS.join(', ')}`,
          `from: ${time}`,
          `to: ${time}`,
        ].join('; '),
      ),
    ]);
  });
});

describe('access to messages', () => {
  const ROUTES = [
    ['GET', ''],
    ['GET', '/attempts'],
    ['POST', '/resend'],
  ] as const;

  test.each(ROUTES)(
    "another account's, another environment's, an unknown or an impossible one answers 404: %s %s",
    async (method, way) => {
      for (const [key, id] of [
        ['usd', MSG],
        ['live/ngn', MSG],
        ['ngn', `msg-${'f'.repeat(32)}`],
        ['ngn', EP],
        ['ngn', '%00'],
      ] as const) {
        const reply = await api.ask(`${MESSAGES}/${id}${way}`, { key, method });
        expect([reply.status, reply.json]).toEqual([404, NOT_FOUND]);
      }
      const { json } = await api.ask(MESSAGES, { key: 'ngn' });
      expect(json).toMatchObject({ data: { items: [{ status: 'FAILED' }, { status: 'DELIVERED' }] } });
    },
  );
});

describe('low balance', () => {
  const PATH = '/api/wallet/low-balance';
  const put = (body: unknown, key = 'ngn', example?: string): Promise<Reply> =>
    api.ask(PATH, { key, method: 'PUT', body, example });

  test('is set, read, and switched off by 0 and by null; in the account’s currency and environment', async () => {
    const unset = await api.ask(PATH, { key: 'ngn', example: 'not set' });
    expect(unset.text).toBe('{"amount":null,"currency":"NGN"}');
    const set = await put({ amount: 2500.5 }, 'ngn', 'set');
    expect([set.status, set.text]).toEqual([200, '{"amount":2500.50,"currency":"NGN"}']);
    expect((await api.ask(PATH, { key: 'ngn', example: 'set' })).text).toBe(set.text);
    expect((await api.ask(PATH, { key: 'usd' })).text).toBe('{"amount":null,"currency":"USD"}');
    expect((await api.ask(PATH, { key: 'live/ngn' })).text).toBe('{"amount":null,"currency":"NGN"}');
    expect((await put({ amount: 0 })).text).toBe('{"amount":null,"currency":"NGN"}');
    await put({ amount: 1 });
    expect((await put({ amount: null }, 'ngn', 'end')).text).toBe('{"amount":null,"currency":"NGN"}');
  });

  test.each([
    '',
    '{"amount":-1}',
    '{"amount":"5"}',
    '{"amount":1.001}',
    '{"amount":1e3}',
    '{"amount":1000000000.01}',
  ])('cannot be %s', async (rawBody) => {
    const reply = await api.ask(PATH, { key: 'ngn', method: 'PUT', rawBody: rawBody || '{}' });
    const words = rawBody
      ? 'must be a number from 0.00 to 1000000000.00 with at most two decimals'
      : 'is required';
    expect([reply.status, reply.json]).toEqual([
      400,
      generalError(400, 'VALIDATION_ERROR', `amount: ${words}`),
    ]);
    expect(api.shop.calls).toEqual([]);
  });
});
