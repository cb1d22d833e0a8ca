/**
 * Refunds: partial and full, their steps and events, what is refused, and how they fail.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, startGateway, stopAll, type TestGateway } from './gateway-simulator.support.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(async () => {
  await gateway.control('DELETE', '/faults');
});
afterAll(stopAll);

async function paid(extra: Record<string, unknown> = {}): Promise<string> {
  const reference = await gateway.transfer(extra);
  await gateway.pay(reference);
  return reference;
}
const refund = (transaction: unknown, extra: Record<string, unknown> = {}) =>
  gateway.call('POST', '/refund', { transaction, ...extra });
const statusOf = async (id: unknown) => (await gateway.call('GET', `/refund/${String(id)}`)).data['status'];
const listed = async (query: string) =>
  (await gateway.call('GET', `/refund?${query}`)).data as unknown as Record<string, unknown>[];
const refundEvents = async (reference: string) =>
  (await gateway.held(reference)).webhooks
    .map(({ event }) => event)
    .filter((event) => event !== 'charge.success');

describe('a full refund', () => {
  it('is queued, goes through its steps, and leaves the charge reversed', async () => {
    const reference = await paid();
    const reply = await refund(reference);
    expect(reply).toMatchObject({ status: 200, message: 'Refund has been queued for processing' });
    expect(reply.data).toMatchObject({
      status: 'pending',
      amount: 500_000,
      currency: 'NGN',
      transaction: { reference, status: 'success' },
      customer_note: `Refund for transaction ${reference}`,
      refunded_at: null,
    });
    const { id } = reply.data;
    await gateway.advance(299);
    expect(await statusOf(id)).toBe('pending');
    await gateway.advance(1);
    expect(await statusOf(id)).toBe('processing');
    expect((await gateway.verify(reference))['status']).toBe('success');
    await gateway.advance(300);
    expect(await statusOf(id)).toBe('processed');
    expect(await gateway.verify(reference)).toMatchObject({ status: 'reversed', amount: 500_000 });
    expect(await refundEvents(reference)).toEqual([
      'refund.pending',
      'refund.processing',
      'refund.processed',
    ]);
    const lines = (await gateway.statement()).filter((line) => line.reference === reference);
    expect(lines.map(({ kind, amountMinor }) => [kind, amountMinor])).toEqual([
      ['charge', 500_000],
      ['refund', 500_000],
    ]);
    expect(await refund(reference)).toMatchObject({
      status: 400,
      message: 'Transaction has been fully reversed',
    });
  });

  it('its events have amounts as strings, and no id', async () => {
    const reference = await paid();
    await refund(reference);
    await gateway.advance(1000);
    const held = await gateway.held(reference);
    const [pending] = eventsOf(held, 'refund.pending');
    expect(pending).toMatchObject({
      status: 'pending',
      transaction_reference: reference,
      refund_reference: null,
      amount: '500000',
      customer: { email: 'buyer@example.com' },
      domain: 'test',
    });
    expect(pending).not.toHaveProperty('id');
    expect(eventsOf(held, 'refund.processed')).toMatchObject([
      { amount: '500000', refund_reference: expect.stringMatching(/^\d+$/) as string },
    ]);
  });

  it('takes the delay of the fault', async () => {
    await gateway.setFaults({ refundDelayMs: 5000 });
    const { data } = await refund(await paid());
    await gateway.advance(9999);
    expect(await statusOf(data['id'])).toBe('processing');
    await gateway.advance(1);
    expect(await statusOf(data['id'])).toBe('processed');
  });
});

describe('partial refunds', () => {
  it('never exceed what was paid, those on the way included', async () => {
    const reference = await paid();
    expect((await refund(reference, { amount: 200_000 })).status).toBe(200);
    expect((await refund(reference, { amount: '200000' })).status).toBe(200);
    expect(await refund(reference, { amount: 100_001 })).toMatchObject({
      status: 400,
      code: 'invalid_amount',
    });
    await gateway.advance(1000);
    expect((await gateway.verify(reference))['status']).toBe('success');
    expect((await refund(reference)).data['amount']).toBe(100_000);
    expect(await refund(reference)).toMatchObject({ status: 400, code: 'transaction_reversed' });
    await gateway.advance(1000);
    expect((await gateway.verify(reference))['status']).toBe('reversed');
    expect((await gateway.held(reference)).givenBackMinor).toBe(500_000);
  });

  it('of a charge paid twice: up to all that came', async () => {
    const reference = await gateway.transfer();
    await gateway.pay(reference, { times: 2 });
    expect((await refund(reference, { amount: 900_000 })).status).toBe(200);
    expect((await refund(reference, { amount: 100_001 })).status).toBe(400);
  });

  it('keep their notes, and are found by transaction, reference and range', async () => {
    const reference = await paid();
    const { id } = await gateway.verify(reference);
    const first = await refund(reference, { amount: 1000, merchant_note: 'key-1', customer_note: 'sorry' });
    await refund(String(id), { amount: 2000, merchant_note: 'key-2' });
    await refund(id, { amount: 3000, merchant_note: 'key-3' });
    expect(first.data).toMatchObject({ merchant_note: 'key-1', customer_note: 'sorry' });
    const notes = ['key-3', 'key-2', 'key-1'];
    for (const query of [`transaction=${String(id)}`, `transaction=${reference}`, `reference=${reference}`]) {
      const found = await listed(query);
      expect(found.map((each) => each['merchant_note'])).toEqual(notes);
      expect(found.every((each) => each['transaction'] === id)).toBe(true);
    }
    expect(await listed(`transaction=${reference}&perPage=1&page=2`)).toMatchObject([
      { merchant_note: 'key-2' },
    ]);
    expect(await listed('transaction=nothing')).toEqual([]);
    expect(await listed(`transaction=${reference}&currency=USD`)).toEqual([]);
    expect((await listed('perPage=2')).map((each) => each['merchant_note'])).toEqual(['key-3', 'key-2']);
    const later = new Date(gateway.clock.nowMs + 365 * 86_400_000).toISOString();
    expect(await listed(`from=${later}`)).toEqual([]);
    const fetched = await gateway.call('GET', `/refund/${String(first.data['id'])}`);
    expect(fetched).toMatchObject({
      message: 'Refund retrieved',
      data: { merchant_note: 'key-1', amount: 1000, transaction: id },
    });
  });
});

describe('refused', () => {
  it.each([
    [{}, 400, 'missing_params'],
    [{ transaction: '' }, 400, 'missing_params'],
    [{ transaction: {} }, 400, 'invalid_params'],
    [{ transaction: 'nothing-here' }, 404, 'transaction_not_found'],
    [{ transaction: 99 }, 404, 'transaction_not_found'],
  ])('%j is %i %s', async (body, status, code) => {
    expect(await gateway.call('POST', '/refund', body)).toMatchObject({ status, code });
  });

  it('what is wrong with amount, currency and state', async () => {
    const reference = await paid();
    for (const amount of [0, -1, 1.5, 'all', 500_001]) {
      expect(await refund(reference, { amount })).toMatchObject({ status: 400, code: 'invalid_amount' });
    }
    expect((await refund(reference, { currency: 'USD' })).status).toBe(400);
    const unpaid = await gateway.transfer();
    expect(await refund(unpaid)).toMatchObject({ status: 400, code: 'transaction_not_paid' });
    const { reference: dollars } = await gateway.initialize({ currency: 'USD', amount: 500 });
    await gateway.pay(dollars);
    expect((await refund(dollars, { amount: 99 })).message).toBe('Cannot refund less than USD 1');
    expect((await gateway.call('GET', '/refund/12')).status).toBe(404);
    expect((await gateway.call('GET', '/refund/x')).status).toBe(404);
    expect((await gateway.held(reference)).refunds).toEqual([]);
  });
});

describe('in trouble', () => {
  it('fail: the money is back with the merchant, and may be refunded again', async () => {
    await gateway.setFaults({ refund: 'fail' });
    const reference = await paid();
    const { data } = await refund(reference);
    await gateway.advance(600);
    expect(await statusOf(data['id'])).toBe('failed');
    expect((await gateway.verify(reference))['status']).toBe('success');
    expect(eventsOf(await gateway.held(reference), 'refund.failed')).toMatchObject([{ amount: 500_000 }]);
    expect((await gateway.statement()).filter((line) => line.reference === reference)).toHaveLength(1);
    await gateway.setFaults({ refund: 'process' });
    await refund(reference);
    await gateway.advance(600);
    expect((await gateway.verify(reference))['status']).toBe('reversed');
  });

  it('needs-attention: waits for bank details, and ends once they are given', async () => {
    await gateway.setFaults({ refund: 'needs-attention' });
    const reference = await paid();
    const { data } = await refund(reference, { merchant_note: 'key' });
    const id = String(data['id']);
    const retry = (details: unknown) =>
      gateway.call('POST', `/refund/retry_with_customer_details/${id}`, { refund_account_details: details });
    const details = { currency: 'NGN', account_number: '1234567890', bank_id: '9' };
    expect(await retry(details)).toMatchObject({ status: 422, code: 'invalid_state' });
    await gateway.advance(86_400_000);
    expect(await statusOf(id)).toBe('needs-attention');
    expect(eventsOf(await gateway.held(reference), 'refund.needs-attention')).toMatchObject([
      { id, amount: 500_000, merchant_note: 'key', transaction_reference: reference },
    ]);
    expect(await refund(reference)).toMatchObject({ status: 400 });
    expect((await retry(undefined)).status).toBe(400);
    expect((await retry({ ...details, bank_id: '' })).status).toBe(400);
    expect(await retry(details)).toMatchObject({
      status: 200,
      data: { status: 'processing' },
    });
    expect((await retry(details)).status).toBe(422);
    await gateway.advance(300);
    expect(await statusOf(id)).toBe('processed');
    expect((await gateway.verify(reference))['status']).toBe('reversed');
  });

  it('pending: for ever, until the fault is taken back or control ends it', async () => {
    await gateway.setFaults({ refund: 'pending' });
    const [first, second] = [await refund(await paid()), await refund(await paid())];
    await gateway.advance(86_400_000);
    expect(await statusOf(first.data['id'])).toBe('pending');
    const ended = await gateway.control('POST', `/refunds/${String(first.data['id'])}/fail`);
    expect(ended).toMatchObject({ status: 200, body: { status: 'failed' } });
    await gateway.setFaults({ latencyMs: 0 });
    await gateway.advance(1000);
    expect(await statusOf(second.data['id'])).toBe('pending');
    await gateway.control('DELETE', '/faults');
    await gateway.advance(600);
    expect(await statusOf(first.data['id'])).toBe('failed');
    expect(await statusOf(second.data['id'])).toBe('processed');
    const again = await gateway.control('POST', `/refunds/${String(second.data['id'])}/process`);
    expect(again.status).toBe(409);
    expect((await gateway.control('POST', '/refunds/1/process')).status).toBe(404);
  });

  it('a refund whose money was taken back by another way meanwhile fails', async () => {
    const reference = await paid();
    const { data } = await refund(reference);
    await gateway.deed(reference, 'reverse');
    await gateway.advance(600);
    expect(await statusOf(data['id'])).toBe('failed');
    expect(await gateway.held(reference)).toMatchObject({ status: 'reversed', givenBackMinor: 500_000 });
  });
});
