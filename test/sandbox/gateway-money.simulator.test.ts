/**
 * What happens to money at the gateway: paid, too little, too much, twice, late, sent back, declined, reversed, disputed.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  eventsOf,
  fresh,
  HOUR_MS,
  MINUTE_MS,
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

const lines = async (reference: string) =>
  (await gateway.statement())
    .filter((line) => line.reference === reference)
    .map(({ kind, amountMinor, currency }) => `${kind} ${amountMinor} ${currency}`);

describe('paid', () => {
  it('as asked for: success, fees borne by the merchant, one event, one line', async () => {
    const reference = await gateway.transfer();
    gateway.clock.nowMs += 2000;
    const held = await gateway.pay(reference);
    expect(held).toMatchObject({
      status: 'success',
      requested: { amountMinor: 500_000, currency: 'NGN' },
      received: { amountMinor: 500_000, currency: 'NGN' },
      payments: [{ amountMinor: 500_000, state: 'received' }],
    });
    const paidAt = new Date(gateway.clock.nowMs).toISOString();
    expect(await gateway.verify(reference)).toMatchObject({
      status: 'success',
      amount: 500_000,
      requested_amount: 500_000,
      fees: 7500,
      paid_at: paidAt,
      paidAt,
      gateway_response: 'Approved',
      authorization: { channel: 'bank_transfer', brand: 'Managed Account', sender_country: 'NG' },
    });
    expect(eventsOf(held, 'charge.success')).toMatchObject([
      { reference, status: 'success', amount: 500_000 },
    ]);
    expect(await lines(reference)).toEqual(['charge 500000 NGN']);
    expect((await gateway.call('GET', `/charge/${reference}`)).data).toMatchObject({
      status: 'success',
      reference,
    });
  });

  it('with a fee on top: the amount exceeds what was asked for by the fee', async () => {
    const { reference } = await gateway.initialize({ amount: 30_050 });
    await gateway.pay(reference, { feesMinor: 10_283 });
    expect(await gateway.verify(reference)).toMatchObject({
      amount: 40_333,
      requested_amount: 30_050,
      fees: 10_283,
      status: 'success',
    });
  });

  it('the fee is 1.5 %, at most NGN 2,000', async () => {
    const { reference } = await gateway.initialize({ amount: 90_000_000 });
    await gateway.pay(reference);
    expect((await gateway.verify(reference))['fees']).toBe(200_000);
  });

  it.each([
    [{ amountMinor: 400_000 }, 400_000, 'NGN'],
    [{ amountMinor: 600_000 }, 600_000, 'NGN'],
    [{ amountMinor: 300, currency: 'USD' }, 300, 'USD'],
    [{ currency: 'USD' }, 500_000, 'USD'],
  ])('%j settles by default, also by bank transfer', async (payment, amount, currency) => {
    for (const reference of [await gateway.transfer(), (await gateway.initialize()).reference]) {
      await gateway.pay(reference, payment);
      expect(await gateway.verify(reference)).toMatchObject({
        status: 'success',
        amount,
        currency,
        requested_amount: 500_000,
      });
      expect(await lines(reference)).toEqual([`charge ${amount} ${currency}`]);
    }
  });

  it('twice at once or one after the other: amounts add up, an event each', async () => {
    const once = await gateway.transfer();
    const both = await gateway.pay(once, { times: 2 });
    expect(both.received.amountMinor).toBe(1_000_000);
    expect(eventsOf(both, 'charge.success').map((data) => data['amount'])).toEqual([500_000, 1_000_000]);
    expect(await lines(once)).toEqual(['charge 500000 NGN', 'charge 500000 NGN']);
    const twice = await gateway.transfer();
    const { paidAt } = await gateway.pay(twice);
    gateway.clock.nowMs += MINUTE_MS;
    const again = await gateway.pay(twice, { amountMinor: 100_000 });
    expect(again).toMatchObject({ status: 'success', received: { amountMinor: 600_000 }, paidAt });
    expect(again.payments).toHaveLength(2);
  });

  it('holds one currency: money in another is refused once some came', async () => {
    const reference = await gateway.transfer();
    await gateway.pay(reference);
    const answer = await gateway.control('POST', `/charges/${reference}/pay`, { currency: 'USD' });
    expect(answer.status).toBe(409);
    expect((await gateway.held(reference)).payments).toHaveLength(1);
  });
});

describe('late', () => {
  it('an expired transfer account still settles by default', async () => {
    const reference = await gateway.transfer();
    await gateway.advance(8 * HOUR_MS + 1);
    expect((await gateway.verify(reference))['status']).toBe('abandoned');
    expect((await gateway.call('GET', `/charge/${reference}`)).data['status']).toBe('timeout');
    await gateway.pay(reference);
    expect(await gateway.verify(reference)).toMatchObject({ status: 'success', amount: 500_000 });
  });

  it('an abandoned page and a failed try may still be paid', async () => {
    const { reference } = await gateway.initialize();
    await gateway.deed(reference, 'abandon');
    expect((await gateway.verify(reference))['status']).toBe('abandoned');
    await gateway.deed(reference, 'fail', { reason: 'Insufficient Funds' });
    expect(await gateway.verify(reference)).toMatchObject({
      status: 'failed',
      gateway_response: 'Insufficient Funds',
      message: 'Insufficient Funds',
    });
    await gateway.pay(reference);
    expect((await gateway.verify(reference))['status']).toBe('success');
  });

  it('mobile money fails after 180 s, and control may pay it nevertheless', async () => {
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
});

describe('shortTransfer: return', () => {
  const returns = () => gateway.setFaults({ shortTransfer: 'return' });

  it.each([{ amountMinor: 400_000 }, { amountMinor: 600_000 }, { currency: 'USD' }])(
    '%j goes back: nothing received, an event without a reference, no line',
    async (payment) => {
      await returns();
      const reference = await gateway.transfer({ email: 'short@example.com' });
      const held = await gateway.pay(reference, payment);
      expect(held).toMatchObject({
        status: 'ongoing',
        received: { amountMinor: 0 },
        payments: [{ state: 'returned' }],
      });
      expect(await gateway.verify(reference)).toMatchObject({ status: 'ongoing', paid_at: null });
      expect(await lines(reference)).toEqual([]);
      const [rejected, ...others] = held.webhooks;
      expect(others).toEqual([]);
      expect(rejected?.event).toBe('bank.transfer.rejected');
      expect(rejected?.body).not.toContain(reference);
      expect(eventsOf(held, 'bank.transfer.rejected')).toMatchObject([
        {
          bank_transfer: {
            amount: expect.stringMatching(/^\d+$/) as string,
            message_type: 'INCORRECT_AMOUNT',
          },
          customer: { email: 'short@example.com' },
        },
      ]);
    },
  );

  it('its amount can be in whole units', async () => {
    await gateway.setFaults({ shortTransfer: 'return', rejectedAmount: 'major' });
    const reference = await gateway.transfer();
    const held = await gateway.pay(reference, { amountMinor: 400_050 });
    expect(eventsOf(held, 'bank.transfer.rejected')).toMatchObject([{ bank_transfer: { amount: '4000.5' } }]);
  });

  it('the right amount is kept, with its fee on top too', async () => {
    await returns();
    for (const payment of [{}, { feesMinor: 100 }, { amountMinor: 500_100, feesMinor: 100 }]) {
      expect((await gateway.pay(await gateway.transfer(), payment)).status).toBe('success');
    }
  });

  it('a second transfer and a late one go back', async () => {
    await returns();
    const twice = await gateway.pay(await gateway.transfer(), { times: 2 });
    expect(twice.payments.map(({ state }) => state)).toEqual(['received', 'returned']);
    expect(twice).toMatchObject({ status: 'success', received: { amountMinor: 500_000 } });
    const reference = await gateway.transfer();
    await gateway.advance(8 * HOUR_MS + 1);
    expect(await gateway.pay(reference)).toMatchObject({
      status: 'abandoned',
      payments: [{ state: 'returned' }],
    });
  });

  it('is about transfers only: a card’s amount settles', async () => {
    await returns();
    const { reference } = await gateway.initialize({ channels: ['card'] });
    expect((await gateway.pay(reference, { amountMinor: 400_000 })).status).toBe('success');
  });
});

describe('declined', () => {
  it('is never pushed, unless the switch says so', async () => {
    const quiet = await gateway.deed((await gateway.initialize()).reference, 'fail');
    expect(quiet.webhooks).toEqual([]);
    await gateway.setFaults({ chargeFailedEvents: true });
    const loud = await gateway.deed((await gateway.initialize()).reference, 'fail');
    expect(eventsOf(loud, 'charge.failed')).toMatchObject([
      { status: 'failed', gateway_response: 'Declined' },
    ]);
  });

  it('what was paid cannot fail or be abandoned', async () => {
    const reference = await gateway.transfer();
    await gateway.pay(reference);
    for (const name of ['fail', 'abandon']) {
      expect((await gateway.control('POST', `/charges/${reference}/${name}`)).status).toBe(409);
    }
    expect((await gateway.verify(reference))['status']).toBe('success');
  });
});

describe('taken back', () => {
  it('reversed: verify says so, the statement has it, nothing is pushed, and no more can come', async () => {
    const reference = await gateway.transfer();
    expect((await gateway.control('POST', `/charges/${reference}/reverse`)).status).toBe(409);
    await gateway.pay(reference);
    const held = await gateway.deed(reference, 'reverse');
    expect(held).toMatchObject({ status: 'reversed', givenBackMinor: 500_000 });
    expect(held.webhooks.map(({ event }) => event)).toEqual(['charge.success']);
    expect(await gateway.verify(reference)).toMatchObject({ status: 'reversed', amount: 500_000 });
    expect(await lines(reference)).toEqual(['charge 500000 NGN', 'reversal 500000 NGN']);
    for (const name of ['reverse', 'pay', 'dispute']) {
      expect((await gateway.control('POST', `/charges/${reference}/${name}`)).status).toBe(409);
    }
  });

  it('a dispute is opened, reminded of, and resolved with the money gone', async () => {
    const reference = await gateway.transfer();
    expect((await gateway.control('POST', `/charges/${reference}/dispute`)).status).toBe(409);
    await gateway.pay(reference);
    await gateway.deed(reference, 'dispute');
    expect((await gateway.verify(reference))['status']).toBe('success');
    await gateway.deed(reference, 'dispute', { action: 'remind' });
    const held = await gateway.deed(reference, 'dispute', { action: 'resolve' });
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
    expect(await lines(reference)).toEqual(['charge 500000 NGN', 'reversal 500000 NGN']);
    const again = await gateway.control('POST', `/charges/${reference}/dispute`, { action: 'resolve' });
    expect(again.status).toBe(409);
  });

  it('a dispute about a part, or one that is declined, leaves the charge a success', async () => {
    const part = await gateway.transfer();
    await gateway.pay(part);
    await gateway.deed(part, 'dispute', { amountMinor: 100_000 });
    const settled = await gateway.deed(part, 'dispute', { action: 'resolve', resolution: 'auto-accepted' });
    expect(settled).toMatchObject({ status: 'success', givenBackMinor: 100_000 });
    const kept = await gateway.transfer();
    await gateway.pay(kept);
    await gateway.deed(kept, 'dispute');
    const declined = await gateway.deed(kept, 'dispute', { action: 'resolve', resolution: 'declined' });
    expect(declined).toMatchObject({ status: 'success', givenBackMinor: 0 });
    const tooMuch = await gateway.control('POST', `/charges/${kept}/dispute`, { amountMinor: 500_001 });
    expect(tooMuch.status).toBe(400);
  });
});
