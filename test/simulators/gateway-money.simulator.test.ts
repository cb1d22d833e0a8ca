/** Payments, declines, reversals, disputes and refunds. What our client reads of them is in test/vendors/. */
import { describe, expect, it } from 'vitest';
import { eventsOf, fresh, HOUR_MS, sharedGateway } from './gateway-simulator.support.ts';

const gateway = sharedGateway();
const statusOf = async (reference: string) => (await gateway.verify(reference))['status'];

describe('the gateway simulator, payments', () => {
  it('the fee is 1.5 %, at most NGN 2,000', async () => {
    expect((await gateway.verify(await gateway.paid({ amount: 90_000_000 })))['fees']).toBe(200_000);
  });

  it('an expired account makes the charge abandoned for verify, and timeout for GET /charge', async () => {
    const reference = await gateway.transfer();
    await gateway.advance(8 * HOUR_MS + 1);
    expect(await statusOf(reference)).toBe('abandoned');
    expect((await gateway.call('GET', `/charge/${reference}`)).data['status']).toBe('timeout');
  });

  it('mobile money fails after 180 s, and may be paid by the control interface later', async () => {
    const reference = fresh('phone');
    await gateway.call('POST', '/charge', {
      email: 'a@example.com',
      amount: 1000,
      currency: 'GHS',
      reference,
      mobile_money: { phone: '0240000000', provider: 'mtn' },
    });
    await gateway.advance(179_000);
    expect(await statusOf(reference)).toBe('pending');
    await gateway.advance(1000);
    const message = 'Transaction was not completed in time';
    expect(await gateway.verify(reference)).toMatchObject({ status: 'failed', message });
    await gateway.pay(reference);
    await gateway.advance(200_000);
    expect(await statusOf(reference)).toBe('success');
  });

  it.each([
    ['minor', '400050'],
    ['major', '4000.5'],
  ])(
    'a transfer that is sent back has one event without a reference, with its amount as text in %s units',
    async (rejectedAmount, amount) => {
      await gateway.setFaults({ shortTransfer: 'return', rejectedAmount });
      const email = 'short@example.com';
      const reference = await gateway.transfer({ email });
      const held = await gateway.pay(reference, { amountMinor: 400_050 });
      expect(held).toMatchObject({ received: { amountMinor: 0 }, payments: [{ state: 'returned' }] });
      expect(held.webhooks).toHaveLength(1);
      expect(held.webhooks[0]?.body).not.toContain(reference);
      expect(eventsOf(held, 'bank.transfer.rejected')).toMatchObject([
        { bank_transfer: { amount, message_type: 'INCORRECT_AMOUNT' }, customer: { email } },
      ]);
    },
  );

  it('a decline has its reason, and no event unless the fault chargeFailedEvents is set', async () => {
    const { reference } = await gateway.initialize();
    const reason = 'Insufficient Funds';
    const quiet = await gateway.act(reference, 'fail', { reason });
    expect(await gateway.verify(reference)).toMatchObject({ gateway_response: reason, message: reason });
    expect(quiet.webhooks).toEqual([]);
    await gateway.setFaults({ chargeFailedEvents: true });
    const loud = await gateway.act((await gateway.initialize()).reference, 'fail');
    expect(eventsOf(loud, 'charge.failed')).toMatchObject([{ gateway_response: 'Declined' }]);
  });
});

describe('the gateway simulator, actions that the state of a charge does not allow', () => {
  it.each([
    ['waiting', ['reverse', 'dispute'], () => gateway.transfer()],
    ['paid', ['fail', 'abandon', 'pay in USD', 'resolve'], () => gateway.paid()],
    [
      'reversed',
      ['reverse', 'pay', 'dispute'],
      async () => (await gateway.act(await gateway.paid(), 'reverse')).reference,
    ],
  ])('a %s charge refuses %j with 409, and does not change', async (_state, actions, make) => {
    const reference = await make();
    const before = await gateway.held(reference);
    const requests: Record<string, [name: string, body: object]> = {
      'pay in USD': ['pay', { currency: 'USD' }],
      resolve: ['dispute', { action: 'resolve' }],
    };
    for (const action of actions) {
      const [name, body] = requests[action] ?? [action, {}];
      const { status } = await gateway.control('POST', `/charges/${reference}/${name}`, body);
      expect([action, status]).toEqual([action, 409]);
    }
    expect(await gateway.held(reference)).toEqual(before);
  });
});

describe('the gateway simulator, reversals and disputes', () => {
  it('a reversal sends no event', async () => {
    const held = await gateway.act(await gateway.paid(), 'reverse');
    expect(held).toMatchObject({ status: 'reversed', givenBackMinor: 500_000 });
    expect(held.webhooks.map(({ event }) => event)).toEqual(['charge.success']);
  });

  it('a dispute is created, reminded of and resolved; each step has its event, and the money is gone', async () => {
    const reference = await gateway.paid();
    await gateway.act(reference, 'dispute');
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
      { refund_amount: 500_000, transaction: { reference, status: 'success' } },
    ]);
    expect(eventsOf(held, 'charge.dispute.resolve')).toMatchObject([{ transaction: { status: 'reversed' } }]);
    const lines = (await gateway.statement()).filter((line) => line['reference'] === reference);
    expect(lines).toMatchObject([{ kind: 'charge' }, { kind: 'reversal', amountMinor: 500_000 }]);
  });

  it('a dispute about a part, and a declined dispute, leave the charge a success', async () => {
    for (const [amountMinor, resolution, givenBackMinor] of [
      [100_000, 'auto-accepted', 100_000],
      [undefined, 'declined', 0],
    ] as const) {
      const reference = await gateway.paid();
      await gateway.act(reference, 'dispute', { amountMinor });
      const resolved = await gateway.act(reference, 'dispute', { action: 'resolve', resolution });
      expect(resolved).toMatchObject({ status: 'success', givenBackMinor });
    }
    const tooMuch = { amountMinor: 500_001 };
    const { status } = await gateway.control('POST', `/charges/${await gateway.paid()}/dispute`, tooMuch);
    expect(status).toBe(400);
  });
});

const refund = (transaction: unknown, extra: object = {}) =>
  gateway.call('POST', '/refund', { transaction, ...extra });
const stateOf = async (id: unknown) => (await gateway.call('GET', `/refund/${String(id)}`)).data['status'];

describe('the gateway simulator, refunds', () => {
  it('take each step after the time of the fault refundDelayMs', async () => {
    await gateway.setFaults({ refundDelayMs: 5000 });
    const { data } = await refund(await gateway.paid());
    await gateway.advance(9999);
    expect(await stateOf(data['id'])).toBe('processing');
    await gateway.advance(1);
    expect(await stateOf(data['id'])).toBe('processed');
  });

  it('are refused for a wrong charge, amount or currency, and for a charge that was not paid', async () => {
    const reference = await gateway.paid();
    for (const [transaction, extra, status, code] of [
      ['', {}, 400, 'missing_params'],
      [{}, {}, 400, 'invalid_params'],
      [99, {}, 404, 'transaction_not_found'],
      [reference, { amount: 0 }, 400, 'invalid_amount'],
      [reference, { amount: 1.5 }, 400, 'invalid_amount'],
      [reference, { amount: 500_001 }, 400, 'invalid_amount'],
      [reference, { currency: 'USD' }, 400, 'invalid_params'],
      [await gateway.transfer(), {}, 400, 'transaction_not_paid'],
    ] as const)
      expect(await refund(transaction, extra)).toMatchObject({ status, code });
    const { reference: dollars } = await gateway.initialize({ currency: 'USD', amount: 500 });
    await gateway.pay(dollars);
    expect((await refund(dollars, { amount: 99 })).message).toBe('Cannot refund less than USD 1');
    for (const id of ['12', 'x']) expect((await gateway.call('GET', `/refund/${id}`)).status).toBe(404);
    expect((await gateway.held(reference)).refunds).toEqual([]);
  });

  it('are listed with their notes by transaction, reference, currency, range and page', async () => {
    const reference = await gateway.paid();
    const { id } = await gateway.verify(reference);
    for (const [nth, named] of [reference, String(id), id].entries())
      await refund(named, { amount: 1000, merchant_note: `key-${nth + 1}`, customer_note: 'sorry' });
    const notes = ['key-3', 'key-2', 'key-1'];
    const later = new Date(gateway.clock.nowMs + 365 * 86_400_000).toISOString();
    for (const [query, expected] of [
      [`transaction=${String(id)}`, notes],
      [`transaction=${reference}`, notes],
      [`reference=${reference}`, notes],
      [`transaction=${reference}&perPage=1&page=2`, ['key-2']],
      ['transaction=nothing', []],
      [`transaction=${reference}&currency=USD`, []],
      ['perPage=2', ['key-3', 'key-2']],
      [`from=${later}`, []],
    ] as const) {
      const rows = (await gateway.call('GET', `/refund?${query}`)).data as unknown as Record<
        string,
        unknown
      >[];
      expect([query, rows.map((row) => row['merchant_note'])]).toEqual([query, expected]);
      expect(rows.every((row) => row['transaction'] === id && row['customer_note'] === 'sorry')).toBe(true);
    }
  });

  it('that need attention wait for bank details, and are processed once they have them', async () => {
    await gateway.setFaults({ refund: 'needs-attention' });
    const reference = await gateway.paid();
    const id = String((await refund(reference, { merchant_note: 'key' })).data['id']);
    const details = { currency: 'NGN', account_number: '1234567890', bank_id: '9' };
    const retry = async (refund_account_details: object | undefined) =>
      (await gateway.call('POST', `/refund/retry_with_customer_details/${id}`, { refund_account_details }))
        .status;
    expect(await retry(details)).toBe(422);
    await gateway.advance(86_400_000);
    expect(await stateOf(id)).toBe('needs-attention');
    expect(eventsOf(await gateway.held(reference), 'refund.needs-attention')).toMatchObject([
      { id, amount: 500_000, merchant_note: 'key', transaction_reference: reference },
    ]);
    expect(await retry(undefined)).toBe(400);
    expect(await retry({ ...details, bank_id: '' })).toBe(400);
    expect(await retry(details)).toBe(200);
    expect(await retry(details)).toBe(422);
    await gateway.advance(300);
    expect(await stateOf(id)).toBe('processed');
    expect(await statusOf(reference)).toBe('reversed');
  });

  it('stay pending under that fault until it is cleared or the control interface ends them', async () => {
    await gateway.setFaults({ refund: 'pending' });
    const [first, second] = [await refund(await gateway.paid()), await refund(await gateway.paid())].map(
      ({ data }) => String(data['id']),
    );
    await gateway.advance(86_400_000);
    expect(await stateOf(first)).toBe('pending');
    const ended = await gateway.control('POST', `/refunds/${first}/fail`);
    expect(ended).toMatchObject({ status: 200, body: { status: 'failed' } });
    await gateway.setFaults({ latencyMs: 0 });
    await gateway.advance(1000);
    expect(await stateOf(second)).toBe('pending');
    await gateway.control('DELETE', '/faults');
    await gateway.advance(600);
    expect([await stateOf(first), await stateOf(second)]).toEqual(['failed', 'processed']);
    expect((await gateway.control('POST', `/refunds/${second}/process`)).status).toBe(409);
    expect((await gateway.control('POST', '/refunds/1/process')).status).toBe(404);
  });
});
