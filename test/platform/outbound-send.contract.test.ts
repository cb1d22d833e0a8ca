/**
 * One attempt at a webhook: what is sent, and that every behaviour of a receiver becomes an outcome within
 * the limits. Nothing stays open.
 */
import { Socket } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createNetwork, type Network } from '../../src/platform/outbound/network.ts';
import { createWebhookSender } from '../../src/platform/outbound/webhook-sender.ts';
import type { RequestOutcome } from '../../src/platform/outbound/request.ts';
import { unreachableUrl, startAnsweringServer } from '../support/vendors/answering-server.ts';
import { until } from '../support/time/until.ts';
import { clock, divertedTo, startRawServer, type RawServer } from './outbound.support.ts';
import { forFile } from '../support/world/for-file.ts';

const SECRET = `whsec_${Buffer.from('a secret of tests only').toString('base64')}`;
const BODY = '{"event":"esim.purchased","data":{"name":"Ọ̀ṣun 😀"}}';
const LIMIT_MS = 400;
const PUBLIC = ['93.184.216.34'];
const policy = { httpsOnly: false, allowedRanges: ['127.0.0.0/8'] };

interface SendOptions {
  readonly network?: Network;
  readonly timeLimitMs?: number;
}

function send(
  url: string,
  { network = createNetwork(), timeLimitMs = 5_000 }: SendOptions = {},
): Promise<RequestOutcome> {
  const sender = createWebhookSender({ policy, network, clock, timeLimitMs });
  return sender.send({ url, messageId: 'msg-1', body: BODY, secrets: [SECRET] });
}

const receiver = await forFile(startAnsweringServer());

let raw: RawServer | undefined;
afterEach(async () => {
  // Every connection of ours was closed by us.
  if (raw)
    await until(
      () => raw?.open,
      (open) => open === 0,
      { what: 'connections that end' },
    );
  await raw?.close();
  raw = undefined;
});

async function sendTo(
  onConnection: (socket: Socket) => void,
  options: SendOptions = {},
): Promise<RequestOutcome> {
  raw = await startRawServer(onConnection);
  return send(raw.url, options);
}

describe('a request', () => {
  it('sends the body unchanged, and the headers of the standard', async () => {
    receiver.answerWith((response) => response.writeHead(200).end('{"ok":true}'));
    const outcome = await send(`${receiver.baseUrl}/hook?shop=7#part`);
    expect(outcome).toMatchObject({
      outcome: 'answered',
      status: 200,
      ms: expect.any(Number) as number,
      bodyStart: '{"ok":true}',
    });
    const [call] = receiver.calls;
    expect(call).toMatchObject({ method: 'POST', path: '/hook?shop=7', body: BODY });
    expect(call!.headers).toEqual({
      host: new URL(receiver.baseUrl).host,
      accept: '*/*',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(BODY)),
      'user-agent': 'Simway-Webhooks/1',
      'webhook-id': 'msg-1',
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/) as string,
      'webhook-signature': expect.stringMatching(/^v1,[\w+/]{43}=$/) as string,
      connection: 'close',
    });
    expect(new Webhook(SECRET).verify(call!.body, call!.headers as Record<string, string>)).toEqual(
      JSON.parse(BODY),
    );
  });

  it('goes to a name at its checked addresses, with the name as its host', async () => {
    receiver.answerWith((response) => response.end());
    const network = divertedTo(Number(new URL(receiver.baseUrl).port), () => Promise.resolve(PUBLIC));
    expect(await send('http://Shop.Example.com:80', { network })).toMatchObject({ status: 200 });
    expect(network.connected).toEqual([{ addresses: PUBLIC, port: 80 }]);
    expect(receiver.calls[0]).toMatchObject({ path: '/', headers: { host: 'shop.example.com' } });
  });

  it('is never sent with an invalid secret', async () => {
    receiver.answerWith((response) => response.end());
    const sender = createWebhookSender({ policy, network: createNetwork(), clock });
    const message = { url: receiver.baseUrl, messageId: 'msg-1', body: BODY };
    for (const secrets of [[], [''], ['whsec_'], ['whsec_%%%'], [SECRET, 'whsec_']])
      await expect(sender.send({ ...message, secrets })).rejects.toThrow();
    expect(receiver.calls).toHaveLength(0);
  });
});

describe('an answer', () => {
  it.each([200, 201, 202, 204, 299, 304, 400, 401, 404, 410, 429, 500, 502, 503, 599])(
    'of %i is reported with its status',
    async (status) => {
      receiver.answerWith((response) => response.writeHead(status).end());
      const outcome = await send(receiver.baseUrl);
      expect(outcome).toMatchObject({
        outcome: 'answered',
        status,
        ms: expect.any(Number) as number,
        bodyStart: '',
      });
      expect(receiver.calls).toHaveLength(1);
    },
  );

  it.each([429, 503, 200])('of %i may say when to retry', async (status) => {
    receiver.answerWith((response) => response.writeHead(status, { 'retry-after': '120' }).end());
    expect(await send(receiver.baseUrl)).toMatchObject({ status, retryAfterMs: 120_000 });
  });

  it('is kept up to its first kibibyte, in whole characters, as text that Postgres accepts', async () => {
    const startOf = async (body: string | Buffer): Promise<string> => {
      receiver.answerWith((response) => response.end(body));
      return (await send(receiver.baseUrl)).bodyStart;
    };
    expect(await startOf('x'.repeat(60_000))).toBe('x'.repeat(1_024));
    expect(await startOf(`${'x'.repeat(1_022)}😀${'y'.repeat(10)}`)).toBe('x'.repeat(1_022));
    expect(await startOf('é'.repeat(512))).toBe('é'.repeat(512));
    expect(await startOf('a\0b\0')).toBe('a\ufffdb\ufffd');
    expect(await startOf(Buffer.of(0xff, 0x41, 0xc3))).toBe('\ufffdA');
  });
});

describe('an answer that is too large', () => {
  const MAX = 64 * 1_024;
  it('is one beyond 64 KiB', async () => {
    receiver.answerWith((response) => response.end('x'.repeat(MAX)));
    expect(await send(receiver.baseUrl)).toMatchObject({ outcome: 'answered', status: 200 });
    receiver.answerWith((response) => response.end('x'.repeat(MAX + 1)));
    const cutOff = {
      outcome: 'failed',
      reason: 'answer-too-long',
      status: 200,
      bodyStart: 'x'.repeat(1_024),
    };
    expect(await send(receiver.baseUrl)).toMatchObject(cutOff);
  });

  it('of 10 MB is cut off long before its end', async () => {
    let written = 0;
    const outcome = await sendTo((socket) => {
      const chunk = Buffer.alloc(16_384, 'x');
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${10 * 1_024 * 1_024}\r\n\r\n`);
      const pour = (): void => {
        while (written < 10 * 1_024 * 1_024 && !socket.destroyed) {
          written += chunk.length;
          if (!socket.write(chunk)) {
            socket.once('drain', pour);
            return;
          }
        }
      };
      pour();
    });
    expect(outcome).toMatchObject({ outcome: 'failed', reason: 'answer-too-long', status: 200 });
    expect(written).toBeLessThan(10 * 1_024 * 1_024);
  });

  it('without an end is cut off, in chunks as well', async () => {
    const outcome = await sendTo((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
      const pour = (): void => {
        if (!socket.destroyed) socket.write(chunk, () => setImmediate(pour));
      };
      pour();
    });
    expect(outcome).toMatchObject({ reason: 'answer-too-long', bodyStart: 'x'.repeat(1_024) });
  });

  it('may be a flood of interim answers before the answer', async () => {
    const outcome = await sendTo((socket) => {
      const flood = (): void => {
        if (!socket.destroyed)
          socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(500), () => setImmediate(flood));
      };
      flood();
    });
    expect(outcome).toMatchObject({ outcome: 'failed', reason: 'answer-too-long' });
  });

  it('may be headers without end', async () => {
    const outcome = await sendTo((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}`);
    });
    expect(outcome).toMatchObject({ outcome: 'failed', reason: 'bad-answer' });
  });

  it('may be an endless redirect, of which only the first answer is read', async () => {
    receiver.answerWith((response) => response.writeHead(302, { location: '/hook' }).end());
    expect(await send(`${receiver.baseUrl}/hook`)).toMatchObject({ outcome: 'answered', status: 302 });
    expect(receiver.calls).toHaveLength(1);
  });
});

describe('an answer that is too slow', () => {
  /** Writes a byte now and then while the client is connected. */
  const trickle = (socket: Socket, head: string): void => {
    socket.write(head);
    const timer = setInterval(() => socket.write('x'), 20);
    socket.on('close', () => clearInterval(timer));
  };

  it.each([
    ['nothing at all', () => undefined],
    ['headers in a trickle', (socket: Socket) => trickle(socket, 'HTTP/1.1 200 OK\r\nX-Slow: ')],
    ['a status and no more', (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\n')],
  ])('may be %s', async (_name, onConnection) => {
    const outcome = await sendTo(onConnection, { timeLimitMs: LIMIT_MS });
    expect(outcome).toMatchObject({ outcome: 'failed', reason: 'time-limit', bodyStart: '' });
    expect(outcome.status).toBeUndefined();
    expect(outcome.ms).toBeGreaterThanOrEqual(LIMIT_MS - 5);
    expect(outcome.ms).toBeLessThan(LIMIT_MS + 2_000);
  });

  it.each([
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\nbegun'],
    ['until the end of the connection', 'HTTP/1.1 200 OK\r\n\r\nbegun'],
  ])('may be a body in a trickle %s', async (_name, head) => {
    const outcome = await sendTo((socket) => trickle(socket, head), { timeLimitMs: LIMIT_MS });
    expect(outcome).toMatchObject({ outcome: 'failed', reason: 'time-limit', status: 200 });
    expect(outcome.bodyStart).toMatch(/^begunx+$/);
  });

  it('may be a name server, a connection or a handshake that never ends', async () => {
    const silent = await startRawServer(() => undefined);
    const never: Network = { ...createNetwork(), resolve: () => new Promise(() => undefined) };
    const hanging: Network = { resolve: () => Promise.resolve(PUBLIC), connect: () => new Socket() };
    const mute = divertedTo(silent.port, () => Promise.resolve(PUBLIC));
    const outcomes = await Promise.all([
      send('http://shop.example.com/', { network: never, timeLimitMs: LIMIT_MS }),
      send('http://shop.example.com/', { network: hanging, timeLimitMs: LIMIT_MS }),
      send('https://shop.example.com/', { network: mute, timeLimitMs: LIMIT_MS }),
    ]);
    expect(outcomes.map((outcome) => outcome.outcome === 'failed' && outcome.reason)).toEqual(
      Array.from({ length: 3 }, () => 'time-limit'),
    );
    await until(
      () => silent.open,
      (open) => open === 0,
    );
    await silent.close();
  });

  it('is given up after 15 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const arrived = Promise.withResolvers<undefined>();
      raw = await startRawServer((socket) => socket.once('data', () => arrived.resolve(undefined)));
      const sender = createWebhookSender({ policy, network: createNetwork(), clock });
      const outcome = sender.send({ url: raw.url, messageId: 'msg-1', body: BODY, secrets: [SECRET] });
      const seen = vi.fn();
      void outcome.then(seen);
      await arrived.promise;
      await vi.advanceTimersByTimeAsync(14_999);
      expect(seen).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(await outcome).toMatchObject({
        reason: 'time-limit',
        detail: 'no complete answer within 15000 ms',
      });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a connection that breaks', () => {
  it.each([
    ['closed before the answer', (socket: Socket) => socket.end(), 'connection-lost'],
    ['reset before the answer', (socket: Socket) => socket.resetAndDestroy(), 'connection-lost'],
    ['closed within the headers', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nX-'), 'connection-lost'],
    ['no HTTP', (socket: Socket) => socket.end('220 mail.example.com ESMTP\r\n'), 'bad-answer'],
    ['other words', (socket: Socket) => socket.end('\u0000\u0001\u0002\r\n\r\n'), 'bad-answer'],
    [
      'two lengths',
      (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'),
      'bad-answer',
    ],
    [
      'another protocol',
      (socket: Socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      'bad-answer',
    ],
  ])('is reported: %s', async (_name, onData, reason) => {
    const outcome = await sendTo((socket) => socket.once('data', () => void onData(socket)));
    expect(outcome).toMatchObject({ outcome: 'failed', reason, bodyStart: '' });
    expect(outcome).toHaveProperty('detail', expect.stringMatching(/\S/));
  });

  const ENDINGS = [
    ['closed', (socket: Socket) => socket.end()],
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ] as const;
  const HEADS = [
    'Content-Length: 100\r\n\r\nhalf',
    'Connection: close\r\nContent-Length: 100\r\n\r\nhalf',
    'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    'Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nhalf',
  ];
  it.each(ENDINGS.flatMap(([how, end]) => HEADS.map((head) => [how, head, end] as const)))(
    'by %s within the body is reported with what was received: %j',
    async (_how, head, end) => {
      const outcome = await sendTo((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${head}`);
        void later(100).then(() => end(socket));
      });
      expect(outcome).toMatchObject({
        outcome: 'failed',
        reason: 'connection-lost',
        status: 200,
        bodyStart: 'half',
      });
    },
  );

  it('may have no server', async () => {
    expect(await send(await unreachableUrl())).toMatchObject({
      outcome: 'failed',
      reason: 'no-connection',
      detail: 'ECONNREFUSED',
    });
  });

  it('may have a name without an address', async () => {
    const network = { ...createNetwork(), resolve: () => Promise.reject(new Error('ENOTFOUND')) };
    expect(await send('http://shop.example.com/', { network })).toMatchObject({ reason: 'unresolved' });
  });

  it('to one address falls back to the other', async () => {
    receiver.answerWith((response) => response.end());
    const real = createNetwork();
    const port = Number(new URL(receiver.baseUrl).port);
    const network: Network = {
      resolve: () => Promise.resolve(PUBLIC),
      // The second address of this machine has no server, so the first that answers is used.
      connect: () => real.connect(['::1', '127.0.0.1'], port),
    };
    expect(await send('http://shop.example.com/', { network })).toMatchObject({ status: 200 });
  });
});
