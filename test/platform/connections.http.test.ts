// Strangers at the socket: how many connections they may hold, how slowly they may send and read, and that
// others are served meanwhile.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { MAX_REQUESTS_IN_PROGRESS } from '../../src/platform/http/limits.ts';
import { startApi, type TestApi } from '../support/http/api.ts';
import type { ToParent } from '../support/http/api-process.ts';
import { keyOf } from '../support/http/shop.ts';
import { until } from '../support/time/until.ts';

const opened: TestApi[] = [];
const sockets: Socket[] = [];
async function open(options: Parameters<typeof startApi>[0] = {}): Promise<TestApi> {
  const api = await startApi(options);
  opened.push(api);
  return api;
}
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(opened.splice(0).map((api) => api.close()));
});

type Client = Awaited<ReturnType<typeof come>>;

/** Connects, sends, and reads everything that arrives, unless `isReading` is false. */
async function come(port: number, from: string, bytes: string | Buffer = '', { isReading = true } = {}) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  sockets.push(socket);
  let received = '';
  let isClosed = false;
  socket.setEncoding('latin1');
  if (isReading) socket.on('data', (text: string) => (received += text));
  socket.on('error', () => undefined).on('close', () => (isClosed = true));
  await once(socket, 'connect');
  if (bytes !== '') socket.write(bytes);
  return { socket, received: () => received, isClosed: () => isClosed };
}

async function closed(api: TestApi, limit: string): Promise<number> {
  const metric = await api.metrics.registry.getSingleMetric('simway_http_connections_closed_total')?.get();
  return metric?.values.find(({ labels }) => labels['limit'] === limit)?.value ?? 0;
}

const RATE = '/api/settings/exchange-rate';
const GET = `GET ${RATE} HTTP/1.1\r\nHost: x\r\n\r\n`;
const ALL_BUT_A_BYTE = GET.slice(0, -1);
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('connections of one address', () => {
  const limits = { server: { maxConnectionsPerAddress: 3 } };

  test('above the limit are refused in the documented form; other addresses connect, and closing one makes room', async () => {
    const api = await open(limits);
    const held = await Promise.all([1, 2, 3].map(() => come(api.server.port, '127.0.0.2', ALL_BUT_A_BYTE)));
    const fourth = await come(api.server.port, '127.0.0.2');
    await until(fourth.isClosed, Boolean);
    expect(fourth.received()).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
    expect(fourth.received()).toMatch(/\r\nX-Request-Id: [0-9a-f-]{36}\r\nRetry-After: 1\r\n/);
    expect(fourth.received()).toContain('"code":"RATE_LIMIT_EXCEEDED"');
    expect(await closed(api, 'address')).toBe(1);
    expect((await api.ask(RATE, { from: '127.0.0.3' })).status).toBe(200);
    held[0]?.socket.destroy();
    await until(
      () =>
        api.ask(RATE, { from: '127.0.0.2' }).then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 200,
    );
  });

  test('are not limited for a trusted proxy', async () => {
    const api = await open({ ...limits, settings: { trustedProxies: ['127.0.0.2'] } });
    const held = await Promise.all(Array.from({ length: 10 }, () => come(api.server.port, '127.0.0.2')));
    expect((await api.ask(RATE, { from: '127.0.0.2' })).status).toBe(200);
    expect(held.some((client) => client.isClosed())).toBe(false);
  });
});

describe('connections in total', () => {
  test('make room for a new client by closing the oldest that waits for its client', async () => {
    const api = await open({ server: { maxConnections: 3 } });
    const slow: Client[] = [];
    for (const from of ['127.0.0.2', '127.0.0.3', '127.0.0.4'])
      slow.push(await come(api.server.port, from, ALL_BUT_A_BYTE));
    expect((await api.ask(RATE, { from: '127.0.0.9' })).status).toBe(200);
    await until(
      () => slow.map((client) => client.isClosed()),
      ([first]) => first === true,
    );
    expect(slow.map((client) => client.isClosed())).toEqual([true, false, false]);
    expect(await closed(api, 'idle')).toBe(1);
  });

  test('that send the rest of a body too slowly are closed to make room as well', async () => {
    const api = await open({ server: { maxConnections: 1 } });
    const head = `POST /api/esim/buy HTTP/1.1\r\nX-API-Key: ${keyOf('test', 'ngn')}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`;
    const slow = await come(api.server.port, '127.0.0.2', head);
    await until(
      () => api.shop.calls.length + api.limiter.counts.size,
      (count) => count > 0,
    );
    expect((await api.ask(RATE, { from: '127.0.0.9' })).status).toBe(200);
    await until(slow.isClosed, Boolean);
  });

  test('refuse a new client while all of them are being answered, and a trusted proxy is never closed', async () => {
    const api = await open({ server: { maxConnections: 2 }, settings: { trustedProxies: ['127.0.0.2'] } });
    const gate = Promise.withResolvers<undefined>();
    const { wallet } = api.shop.useCases.worlds.test;
    const original = wallet.getWallet;
    let asked = 0;
    wallet.getWallet = async (...given) => {
      asked += 1;
      await gate.promise;
      return original(...given);
    };
    const proxy = await come(api.server.port, '127.0.0.2');
    const busy = api.ask('/api/wallet/balance', { key: 'ngn', from: '127.0.0.3' });
    await until(
      () => asked,
      (count) => count === 1,
    );
    const refused = await come(api.server.port, '127.0.0.4');
    await until(refused.isClosed, Boolean);
    expect(refused.received()).toMatch(
      /^HTTP\/1\.1 503 Service Unavailable\r\n[^]*Retry-After: 5\r\n[^]*SERVICE_UNAVAILABLE/,
    );
    expect(await closed(api, 'total')).toBe(1);
    expect(proxy.isClosed()).toBe(false);
    gate.resolve(undefined);
    expect((await busy).status).toBe(200);
  });

  test(
    '2,000 that send all but a byte do not keep others out, and get the answer that they were too slow',
    { timeout: 20_000 },
    async () => {
      const short = { headersTimeoutMs: 4_000, requestTimeoutMs: 4_000, connectionsCheckIntervalMs: 100 };
      const api = await open({ server: { ...short, maxConnections: 1_000 } });
      const slow: Client[] = [];
      for (let round = 0; round < 20; round += 1) {
        const from = `127.0.1.${round % 10}`;
        slow.push(
          ...(await Promise.all(
            Array.from({ length: 100 }, () => come(api.server.port, from, ALL_BUT_A_BYTE)),
          )),
        );
        // Meanwhile, at any time:
        expect((await api.ask(RATE, { from: '127.0.0.9' })).status).toBe(200);
        expect((await api.ask('/api/wallet/balance', { key: 'ngn', from: '127.0.0.9' })).status).toBe(200);
      }
      expect(slow).toHaveLength(2_000);
      await until(() => slow.every((client) => client.isClosed()), Boolean);
      // Some of them were closed to make room; the others got an answer.
      const gotAnswer = slow.filter((client) => client.received().startsWith('HTTP/1.1 408 ')).length;
      const madeRoom = await closed(api, 'idle');
      expect(Math.min(gotAnswer, madeRoom)).toBeGreaterThan(0);
      expect(gotAnswer + madeRoom).toBeGreaterThanOrEqual(2_000);
    },
  );
});

describe('a client that sends and never reads', () => {
  const BIG = 'GET /docs/reference/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n';

  test('is closed once nothing has moved for the time limit', async () => {
    const api = await open({ server: { writeTimeoutMs: 300 } });
    // Far more than the buffers of both sides hold.
    const client = await come(api.server.port, '127.0.0.2', BIG.repeat(MAX_REQUESTS_IN_PROGRESS), {
      isReading: false,
    });
    await until(
      () => closed(api, 'unread'),
      (count) => count === 1,
    );
    client.socket.resume();
    await until(client.isClosed, Boolean);
    expect(await closed(api, 'unread')).toBe(1);
  });

  test('is not closed while it reads, however slowly', async () => {
    const writeTimeoutMs = 1_000;
    const api = await open({ server: { writeTimeoutMs } });
    const client = await come(api.server.port, '127.0.0.2', '', { isReading: false });
    let bytes = 0;
    let pauseAt = 1_000_000;
    const startedAtMs = performance.now();
    client.socket.on('data', (text: string) => {
      bytes += text.length;
      if (bytes < pauseAt) return;
      pauseAt += 1_000_000;
      client.socket.pause();
      setTimeout(() => client.socket.resume(), 100);
    });
    client.socket.write(BIG.repeat(MAX_REQUESTS_IN_PROGRESS - 1));
    client.socket.write(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    await until(client.isClosed, Boolean);
    expect(performance.now() - startedAtMs).toBeGreaterThan(1.5 * writeTimeoutMs);
    expect(await closed(api, 'unread')).toBe(0);
    expect(bytes).toBeGreaterThan(15_000_000);
  });

  test('gets its answer even if the answer takes longer than the time limit', async () => {
    const api = await open({ server: { writeTimeoutMs: 100 } });
    const { wallet } = api.shop.useCases.worlds.test;
    const original = wallet.getWallet;
    wallet.getWallet = async (...given) => {
      await sleep(400);
      return original(...given);
    };
    expect((await api.ask('/api/wallet/balance', { key: 'ngn' })).status).toBe(200);
  });

  test(`up to ${MAX_REQUESTS_IN_PROGRESS} requests may be sent ahead of their answers; one more closes the connection`, async () => {
    const api = await open();
    const polite = await come(api.server.port, '127.0.0.2', GET.repeat(MAX_REQUESTS_IN_PROGRESS));
    const answers = (): number => polite.received().split('HTTP/1.1 200 ').length - 1;
    await until(answers, (count) => count === MAX_REQUESTS_IN_PROGRESS);
    const rude = await come(api.server.port, '127.0.0.3', GET.repeat(MAX_REQUESTS_IN_PROGRESS + 1));
    await until(rude.isClosed, Boolean);
    expect(await closed(api, 'pipelined')).toBe(1);
    expect(polite.isClosed()).toBe(false);
  });

  test('a client may keep several requests ahead of their answers for as long as it likes', async () => {
    const api = await open();
    const all = 3 * MAX_REQUESTS_IN_PROGRESS;
    const client = await come(api.server.port, '127.0.0.2', GET.repeat(2));
    const answers = (): number => client.received().split('HTTP/1.1 200 ').length - 1;
    for (let sent = 2; sent < all; sent += 1) {
      await until(answers, (count) => count >= sent - 1);
      client.socket.write(GET);
    }
    await until(answers, (count) => count === all);
    expect(client.isClosed()).toBe(false);
  });

  test('cannot fill the memory', { timeout: 60_000 }, async () => {
    const child = fork(fileURLToPath(new URL('../support/http/api-process.ts', import.meta.url)), {
      stdio: 'inherit',
      execArgv: [...process.execArgv, '--expose-gc'],
    });
    const hear = async (): Promise<ToParent> => ((await once(child, 'message')) as [ToParent])[0];
    try {
      const first = await hear();
      const port = 'port' in first ? first.port : 0;
      const measure = async (): Promise<number> => {
        child.send('memory');
        const said = await hear();
        return 'heapBytes' in said ? said.heapBytes : 0;
      };
      const flood = async (clients: number): Promise<void> => {
        // The first answers fill the buffers on the way. Then the server holds only what it made of the small
        // requests after them.
        const bytes = BIG.repeat(8) + 'GET / HTTP/1.1\r\n\r\n'.repeat(3_000);
        const flooding = await Promise.all(
          Array.from({ length: clients }, () => come(port, '127.0.0.2', bytes, { isReading: false })),
        );
        // Until the server takes no more bytes from any of them.
        let unsent = '';
        await until(
          () => flooding.map(({ socket, isClosed }) => (isClosed() ? 0 : socket.writableLength)).join(),
          (now) => {
            const isStill = now === unsent;
            unsent = now;
            return isStill;
          },
          { everyMs: 500 },
        );
      };
      const before = await measure();
      await flood(20);
      expect((await measure()) - before).toBeLessThan(20_000_000);
    } finally {
      if (child.connected) child.send('stop');
      await once(child, 'exit');
    }
  });
});
