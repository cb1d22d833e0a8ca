// The server's sockets: slow and broken clients, memory under large posts, and an orderly stop.
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { startApi, type TestApi } from '../support/http/api.ts';
import { withChildApi } from '../support/http/child-api.ts';
import { keyOf } from '../support/http/shop.ts';

const opened: TestApi[] = [];
async function open(options: Parameters<typeof startApi>[0] = {}): Promise<TestApi> {
  const api = await startApi(options);
  opened.push(api);
  return api;
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((api) => api.close()));
});

/** A purchase up to its body. */
const postHead = (headers: string): string =>
  `POST /api/esim/buy HTTP/1.1\r\nX-API-Key: ${keyOf('test', 'ngn')}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;

const UUID = /X-Request-Id: [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\r\n/i;

describe('an invalid request gets an answer in the documented form, with a request id', () => {
  test.each([
    ['words', 'hello\r\n\r\n', 400, 'VALIDATION_ERROR'],
    ['TLS', Buffer.from('16030100c0010000bc0303', 'hex'), 400, 'VALIDATION_ERROR'],
    ['an unknown method', 'BREW /api HTTP/1.1\r\n\r\n', 400, 'VALIDATION_ERROR'],
    ['a bad version', 'GET / HTTP/9.9\r\n\r\n', 400, 'VALIDATION_ERROR'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nbroken\r\n\r\n', 400, 'VALIDATION_ERROR'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\na: \u0000\r\n\r\n', 400, 'VALIDATION_ERROR'],
    [
      'two lengths',
      'POST /api/esim/buy HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
      400,
      'VALIDATION_ERROR',
    ],
    [
      'an invalid length',
      'POST /api/esim/buy HTTP/1.1\r\nContent-Length: -1\r\n\r\n',
      400,
      'VALIDATION_ERROR',
    ],
    [
      'length and chunks (smuggling)',
      'POST /api/esim/buy HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'VALIDATION_ERROR',
    ],
    [
      'headers that are too large',
      `GET / HTTP/1.1\r\na: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    ['a path that is too long', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
  ])('%s', async (_why, bytes, status, code) => {
    const api = await open();
    const received = await api.raw(bytes);
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received).toMatch(UUID);
    const body = JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4)) as unknown;
    expect(body).toMatchObject({ success: false, error: { code }, statusCode: status });
  });

  test('a bad chunk in a body ends the request without a 500', async () => {
    const api = await open();
    const received = await api.raw(postHead('Transfer-Encoding: chunked') + 'zz\r\n');
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(api.logLines.some((line) => line.includes('"status":500'))).toBe(false);
  });
});

describe('unusual but valid requests', () => {
  const get = (line: string, headers = ''): string => `${line}\r\n${headers}Connection: close\r\n\r\n`;
  test.each([
    ['no Host', get('GET /api/settings/exchange-rate HTTP/1.1'), 200],
    ['HTTP/1.0', get('GET /api/settings/exchange-rate HTTP/1.0'), 200],
    [
      'the absolute form',
      get('GET http://other.example/api/settings/exchange-rate?x=1 HTTP/1.1', 'Host: x\r\n'),
      200,
    ],
    ['a broken absolute form', get('GET http://[::/api HTTP/1.1', 'Host: x\r\n'), 404],
    ['another scheme', get('GET ftp://x/api/settings/exchange-rate HTTP/1.1', 'Host: x\r\n'), 404],
    ['an asterisk', get('OPTIONS * HTTP/1.1', 'Host: x\r\n'), 404],
    ['a fragment', get('GET /api/settings/exchange-rate#x HTTP/1.1', 'Host: x\r\n'), 404],
    ['an upgrade', get('GET /api/settings/exchange-rate HTTP/1.1', 'Host: x\r\nUpgrade: websocket\r\n'), 200],
    [
      'an unknown expectation',
      get('GET /api/settings/exchange-rate HTTP/1.1', 'Host: x\r\nExpect: tea\r\n'),
      200,
    ],
  ])('get the right status: %s', async (_why, bytes, status) => {
    const api = await open();
    const received = await api.raw(bytes);
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received.toLowerCase()).toContain('x-request-id: ');
  });

  const continued = (length: number): string =>
    postHead(`Expect: 100-continue\r\nContent-Length: ${length}\r\nConnection: close`);

  test('with 100-continue and an allowed size get the go-ahead', async () => {
    const api = await open();
    expect(await api.raw(continued(2), (received) => received.includes('100 Continue'))).toMatch(
      /^HTTP\/1\.1 100 /,
    );
  });

  test('with 100-continue and a body that is too large do not', async () => {
    const api = await open();
    expect(await api.raw(continued(70_000), (received) => received.includes('TOO_LARGE'))).toMatch(
      /^HTTP\/1\.1 413 /,
    );
  });
});

describe('slow clients (promise A5, small)', () => {
  const slow = { headersTimeoutMs: 300, requestTimeoutMs: 300, connectionsCheckIntervalMs: 50 };
  const LONGEST_MS = 20_000;

  async function heldFor(
    api: TestApi,
    bytes: string,
    drip: string,
  ): Promise<{ ms: number; received: string }> {
    const startedAt = performance.now();
    const socket = connect(api.server.port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
    socket.on('error', () => undefined);
    socket.write(bytes);
    const dripping = setInterval(() => socket.writable && socket.write(drip), 20);
    await once(socket, 'close');
    clearInterval(dripping);
    return { ms: performance.now() - startedAt, received };
  }

  test.each([
    ['headers', 'GET / HTTP/1.1\r\na: ', 'x'],
    ['body', postHead('Content-Length: 5000'), ' '],
  ])('slow %s are cut off with 408', async (_why, bytes, drip) => {
    const api = await open({ server: slow });
    const { ms, received } = await heldFor(api, bytes, drip);
    expect(ms).toBeLessThan(LONGEST_MS);
    expect(received).toMatch(/^HTTP\/1\.1 408 /);
    expect(received).toContain('REQUEST_TIMEOUT');
  });

  test('a silent socket is closed', async () => {
    const api = await open({ server: slow });
    expect((await heldFor(api, '', '')).ms).toBeLessThan(LONGEST_MS);
  });

  test('slow clients do not delay others', async () => {
    const api = await open({ server: { ...slow, headersTimeoutMs: 5_000, requestTimeoutMs: 5_000 } });
    const sockets = Array.from({ length: 200 }, () => connect(api.server.port, '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => undefined).write('GET / HTTP/1.1\r\na: ');
    expect((await api.ask('/api/settings/exchange-rate')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});

test(
  'large posts in parallel are refused without filling memory (promise A6, small)',
  { timeout: 60_000 },
  () =>
    withChildApi(async ({ port, measure }) => {
      const megabyte = Buffer.alloc(1_000_000, 0x20);
      const post = (chunks: number): Promise<string> =>
        new Promise((resolve) => {
          let received = '';
          const socket: Socket = connect(port, '127.0.0.1');
          socket.setEncoding('latin1').on('data', (text: string) => (received += text));
          socket.on('error', () => undefined).on('close', () => resolve(received));
          socket.write(postHead('Transfer-Encoding: chunked\r\nConnection: close'));
          for (let sent = 0; sent < chunks; sent += 1) {
            socket.write(`${megabyte.length.toString(16)}\r\n`);
            socket.write(megabyte);
            socket.write('\r\n');
          }
          socket.write('0\r\n\r\n');
        });
      await post(1);
      const before = await measure();
      const [after] = await Promise.all([measure(), ...Array.from({ length: 20 }, () => post(10))]);
      const replies = await Promise.all(Array.from({ length: 20 }, () => post(10)));
      const end = await measure();
      for (const reply of replies) if (reply !== '') expect(reply).toMatch(/^HTTP\/1\.1 413 /);
      expect(replies.some((reply) => reply !== '')).toBe(true);
      expect(Math.max(after.rssBytes, end.rssBytes) - before.rssBytes).toBeLessThan(50_000_000);
    }),
);

describe('stopping', () => {
  function holdBuy(api: TestApi): { release: () => void; started: Promise<void> } {
    const { purchases } = api.shop.useCases.worlds.test;
    const original = purchases.buy;
    const gate = Promise.withResolvers<undefined>();
    const started = Promise.withResolvers<undefined>();
    purchases.buy = async (...asked) => {
      started.resolve(undefined);
      await gate.promise;
      return original(...asked);
    };
    return { release: () => gate.resolve(undefined), started: started.promise };
  }
  const BODY = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };

  test('finishes requests in progress, refuses new connections and closes idle ones', async () => {
    const api = await open();
    const idle = connect(api.server.port, '127.0.0.1').on('error', () => undefined);
    await once(idle, 'connect');
    const held = holdBuy(api);
    const answer = api.ask('/api/esim/buy', { key: 'ngn', body: BODY });
    await held.started;
    let stopped = false;
    const startedAt = performance.now();
    const stopping = api.server.stop(10_000).then(() => (stopped = true));
    await expect(api.ask('/api/settings/exchange-rate')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(stopped).toBe(false);
    held.release();
    const reply = await answer;
    expect([reply.status, reply.headers.connection]).toEqual([201, 'close']);
    await stopping;
    expect(performance.now() - startedAt).toBeLessThan(9_000);
    idle.destroy();
  });

  test('closes a kept-alive connection after its answer, not before', async () => {
    const api = await open();
    const agent = new Agent({ keepAlive: true });
    const held = holdBuy(api);
    const reply = new Promise<number | undefined>((resolve, reject) => {
      const payload = JSON.stringify(BODY);
      const request = httpRequest(
        {
          agent,
          port: api.server.port,
          host: '127.0.0.1',
          method: 'POST',
          path: '/api/esim/buy',
          headers: { 'x-api-key': keyOf('test', 'ngn'), 'content-type': 'application/json' },
        },
        (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode));
        },
      );
      request.on('error', reject);
      request.end(payload);
    });
    await held.started;
    const stopping = api.server.stop(10_000);
    held.release();
    expect(await reply).toBe(201);
    await stopping;
    agent.destroy();
  });

  test('does not stop a purchase whose caller has left, which is no error of ours', async () => {
    const api = await open();
    const held = holdBuy(api);
    const payload = JSON.stringify(BODY);
    const socket = connect(api.server.port, '127.0.0.1');
    socket.write(postHead(`Idempotency-Key: left\r\nContent-Length: ${payload.length}`) + payload);
    await held.started;
    socket.destroy();
    await once(socket, 'close');
    held.release();
    await expect.poll(() => api.logLines.some((line) => line.includes('"route"'))).toBe(true);
    const again = await api.ask('/api/esim/buy', {
      key: 'ngn',
      body: BODY,
      headers: { 'idempotency-key': 'left' },
    });
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, 'true']);
    expect(await api.shop.purchases()).toBe(1);
    expect(api.logLines.join('')).not.toContain('"level":"error"');
  });

  test('cuts what is left at the deadline', async () => {
    const api = await open();
    const held = holdBuy(api);
    const answer = api.ask('/api/esim/buy', { key: 'ngn', body: BODY });
    const failed = expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' });
    await held.started;
    const startedAt = performance.now();
    await api.server.stop(200);
    expect(performance.now() - startedAt).toBeLessThan(9_000);
    await failed;
    held.release();
  });

  test('works when called twice; starting on a taken port is an error', async () => {
    const api = await open();
    await expect(startApi({ server: { port: api.server.port } })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    await Promise.all([api.server.stop(500), api.server.stop(500)]);
  });
});
