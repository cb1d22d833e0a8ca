/**
 * The gateway adapter against a server that misbehaves in every way a vendor or a proxy can, on each of its calls. Nothing but the
 * vendor's own clear answer may end as done or refused, and no effect is sent twice.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PaystackGateway } from '../../src/vendors/paystack/gateway.ts';
import { GatewayUnavailable } from '../../src/payments/port.ts';
import {
  byCard,
  byTransfer,
  example,
  giveBack,
  linesOf,
  no,
  refundRow,
  startAnsweringGateway,
  transaction,
  yes,
  type AnsweringGateway,
} from '../support/answering-gateway.ts';
import { deafUrl, json, type Answering } from '../support/answering-server.ts';

let server: AnsweringGateway;
/** Takes connections and reads nothing: what is sent never arrives. */
let wall: Server;
const behindTheWall: Socket[] = [];
beforeAll(async () => {
  server = await startAnsweringGateway();
  wall = createServer({ pauseOnConnect: true }, (socket) => behindTheWall.push(socket));
  await new Promise<void>((resolve) => wall.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await server.close();
  for (const socket of behindTheWall) socket.destroy();
  await new Promise((resolve) => wall.close(resolve));
});

interface Ending {
  readonly outcome: string;
  readonly detail?: string;
  readonly retryAfterMs?: number | undefined;
}

/** A statement ends by throwing; here it ends like the rest. */
async function statementEnding(gateway: PaystackGateway): Promise<Ending> {
  try {
    await linesOf(gateway);
    return { outcome: 'done' };
  } catch (error) {
    if (!(error instanceof GatewayUnavailable)) throw error;
    const { message: detail, retryAfterMs, retryable } = error;
    return { outcome: retryable ? 'unknown' : 'refused', detail, retryAfterMs };
  }
}

const calls: Record<string, (gateway: PaystackGateway) => Promise<Ending>> = {
  'charge on a page': (gateway) => gateway.charge(byCard),
  'charge by transfer': (gateway) => gateway.charge(byTransfer),
  findCharge: (gateway) => gateway.findCharge('txn-1'),
  refund: (gateway) => gateway.refund(giveBack),
  findRefund: (gateway) => gateway.findRefund(giveBack),
  statement: statementEnding,
};
const effects = ['charge on a page', 'charge by transfer', 'refund'];

const html = '<!doctype html><title>Bad gateway</title>';
const pour =
  (bytes: number): Answering =>
  (response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(bytes, ' ');
    const go = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', go);
    go();
  };
const drip: Answering = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};
const cutOff =
  (how: 'reset' | 'close'): Answering =>
  (response) => {
    response.writeHead(200, { 'content-length': '5000' });
    response.write('{"status":true,"data":{"reference":"txn-1"', () => {
      if (how === 'reset') response.socket?.resetAndDestroy();
      else response.socket?.end();
    });
  };

const unclear: [string, Answering, string | RegExp][] = [
  ['silence after the request', () => undefined, 'within 300 ms'],
  ['a trickle that outlasts the time limit', drip, 'within 300 ms'],
  ['a reset before any answer', (response) => void response.socket?.resetAndDestroy(), 'ECONNRESET'],
  ['a reset in the middle of the body', cutOff('reset'), 'ECONNRESET'],
  ['a body cut short by a clean close', cutOff('close'), 'other side closed'],
  ['429', json(no('Slow down'), 429), 'HTTP 429'],
  ['500', json(no('Sorry'), 500), 'HTTP 500'],
  ['500 with a yes inside', json(yes(transaction()), 500), 'HTTP 500'],
  ['500 with a no inside', example('duplicate-reference', 500), 'HTTP 500'],
  ['an HTML 502', (response) => void response.writeHead(502).end(html), 'HTTP 502'],
  ['an HTML 200', (response) => void response.writeHead(200).end(html), 'not JSON'],
  ['an HTML 403 of a firewall', (response) => void response.writeHead(403).end(html), 'HTTP 403'],
  ['a redirect', (response) => void response.writeHead(302, { location: '/elsewhere' }).end(), 'HTTP 302'],
  ['bad JSON', json('{"status":true,"data":{"reference":'), 'not JSON'],
  ['JSON nested beyond reason', json(`${'['.repeat(200_000)}${']'.repeat(200_000)}`), 'not JSON'],
  ['JSON that is no envelope', json([1, 2]), 'no object'],
  ['an envelope without a status', json({ data: {} }), 'status is missing'],
  ['an empty body', json(''), 'not JSON'],
  ['a yes with status 404', json(yes(transaction()), 404), 'HTTP 404'],
  ['a yes without data', json({ status: true, message: 'ok' }), / is no | is missing/],
  ['a yes with data of a wrong type', json(yes('soon')), / is no | is missing/],
];
const matrix = Object.keys(calls).flatMap((call) => unclear.map((row) => [call, ...row] as const));

describe('what is not the clear answer of the gateway leaves open', () => {
  it.each(matrix)('%s after %s', async (call, _name, answer, detail) => {
    // A search for a refund and a statement begin with other questions, which fare the same.
    server.answerWith(answer);
    // A short time limit only where the answer outlasts any.
    const ending = await calls[call]!(server.gateway(detail === 'within 300 ms' ? { timeLimitMs: 300 } : {}));
    expect(ending.outcome).toBe('unknown');
    expect(ending.detail).toMatch(detail);
    expect(server.calls).toHaveLength(1);
  });

  it.each(Object.entries(calls))('%s after a refused connection', async (_name, call) => {
    const ending = await call(server.gateway({ baseUrl: await deafUrl() }));
    expect(ending).toMatchObject({
      outcome: 'unknown',
      detail: expect.stringContaining('ECONNREFUSED') as unknown,
    });
  });

  it.each(Object.entries(calls))('%s after a request that never arrived', async (_name, call) => {
    const { port } = wall.address() as AddressInfo;
    const ending = await call(server.gateway({ baseUrl: `http://127.0.0.1:${port}`, timeLimitMs: 300 }));
    expect(ending).toMatchObject({
      outcome: 'unknown',
      detail: expect.stringContaining('within') as unknown,
    });
  });

  it('a charge at a name that does not resolve', async () => {
    const gateway = server.gateway({ baseUrl: 'http://gateway.invalid', timeLimitMs: 5000 });
    expect((await gateway.charge(byCard)).outcome).toBe('unknown');
  });

  it.each([
    ['findCharge', 300 * 1024, 'more than 1048576 bytes'],
    ['charge on a page', 300 * 1024, 'more than 1048576 bytes'],
    ['statement', 3 * 1024 * 1024, 'more than 8388608 bytes'],
  ])('%s after a body without end', async (call, bytes, detail) => {
    server.answerWith(pour(bytes));
    const ending = await calls[call]!(server.gateway({ timeLimitMs: 5000 }));
    expect(ending).toMatchObject({ outcome: 'unknown', detail: expect.stringContaining(detail) as unknown });
  });

  it.each(['findRefund', 'statement'])('%s when only its second question goes wrong', async (call) => {
    const first = call === 'findRefund' ? json(yes(transaction())) : json(yes([]));
    for (const answer of [cutOff('reset'), json(no('Sorry'), 500), json('{')]) {
      server.answerWith(first, answer);
      expect((await calls[call]!(server.gateway())).outcome).toBe('unknown');
    }
  });
});

describe('a clear answer that is bad news', () => {
  it.each([
    ['charge by transfer', example('charge-failed'), 'refused'],
    ['findCharge', example('verify-failed'), 'done'],
    ['refund', json(yes(refundRow({ status: 'failed' }))), 'done'],
    ['charge on a page', example('duplicate-reference', 400), 'refused'],
    ['findCharge', example('duplicate-reference', 400), 'unknown'],
    ['findRefund', example('duplicate-reference', 400), 'unknown'],
  ])('%s', async (call, answer, outcome) => {
    server.answerWith(answer);
    expect((await calls[call]!(server.gateway())).outcome).toBe(outcome);
  });

  it.each(Object.entries(calls))(
    '%s under a wrong key ends an effect, and never a question',
    async (name, call) => {
      server.answerWith(example('invalid-key', 401));
      const ending = await call(server.gateway());
      // A statement is no effect: that asking again cannot help is all it says.
      expect(ending.outcome).toBe(effects.includes(name) || name === 'statement' ? 'refused' : 'unknown');
    },
  );
});

describe('a gateway that is busy', () => {
  it.each([
    [429, {}, 5000],
    [429, { 'retry-after': '7' }, 7000],
    [503, { 'retry-after': '999999' }, 60_000],
    [503, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 5000],
    [502, { 'retry-after': '7' }, undefined],
  ])('by HTTP %i with %j is asked again later, on every call', async (status, headers, retryAfterMs) => {
    for (const call of Object.values(calls)) {
      server.answerWith(json(no('busy'), status, headers));
      const ending = await call(server.gateway());
      expect([ending.outcome, ending.retryAfterMs]).toEqual(['unknown', retryAfterMs]);
    }
  });
});

describe('a kept-alive connection', () => {
  it('is kept', async () => {
    server.answerWith(json(yes(transaction())));
    const gateway = server.gateway();
    for (let i = 0; i < 5; i += 1) await gateway.findCharge('txn-1');
    expect(new Set(server.calls.map((call) => call.socketPort)).size).toBe(1);
  });

  it.each(['findCharge', 'charge on a page', 'charge by transfer', 'refund'])(
    'that the gateway has closed: %s is sent again only if it is a question',
    async (name) => {
      const resetIfKept: Answering = (response, call) => {
        if (server.calls.some((other) => other !== call && other.socketPort === call.socketPort)) {
          response.socket?.resetAndDestroy();
        } else json(yes(transaction()))(response, call);
      };
      server.answerWith(resetIfKept);
      const gateway = server.gateway();
      await gateway.findCharge('txn-1');
      const ending = await calls[name]!(gateway);
      const isQuestion = name === 'findCharge';
      expect(ending.outcome).toBe(isQuestion ? 'done' : 'unknown');
      expect(server.calls).toHaveLength(isQuestion ? 3 : 2);
    },
  );
});

describe('what must not be told', () => {
  it('is in no detail and no alert: keys, addresses, account numbers', async () => {
    const told: unknown[] = [];
    const echo: Answering = (response, call) =>
      json(
        no(`${String(call.headers['authorization'])} ${call.body} 0123456789`, { type: 'api_error' }),
        400,
      )(response, call);
    for (const call of Object.values(calls)) {
      server.answerWith(echo);
      told.push(await call(server.gateway()), ...server.alerts);
    }
    expect(JSON.stringify(told)).not.toMatch(/buyer@example\.com|0123456789|sk_test/);
  });
});
