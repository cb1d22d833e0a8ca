/**
 * The Paystack client at a server that misbehaves in every way a vendor or a proxy can, on each call. Only a
 * clear answer of the vendor ends as done or refused, and no effect is sent twice.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
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
} from '../support/vendors/answering-gateway.ts';
import {
  cutOff,
  json,
  pour,
  resetIfKept,
  trickle,
  unclearAnswers,
  unreachableUrl,
  type Answering,
} from '../support/vendors/answering-server.ts';
import { saying } from './outcomes.ts';

const server = await startAnsweringGateway();
/** Accepts connections and reads nothing: what is sent never arrives. */
const behindTheWall: Socket[] = [];
const wall = createServer({ pauseOnConnect: true }, (socket) => behindTheWall.push(socket));
await new Promise<void>((resolve) => wall.listen(0, '127.0.0.1', resolve));
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

/** A statement fails by throwing; here it ends like the other calls. */
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

const BEGUN = '{"status":true,"data":{"reference":"txn-1"';
const unclear: [string, Answering, string | RegExp][] = [
  ...unclearAnswers(BEGUN),
  ['JSON with 200,000 levels', json(`${'['.repeat(200_000)}${']'.repeat(200_000)}`), 'not JSON'],
  ['429', json(no('Slow down'), 429), 'HTTP 429'],
  ['500', json(no('Sorry'), 500), 'HTTP 500'],
  ['500 with a success inside', json(yes(transaction()), 500), 'HTTP 500'],
  ['500 with an error inside', example('duplicate-reference', 500), 'HTTP 500'],
  ['an envelope without a status', json({ data: {} }), 'status is missing'],
  ['a success with status 404', json(yes(transaction()), 404), 'HTTP 404'],
  ['a success without data', json({ status: true, message: 'ok' }), / is no | is missing/],
  ['a success with data of a wrong type', json(yes('soon')), / is no | is missing/],
];
/** Answers that outlast every time limit. */
const endless: [string, Answering][] = [
  ['silence after the request', () => undefined],
  ['a trickle', trickle],
];
const SHORT_TIME_LIMIT_MS = 300;
const OVER_THE_LIMIT = saying('within 300 ms');
const matrix = Object.keys(calls).flatMap((call) => unclear.map((row) => [call, ...row] as const));

describe('the Paystack client has an unknown outcome', () => {
  it.each(matrix)('of %s after %s', async (call, _name, answer, detail) => {
    // findRefund and statement begin with other reads, which fail in the same way.
    server.answerWith(answer);
    const ending = await calls[call]!(server.gateway());
    expect(ending.outcome).toBe('unknown');
    expect(ending.detail).toMatch(detail);
    expect(server.calls).toHaveLength(1);
  });

  it.each(endless)('of every call after %s', async (_name, answer) => {
    server.answerWith(answer);
    const gateway = server.gateway({ timeLimitMs: SHORT_TIME_LIMIT_MS });
    const endings = await Promise.all(Object.values(calls).map((call) => call(gateway)));
    for (const ending of endings)
      expect(ending).toMatchObject({ outcome: 'unknown', detail: OVER_THE_LIMIT });
    expect(server.calls).toHaveLength(endings.length);
  });

  it.each(Object.entries(calls))('of %s after a refused connection', async (_name, call) => {
    const ending = await call(server.gateway({ baseUrl: await unreachableUrl() }));
    expect(ending).toMatchObject({ outcome: 'unknown', detail: saying('ECONNREFUSED') });
  });

  it('of every call after a request that never arrived', async () => {
    const { port } = wall.address() as AddressInfo;
    const gateway = server.gateway({
      baseUrl: `http://127.0.0.1:${port}`,
      timeLimitMs: SHORT_TIME_LIMIT_MS,
    });
    const endings = await Promise.all(Object.values(calls).map((call) => call(gateway)));
    for (const ending of endings)
      expect(ending).toMatchObject({ outcome: 'unknown', detail: OVER_THE_LIMIT });
  });

  it('of a charge at a host name that does not resolve', async () => {
    const gateway = server.gateway({ baseUrl: 'http://gateway.invalid', timeLimitMs: 5000 });
    expect((await gateway.charge(byCard)).outcome).toBe('unknown');
  });

  it.each([
    ['findCharge', 300 * 1024, 'more than 1048576 bytes'],
    ['charge on a page', 300 * 1024, 'more than 1048576 bytes'],
    ['statement', 3 * 1024 * 1024, 'more than 8388608 bytes'],
  ])('of %s after a body without end', async (call, bytes, detail) => {
    server.answerWith(pour(bytes));
    const ending = await calls[call]!(server.gateway({ timeLimitMs: 5000 }));
    expect(ending).toMatchObject({ outcome: 'unknown', detail: saying(detail) });
  });

  it.each(['findRefund', 'statement'])('of %s when only its second read fails', async (call) => {
    const first = call === 'findRefund' ? json(yes(transaction())) : json(yes([]));
    for (const answer of [cutOff(BEGUN, 'reset'), json(no('Sorry'), 500), json('{')]) {
      server.answerWith(first, answer);
      expect((await calls[call]!(server.gateway())).outcome).toBe('unknown');
    }
  });
});

describe('the Paystack client, a clear error', () => {
  it.each([
    ['charge by transfer', 'refused', example('charge-failed')],
    ['findCharge', 'done', example('verify-failed')],
    ['refund', 'done', json(yes(refundRow({ status: 'failed' })))],
    ['charge on a page', 'refused', example('duplicate-reference', 400)],
    ['findCharge', 'unknown', example('duplicate-reference', 400)],
    ['findRefund', 'unknown', example('duplicate-reference', 400)],
  ])('of %s ends as %s', async (call, outcome, answer) => {
    server.answerWith(answer);
    expect((await calls[call]!(server.gateway())).outcome).toBe(outcome);
  });

  it.each(Object.entries(calls))(
    'of %s under a wrong key is refused for an effect, and never for a lookup',
    async (name, call) => {
      server.answerWith(example('invalid-key', 401));
      const ending = await call(server.gateway());
      // For a statement, refused only means that a repeat cannot help.
      expect(ending.outcome).toBe(effects.includes(name) || name === 'statement' ? 'refused' : 'unknown');
    },
  );
});

describe('the Paystack client at a busy gateway', () => {
  it.each([
    [429, {}, 5000],
    [429, { 'retry-after': '7' }, 7000],
    [503, { 'retry-after': '999999' }, 60_000],
    [503, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 5000],
    [502, { 'retry-after': '7' }, undefined],
  ])(
    'after HTTP %i with %j has an unknown outcome and a wait of %s ms, on every call',
    async (status, headers, retryAfterMs) => {
      for (const call of Object.values(calls)) {
        server.answerWith(json(no('busy'), status, headers));
        const ending = await call(server.gateway());
        expect([ending.outcome, ending.retryAfterMs]).toEqual(['unknown', retryAfterMs]);
      }
    },
  );
});

describe('the Paystack client, its connection', () => {
  it('is kept alive', async () => {
    server.answerWith(json(yes(transaction())));
    const gateway = server.gateway();
    for (let i = 0; i < 5; i += 1) await gateway.findCharge('txn-1');
    expect(new Set(server.calls.map((call) => call.socketPort)).size).toBe(1);
  });

  it.each(['findCharge', 'charge on a page', 'charge by transfer', 'refund'])(
    'was closed by the vendor: %s is sent again only if it is a lookup',
    async (name) => {
      server.answerWith(resetIfKept(server, json(yes(transaction()))));
      const gateway = server.gateway();
      await gateway.findCharge('txn-1');
      const ending = await calls[name]!(gateway);
      const isLookup = name === 'findCharge';
      expect(ending.outcome).toBe(isLookup ? 'done' : 'unknown');
      expect(server.calls).toHaveLength(isLookup ? 3 : 2);
    },
  );
});

describe('the Paystack client, its details and alerts', () => {
  it('have no keys, e-mail addresses or account numbers', async () => {
    const reported: unknown[] = [];
    const echo: Answering = (response, call) =>
      json(
        no(`${String(call.headers['authorization'])} ${call.body} 0123456789`, { type: 'api_error' }),
        400,
      )(response, call);
    for (const call of Object.values(calls)) {
      server.answerWith(echo);
      reported.push(await call(server.gateway()), ...server.alerts);
    }
    expect(JSON.stringify(reported)).not.toMatch(/buyer@example\.com|0123456789|sk_test/);
  });
});
