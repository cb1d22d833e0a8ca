import { describe, expect, it } from 'vitest';
import { SCENARIOS } from '../../packages/simulators/paystack/scenarios.ts';
import {
  eventsOf,
  fresh,
  HOUR_MS,
  sharedGateway,
  startGateway,
  startReceiver,
  until,
} from './gateway-simulator.support.ts';

const gateway = sharedGateway();
const tried = new Set<string>();

function chargeWith(sandbox_scenario: string, extra: object = {}): Promise<string> {
  tried.add(sandbox_scenario);
  return gateway.transfer({ metadata: { sandbox_scenario }, ...extra });
}
const statusOf = async (reference: string) => (await gateway.verify(reference))['status'];
const stateOf = async (reference: string) => {
  const { status, received, webhooks, payments } = await gateway.held(reference);
  return {
    status,
    received: received.amountMinor,
    currency: received.currency,
    payments: payments.length,
    events: webhooks.map(({ event }) => event),
  };
};
const waiting = { status: 'ongoing', received: 0, currency: 'NGN', payments: 0, events: [] };
const success = { ...waiting, status: 'success', payments: 1, events: ['charge.success'] };

describe('the gateway simulator, scenarios of a second', () => {
  it.each([
    ['pay-now', { ...success, received: 500_000 }],
    ['decline', { ...waiting, status: 'failed' }],
    ['insufficient-funds', { ...waiting, status: 'failed' }],
    ['short', { ...success, received: 400_000 }],
    ['over', { ...success, received: 600_000 }],
    ['fees-on-top', { ...success, received: 525_000 }],
    ['other-currency', { ...success, received: 500_000, currency: 'USD' }],
    ['returned', { ...waiting, payments: 1, events: ['bank.transfer.rejected'] }],
    ['never', waiting],
  ])('%s happens after a second, and nothing after it', async (scenario, expected) => {
    const reference = await chargeWith(scenario);
    await gateway.advance(999);
    expect(await stateOf(reference)).toEqual(waiting);
    await gateway.advance(1);
    expect(await stateOf(reference)).toEqual(expected);
    await gateway.advance(HOUR_MS);
    expect(await stateOf(reference)).toEqual(expected);
  });

  it.each([
    ['decline', 'Declined'],
    ['insufficient-funds', 'Insufficient Funds'],
  ])('%s gives the reason %s', async (scenario, gateway_response) => {
    const reference = await chargeWith(scenario);
    await gateway.advance(1000);
    expect(await gateway.verify(reference)).toMatchObject({ gateway_response });
  });
});

describe('the gateway simulator, longer scenarios', () => {
  it('twice pays again after two seconds', async () => {
    const reference = await chargeWith('twice');
    await gateway.advance(1500);
    expect((await stateOf(reference)).received).toBe(500_000);
    await gateway.advance(500);
    expect(await stateOf(reference)).toMatchObject({ received: 1_000_000, payments: 2 });
  });

  it('twice leaves a charge reversed that was reversed before the second payment', async () => {
    const reference = await chargeWith('twice');
    await gateway.advance(1500);
    await gateway.act(reference, 'reverse');
    await gateway.advance(1000);
    expect(await stateOf(reference)).toMatchObject({ status: 'reversed', payments: 1 });
  });

  it.each([
    ['reversed', { status: 'reversed', events: ['charge.success'] }],
    ['disputed', { status: 'success', events: ['charge.success', 'charge.dispute.create'] }],
  ])('%s happens after eleven seconds', async (scenario, expected) => {
    const reference = await chargeWith(scenario);
    await gateway.advance(10_999);
    expect(await stateOf(reference)).toMatchObject({ status: 'success', events: ['charge.success'] });
    await gateway.advance(1);
    expect(await stateOf(reference)).toMatchObject(expected);
  });

  it('late by transfer: the account expires after 10 s, and the money comes 20 s later', async () => {
    const reference = await chargeWith('late');
    const { createdAt, instructions } = await gateway.held(reference);
    const expiresAt = new Date(Date.parse(createdAt) + 10_000).toISOString();
    expect(instructions).toMatchObject({ expiresAt });
    await gateway.advance(29_999);
    expect(await stateOf(reference)).toEqual({ ...waiting, status: 'abandoned' });
    await gateway.advance(1);
    expect(await stateOf(reference)).toEqual({ ...success, received: 500_000 });
  });

  it('late on the hosted page pays after 24 hours and five minutes', async () => {
    const { reference } = await gateway.initialize({ metadata: { sandbox_scenario: 'late' } });
    await gateway.advance(24 * HOUR_MS);
    expect((await stateOf(reference)).status).toBe('abandoned');
    await gateway.advance(HOUR_MS);
    expect((await stateOf(reference)).status).toBe('success');
  });

  it.each([
    ['refund-fails', 'failed', 'refund.failed'],
    ['refund-needs-attention', 'needs-attention', 'refund.needs-attention'],
  ])('%s pays, and a refund ends %s', async (scenario, ending, event) => {
    const reference = await chargeWith(scenario);
    await gateway.advance(1000);
    expect((await stateOf(reference)).status).toBe('success');
    await gateway.call('POST', '/refund', { transaction: reference });
    await gateway.advance(600);
    const held = await gateway.held(reference);
    expect(held.refunds).toMatchObject([{ status: ending }]);
    expect(eventsOf(held, event)).toHaveLength(1);
  });

  it('silent pays without an event', async () => {
    const receiver = await startReceiver();
    await gateway.control('PUT', '/webhook-urls', { urls: [receiver.url] });
    const reference = await chargeWith('silent');
    const loud = await chargeWith('pay-now');
    await gateway.advance(12 * HOUR_MS);
    expect((await stateOf(reference)).status).toBe('success');
    expect(receiver.messages.map(({ text }) => text.includes(loud))).toEqual([true]);
  });

  it('has no scenario but those above', () => {
    expect([...tried].toSorted()).toEqual(Object.keys(SCENARIOS).toSorted());
  });
});

describe('the gateway simulator, the choice of a scenario', () => {
  const payNow = { sandbox_scenario: 'pay-now', other: 1 };
  const email = 'me+sandbox-pay-now@example.com';

  it.each([
    ['metadata', { metadata: payNow }, 'success'],
    ['metadata as text', { metadata: JSON.stringify(payNow) }, 'success'],
    ['the tag of the e-mail address', { email }, 'success'],
    ['metadata before the e-mail address', { metadata: { sandbox_scenario: 'decline' }, email }, 'failed'],
    ['no other metadata', { metadata: { sandbox: 'pay-now' } }, 'ongoing'],
    ['no other text', { metadata: 'sandbox_scenario' }, 'ongoing'],
    ['no empty name', { metadata: { sandbox_scenario: '' } }, 'ongoing'],
    ['no other tag', { email: 'me+pay-now@example.com' }, 'ongoing'],
  ])('reads %s', async (_where, extra, status) => {
    const reference = await gateway.transfer(extra);
    const page = await gateway.initialize(extra);
    await gateway.advance(1000);
    expect(await statusOf(reference)).toBe(status);
    expect(await statusOf(page.reference)).toBe(status === 'ongoing' ? 'abandoned' : status);
  });

  it('refuses an unknown scenario, and names all', async () => {
    for (const sandbox_scenario of ['pay_now', 'toString', 7, {}])
      await expect(gateway.initialize({ metadata: { sandbox_scenario } })).rejects.toThrow(
        /^answered 400: .*pay-now, decline/,
      );
  });

  it.each([
    ['GHS', 'mtn', '055 123 4987', 'success'],
    ['KES', 'mpesa', '+254710000000', 'success'],
    ['GHS', 'mtn', '0240000000', 'pending'],
  ])(
    'in %s by %s the phone %s is %s: the vendor’s test phones pay',
    async (currency, provider, phone, status) => {
      const reference = fresh('phone');
      const mobile_money = { phone, provider };
      const body = { email: 'a@example.com', amount: 1000, currency, reference, mobile_money };
      await gateway.call('POST', '/charge', body);
      await gateway.advance(1000);
      expect(await statusOf(reference)).toBe(status);
    },
  );

  it('acts in real time without a request', async () => {
    const receiver = await startReceiver();
    const own = await startGateway({ now: Date.now, scenarioMs: 20, webhookUrls: [receiver.url] });
    await own.transfer({ metadata: payNow });
    await until(() => receiver.messages.length > 0);
    expect(receiver.messages).toHaveLength(1);
  });
});
