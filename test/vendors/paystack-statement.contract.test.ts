/** How the Paystack client reads the vendor's lists: the statement, and the paid charges page by page. */
import { describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../src/payments/port.ts';
import {
  example,
  linesOf,
  refundRow,
  transaction,
  yes,
  startAnsweringGateway,
} from '../support/vendors/answering-gateway.ts';
import { json } from '../support/vendors/answering-server.ts';
import { naira } from './payment-gateway-kit.ts';
import { forFile } from '../support/world/for-file.ts';

const server = await forFile(startAnsweringGateway());

/** A page of rows. */
const list = (...rows: object[]) => json(yes(rows));

describe('the Paystack client, statement', () => {
  const charged = {
    reference: 'txn-1',
    kind: 'charge',
    amount: naira(250_00n),
    feesMinor: 375n,
    feesOnTopMinor: 0n,
    gatewayId: '4099260516',
    refundKey: '',
    openedAt: new Date('2026-09-27T12:00:00.000Z'),
    at: new Date('2026-09-27T12:05:00.000Z'),
  };
  const givenBack = {
    reference: 'txn-1',
    kind: 'refund',
    amount: naira(100_00n),
    feesMinor: 0n,
    feesOnTopMinor: 0n,
    gatewayId: '3018284',
    refundKey: 'txn-1:refund',
    openedAt: new Date('2026-09-27T13:00:00.000Z'),
    at: new Date('2026-09-28T08:00:00.000Z'),
  };

  it.each(['transactions-by-cursor', 'transactions-by-page'])('reads the example %s', async (name) => {
    server.answerWith(example(name), list());
    const amount = name === 'transactions-by-page' ? naira(200_00n) : naira(403_33n);
    expect(await linesOf(server.gateway())).toMatchObject([{ reference: 'txn-1', kind: 'charge', amount }]);
    expect(server.calls.map((call) => call.path.split('&perPage')[0])).toEqual([
      '/transaction?from=2026-09-27T00%3A00%3A00.000Z&to=2026-09-27T23%3A59%3A59.999Z',
      '/refund?from=2026-09-27T00%3A00%3A00.000Z&to=2026-09-27T23%3A59%3A59.999Z',
      '/dispute?from=2026-09-27T00%3A00%3A00.000Z&to=2026-09-28T00%3A00%3A00.000Z',
    ]);
  });

  it('has the paid charges and the processed refunds only', async () => {
    const charges = ['abandoned', 'failed', 'pending', 'teleported'].map((status, i) =>
      transaction({ id: 10 + i, status, reference: `txn-${status}` }),
    );
    const refunds = ['pending', 'failed', 'needs-attention'].map((status, i) =>
      refundRow({ id: 10 + i, status }),
    );
    server.answerWith(list(transaction(), ...charges), list(refundRow(), ...refunds));
    expect(await linesOf(server.gateway())).toEqual([charged, givenBack]);
    expect(server.alerts).toEqual([{ what: 'charge status', operation: 'statement', word: 'teleported' }]);
  });

  it('leaves out the other mode', async () => {
    server.answerWith(list(transaction({ domain: 'live' })), list(refundRow({ domain: 'live' })));
    expect(await linesOf(server.gateway())).toEqual([]);
  });

  it('has a row once that moved to the next page meanwhile', async () => {
    const row = (id: number) => transaction({ id, reference: `txn-${id}` });
    const first = Array.from({ length: 100 }, (_, i) => row(i + 1));
    server.answerWith(json(yes(first)), list(row(100), row(101)), list());
    const lines = await linesOf(server.gateway());
    expect(lines.map((line) => line.reference)).toEqual(
      Array.from({ length: 101 }, (_, i) => `txn-${i + 1}`),
    );
  });

  it('reads the charge of a refund if it is older than the window', async () => {
    server.answerWith(list(), list(refundRow()), json(yes(transaction({ reference: 'txn-old' }))), list());
    expect(await linesOf(server.gateway())).toEqual([{ ...givenBack, reference: 'txn-old' }]);
    expect(server.calls[2]?.path).toBe('/transaction/4099260516');
    server.answerWith(list(), list(refundRow()), example('not-found', 404), list());
    expect(await linesOf(server.gateway())).toEqual([{ ...givenBack, reference: '' }]);
  });

  it('has a reversal for what a bank got by a lost dispute of a part, and none where the charge is reversed as a whole', async () => {
    const dispute = {
      id: 7,
      status: 'resolved',
      resolution: 'merchant-accepted',
      refund_amount: 5_000,
      currency: 'NGN',
      transaction: { id: 4099260516, reference: 'txn-1' },
      created_at: '2026-09-27T14:00:00.000Z',
    };
    server.answerWith(list(transaction()), list(), list(dispute));
    const lost = { kind: 'reversal', reference: 'txn-1', amount: naira(5_000n), gatewayId: 'dispute 7' };
    expect(await linesOf(server.gateway())).toMatchObject([charged, lost]);
    server.answerWith(list(transaction()), list(), list({ ...dispute, resolution: 'declined' }));
    expect(await linesOf(server.gateway())).toMatchObject([charged]);
    server.answerWith(list(transaction({ status: 'reversed' })), list(), list(), list(dispute));
    expect((await linesOf(server.gateway())).map(({ kind }) => kind)).toEqual(['charge', 'reversal']);
  });

  it('has what was disputed exactly at a limit in the time that begins there, and in no other', async () => {
    const limit = new Date('2026-09-27T14:00:00.000Z');
    const dispute = { id: 7, status: 'pending', created_at: limit.toISOString(), currency: 'NGN' };
    server.answerWith(list({ ...dispute, transaction: { id: 1, reference: 'txn-1' } }));
    const disputed = async (from: Date, to: Date) => {
      const references = [];
      for await (const reference of server.gateway().disputed(from, to)) references.push(reference);
      return references;
    };
    expect(await disputed(new Date('2026-09-27T13:00:00.000Z'), limit)).toEqual([]);
    expect(await disputed(limit, new Date('2026-09-27T15:00:00.000Z'))).toEqual(['txn-1']);
  });

  it('has a reversal for the money that refunds do not explain', async () => {
    const reversed = list(transaction({ status: 'reversed' }));
    const reversal = { ...charged, kind: 'reversal', feesMinor: 0n };
    const pending = (amount: number) => list(refundRow({ status: 'pending', amount }));
    server.answerWith(reversed, pending(25000));
    expect(await linesOf(server.gateway())).toEqual([charged]);
    server.answerWith(reversed, list(), pending(25000));
    expect(await linesOf(server.gateway())).toEqual([charged]);
    server.answerWith(reversed, pending(10000));
    expect(await linesOf(server.gateway())).toEqual([charged, { ...reversal, amount: naira(150_00n) }]);
    server.answerWith(reversed, list(refundRow({ status: 'failed' })), list());
    expect(await linesOf(server.gateway())).toEqual([charged, reversal]);
    expect(server.calls[2]?.path).toBe('/refund?transaction=4099260516&perPage=100&page=1');
  });

  it('has the fee on top in the reversal, not in the refund', async () => {
    const onTop = { status: 'reversed', amount: 25375, requested_amount: 25000, fees: 375 };
    const took = { ...charged, amount: naira(253_75n), feesOnTopMinor: 375n };
    const reversal = (amountMinor: bigint) => ({
      ...took,
      kind: 'reversal',
      amount: naira(amountMinor),
      feesMinor: 0n,
    });
    const refunded = refundRow({ amount: 25000 });
    server.answerWith(list(transaction(onTop)), list(), list());
    expect(await linesOf(server.gateway())).toEqual([took, reversal(253_75n)]);
    server.answerWith(list(transaction(onTop)), list(refunded));
    expect(await linesOf(server.gateway())).toEqual([
      took,
      { ...givenBack, amount: naira(250_00n) },
      reversal(3_75n),
    ]);
  });

  it.each([
    ['a wrong key', example('invalid-key', 401), false],
    ['a busy gateway', json('{}', 503), true],
    ['a list that cannot be read', list({}), true],
  ])('throws after %s', async (_name, answer, retryable) => {
    server.answerWith(answer);
    await expect(linesOf(server.gateway())).rejects.toMatchObject({ name: 'GatewayUnavailable', retryable });
  });
});

describe('the Paystack client, paidCharges', () => {
  const FROM = new Date('2026-09-27T12:00:00.000Z');
  const TO = new Date('2026-09-27T12:10:00.000Z');
  const pageOf = (page = 1) => server.gateway().paidCharges(FROM, TO, page);
  const paid = (reference: string, more = {}) => transaction({ reference, status: 'success', ...more });
  const withMeta = (rows: object[], meta: object) => json({ ...yes(rows), meta });

  it('reads one page of the charges opened in a time and paid, with 100 rows', async () => {
    server.answerWith(withMeta([paid('txn-1'), paid('txn-2')], { total: 102, page: 2, pageCount: 2 }));
    expect(await pageOf(2)).toEqual({ references: ['txn-1', 'txn-2'], count: 2, total: 102, isLast: true });
    expect(server.calls.map((call) => call.path)).toEqual([
      '/transaction?status=success&from=2026-09-27T12%3A00%3A00.000Z&to=2026-09-27T12%3A09%3A59.999Z&perPage=100&page=2',
    ]);
  });

  it('is not at the last page while the vendor counts more pages, or sends a full page without a count', async () => {
    server.answerWith(withMeta([paid('txn-1')], { total: 101, page: 1, pageCount: 2 }));
    expect(await pageOf()).toMatchObject({ total: 101, isLast: false });
    server.answerWith(json(yes(Array.from({ length: 50 }, (_, nth) => paid(`txn-${nth}`)))));
    expect(await pageOf()).toMatchObject({ count: 50, total: null, isLast: false });
    server.answerWith(list(paid('txn-1')));
    expect(await pageOf()).toMatchObject({ count: 1, total: null, isLast: true });
  });

  it('leaves out rows of the other mode, and counts them', async () => {
    server.answerWith(
      withMeta([paid('txn-1', { domain: 'live' }), paid('txn-2')], { total: 2, pageCount: 1 }),
    );
    expect(await pageOf()).toMatchObject({ references: ['txn-2'], count: 2, total: 2 });
  });

  it.each([
    ['no list', json(yes({}))],
    ['a row that cannot be read', list({ id: 1 })],
    ['an error', json('oh no', 500)],
    ['a refusal', json({ status: false, message: 'Invalid key' }, 401)],
  ])('throws after %s', async (_, answer) => {
    server.answerWith(answer);
    await expect(pageOf()).rejects.toBeInstanceOf(GatewayUnavailable);
  });
});
