/**
 * The control interface: what it answers, what it refuses, and that a bad request changes nothing.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { exchange, HOUR_MS, startGateway, stopAll, type TestGateway } from './gateway-simulator.support.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(async () => {
  await gateway.control('DELETE', '/faults');
});
afterAll(stopAll);

const setFaults = (body: unknown) => gateway.control('PUT', '/faults', body);

describe('faults', () => {
  it('are laid over what is set, and reset', async () => {
    const defaults = (await gateway.control('DELETE', '/faults')).body as Record<string, unknown>;
    expect(defaults).toMatchObject({ webhooks: 'deliver', shortTransfer: 'settle', refund: 'process' });
    expect((await setFaults({ latencyMs: 1, loseAnswer: { next: 3 } })).body).toMatchObject({ latencyMs: 1 });
    expect((await setFaults({ latencyMs: 2 })).body).toMatchObject({ latencyMs: 2, loseAnswer: { next: 3 } });
    expect((await gateway.control('GET', '/faults')).body).toMatchObject({ latencyMs: 2 });
    expect((await setFaults({})).status).toBe(200);
    expect((await gateway.control('DELETE', '/faults')).body).toEqual(defaults);
  });

  it.each([
    { nonsense: 1 },
    { webhooks: 'explode' },
    { latencyMs: -1 },
    { latencyMs: '5' },
    { loseAnswer: 2 },
    { loseAnswer: { next: 1, more: 1 } },
    { error: true },
    { shortTransfer: 'keep' },
    { refund: 'maybe' },
    { refundDelayMs: 0.5 },
    { unknownReference: 500 },
    { unknownReference: '404' },
    { otherIntegration: 'yes' },
    { chargeFailedEvents: 'yes' },
    { shapeDrift: 1 },
    { unknownStatus: 'Not A Word' },
    { unknownStatus: 7 },
    { webhookBytes: 'binary' },
    { retries: 'never' },
    { rejectedAmount: 'euro' },
    { latencyMs: 5, unknown: 1 },
    [],
    7,
    'text',
    '{"latencyMs":',
    '',
  ])('PUT /faults refuses %j with 400 and changes nothing', async (body) => {
    const before = (await gateway.control('GET', '/faults')).body;
    const reply = await setFaults(body);
    expect(reply.status).toBe(400);
    expect((reply.body as { error: { message: string } }).error.message).not.toBe('');
    expect((await gateway.control('GET', '/faults')).body).toEqual(before);
  });

  it('every wrong field is named, those of network too', async () => {
    const { body } = await setFaults({ error: 2, what: 1, network: { kind: 'x', next: -1 } });
    expect((body as { error: { problems: string[] } }).error.problems).toHaveLength(4);
  });
});

describe('charges', () => {
  it('shows what the gateway really holds', async () => {
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
    expect((await gateway.control('GET', '/charges/nothing')).status).toBe(404);
    expect((await gateway.control('POST', '/charges/nothing/pay')).status).toBe(404);
  });

  it('lists them, newest first, by status, address, currency and time', async () => {
    const own = await startGateway();
    const first = await own.transfer({ email: 'first@example.com' });
    own.clock.nowMs += HOUR_MS;
    const { reference: second } = await own.initialize({ currency: 'USD' });
    await own.pay(second);
    const listed = async (query: string) =>
      ((await own.control('GET', `/charges${query}`)).body as { reference: string }[]).map(
        ({ reference }) => reference,
      );
    expect(await listed('')).toEqual([second, first]);
    expect(await listed('?limit=1')).toEqual([second]);
    expect(await listed('?status=success')).toEqual([second]);
    expect(await listed('?email=first@example.com')).toEqual([first]);
    expect(await listed('?currency=USD')).toEqual([second]);
    const now = new Date(own.clock.nowMs).toISOString();
    expect(await listed(`?from=${now}`)).toEqual([second]);
    expect(await listed(`?to=${new Date(own.clock.nowMs - 1).toISOString()}`)).toEqual([first]);
    for (const query of ['?limit=0', '?limit=x', '?from=yesterday']) {
      expect((await own.control('GET', `/charges${query}`)).status).toBe(400);
    }
  });

  it.each([
    ['pay', { amountMinor: 0 }],
    ['pay', { amountMinor: -1 }],
    ['pay', { amountMinor: 1.5 }],
    ['pay', { amountMinor: '5' }],
    ['pay', { currency: 'EUR' }],
    ['pay', { feesMinor: -1 }],
    ['pay', { times: 0 }],
    ['pay', { times: 11 }],
    ['pay', { amount: 5 }],
    ['pay', []],
    ['pay', 'x'],
    ['pay', '{'],
    ['fail', { reason: '' }],
    ['fail', { why: 'x' }],
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

describe('the statement', () => {
  it('has charges, refunds and reversals within a range, as JSON and CSV', async () => {
    const own = await startGateway({ refundDelayMs: 0 });
    const first = await own.transfer();
    const startMs = own.clock.nowMs;
    await own.pay(first);
    own.clock.nowMs += HOUR_MS;
    await own.call('POST', '/refund', { transaction: first, amount: 100_000 });
    own.clock.nowMs += HOUR_MS;
    await own.deed(first, 'reverse');
    const at = (hours: number) => new Date(startMs + hours * HOUR_MS).toISOString();
    const line = (kind: string, amountMinor: number, feesMinor: number, hours: number) => ({
      kind,
      reference: first,
      amountMinor,
      currency: 'NGN',
      feesMinor,
      at: at(hours),
    });
    const statement = async (query: string) => (await own.control('GET', `/statement${query}`)).body;
    expect(await statement('')).toEqual([
      line('charge', 500_000, 7500, 0),
      line('refund', 100_000, 0, 1),
      line('reversal', 400_000, 0, 2),
    ]);
    expect(await statement(`?from=${at(1)}&to=${at(2)}`)).toEqual([line('refund', 100_000, 0, 1)]);
    const csv = await exchange(`${own.controlUrl}/statement?format=csv&to=${at(1)}`, 'GET', {}, undefined);
    expect(csv.headers['content-type']).toBe('text/csv;charset=UTF-8');
    expect(csv.text).toBe(
      `kind,reference,amountMinor,currency,feesMinor,at\r\ncharge,${first},500000,NGN,7500,${at(0)}\r\n`,
    );
    for (const query of ['?format=xml', '?from=x', '?to=2026-99-99']) {
      expect((await own.control('GET', `/statement${query}`)).status).toBe(400);
    }
  });
});

describe('the machine', () => {
  it('skips time', async () => {
    const { nowMs } = gateway.clock;
    const before = (await gateway.control('GET', '/clock')).body as { now: string; aheadMs: number };
    const after = await gateway.control('POST', '/clock', { advanceMs: HOUR_MS });
    expect(after.body).toEqual({
      now: new Date(nowMs + before.aheadMs + HOUR_MS).toISOString(),
      aheadMs: before.aheadMs + HOUR_MS,
    });
    const body = { email: 'a@example.com', amount: 5000 };
    const { data } = await gateway.call('POST', '/transaction/initialize', body);
    const { created_at } = await gateway.verify(String(data['reference']));
    expect(Date.parse(String(created_at))).toBe(nowMs + before.aheadMs + HOUR_MS);
    for (const wrong of [
      {},
      { advanceMs: -1 },
      { advanceMs: 1e15 },
      { advanceMs: '1' },
      { to: 'tomorrow' },
      [],
    ]) {
      expect((await gateway.control('POST', '/clock', wrong)).status).toBe(400);
    }
  });

  it('counts calls by operation and by how they were answered', async () => {
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

  it('says what is not there, and which methods are', async () => {
    expect((await gateway.control('GET', '/health')).body).toEqual({ ok: true });
    expect((await gateway.control('GET', '/nowhere')).status).toBe(404);
    expect((await gateway.control('POST', '/faults', {})).status).toBe(405);
    expect((await gateway.control('PUT', '/faults', { x: 'y'.repeat(70_000) })).status).toBe(413);
  });
});
