// The route for the payment gateway's events: raw bytes are stored or refused, and never for their frequency,
// their headers or a key.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DomainError } from '../../src/domain/errors.ts';
import { MAX_EVENT_BYTES } from '../../src/platform/http/limits.ts';
import { startApi, type Ask, type TestApi, type Reply } from '../support/http/api.ts';
import { GOOD_SIGNATURE } from '../support/http/vendors.ts';
import { generalError, unauthorised } from '../support/http/error-bodies.ts';
import { until } from '../support/time/until.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi({ live: true, settings: { publicRequestsPerMinute: 2, failedAuthPerMinute: 2 } });
});
afterEach(() => api.close());

/** Has the form of a signature. */
const FORGED = 'f0'.repeat(64);
const EVENT = '{"event":"charge.success","data":{"reference":"txn-1"}}';

function send(
  rawBody: string | Buffer,
  { headers, world = 'test', ...ask }: Ask & { readonly world?: string } = {},
): Promise<Reply> {
  return api.ask(`/webhooks/paystack/${world}`, {
    rawBody,
    headers: { 'x-paystack-signature': GOOD_SIGNATURE, ...headers },
    ...ask,
  });
}

const storedBytes = (): Buffer => api.shop.vendors.events[0]?.bytes ?? Buffer.alloc(0);

test.each(['test', 'live'])(
  'an event is stored by the environment in the path, and answered with 200: %s',
  async (world) => {
    const reply = await send(EVENT, { world });
    expect([reply.status, reply.text]).toEqual([200, '{"received":true}']);
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(api.shop.vendors.events.map((one) => one.environment)).toEqual([world]);
    expect(storedBytes().toString()).toBe(EVENT);
  },
);

test.each([
  ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0xc3, 0x28, 0x7d])],
  ['a byte order mark and line breaks', Buffer.from('\ufeff{ "a" : 1.10 }\r\n')],
  ['words that are no JSON', Buffer.from('hello')],
  ['compressed bytes', gzipSync(EVENT)],
  ['random bytes', randomBytes(100_000)],
  ['as many as allowed', Buffer.alloc(MAX_EVENT_BYTES, 0x61)],
  ['none', Buffer.alloc(0)],
])('every byte is stored as it was sent: %s', async (_why, bytes) => {
  const ways: Record<string, string>[] = [{}, { 'transfer-encoding': 'chunked' }];
  for (const headers of ways) {
    api.shop.vendors.events.length = 0;
    expect((await send(bytes, { headers })).status).toBe(200);
    expect(storedBytes().equals(bytes)).toBe(true);
  }
});

test.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'nonsense', ''])(
  'the content type does not matter: %s',
  async (contentType) => {
    const headers = { 'content-type': contentType, 'content-encoding': 'x', 'idempotency-key': '' };
    expect((await send(EVENT, { headers })).status).toBe(200);
    expect(storedBytes().toString()).toBe(EVENT);
  },
);

test('headers are passed on with lower-case names, repeated ones as one text', async () => {
  await send(EVENT, { headers: { 'X-Other': ['a', 'b'], 'X-More': 'c' } });
  expect(api.shop.vendors.events[0]?.headers).toMatchObject({
    'x-paystack-signature': GOOD_SIGNATURE,
    'x-other': 'a, b',
    'x-more': 'c',
  });
});

describe('a refused event', () => {
  test('that is not certainly the gateway’s gets 401, without the reason', async () => {
    const reply = await send(EVENT, { headers: { 'x-paystack-signature': FORGED } });
    expect([reply.status, reply.json]).toEqual([
      401,
      unauthorised('UNAUTHORIZED', 'This is not signed by the payment gateway for this environment'),
    ]);
  });

  test.each([
    ['declared', {}],
    ['chunked', { 'transfer-encoding': 'chunked' }],
  ])('that is too large (%s) gets 413 without any use case', async (_why, headers) => {
    for (const bytes of [MAX_EVENT_BYTES + 1, 5 * 1024 * 1024]) {
      const reply = await send(Buffer.alloc(bytes), { headers });
      expect([reply.status, reply.json]).toEqual([
        413,
        generalError(413, 'PAYLOAD_TOO_LARGE', 'The request body may have at most 1048576 bytes'),
      ]);
    }
    expect(api.shop.calls).toEqual([]);
  });

  test.each([
    ['GET', 405],
    ['PUT', 405],
    ['OPTIONS', 204],
  ])('by %s gets %i', async (method, status) => {
    const reply = await api.ask('/webhooks/paystack/test', { method });
    expect([reply.status, reply.headers['allow']]).toEqual([status, 'POST, OPTIONS']);
  });

  test.each(['/webhooks/paystack', '/webhooks/paystack/', '/webhooks/paystack/prod', '/webhooks/other/test'])(
    'to an unknown path gets 404: %s',
    async (target) => {
      expect((await api.ask(target, { rawBody: EVENT })).status).toBe(404);
    },
  );

  test('of an environment that is off gets 404 without any use case', async () => {
    const other = await startApi();
    try {
      const reply = await other.ask('/webhooks/paystack/live', { rawBody: EVENT });
      expect([reply.status, reply.json]).toEqual([404, generalError(404, 'NOT_FOUND', 'No such route')]);
      expect(other.shop.calls).toEqual([]);
    } finally {
      await other.close();
    }
  });
});

test.each([
  ['an unknown fault', new Error('disk full at 10.1.2.3'), 'Something went wrong on our side'],
  ['storage that is away', new DomainError('SERVICE_UNAVAILABLE', 'Try again'), 'Try again'],
])(
  'an event that could not be stored (%s) gets 503, so that it comes again',
  async (_why, error, message) => {
    api.shop.failNext = error;
    const reply = await send(EVENT, { headers: { 'x-request-id': 'event-1' } });
    expect([reply.status, reply.json]).toEqual([503, generalError(503, 'SERVICE_UNAVAILABLE', message)]);
    expect(reply.headers['retry-after']).toBe('5');
    const isLogged = api.logLines.some((line) => line.includes('event-1') && line.includes('disk full'));
    expect(isLogged).toBe(!(error instanceof DomainError));
    expect((await send(EVENT)).status).toBe(200);
  },
);

test('frequent events are not counted, and no limit is mentioned', async () => {
  for (let round = 0; round < 10; round += 1) {
    const good = await send(EVENT);
    expect([good.status, good.headers['x-ratelimit-limit']]).toEqual([200, undefined]);
    expect((await send(EVENT, { headers: { 'x-paystack-signature': FORGED } })).status).toBe(401);
    expect((await send(EVENT, { headers: { 'x-paystack-signature': 'none' } })).status).toBe(401);
  }
  expect([...api.limiter.counts]).toEqual([]);
});

test('each event has its line in the log, with the request id and without its content', async () => {
  const reply = await send('{"secret":"in the event"}', { headers: { 'x-request-id': 'event-2' } });
  expect(reply.headers['x-request-id']).toBe('event-2');
  const line = api.logLines.find((one) => one.includes('event-2') && one.includes('"route"')) ?? '';
  expect(line).toContain('"route":"/webhooks/paystack/test"');
  expect(api.logLines.join()).not.toContain('in the event');
});

test('a client that asks first may send what is allowed, and nothing larger', async () => {
  const head = (length: number, signature = GOOD_SIGNATURE): string =>
    `POST /webhooks/paystack/test HTTP/1.1\r\nX-Paystack-Signature: ${signature}\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`;
  expect(await api.raw(head(500_000), (text) => text.includes('100 Continue'))).toMatch(/^HTTP\/1\.1 100 /);
  expect(await api.raw(head(500_000, 'none'), (text) => text.includes('UNAUTHORIZED'))).toMatch(
    /^HTTP\/1\.1 401 /,
  );
  expect(await api.raw(head(MAX_EVENT_BYTES + 1), (text) => text.includes('TOO_LARGE'))).toMatch(
    /^HTTP\/1\.1 413 /,
  );
});

describe('a request that cannot be an event is refused before its body', () => {
  const bodiless = (signature: string): string =>
    `POST /webhooks/paystack/test HTTP/1.1\r\n${signature}Content-Length: 500000\r\nConnection: close\r\n\r\n{`;

  test.each([
    ['no signature', ''],
    ['an empty one', 'X-Paystack-Signature:\r\n'],
    ['too short', `X-Paystack-Signature: ${'a'.repeat(127)}\r\n`],
    ['too long', `X-Paystack-Signature: ${'a'.repeat(129)}\r\n`],
    ['no hexadecimal digits', `X-Paystack-Signature: ${'g'.repeat(128)}\r\n`],
    ['two of them', `X-Paystack-Signature: ${GOOD_SIGNATURE}\r\n`.repeat(2)],
  ])('%s', async (_why, signature) => {
    const startedAtMs = performance.now();
    const received = await api.raw(bodiless(signature));
    // At once: the body never comes, and the time limit for it is 10 s.
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
    expect(received).toMatch(/^HTTP\/1\.1 401 [^]*"error":"UNAUTHORIZED"/);
    expect(api.shop.vendors.events).toEqual([]);
  });

  test('one that is too large to be read gets its refusal, then the connection ends', async () => {
    const received = await api.raw(
      `POST /webhooks/paystack/test HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\n{`,
    );
    expect(received).toMatch(/^HTTP\/1\.1 401 [^]*Connection: close/);
  });
});

describe('all events that are being received use bounded memory', () => {
  const HALF = Math.trunc(MAX_EVENT_BYTES / 2) + 1_000;
  let small: TestApi;
  beforeEach(async () => {
    small = await startApi({ settings: { maxEventBytesInFlight: 2 * MAX_EVENT_BYTES } });
  });
  afterEach(() => small.close());

  /** Sends all but the last byte, and waits. */
  async function hold(
    from: string,
    bytes = HALF,
  ): Promise<{ received: () => string; end: (rest?: string) => void }> {
    const socket = connect({ port: small.server.port, host: '127.0.0.1', localAddress: from });
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(
      `POST /webhooks/paystack/test HTTP/1.1\r\nX-Paystack-Signature: ${GOOD_SIGNATURE}\r\nContent-Length: ${bytes}\r\n\r\n`,
    );
    await new Promise((resolve) => socket.write(Buffer.alloc(bytes - 1, 0x61), resolve));
    return {
      received: () => received,
      end: (rest) => {
        if (rest === undefined) socket.destroy();
        else socket.write(rest);
      },
    };
  }
  const keep = (from: string, rawBody: string | Buffer = EVENT): Promise<Reply> =>
    small.ask('/webhooks/paystack/test', {
      rawBody,
      from,
      headers: { 'x-paystack-signature': GOOD_SIGNATURE },
    });
  /** Larger than what is left in any case, and allowed on its own. */
  const LARGE = Buffer.alloc(MAX_EVENT_BYTES - 1, 0x61);

  test('one address has its share, the rest is for others, and a refused event comes again', async () => {
    const held = await hold('127.0.0.2');
    await until(
      () => keep('127.0.0.2', LARGE),
      ({ status }) => status === 503,
    );
    const refused = await keep('127.0.0.2', LARGE);
    expect([refused.status, refused.json, refused.headers['retry-after']]).toEqual([
      503,
      generalError(
        503,
        'SERVICE_UNAVAILABLE',
        'Too many events arrive at the same time, send this one again',
      ),
      '5',
    ]);
    expect((await keep('127.0.0.2')).status).toBe(200);
    expect((await keep('127.0.0.3', LARGE)).status).toBe(200);
    held.end('a');
    await until(held.received, (received) => received.startsWith('HTTP/1.1 200 '));
    expect((await keep('127.0.0.2', LARGE)).status).toBe(200);
  });

  test('all addresses together have a limit, and what a disconnected client used is free again', async () => {
    const held = await Promise.all(['127.0.0.2', '127.0.0.3', '127.0.0.4'].map((from) => hold(from)));
    await until(
      () => keep('127.0.0.5', LARGE),
      ({ status }) => status === 503,
    );
    expect((await keep('127.0.0.5')).status).toBe(200);
    for (const { end } of held) end();
    await until(
      () => keep('127.0.0.5', LARGE),
      ({ status }) => status === 200,
    );
  });
});
