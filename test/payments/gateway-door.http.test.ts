// The payment gateway's door: raw bytes in, kept or refused, and never turned away for coming often, for its labels or for a key.
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DomainError } from '../../src/domain/errors.ts';
import { MAX_EVENT_BYTES } from '../../src/platform/http/limits.ts';
import { openDoor, type Ask, type Door, type Reply } from '../support/http/door.ts';
import { GOOD_SIGNATURE } from '../support/http/vendors.ts';
import { shape3, unauthorised } from '../support/http/shapes.ts';

let door: Door;
beforeEach(async () => {
  door = await openDoor({ live: true, settings: { publicRequestsPerMinute: 2, failedAuthPerMinute: 2 } });
});
afterEach(() => door.close());

const EVENT = '{"event":"charge.success","data":{"reference":"txn-1"}}';

function send(
  rawBody: string | Buffer,
  { headers, world = 'test', ...ask }: Ask & { readonly world?: string } = {},
): Promise<Reply> {
  return door.ask(`/webhooks/paystack/${world}`, {
    rawBody,
    headers: { 'x-paystack-signature': GOOD_SIGNATURE, ...headers },
    ...ask,
  });
}

const heard = (): Buffer => door.shop.vendors.events[0]?.bytes ?? Buffer.alloc(0);

test.each(['test', 'live'])('kept by the world of the path: 200 (%s)', async (world) => {
  const reply = await send(EVENT, { world });
  expect([reply.status, reply.text]).toEqual([200, '{"received":true}']);
  expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(door.shop.vendors.events.map((one) => one.environment)).toEqual([world]);
  expect(heard().toString()).toBe(EVENT);
});

test.each([
  ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0xc3, 0x28, 0x7d])],
  ['a byte order mark and line breaks', Buffer.from('\ufeff{ "a" : 1.10 }\r\n')],
  ['words that are no JSON', Buffer.from('hello')],
  ['compressed bytes', gzipSync(EVENT)],
  ['random bytes', randomBytes(100_000)],
  ['as many as allowed', Buffer.alloc(MAX_EVENT_BYTES, 0x61)],
  ['none', Buffer.alloc(0)],
])('every byte arrives as it was sent: %s', async (_why, bytes) => {
  const ways: Record<string, string>[] = [{}, { 'transfer-encoding': 'chunked' }];
  for (const headers of ways) {
    door.shop.vendors.events.length = 0;
    expect((await send(bytes, { headers })).status).toBe(200);
    expect(heard().equals(bytes)).toBe(true);
  }
});

test.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'nonsense', ''])(
  'labels do not matter: %s',
  async (contentType) => {
    const headers = { 'content-type': contentType, 'content-encoding': 'x', 'idempotency-key': '' };
    expect((await send(EVENT, { headers })).status).toBe(200);
    expect(heard().toString()).toBe(EVENT);
  },
);

test('headers arrive with names in lower case, repeated ones as one text', async () => {
  await send(EVENT, { headers: { 'X-Paystack-Signature': ['a', 'b'], 'X-Other': 'c' } });
  expect(door.shop.vendors.events[0]?.headers).toMatchObject({
    'x-paystack-signature': 'a, b',
    'x-other': 'c',
  });
});

describe('refused', () => {
  test('not certainly the gateway: 401, with nothing said about why', async () => {
    const reply = await send(EVENT, { headers: { 'x-paystack-signature': 'forged' } });
    expect([reply.status, reply.json]).toEqual([
      401,
      unauthorised('UNAUTHORIZED', 'This is not signed by the payment gateway for this environment'),
    ]);
  });

  test.each([
    ['declared', {}],
    ['chunked', { 'transfer-encoding': 'chunked' }],
  ])('too large (%s): 413 and nothing is asked', async (_why, headers) => {
    for (const bytes of [MAX_EVENT_BYTES + 1, 5 * 1024 * 1024]) {
      const reply = await send(Buffer.alloc(bytes), { headers });
      expect([reply.status, reply.json]).toEqual([
        413,
        shape3(413, 'PAYLOAD_TOO_LARGE', 'The request body may have at most 1048576 bytes'),
      ]);
    }
    expect(door.shop.calls).toEqual([]);
  });

  test.each([
    ['GET', 405],
    ['PUT', 405],
    ['OPTIONS', 204],
  ])('%s: %i', async (method, status) => {
    const reply = await door.ask('/webhooks/paystack/test', { method });
    expect([reply.status, reply.headers['allow']]).toEqual([status, 'POST, OPTIONS']);
  });

  test.each(['/webhooks/paystack', '/webhooks/paystack/', '/webhooks/paystack/prod', '/webhooks/other/test'])(
    'nothing there: %s',
    async (target) => {
      expect((await door.ask(target, { rawBody: EVENT })).status).toBe(404);
    },
  );

  test('a world that is off: 404 and nothing is asked', async () => {
    const other = await openDoor();
    try {
      const reply = await other.ask('/webhooks/paystack/live', { rawBody: EVENT });
      expect([reply.status, reply.json]).toEqual([
        404,
        shape3(404, 'NOT_FOUND', 'There is nothing at this path'),
      ]);
      expect(other.shop.calls).toEqual([]);
    } finally {
      await other.close();
    }
  });
});

test.each([
  ['an unknown fault', new Error('disk full at 10.1.2.3'), 'Something went wrong on our side'],
  ['storage that is away', new DomainError('SERVICE_UNAVAILABLE', 'Try again'), 'Try again'],
])('could not be kept (%s): 503, so that it comes again', async (_why, error, message) => {
  door.shop.failNext = error;
  const reply = await send(EVENT, { headers: { 'x-request-id': 'event-1' } });
  expect([reply.status, reply.json]).toEqual([503, shape3(503, 'SERVICE_UNAVAILABLE', message)]);
  expect(reply.headers['retry-after']).toBe('5');
  const isLogged = door.logLines.some((line) => line.includes('event-1') && line.includes('disk full'));
  expect(isLogged).toBe(!(error instanceof DomainError));
  expect((await send(EVENT)).status).toBe(200);
});

test('coming often is fine: nothing is counted, and no limit is spoken of', async () => {
  for (let round = 0; round < 10; round += 1) {
    const good = await send(EVENT);
    expect([good.status, good.headers['x-ratelimit-limit']]).toEqual([200, undefined]);
    expect((await send(EVENT, { headers: { 'x-paystack-signature': 'forged' } })).status).toBe(401);
  }
  expect([...door.limiter.counts]).toEqual([]);
});

test('each event has its line in the log, with the request id and without its content', async () => {
  const reply = await send('{"secret":"in the event"}', { headers: { 'x-request-id': 'event-2' } });
  expect(reply.headers['x-request-id']).toBe('event-2');
  const line = door.logLines.find((one) => one.includes('event-2') && one.includes('"route"')) ?? '';
  expect(line).toContain('"route":"/webhooks/paystack/test"');
  expect(door.logLines.join()).not.toContain('in the event');
});

test('a client that asks first is told to send what is allowed, and nothing larger', async () => {
  const head = (length: number): string =>
    `POST /webhooks/paystack/test HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`;
  expect(await door.raw(head(500_000), (text) => text.includes('100 Continue'))).toMatch(/^HTTP\/1\.1 100 /);
  expect(await door.raw(head(MAX_EVENT_BYTES + 1), (text) => text.includes('TOO_LARGE'))).toMatch(
    /^HTTP\/1\.1 413 /,
  );
});
