/**
 * The wire format of the gateway simulator for money: payments, transfers that are sent back, declines,
 * reversals, disputes and refunds, with their events. What our client reads of them is in test/vendors/.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  eventsOf,
  fresh,
  HOUR_MS,
  startGateway,
  stopAll,
  type TestGateway,
} from './gateway-simulator.support.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(async () => {
  await gateway.control('DELETE', '/faults');
});
afterAll(stopAll);

async function paid(): Promise<string> {
  const reference = await gateway.transfer();
  await gateway.pay(reference);
  return reference;
}

describe('the gateway simulator, payments', () => {
  it('the fee is 1.5 %, at most NGN 2,000', async () => {
    const { reference } = await gateway.initialize({ amount: 90_000_000 });
    await gateway.pay(reference);
    expect((await gateway.verify(reference))['fees']).toBe(200_000);
  });

  it('a charge that was paid refuses money in another currency', async () => {
    const reference = await paid();
    const answer = await gateway.control('POST', `/charges/${reference}/pay`, { currency: 'USD' });
    expect(answer.status).toBe(409);
    expect((await gateway.held(reference)).payments).toHaveLength(1);
  });

  it('an expired account makes the charge abandoned for verify, and timeout for GET /charge', async () => {
    const reference = await gateway.transfer();
    await gateway.advance(8 * HOUR_MS + 1);
    expect((await gateway.verify(reference))['status']).toBe('abandoned');
    expect((await gateway.call('GET', `/charge/${reference}`)).data['status']).toBe('timeout');
  });

  it('mobile money fails after 180 s, and may be paid by the control interface later', async () => {
    const { data } = await gateway.call('POST', '/charge', {
      email: 'a@example.com',
      amount: 1000,
      currency: 'GHS',
      reference: fresh('phone'),
      mobile_money: { phone: '0240000000', provider: 'mtn' },
    });
    const reference = String(data['reference']);
    await gateway.advance(179_000);
    expect((await gateway.verify(reference))['status']).toBe('pending');
    await gateway.advance(1000);
    expect(await gateway.verify(reference)).toMatchObject({
      status: 'failed',
      message: 'Transaction was not completed in time',
    });
    await gateway.pay(reference);
    expect((await gateway.verify(reference))['status']).toBe('success');
    await gateway.advance(200_000);
    expect((await gateway.verify(reference))['status']).toBe('success');
  });

  it.each([
    ['minor', '400050'],
    ['major', '4000.5'],
  ])(
    'a transfer that is sent back has one event without a reference, with its amount as text in %s units',
    async (rejectedAmount, amount) => {
      await gateway.setFaults({ shortTransfer: 'return', rejectedAmount });
      const reference = await gateway.transfer({ email: 'short@example.com' });
      const held = await gateway.pay(reference, { amountMinor: 400_050 });
      expect(held).toMatchObject({ received: { amountMinor: 0 }, payments: [{ state: 'returned' }] });
      expect(await gateway.verify(reference)).toMatchObject({ status: 'ongoing', paid_at: null });
      expect(held.webhooks).toHaveLength(1);
      expect(held.webhooks[0]?.body).not.toContain(reference);
      expect(eventsOf(held, 'bank.transfer.rejected')).toMatchObject([
        {
          bank_transfer: { amount, message_type: 'INCORRECT_AMOUNT' },
          customer: { email: 'short@example.com' },
        },
      ]);
    },
  );
});

describe('the gateway simulator, declines', () => {
  it('verify names the reason, and no event is sent, unless the fault chargeFailedEvents is set', async () => {
    const { reference } = await gateway.initialize();
    const quiet = await gateway.act(reference, 'fail', { reason: 'Insufficient Funds' });
    expect(await gateway.verify(reference)).toMatchObject({
      status: 'failed',
      gateway_response: 'Insufficient Funds',
      message: 'Insufficient Funds',
    });
    expect(quiet.webhooks).toEqual([]);
    await gateway.setFaults({ chargeFailedEvents: true });
    const loud = await gateway.act((await gateway.initialize()).reference, 'fail');
    expect(eventsOf(loud, 'charge.failed')).toMatchObject([
      { status: 'failed', gateway_response: 'Declined' },
    ]);
  });

  it('a charge that was paid can neither fail nor be abandoned', async () => {
    const reference = await paid();
    for (const action of ['fail', 'abandon']) {
      expect((await gateway.control('POST', `/charges/${reference}/${action}`)).status).toBe(409);
    }
    expect((await gateway.verify(reference))['status']).toBe('success');
  });
});

describe('the gateway simulator, reversals and disputes', () => {
  it('a reversal sends no event, and the charge takes no more actions', async () => {
    const reference = await gateway.transfer();
    expect((await gateway.control('POST', `/charges/${reference}/reverse`)).status).toBe(409);
    await gateway.pay(reference);
    const held = await gateway.act(reference, 'reverse');
    expect(held).toMatchObject({ status: 'reversed', givenBackMinor: 500_000 });
    expect(held.webhooks.map(({ event }) => event)).toEqual(['charge.success']);
    expect(await gateway.verify(reference)).toMatchObject({ status: 'reversed', amount: 500_000 });
    for (const action of ['reverse', 'pay', 'dispute']) {
      expect((await gateway.control('POST', `/charges/${reference}/${action}`)).status).toBe(409);
    }
  });

  it('a dispute is created, reminded of and resolved; each step has its event, and the money is gone', async () => {
    const reference = await gateway.transfer();
    expect((await gateway.control('POST', `/charges/${reference}/dispute`)).status).toBe(409);
    await gateway.pay(reference);
    await gateway.act(reference, 'dispute');
    expect((await gateway.verify(reference))['status']).toBe('success');
    await gateway.act(reference, 'dispute', { action: 'remind' });
    const held = await gateway.act(reference, 'dispute', { action: 'resolve' });
    expect(held).toMatchObject({
      status: 'reversed',
      disputes: [{ status: 'resolved', resolution: 'merchant-accepted' }],
    });
    expect(held.webhooks.map(({ event }) => event)).toEqual([
      'charge.success',
      'charge.dispute.create',
      'charge.dispute.remind',
      'charge.dispute.resolve',
    ]);
    expect(eventsOf(held, 'charge.dispute.create')).toMatchObject([
      {
        status: 'awaiting-merchant-feedback',
        refund_amount: 500_000,
        transaction_reference: null,
        transaction: { reference, status: 'success' },
        customer: { email: 'buyer@example.com' },
      },
    ]);
    expect(eventsOf(held, 'charge.dispute.resolve')).toMatchObject([{ transaction: { status: 'reversed' } }]);
    const lines = (await gateway.statement()).filter((line) => line.reference === reference);
    expect(lines.map(({ kind, amountMinor }) => [kind, amountMinor])).toEqual([
      ['charge', 500_000],
      ['reversal', 500_000],
    ]);
    const again = await gateway.control('POST', `/charges/${reference}/dispute`, { action: 'resolve' });
    expect(again.status).toBe(409);
  });

  it('a dispute about a part, and a declined dispute, leave the charge a success', async () => {
    const part = await paid();
    await gateway.act(part, 'dispute', { amountMinor: 100_000 });
    const settled = await gateway.act(part, 'dispute', { action: 'resolve', resolution: 'auto-accepted' });
    expect(settled).toMatchObject({ status: 'success', givenBackMinor: 100_000 });
    const kept = await paid();
    await gateway.act(kept, 'dispute');
    const declined = await gateway.act(kept, 'dispute', { action: 'resolve', resolution: 'declined' });
    expect(declined).toMatchObject({ status: 'success', givenBackMinor: 0 });
    const tooMuch = await gateway.control('POST', `/charges/${kept}/dispute`, { amountMinor: 500_001 });
    expect(tooMuch.status).toBe(400);
  });
});

const refund = (transaction: unknown, extra: Record<string, unknown> = {}) =>
  gateway.call('POST', '/refund', { transaction, ...extra });
const statusOf = async (id: unknown) => (await gateway.call('GET', `/refund/${String(id)}`)).data['status'];

describe('the gateway simulator, POST /refund', () => {
  it('has amounts as text and no id in the events of a refund that is processed', async () => {
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

  it('takes each step after the time of the fault refundDelayMs', async () => {
    await gateway.setFaults({ refundDelayMs: 5000 });
    const { data } = await refund(await paid());
    await gateway.advance(9999);
    expect(await statusOf(data['id'])).toBe('processing');
    await gateway.advance(1);
    expect(await statusOf(data['id'])).toBe('processed');
  });

  it.each([
    [{}, 400, 'missing_params'],
    [{ transaction: '' }, 400, 'missing_params'],
    [{ transaction: {} }, 400, 'invalid_params'],
    [{ transaction: 'nothing-here' }, 404, 'transaction_not_found'],
    [{ transaction: 99 }, 404, 'transaction_not_found'],
  ])('refuses %j with %i %s', async (body, status, code) => {
    expect(await gateway.call('POST', '/refund', body)).toMatchObject({ status, code });
  });

  it('refuses a wrong amount or currency, and a charge that was not paid', async () => {
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

describe('the gateway simulator, GET /refund', () => {
  it('lists refunds with their notes by transaction, reference, currency, range and page', async () => {
    const listed = async (query: string) =>
      (await gateway.call('GET', `/refund?${query}`)).data as unknown as Record<string, unknown>[];
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

describe('the gateway simulator, refunds that do not succeed', () => {
  it('a refund that needs attention waits for bank details, and is processed once it has them', async () => {
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

  it('a pending refund stays pending until the fault is cleared or the control interface ends it', async () => {
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
});
