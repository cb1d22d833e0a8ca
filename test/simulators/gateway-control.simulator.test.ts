import { describe, expect, it } from 'vitest';
import { NETWORK_KINDS } from '../../packages/simulators/paystack/faults.ts';
import {
  exchange,
  fresh,
  HOUR_MS,
  SECRET_KEY,
  sharedGateway,
  startGateway,
  until,
} from './gateway-simulator.support.ts';
import { describeRefusedFaults, expectShare } from './simulator.support.ts';

const gateway = sharedGateway();
const faultsNow = async () => (await gateway.control('GET', '/faults')).body;
async function raw(reference: string, signal?: AbortSignal) {
  const body = { email: 'a@example.com', amount: 500_000, reference, bank_transfer: {} };
  const headers = { authorization: `Bearer ${SECRET_KEY}` };
  return exchange(`${gateway.url}/charge`, 'POST', headers, JSON.stringify(body), signal).then(
    ({ status, text }) => ({ status, text }),
    (error: unknown) => {
      const { name, code } = error as { name: string; code?: string };
      return { status: 0, text: name === 'AbortError' ? 'no answer' : String(code) };
    },
  );
}
async function chargesHitBy(kind: string): Promise<number> {
  const { codes } = (await gateway.control('GET', '/stats')).body as {
    codes: Record<string, Record<string, number>>;
  };
  return codes['charge']?.[kind] ?? 0;
}
/** Sends one charge, and hangs up when the simulator has had it for a tenth of a second. */
async function hangUpOn(reference: string, kind: string) {
  const before = await chargesHitBy(kind);
  const hangUp = new AbortController();
  const answer = raw(reference, hangUp.signal);
  await until(async () => (await chargesHitBy(kind)) > before);
  await new Promise((resolve) => setTimeout(resolve, 100));
  hangUp.abort();
  return answer;
}
const isHeld = async (reference: string) =>
  (await gateway.control('GET', `/charges/${reference}`)).status === 200;

describe('the gateway simulator, its faults', () => {
  it('PUT adds to the active faults, DELETE clears them all', async () => {
    const defaults = await faultsNow();
    expect(defaults).toMatchObject({ webhooks: 'deliver', shortTransfer: 'settle', refund: 'process' });
    expect(await gateway.setFaults({ latencyMs: 1, loseAnswer: { next: 3 } })).toMatchObject({
      latencyMs: 1,
    });
    const both = { latencyMs: 2, loseAnswer: { next: 3 } };
    expect(await gateway.setFaults({ latencyMs: 2 })).toMatchObject(both);
    expect(await faultsNow()).toMatchObject(both);
    expect((await gateway.control('DELETE', '/faults')).body).toEqual(defaults);
  });

  describeRefusedFaults(gateway, [
    { nonsense: 1 },
    { webhooks: 'explode' },
    { latencyMs: -1 },
    { latencyMs: '5' },
    { loseAnswer: 2 },
    { loseAnswer: { next: 1, more: 1 } },
    { unknownReference: 500 },
    { shapeDrift: 1 },
    { unknownStatus: 'Not A Word' },
    { latencyMs: 5, unknown: 1 },
    { network: {} },
    { network: { kind: 'earthquake' } },
    { network: { kind: '500', operation: 'esim/order' } },
    { network: { kind: '500', next: 1, share: 0.5 } },
    { network: { kind: '500', share: 2 } },
    { network: { kind: '500', more: 1 } },
    { network: { kind: 'timeout-after', done: false } },
    { network: { kind: 'connect-refused', done: true } },
    { network: 'reset' },
    [],
    'text',
    '{"latencyMs":',
    '',
  ]);

  it('PUT /faults names every wrong field, also those of network', async () => {
    const body = { error: 2, what: 1, network: { kind: 'x', next: -1 } };
    const reply = await gateway.control('PUT', '/faults', body);
    expect((reply.body as { error: { problems: string[] } }).error.problems).toHaveLength(4);
  });
});

describe('the gateway simulator, GET /charges', () => {
  it('shows what the gateway holds', async () => {
    const { reference, page } = await gateway.initialize({ callback_url: 'https://shop.example/' });
    expect(await gateway.held(reference)).toEqual({
      reference,
      id: expect.any(Number) as number,
      status: 'abandoned',
      channel: null,
      email: 'buyer@example.com',
      requested: { amountMinor: 500_000, currency: 'NGN' },
      received: { amountMinor: 0, currency: 'NGN' },
      feesMinor: 0,
      givenBackMinor: 0,
      scenario: null,
      createdAt: new Date(gateway.clock.nowMs).toISOString(),
      paidAt: null,
      requests: 1,
      gatewayResponse: 'The transaction was not completed',
      callbackUrl: 'https://shop.example/',
      metadata: null,
      instructions: { kind: 'redirect', paymentUrl: page },
      payments: [],
      refunds: [],
      disputes: [],
      webhooks: [],
    });
    const transfer = await gateway.transfer();
    const { data } = await gateway.call('GET', `/charge/${transfer}`);
    expect((await gateway.held(transfer)).instructions).toEqual({
      kind: 'bank-transfer',
      bankName: 'Sandbox Bank',
      accountNumber: data['account_number'],
      accountName: data['account_name'],
      expiresAt: data['account_expires_at'],
    });
    expect(await isHeld('nothing')).toBe(false);
    expect((await gateway.control('POST', '/charges/nothing/pay')).status).toBe(404);
  });

  it('lists charges, newest first, by status, e-mail address, currency and time', async () => {
    const own = await startGateway();
    const first = await own.transfer({ email: 'first@example.com' });
    own.clock.nowMs += HOUR_MS;
    const { reference: second } = await own.initialize({ currency: 'USD' });
    await own.pay(second);
    const now = new Date(own.clock.nowMs).toISOString();
    for (const [query, expected] of [
      ['', [second, first]],
      ['?limit=1', [second]],
      ['?status=success', [second]],
      ['?email=first@example.com', [first]],
      ['?currency=USD', [second]],
      [`?from=${now}`, [second]],
      [`?to=${new Date(own.clock.nowMs - 1).toISOString()}`, [first]],
    ] as const) {
      const { body } = await own.control('GET', `/charges${query}`);
      const references = (body as { reference: string }[]).map(({ reference }) => reference);
      expect([query, references]).toEqual([query, expected]);
    }
    for (const query of ['?limit=0', '?limit=x', '?from=yesterday'])
      expect((await own.control('GET', `/charges${query}`)).status).toBe(400);
  });
});

describe('the gateway simulator, POST /charges', () => {
  it.each([
    ['pay', { amountMinor: 0 }],
    ['pay', { amountMinor: 1.5 }],
    ['pay', { currency: 'EUR' }],
    ['pay', { feesMinor: -1 }],
    ['pay', { times: 11 }],
    ['pay', { amount: 5 }],
    ['pay', []],
    ['pay', '{'],
    ['fail', { reason: '' }],
    ['abandon', { now: true }],
    ['reverse', { amountMinor: 5 }],
    ['dispute', { action: 'shout' }],
    ['dispute', { resolution: 'won' }],
  ])('%s refuses %j with 400 and changes nothing', async (name, body) => {
    const reference = await gateway.transfer();
    const before = await gateway.held(reference);
    const reply = await gateway.control('POST', `/charges/${reference}/${name}`, body);
    expect(reply.status).toBe(400);
    expect((reply.body as { error: { problems: string[] } }).error.problems).not.toEqual([]);
    expect(await gateway.held(reference)).toEqual(before);
  });
});

describe('the gateway simulator, GET /statement', () => {
  it('lists payments, refunds and reversals of a range, as JSON and CSV', async () => {
    const own = await startGateway({ refundDelayMs: 0 });
    const startMs = own.clock.nowMs;
    const reference = await own.paid();
    own.clock.nowMs += HOUR_MS;
    await own.call('POST', '/refund', { transaction: reference, amount: 100_000 });
    own.clock.nowMs += HOUR_MS;
    await own.act(reference, 'reverse');
    const at = (hours: number) => new Date(startMs + hours * HOUR_MS).toISOString();
    const lines = [
      { kind: 'charge', reference, amountMinor: 500_000, currency: 'NGN', feesMinor: 7500, at: at(0) },
      { kind: 'refund', reference, amountMinor: 100_000, currency: 'NGN', feesMinor: 0, at: at(1) },
      { kind: 'reversal', reference, amountMinor: 400_000, currency: 'NGN', feesMinor: 0, at: at(2) },
    ];
    expect(await own.statement()).toEqual(lines);
    expect(await own.statement(`?from=${at(1)}&to=${at(2)}`)).toEqual([lines[1]]);
    const csv = await exchange(`${own.controlUrl}/statement?format=csv&to=${at(1)}`, 'GET', {}, undefined);
    expect(csv.headers['content-type']).toBe('text/csv;charset=UTF-8');
    expect(csv.text).toBe(
      `kind,reference,amountMinor,currency,feesMinor,at\r\ncharge,${reference},500000,NGN,7500,${at(0)}\r\n`,
    );
    for (const query of ['?format=xml', '?from=x', '?to=2026-99-99'])
      expect((await own.control('GET', `/statement${query}`)).status).toBe(400);
  });

  it('has a line for each payment that was kept, in the amount and currency that came', async () => {
    const own = await startGateway();
    for (const payment of [{ amountMinor: 400_000 }, { amountMinor: 300, currency: 'USD' }, { times: 2 }])
      await own.pay(await own.transfer(), payment);
    await own.setFaults({ shortTransfer: 'return' });
    await own.pay(await own.transfer(), { amountMinor: 400_000 });
    expect(await own.statement()).toMatchObject([
      { kind: 'charge', amountMinor: 400_000, currency: 'NGN' },
      { kind: 'charge', amountMinor: 300, currency: 'USD' },
      { kind: 'charge', amountMinor: 500_000, currency: 'NGN' },
      { kind: 'charge', amountMinor: 500_000, currency: 'NGN' },
    ]);
  });
});

describe('the gateway simulator, its clock and counters', () => {
  it('POST /clock skips time, and refuses invalid times', async () => {
    const { nowMs } = gateway.clock;
    const { aheadMs } = (await gateway.control('GET', '/clock')).body as { aheadMs: number };
    const now = new Date(nowMs + aheadMs + HOUR_MS).toISOString();
    expect(await gateway.advance(HOUR_MS)).toEqual({ now, aheadMs: aheadMs + HOUR_MS });
    const { reference } = await gateway.initialize();
    expect(await gateway.verify(reference)).toMatchObject({ created_at: now });
    for (const wrong of [{}, { advanceMs: -1 }, { advanceMs: 1e15 }, { advanceMs: '1' }, { to: 'x' }, []])
      expect((await gateway.control('POST', '/clock', wrong)).status).toBe(400);
  });

  it('GET /stats counts calls by operation and by answer', async () => {
    const own = await startGateway();
    await own.transfer();
    await own.call('GET', '/transaction/verify/nothing');
    await own.call('GET', '/nowhere');
    await own.setFaults({ loseAnswer: 1 });
    await expect(own.transfer()).rejects.toThrow();
    await own.setFaults({ network: { kind: '429' } });
    await own.call('GET', '/refund');
    expect((await own.control('GET', '/stats')).body).toEqual({
      calls: { charge: 2, 'transaction/verify': 1, unknown: 1, 'refund/list': 1 },
      codes: {
        charge: { 200: 2 },
        'transaction/verify': { 404: 1 },
        unknown: { 404: 1 },
        'refund/list': { 429: 1 },
      },
      lostAnswers: 1,
      inFlight: 0,
    });
  });

  it('answers 404, 405 and 413 in JSON, and 200 on GET /health', async () => {
    expect((await gateway.control('GET', '/health')).body).toEqual({ ok: true });
    expect((await gateway.control('GET', '/nowhere')).status).toBe(404);
    expect((await gateway.control('POST', '/faults', {})).status).toBe(405);
    expect((await gateway.control('PUT', '/faults', { x: 'y'.repeat(70_000) })).status).toBe(413);
  });
});

describe('the gateway simulator, its network faults', () => {
  it.each([
    [{ kind: 'connect-refused', next: 9 }, 0, /^ECONNRESET$/, false],
    [{ kind: 'reset' }, 0, /^ECONNRESET$/, true],
    [{ kind: 'reset', done: false }, 0, /^ECONNRESET$/, false],
    [{ kind: '429' }, 429, /"status":false,"message":"Please wait/, false],
    [{ kind: '500' }, 500, /"type":"api_error"/, false],
    [{ kind: '500', done: true }, 500, /"type":"api_error"/, true],
    [{ kind: 'html-502' }, 502, /^<html>/, false],
    [{ kind: 'bad-json' }, 200, /^\{"status":true.*[^}]$/, true],
    [{ kind: 'failed-200' }, 200, /"status":true.*"data":\{"status":"failed","reference":"/, false],
    [{ kind: 'duplicate-reference' }, 400, /"code":"duplicate_reference"/, false],
    [{ kind: 'duplicate-reference', done: true }, 400, /"code":"duplicate_reference"/, true],
    [{ kind: 'trickle', trickleMs: 100 }, 200, /^\{"status":true.*\}$/, true],
    [{ kind: 'timeout-before' }, 0, /^no answer$/, false],
    [{ kind: 'timeout-after' }, 0, /^no answer$/, true],
    [{ kind: 'trickle', trickleMs: 30_000 }, 0, /^no answer$/, true],
  ])(
    '%j is answered with %i (0: none), and the charge is made as its row says',
    async (network, status, pattern, isDone) => {
      const reference = fresh();
      await gateway.setFaults({ network });
      const isEndless = pattern.source === '^no answer$';
      const answer = await (isEndless ? hangUpOn(reference, network.kind) : raw(reference));
      expect(answer.status).toBe(status);
      expect(answer.text).toMatch(pattern);
      expect(await isHeld(reference)).toBe(isDone);
    },
  );

  it('connect-refused for every call closes the port, until the fault is cleared', async () => {
    await gateway.setFaults({ network: { kind: 'connect-refused' } });
    const reference = fresh();
    expect(await raw(reference)).toMatchObject({ status: 0, text: 'ECONNREFUSED' });
    expect(await isHeld(reference)).toBe(false);
    await gateway.setFaults({ network: null });
    expect((await raw(reference)).status).toBe(200);
  });

  it('a `share` applies to that share of the calls, the same ones for the same seed', async () => {
    await expectShare(async () => {
      const own = await startGateway({ seed: 42 });
      await own.setFaults({ network: { kind: '500', share: 0.3 } });
      return async () => (await own.call('GET', '/transaction')).status === 500;
    });
  });

  it('has no kind but the eleven above', () => {
    expect(NETWORK_KINDS).toHaveLength(11);
  });
});

describe('the gateway simulator, its faults of format', () => {
  it('shapeDrift changes ids, empty values and names of fields, never money or status', async () => {
    const seen = { metadata: new Set<string>(), plan: new Set<string>(), split: new Set<string>() };
    for (let i = 0; i < 15; i += 1) {
      await gateway.setFaults({ shapeDrift: false });
      const reference = await gateway.paid();
      const plain = await gateway.verify(reference);
      await gateway.setFaults({ shapeDrift: true });
      const drifted = await gateway.verify(reference);
      const { text } = await gateway.call('GET', `/transaction/verify/${reference}`);
      const id = /"id":(\d+)/.exec(text)?.[1] ?? '';
      expect(BigInt(id)).toBe(BigInt(String(plain['id'])) + 2n ** 63n);
      for (const [name, values] of Object.entries(seen)) values.add(JSON.stringify(drifted[name]));
      for (const name of ['status', 'reference', 'amount', 'requested_amount', 'currency', 'fees'])
        expect(drifted[name]).toEqual(plain[name]);
      expect(drifted).toMatchObject({ requestedAmount: 500_000, settlement_hints: {} });
      expect((await gateway.call('GET', `/transaction/${id}`)).data['reference']).toBe(reference);
      const refund = await gateway.call('POST', '/refund', { transaction: id, amount: 1000 });
      const refundId = /"data":\{"id":(\d+)/.exec(refund.text)?.[1] ?? '';
      expect(BigInt(refundId)).toBeGreaterThan(2n ** 63n);
      for (const shapeDrift of [true, false]) {
        await gateway.setFaults({ shapeDrift });
        expect((await gateway.call('GET', `/refund/${refundId}`)).status).toBe(200);
      }
    }
    expect([...seen.metadata].toSorted()).toEqual(['""', '0', 'null', '{}']);
    expect([...seen.plan].toSorted()).toEqual(['""', '0', 'null', '{}']);
    expect([...seen.split].toSorted()).toEqual(['""', 'null', '{}']);
  });

  it('shapeDrift leaves metadata that was sent', async () => {
    await gateway.setFaults({ shapeDrift: true });
    const reference = await gateway.transfer({ metadata: { order: 7 } });
    expect((await gateway.verify(reference))['metadata']).toEqual({ order: 7 });
  });
});
