/**
 * How the Paystack client reads the answers to findCharge: every example on the vendor's pages, and what
 * deviates from them.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { CHARGE_STATES } from '../../src/vendors/paystack/map.ts';
import {
  example,
  no,
  transaction,
  yes,
  startAnsweringGateway,
} from '../support/vendors/answering-gateway.ts';
import { json } from '../support/vendors/answering-server.ts';
import { naira } from './payment-gateway-kit.ts';

const server = await startAnsweringGateway();
afterAll(() => server.close());

describe('the Paystack client, findCharge', () => {
  const found = {
    reference: 'txn-1',
    state: 'paid',
    gatewayStatus: 'success',
    requested: naira(200_00n),
    received: naira(200_00n),
    feesOnTopMinor: 0n,
    paidAt: new Date('2026-09-27T12:05:02.000Z'),
    gatewayId: '4099260516',
  };
  it.each([
    ['verify-success', {}],
    ['verify-fees-on-top', { requested: naira(300_50n), received: naira(403_33n), feesOnTopMinor: 102_83n }],
    ['verify-bank-transfer', { requested: naira(250_00n), received: naira(250_00n) }],
    ['verify-abandoned', { state: 'abandoned', gatewayStatus: 'abandoned', paidAt: null }],
    ['verify-failed', { state: 'failed', gatewayStatus: 'failed', paidAt: null }],
    ['verify-reversed', { state: 'reversed', gatewayStatus: 'reversed' }],
  ])('reads the example %s', async (name, change) => {
    server.answerWith(example(name));
    const value = { ...found, ...change };
    expect(await server.gateway().findCharge('txn-1')).toEqual({ outcome: 'done', value });
    expect(server.calls[0]).toMatchObject({ method: 'GET', path: '/transaction/verify/txn-1', body: '' });
    expect(server.calls[0]?.headers).not.toHaveProperty('content-type');
  });

  it.each([
    ['an amount as text', { amount: '25000', requested_amount: '25000.00', fees: '375' }, {}],
    ['no requested amount', { requested_amount: null }, {}],
    ['camel-case dates only', { paid_at: undefined, paidAt: '2026-09-27T12:05:00Z' }, {}],
    ['a date without a zone', { paid_at: '2026-09-27 12:05:00' }, {}],
    ['an id of 64 bits', { id: 1 }, { gatewayId: '18446744073709551615' }],
    ['no id', { id: null }, { gatewayId: '' }],
    [
      'fields that are empty in all ways',
      { metadata: 0, plan: '', split: null, customer: [], log: {}, fees: null },
      {},
    ],
    ['fees that do not add up', { amount: 30000, fees: 1 }, { received: naira(300_00n) }],
    ['less than was requested', { amount: 20000, fees: 375 }, { received: naira(200_00n) }],
    ['another currency', { currency: 'usd' }, { received: { amountMinor: 250_00n, currency: 'USD' } }],
    ['no mode', { domain: undefined }, {}],
  ])('reads a charge with %s', async (name, change, expected) => {
    const body = JSON.stringify(yes(transaction(change)));
    server.answerWith(
      json(name === 'an id of 64 bits' ? body.replace('"id":1', '"id":18446744073709551615') : body),
    );
    expect(await server.gateway().findCharge('txn-1')).toMatchObject({
      outcome: 'done',
      value: {
        state: 'paid',
        received: naira(250_00n),
        feesOnTopMinor: 0n,
        paidAt: new Date('2026-09-27T12:05:00.000Z'),
        ...expected,
      },
    });
  });

  it.each([
    ['with another reference', { reference: 'txn-2' }],
    ['of the other mode', { domain: 'live' }],
    ['with half a kobo', { amount: 250.5 }],
    ['with a negative amount', { amount: -25000 }],
    ['with an amount in words', { amount: 'much' }],
    ['with an amount beyond all bounds', { amount: 1e30 }],
    ['without a currency', { currency: null }],
    ['without a status', { status: null }],
  ])('is unknown and raises an alert after a charge %s', async (_name, change) => {
    server.answerWith(json(yes(transaction(change))));
    expect((await server.gateway().findCharge('txn-1')).outcome).toBe('unknown');
    expect(server.alerts).toMatchObject([{ what: 'answer', operation: 'verify' }]);
  });

  it.each([
    ['404', example('not-found', 404)],
    ['400 with the code', example('transaction-not-found', 400)],
    ['400 with the message alone', json(no('Transaction reference not found'), 400)],
  ])('finds none after %s', async (_name, answer) => {
    server.answerWith(answer);
    expect(await server.gateway().findCharge('txn-1')).toEqual({ outcome: 'done', value: null });
  });

  it.each([
    ['a wrong key', example('invalid-key', 401)],
    ['an older answer', example('older-bad-request', 400)],
    ['an answer that something else was not found', json(no('Customer not found'), 400)],
    ['a web page with 404', json('<!doctype html>', 404)],
  ])('is unknown, never none, after %s', async (_name, answer) => {
    server.answerWith(answer);
    expect((await server.gateway().findCharge('txn-1')).outcome).toBe('unknown');
  });

  it('finds none under an impossible reference, without a request', async () => {
    server.answerWith(example('verify-success'));
    for (const reference of ['../refund', 'a b', 'txn_1', '.', '']) {
      expect(await server.gateway().findCharge(reference)).toEqual({ outcome: 'done', value: null });
    }
    expect(server.calls).toHaveLength(0);
  });

  it('reads a new status as unknown, and raises an alert', async () => {
    server.answerWith(json(yes(transaction({ status: 'teleported' }))));
    expect(await server.gateway().findCharge('txn-1')).toMatchObject({
      outcome: 'done',
      value: { state: 'unknown', gatewayStatus: 'teleported' },
    });
    expect(server.alerts).toEqual([{ what: 'charge status', operation: 'verify', word: 'teleported' }]);
  });

  const states = {
    waiting:
      'ongoing pending processing queued timeout send_pin send_otp send_phone send_birthday send_address open_url pay_offline pending_bank_transfer reversal-pending',
    abandoned: 'abandoned',
    paid: 'success',
    failed: 'failed',
    reversed: 'reversed',
  };
  const words = Object.entries(states).flatMap(([state, list]) =>
    list.split(' ').map((word) => [word, state] as const),
  );
  it.each(words)('reads the status %s as %s', async (status, state) => {
    server.answerWith(json(yes(transaction({ status }))));
    expect(await server.gateway().findCharge('txn-1')).toMatchObject({
      value: { state, gatewayStatus: status },
    });
    expect(server.alerts).toEqual([]);
  });

  it('has no statuses but those of the vendor’s pages', () => {
    expect([...CHARGE_STATES.keys()].toSorted()).toEqual(words.map(([word]) => word).toSorted());
  });
});
