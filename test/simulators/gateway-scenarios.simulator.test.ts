/**
 * The scenarios of the gateway simulator, which a developer selects by metadata or by the e-mail address:
 * what happens automatically.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCENARIOS } from '../../packages/simulators/paystack/scenarios.ts';
import {
  eventsOf,
  fresh,
  HOUR_MS,
  startGateway,
  startReceiver,
  stopAll,
  until,
  type TestGateway,
} from './gateway-simulator.support.ts';

let gateway: TestGateway;
const tried = new Set<string>();

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(stopAll);

/** Opens a charge by transfer with this scenario. */
async function chargeWith(sandbox_scenario: string, extra: Record<string, unknown> = {}): Promise<string> {
  tried.add(sandbox_scenario);
  return gateway.transfer({ metadata: { sandbox_scenario }, ...extra });
}
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

  it('decline and insufficient-funds give their reasons', async () => {
    const [declined, empty] = [await chargeWith('decline'), await chargeWith('insufficient-funds')];
    await gateway.advance(1000);
    expect((await gateway.verify(declined))['gateway_response']).toBe('Declined');
    expect((await gateway.verify(empty))['gateway_response']).toBe('Insufficient Funds');
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
  ])('%s happens after three seconds', async (scenario, expected) => {
    const reference = await chargeWith(scenario);
    await gateway.advance(2999);
    expect(await stateOf(reference)).toMatchObject({ status: 'success', events: ['charge.success'] });
    await gateway.advance(1);
    expect(await stateOf(reference)).toMatchObject(expected);
  });

  it('late by transfer: the account expires after 10 s, and the money comes 20 s later', async () => {
    const reference = await chargeWith('late');
    const { expiresAt } = (await gateway.held(reference)).instructions;
    const { created_at } = await gateway.verify(reference);
    expect(Date.parse(String(expiresAt)) - Date.parse(String(created_at))).toBe(10_000);
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
  it('reads metadata as an object or as text, or the tag of the e-mail address, for both kinds of charges', async () => {
    const scenario = { sandbox_scenario: 'pay-now', other: 1 };
    const references = [
      (await gateway.initialize({ metadata: scenario })).reference,
      (await gateway.initialize({ metadata: JSON.stringify(scenario) })).reference,
      (await gateway.initialize({ email: 'me+sandbox-pay-now@example.com' })).reference,
      await gateway.transfer({ email: 'me+sandbox-pay-now@example.com' }),
    ];
    await gateway.advance(1000);
    for (const reference of references) {
      expect((await gateway.verify(reference))['status']).toBe('success');
    }
  });

  it('prefers metadata to the e-mail address', async () => {
    const reference = await chargeWith('decline', { email: 'me+sandbox-pay-now@example.com' });
    await gateway.advance(1000);
    expect((await gateway.verify(reference))['status']).toBe('failed');
  });

  it('ignores other metadata and other tags', async () => {
    for (const extra of [
      { metadata: { sandbox: 'pay-now' } },
      { metadata: 'sandbox_scenario' },
      { metadata: { sandbox_scenario: '' } },
      { email: 'me+pay-now@example.com' },
    ]) {
      const reference = await gateway.transfer(extra);
      await gateway.advance(2000);
      expect((await gateway.verify(reference))['status']).toBe('ongoing');
    }
  });

  it('refuses an unknown scenario, and names all', async () => {
    for (const sandbox_scenario of ['pay_now', 'toString', 7, {}]) {
      const body = { email: 'a@example.com', amount: 5000, metadata: { sandbox_scenario } };
      const reply = await gateway.call('POST', '/transaction/initialize', body);
      expect(reply.status).toBe(400);
      expect(reply.message).toContain('pay-now, decline');
    }
  });

  it('pays automatically by the vendor’s test phones', async () => {
    const paidBy = async (currency: string, mobile_money: Record<string, unknown>) => {
      const reference = fresh('phone');
      const body = { email: 'a@example.com', amount: 1000, currency, reference, mobile_money };
      await gateway.call('POST', '/charge', body);
      await gateway.advance(1000);
      return (await gateway.verify(reference))['status'];
    };
    expect(await paidBy('GHS', { phone: '055 123 4987', provider: 'mtn' })).toBe('success');
    expect(await paidBy('KES', { phone: '+254710000000', provider: 'mpesa' })).toBe('success');
    expect(await paidBy('GHS', { phone: '0240000000', provider: 'mtn' })).toBe('pending');
  });

  it('acts in real time without a request', async () => {
    const receiver = await startReceiver();
    const own = await startGateway({ now: Date.now, scenarioMs: 20, webhookUrls: [receiver.url] });
    await own.transfer({ metadata: { sandbox_scenario: 'pay-now' } });
    await until(() => receiver.messages.length > 0);
    expect(receiver.messages).toHaveLength(1);
  });
});
