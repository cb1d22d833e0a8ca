// Webhook endpoints over HTTP: exact answers, every wrong field named, the account's own endpoints only,
// secrets shown once.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_ENDPOINTS } from '../../src/webhooks/rules.ts';
import { WEBHOOK_EVENTS } from '../../src/webhooks/events.ts';
import { startApi, type Ask, type TestApi, type Reply } from '../support/http/api.ts';
import { generalError } from '../support/http/error-bodies.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi({ live: true });
});
afterEach(() => api.close());

const PATH = '/api/webhooks/endpoints';
const URL_OF_SHOP = 'https://shop.example.com/hooks?from=simway';
const EP = `ep-${'1'.padStart(32, '0')}`;
const NONE = `ep-${'f'.repeat(32)}`;
const AT: unknown = expect.stringMatching(/^20\d\d-.*Z$/);
const NOT_FOUND = generalError(404, 'WEBHOOK_ENDPOINT_NOT_FOUND', 'Webhook endpoint not found');

const add = (body: unknown = { url: URL_OF_SHOP }, ask: Ask = {}): Promise<Reply> =>
  api.ask(PATH, { key: 'ngn', method: 'POST', body, ...ask });

/** About the first one. */
const one = (path: string, ask: Ask = {}): Promise<Reply> =>
  api.ask(`${PATH}/${EP}${path}`, { key: 'ngn', ...ask });

const AN_HOUR_AGO = new Date(Date.now() - 3_600_000).toISOString();
const SECRET: unknown = expect.stringMatching(/^whsec_[A-Za-z0-9+/=]{44}$/);
const ENDPOINT = {
  id: EP,
  url: URL_OF_SHOP,
  events: ['esim.purchased'],
  enabled: true,
  disabledReason: null,
  failingSince: null,
  createdAt: AT,
  updatedAt: AT,
  createdBy: 'ada@merchant.example',
};

test('adding one answers 201 with its secret, which no other answer shows', async () => {
  const added = await add(undefined, {
    example: { request: 'for purchases', answer: 'with its secret' },
  });
  expect([added.status, added.json]).toEqual([201, { ...ENDPOINT, secret: SECRET }]);
  const read = await api.ask(`${PATH}/${EP}`, { key: 'ngn', example: 'enabled' });
  expect([read.status, read.json]).toEqual([200, ENDPOINT]);
  const list = await api.ask(PATH, { key: 'ngn', example: 'one endpoint' });
  expect([list.status, list.json]).toEqual([
    200,
    {
      success: true,
      data: {
        items: [ENDPOINT],
        pagination: {
          currentPage: 1,
          totalPages: 1,
          totalItems: 1,
          itemsPerPage: 10,
          hasNextPage: false,
          hasPrevPage: false,
        },
      },
    },
  ]);
  const changed = await api.ask(`${PATH}/${EP}`, { key: 'ngn', method: 'PATCH', body: { enabled: false } });
  expect(changed.json).toEqual({ ...ENDPOINT, enabled: false, disabledReason: 'BY_OWNER' });
});

test('events are accepted in any order, each once', async () => {
  const events = ['wallet.low_balance', 'esim.purchased', 'wallet.low_balance'];
  const added = await add({ url: URL_OF_SHOP, events });
  expect(added.json).toMatchObject({ events: ['esim.purchased', 'wallet.low_balance'] });
});

test('endpoints are listed in pages', async () => {
  for (let n = 0; n < 5; n += 1) await add();
  const page = await api.ask(`${PATH}?page=2&limit=2`, { key: 'ngn' });
  expect(page.json).toMatchObject({
    data: {
      items: [{ id: `ep-${'3'.padStart(32, '0')}` }, { id: `ep-${'4'.padStart(32, '0')}` }],
      pagination: {
        currentPage: 2,
        totalPages: 3,
        totalItems: 5,
        itemsPerPage: 2,
        hasNextPage: true,
        hasPrevPage: true,
      },
    },
  });
});

test('endpoints can be changed, enabled again and deleted, and get a new secret', async () => {
  const chosen = { url: URL_OF_SHOP, events: ['esim.purchased', 'payment.received'] };
  await add(chosen, { example: { request: 'for events of your choice' } });
  const patch = (body: unknown, example: string): Promise<Reply> =>
    one('', { method: 'PATCH', body, example });
  const moved = { url: 'http://other.example.com/', events: [...WEBHOOK_EVENTS] };
  expect((await patch(moved, 'move')).json).toEqual({ ...ENDPOINT, ...moved });
  const disabled = await patch({ enabled: false }, 'disable');
  expect(disabled.json).toMatchObject({ enabled: false, disabledReason: 'BY_OWNER' });
  await one('', { example: 'disabled' });
  const enabled = await patch({ enabled: true }, 'enable');
  expect(enabled.json).toMatchObject({ enabled: true, disabledReason: null });
  const rotated = await one('/rotate-secret', { method: 'POST', example: 'with its new secret' });
  expect([rotated.status, rotated.json]).toMatchObject([200, { id: EP, secret: SECRET }]);
  const deleted = await one('', { method: 'DELETE', example: 'deleted' });
  expect([deleted.status, deleted.json]).toEqual([200, { id: EP, deleted: true }]);
  expect((await one('')).json).toEqual(NOT_FOUND);
});

test('samples of every event are accepted for sending', async () => {
  await add();
  for (const event of WEBHOOK_EVENTS) {
    const example = event === 'wallet.low_balance' ? { request: 'a wallet that runs low' } : undefined;
    const sample = await one('/sample', { body: { event }, example });
    expect([sample.status, sample.json]).toMatchObject([
      201,
      { endpointId: EP, event, status: 'PENDING', attempts: 0, transactionId: null },
    ]);
  }
  const failed = await one('/sample', {
    body: { event: 'esim.purchased', status: 'FAILED' },
    example: { request: 'a purchase that failed', answer: 'on its way' },
  });
  const { id } = failed.json as { id: string };
  const { json } = await api.ask(`/api/webhooks/messages/${id}`, { key: 'ngn' });
  expect((json as { body: string }).body).toContain('"status":"FAILED"');
});

test('a disabled endpoint refuses to start anything', async () => {
  await add();
  const message = await api.ask(`${PATH}/${EP}/sample`, { key: 'ngn', body: { event: 'esim.purchased' } });
  await api.ask(`${PATH}/${EP}`, { key: 'ngn', method: 'PATCH', body: { enabled: false } });
  const disabled = generalError(
    400,
    'WEBHOOK_ENDPOINT_DISABLED',
    'The endpoint is disabled: enable it first',
  );
  const sample = await api.ask(`${PATH}/${EP}/sample`, { key: 'ngn', body: { event: 'esim.purchased' } });
  const recover = await api.ask(`${PATH}/${EP}/recover`, {
    key: 'ngn',
    body: { from: AN_HOUR_AGO },
  });
  const { id } = message.json as { id: string };
  const resend = await api.ask(`/api/webhooks/messages/${id}/resend`, { key: 'ngn', method: 'POST' });
  expect([sample.json, recover.json, resend.json]).toEqual([disabled, disabled, disabled]);
});

test('recovering answers how many are sent again', async () => {
  await add();
  const purchase = { packageCode: 'NG-5GB-30D', packageType: 'BASE', paymentMethod: 'WALLET' };
  for (let n = 0; n < 2; n += 1) await api.ask('/api/esim/buy', { key: 'ngn', body: purchase });
  await api.shop.closeMessages('FAILED');
  const body = { from: AN_HOUR_AGO };
  const example = { request: 'since a time', answer: 'sent again' };
  const recovered = await api.ask(`${PATH}/${EP}/recover`, { key: 'ngn', body, example });
  expect([recovered.status, recovered.json]).toEqual([200, { recovered: 2 }]);
  expect((await api.ask(`${PATH}/${EP}/recover`, { key: 'ngn', body })).json).toEqual({ recovered: 0 });
});

test(`an account has at most ${MAX_ENDPOINTS} endpoints`, async () => {
  for (let n = 0; n < MAX_ENDPOINTS; n += 1) expect((await add()).status).toBe(201);
  const more = await add();
  expect([more.status, more.json]).toMatchObject([400, { error: { code: 'WEBHOOK_ENDPOINT_LIMIT' } }]);
});

test('an Idempotency-Key makes adding safe to repeat: one endpoint, the same answer', async () => {
  const headers = { 'idempotency-key': 'endpoint-1' };
  const first = await add(undefined, { headers });
  const again = await add(undefined, { headers });
  expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([201, first.text, 'true']);
  expect((await api.ask(PATH, { key: 'ngn' })).json).toMatchObject({
    data: { pagination: { totalItems: 1 } },
  });
  const other = await add({ url: 'https://other.example.com/' }, { headers });
  expect([other.status, other.json]).toMatchObject([422, { error: { code: 'IDEMPOTENCY_KEY_REUSED' } }]);
});

describe('bad input is refused', () => {
  const EVENTS = `must be one of ${WEBHOOK_EVENTS.join(', ')}`;
  const PLAIN = 'must write an address in its plain form, such as 203.0.113.7 or [2001:db8::7]';
  const TIME = 'must be a time such as 2026-01-31T09:30:00Z';
  const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
  const DAY = 24 * 60;
  const CASES: Readonly<Record<string, readonly (readonly [body: unknown, message: string])[]>> = {
    'POST ': [
      [{}, 'url: is required'],
      [{ url: 7, events: 'esim.purchased' }, 'url: must be a string; events: must be a list of events'],
      [{ url: '', events: [] }, 'url: must not be empty; events: must name at least one event'],
      [{ url: 'https://a.example.com/\u0000' }, 'url: must not contain control characters or broken Unicode'],
      [{ url: `https://a.example.com/${'a'.repeat(2_048)}` }, 'url: must be at most 2048 characters long'],
      [
        { url: null, events: ['esim.purchased', 'esim.gone', 3] },
        `url: must be a string; events.1: ${EVENTS}; events.2: ${EVENTS}`,
      ],
      [
        { url: URL_OF_SHOP, events: Array(WEBHOOK_EVENTS.length + 1).fill('esim.purchased') },
        `events: must name at most ${WEBHOOK_EVENTS.length} events`,
      ],
      [{ url: URL_OF_SHOP, events: null }, 'events: must be a list of events'],
      [{ url: 'https://10.0.0.1/' }, 'url: must use a public address'],
      [{ url: 'http://169.254.169.254/latest/meta-data' }, 'url: must use a public address'],
      [{ url: 'http://[::ffff:10.0.0.1]/' }, `url: ${PLAIN}`],
      [{ url: 'http://0x7f.1/' }, `url: ${PLAIN}`],
      [{ url: 'http://localhost/' }, 'url: must use a public hostname; locally http://127.0.0.1:PORT'],
      [{ url: 'http://user:pw@203.0.113.7/' }, 'url: must not contain a user name or a password'],
      [{ url: 'ftp://203.0.113.7/' }, 'url: must begin with https:// or http://'],
      [{ url: 'http://93.184.215.14:8080/' }, 'url: must use port 80 or 443'],
      [{ url: 'not a url' }, 'url: must be a URL of at most 2048 characters, without blanks or backslashes'],
    ],
    [`PATCH /${EP}`]: [
      [{}, 'body: must hold url, events or enabled'],
      [{ colour: 'red' }, 'body: must hold url, events or enabled'],
      [{ enabled: 'yes', url: '' }, 'url: must not be empty; enabled: must be true or false'],
      [{ url: 'https://10.0.0.1/' }, 'url: must use a public address'],
    ],
    [`POST /${EP}/recover`]: [
      [{}, 'from: is required'],
      [{ from: 'yesterday', to: 5 }, `from: ${TIME}; to: ${TIME}`],
      [{ from: '2026-01-31' }, `from: ${TIME}`],
      [{ from: '2026-01-31T09:30:00' }, `from: ${TIME}`],
      [{ from: '2026-02-30T00:00:00Z' }, `from: ${TIME}`],
      [{ from: '0001-01-01T00:00:00Z' }, 'from: must be in the years 2000 to 9999'],
      [{ from: '9999-12-31T23:59:59-14:00' }, 'from: must be in the years 2000 to 9999'],
      [{ from: ago(15 * DAY) }, 'from: must be at most 14 days ago'],
      [{ from: ago(-5) }, 'from: must be in the past'],
      [{ from: ago(1), to: ago(2) }, 'to: must be after from'],
      [
        { from: ago(15 * DAY), to: ago(16 * DAY) },
        'from: must be at most 14 days ago; to: must be after from',
      ],
    ],
    [`POST /${EP}/sample`]: [
      [{}, 'event: is required'],
      [
        { event: 'esim', status: 'PENDING' },
        `event: ${EVENTS}; status: must be one of PROCESSING, SUCCESS, FAILED`,
      ],
      [{ event: 'payment.received', status: 'SUCCESS' }, 'status: is only for esim.purchased'],
    ],
  };

  test.each(Object.entries(CASES).flatMap(([way, cases]) => cases.map((one) => [way, ...one] as const)))(
    '%s with %j',
    async (way, body, message) => {
      await add();
      const [method = '', path = ''] = way.split(' ');
      const reply = await api.ask(PATH + path, { key: 'ngn', method, body });
      expect([reply.status, reply.json]).toEqual([400, generalError(400, 'VALIDATION_ERROR', message)]);
      expect((await api.ask(PATH, { key: 'ngn' })).json).toMatchObject({ data: { items: [ENDPOINT] } });
    },
  );
});

describe('access to endpoints', () => {
  type Row = readonly [method: string, target: string, body: unknown];
  const ROUTES: readonly Row[] = [
    ['GET', `${PATH}/${EP}`, undefined],
    ['PATCH', `${PATH}/${EP}`, { enabled: false }],
    ['DELETE', `${PATH}/${EP}`, undefined],
    ['POST', `${PATH}/${EP}/rotate-secret`, undefined],
    ['POST', `${PATH}/${EP}/sample`, { event: 'esim.purchased' }],
    ['POST', `${PATH}/${EP}/recover`, { from: AN_HOUR_AGO }],
  ];

  test.each(ROUTES)('an impossible id gets 404 before any use case: %s %s', async (method, target, body) => {
    for (const id of ['x', '%00', `ep-${'F'.repeat(32)}`, `msg-${'0'.repeat(32)}`, '%ED%A0%80']) {
      const reply = await api.ask(target.replace(EP, id), { key: 'ngn', method, body });
      expect([reply.status, reply.json]).toEqual([404, NOT_FOUND]);
    }
    expect(api.shop.calls).toEqual([]);
    const none = await api.ask(target.replace(EP, NONE), { key: 'ngn', method, body });
    expect([none.status, none.json]).toEqual([404, NOT_FOUND]);
  });
});
