/**
 * How the Paystack client reads the answers about refunds: every example on the vendor's pages, and what
 * deviates from them.
 */
import { describe, expect, it } from 'vitest';
import { REFUND_STATES } from '../../src/vendors/paystack/map.ts';
import {
  example,
  giveBack,
  no,
  refundRow,
  transaction,
  yes,
  startAnsweringGateway,
} from '../support/vendors/answering-gateway.ts';
import { json, sentBody } from '../support/vendors/answering-server.ts';
import { done, refused, saying } from './outcomes.ts';
import { naira } from './payment-gateway-kit.ts';
import { forFile } from '../support/world/for-file.ts';

const server = await forFile(startAnsweringGateway());

describe('the Paystack client, refund', () => {
  const queued = { refundId: '3018284', state: 'pending', gatewayStatus: 'pending', amount: naira(100_00n) };

  it('requests a refund under our key', async () => {
    server.answerWith(example('refund-queued'));
    expect(await server.gateway().refund(giveBack)).toEqual(done(queued));
    expect(server.calls[0]).toMatchObject({ method: 'POST', path: '/refund' });
    expect(sentBody(server.calls[0])).toEqual({
      transaction: 'txn-1',
      amount: 10000,
      currency: 'NGN',
      merchant_note: 'txn-1:refund',
    });
  });

  it('reads a refund whose transaction is a number', async () => {
    server.answerWith(example('refund-retried'));
    expect(await server.gateway().refund(giveBack)).toEqual(done({ ...queued, gatewayStatus: 'processing' }));
  });

  it.each([
    ['was refunded in full', example('fully-reversed', 400), 'ALREADY_REFUNDED'],
    [
      'was refunded in full, in an older answer',
      json(no('Transaction already fully refunded'), 400),
      'ALREADY_REFUNDED',
    ],
    ['does not exist', json(no('Transaction not found'), 404), 'REQUEST_REFUSED'],
    ['belongs to another key', example('invalid-key', 401), 'CREDENTIALS_REFUSED'],
  ])('is refused for a charge that %s', async (_name, answer, reason) => {
    server.answerWith(answer);
    expect(await server.gateway().refund(giveBack)).toMatchObject(refused(reason));
  });

  it('is unknown with a wait while our balance is too low', async () => {
    server.answerWith(json(no('Insufficient balance to fulfill this refund. Please top up.'), 400));
    expect(await server.gateway().refund(giveBack)).toMatchObject({
      outcome: 'unknown',
      retryAfterMs: 60_000,
    });
  });

  it.each([
    ['of another charge', { transaction: { id: 1, reference: 'txn-2' } }],
    ['of the other mode', { domain: 'live' }],
    ['without an id', { id: null }],
  ])('is unknown and raises an alert after a refund %s', async (_name, change) => {
    server.answerWith(json(yes(refundRow(change))));
    expect((await server.gateway().refund(giveBack)).outcome).toBe('unknown');
    expect(server.alerts).toMatchObject([{ what: 'answer', operation: 'refund' }]);
  });

  it.each([0n, -1n, 10n ** 18n])('sends no refund of %s', async (amountMinor) => {
    server.answerWith(example('refund-queued'));
    const outcome = await server.gateway().refund({ ...giveBack, amount: naira(amountMinor) });
    expect(outcome).toMatchObject(refused('AMOUNT_NOT_SERVED'));
    expect(server.calls).toHaveLength(0);
  });
});

describe('the Paystack client, findRefund', () => {
  it('has the statuses of the vendor’s pages', () => {
    expect([...REFUND_STATES.keys()].toSorted()).toEqual([
      'failed',
      'needs-attention',
      'pending',
      'processed',
      'processing',
    ]);
  });

  const charge = json(yes(transaction()));

  it.each([
    ['refunds-processed', { refundId: '2', state: 'done', gatewayStatus: 'processed' }],
    [
      'refunds-needs-attention',
      { refundId: '3018284', state: 'needs-attention', gatewayStatus: 'needs-attention' },
    ],
  ])('finds the refund in the example %s', async (name, value) => {
    server.answerWith(charge, example(name));
    expect(await server.gateway().findRefund(giveBack)).toEqual(done({ ...value, amount: naira(100_00n) }));
    expect(server.calls[1]?.path).toBe('/refund?transaction=4099260516&perPage=100&page=1');
  });

  it.each([
    ['pending', 'pending'],
    ['processing', 'pending'],
    ['processed', 'done'],
    ['failed', 'failed'],
    ['needs-attention', 'needs-attention'],
    ['teleported', 'unknown'],
  ])('reads the status %s as %s', async (status, state) => {
    server.answerWith(charge, json(yes([refundRow({ status })])));
    expect(await server.gateway().findRefund(giveBack)).toMatchObject({ outcome: 'done', value: { state } });
    expect(server.alerts).toEqual(
      state === 'unknown' ? [{ what: 'refund status', operation: 'refund', word: status }] : [],
    );
  });

  it('does not find a refund whose key only begins like ours', async () => {
    server.answerWith(charge, json(yes([refundRow({ merchant_note: 'txn-1:refund-2' })])));
    expect(await server.gateway().findRefund(giveBack)).toEqual(done(null));
  });

  it('finds the refund that did not fail, if there are two', async () => {
    const rows = [refundRow({ id: 1, status: 'failed' }), refundRow({ id: 2, status: 'pending' })];
    server.answerWith(charge, json(yes(rows)));
    expect(await server.gateway().findRefund(giveBack)).toMatchObject({ value: { refundId: '2' } });
    server.answerWith(charge, json(yes(rows.slice(0, 1))));
    expect(await server.gateway().findRefund(giveBack)).toMatchObject({
      value: { refundId: '1', state: 'failed' },
    });
  });

  it('finds none for a charge that does not exist', async () => {
    server.answerWith(example('not-found', 404));
    expect(await server.gateway().findRefund(giveBack)).toEqual(done(null));
    expect(server.calls).toHaveLength(1);
  });

  const page = (from: number) =>
    json(
      yes(
        Array.from({ length: 50 }, (_, i) => refundRow({ id: from + i, merchant_note: `other-${from + i}` })),
      ),
    );

  it('reads a list of all refunds to its end', async () => {
    server.answerWith(charge, page(1), page(51), json(yes([refundRow({ id: 101 })])));
    expect(await server.gateway().findRefund(giveBack)).toMatchObject({ value: { refundId: '101' } });
    server.answerWith(charge, page(1), page(51), json(yes([])));
    expect(await server.gateway().findRefund(giveBack)).toEqual(done(null));
  });

  it.each([
    ['repeats itself', page(1), 'repeats'],
    ['ends with an error', json('{}', 502), 'HTTP 502'],
    ['has an unreadable row', json(yes([{ id: 7 }])), 'unreadable'],
    ['is no list', json(yes({})), 'no array'],
  ])('is unknown, never none, when the list %s', async (_name, second, detail) => {
    server.answerWith(charge, page(1), second);
    const outcome = await server.gateway().findRefund(giveBack);
    expect(outcome).toMatchObject({ outcome: 'unknown', detail: saying(detail) });
  });

  it('is unknown if the charge has no id to list by', async () => {
    server.answerWith(json(yes(transaction({ id: null }))));
    expect((await server.gateway().findRefund(giveBack)).outcome).toBe('unknown');
  });
});
