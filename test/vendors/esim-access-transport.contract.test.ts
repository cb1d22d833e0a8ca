/**
 * The eSIM Access client at a server that misbehaves in every way a vendor or a proxy can. Only a clear
 * answer of the vendor ends as done or refused.
 */
import { OPEN } from '../support/time/fences.ts';
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SupplierUnavailable } from '../../src/catalogue/port.ts';
import { failure, json, order, startAnsweringVendor, taken } from '../support/vendors/answering-vendor.ts';
import {
  pour,
  resetIfKept,
  trickle,
  unclearAnswers,
  unreachableUrl,
  type Answering,
} from '../support/vendors/answering-server.ts';
import { OF_ACCOUNT, refused, saying } from './outcomes.ts';
import { forFile } from '../support/world/for-file.ts';

const vendor = await forFile(startAnsweringVendor());

const unclear: [string, Answering, string][] = [
  ...unclearAnswers('{"success":true,"obj":{"orderNo":"B1"'),
  ['a 500 with a refusal inside', json(failure('200011'), 500), 'HTTP 500'],
  ['a 500 with a success inside', json(taken, 500), 'HTTP 500'],
  ['a success with status 404', json(taken, 404), 'HTTP 404'],
  ['a success without an order number', json({ success: true, obj: {} }), 'orderNo'],
  ['a success without obj', json({ success: true }), 'no object'],
  [
    'a success about another purchase',
    json({ ...taken, obj: { orderNo: 'B2', transactionId: 'x' } }),
    'another',
  ],
  ['a failure without a code', json(failure(null)), 'code'],
  ['a new code', json(failure('777777')), '777777'],
  ['profiles still being allocated', json(failure('200010')), '200010'],
  ['an abnormal order', json(failure('200009')), '200009'],
  ['a busy vendor', json(failure('900001')), '900001'],
  ['silence', () => undefined, 'within 300 ms'],
  ['a trickle that outlasts the time limit', trickle, 'within 300 ms'],
  ['a body without end', pour(512 * 1024), 'more than 4194304 bytes'],
];

/** A short time limit only if the answer outlasts every limit. */
const supplierFor = (detail: string) =>
  vendor.supplier(detail === 'within 300 ms' ? { timeLimitMs: 300 } : {});

describe('the eSIM Access client', () => {
  it.each(unclear)('has an unknown outcome of an order after %s', async (_name, answer, detail) => {
    vendor.answerWith(answer);
    const outcome = await supplierFor(detail).order(order, OPEN);
    expect(outcome.outcome).toBe('unknown');
    expect(outcome).toHaveProperty('detail', saying(detail));
    expect(vendor.calls).toHaveLength(1);
  });

  it.each(unclear)(
    'has an unknown outcome of a lookup, and throws on a read, after %s',
    async (_name, answer, detail) => {
      vendor.answerWith(answer);
      const supplier = supplierFor(detail);
      const [profile, balance] = await Promise.allSettled([
        supplier.profile({ ...OF_ACCOUNT, orderNo: 'B1' }),
        supplier.balance(),
      ]);
      if (profile.status === 'rejected') throw profile.reason;
      expect(profile.value.outcome === 'unknown' || isAllocating(profile.value)).toBe(true);
      expect(balance).toMatchObject({ reason: { name: 'SupplierUnavailable', retryable: true } });
    },
  );

  it.each([
    ['success as text', { success: 'true', errorCode: null, obj: { orderNo: 'B1' } }],
    ['errorCode null', { success: true, errorCode: null, errorMessage: null, obj: taken.obj }],
    ['no errorCode at all', { success: true, obj: taken.obj }],
  ])('reads an order as done after %s', async (_name, body) => {
    vendor.answerWith(json(body));
    expect(await vendor.supplier().order(order, OPEN)).toEqual({ outcome: 'done', value: { orderNo: 'B1' } });
  });

  it.each([
    [
      'errorMessage in place of errorMsg',
      { success: 'false', errorCode: '200011', errorMessage: 'none left' },
      200,
    ],
    [
      'a refusal with status 400',
      { success: false, errorCode: '200011', errorMsg: 'none left', obj: null },
      400,
    ],
  ])('reads an order as refused after %s', async (_name, body, status) => {
    vendor.answerWith(json(body, status));
    expect(await vendor.supplier().order(order, OPEN)).toEqual({
      outcome: 'refused',
      reason: 'OUT_OF_STOCK',
      detail: '200011: none left',
    });
  });

  it.each([
    [429, {}, 1000],
    [429, { 'retry-after': '7' }, 7000],
    [503, { 'retry-after': '999999' }, 60_000],
    [503, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 1000],
    [502, { 'retry-after': '7' }, undefined],
  ])('waits after HTTP %i with %j: %s ms', async (status, headers, retryAfterMs) => {
    vendor.answerWith(json(failure('900001'), status, headers));
    expect(await vendor.supplier().order(order, OPEN)).toEqual({
      outcome: 'unknown',
      detail: `HTTP ${status}`,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  });

  it('has an unknown outcome after a refused connection, and at a host name that does not resolve', async () => {
    const refused = await vendor.supplier({ baseUrl: await unreachableUrl() }).order(order, OPEN);
    expect(refused).toMatchObject({ outcome: 'unknown', detail: saying('ECONNREFUSED') });
    const nameless = await vendor
      .supplier({ baseUrl: 'http://supplier.invalid', timeLimitMs: 5000 })
      .order(order, OPEN);
    expect(nameless.outcome).toBe('unknown');
  });
});

function isAllocating(outcome: { outcome: string; value?: unknown }): boolean {
  return outcome.outcome === 'done' && JSON.stringify(outcome.value) === '{"state":"allocating"}';
}

describe('the eSIM Access client, its requests', () => {
  it('order one eSIM at our price at the documented address', async () => {
    vendor.answerWith(json(taken));
    await vendor.supplier({ baseUrl: `${vendor.baseUrl}/vendor/` }).order(order, OPEN);
    expect(vendor.calls[0]?.path).toBe('/vendor/api/v1/open/esim/order');
    expect(JSON.parse(vendor.calls[0]!.body)).toEqual({
      transactionId: 'txn-1',
      amount: 8600,
      packageInfoList: [{ packageCode: 'ES-1', count: 1, price: 8600 }],
    });
    expect(vendor.calls[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'rt-accesscode': 'code-1',
    });
    expect(vendor.calls[0]?.headers).not.toHaveProperty('rt-signature');
  });

  it('are signed over their exact bytes, with a new id and time for each', async () => {
    vendor.answerWith(json(taken));
    const supplier = vendor.supplier({ sign: true, secretKey: 'secret-1' });
    await supplier.order({ ...order, packageCode: 'Æ-€-漢' }, OPEN);
    await supplier.order(order, OPEN);
    for (const { headers, body } of vendor.calls) {
      const [id, time] = [headers['rt-requestid'] as string, headers['rt-timestamp'] as string];
      expect(headers['rt-signature']).toBe(
        createHmac('sha256', 'secret-1').update(`${time}${id}code-1${body}`, 'utf8').digest('hex'),
      );
      expect(Math.abs(Date.now() - Number(time))).toBeLessThan(10_000);
    }
    expect(vendor.calls[0]?.headers['rt-requestid']).not.toBe(vendor.calls[1]?.headers['rt-requestid']);
  });

  it('share one connection', async () => {
    vendor.answerWith(json(taken));
    const supplier = vendor.supplier();
    for (let i = 0; i < 5; i += 1) await supplier.order(order, OPEN);
    expect(new Set(vendor.calls.map((call) => call.socketPort)).size).toBe(1);
  });

  it('are not sent without a slot of the pacer', async () => {
    vendor.answerWith(json(taken));
    const waits: number[] = [];
    const pacer = {
      takeSlot: (withinMs: number) => {
        waits.push(withinMs);
        return Promise.resolve(false);
      },
    };
    const supplier = vendor.supplier({ pacer, paceWithinMs: 77 });
    expect(await supplier.order(order, OPEN)).toEqual({
      outcome: 'unknown',
      detail: 'not sent: no slot within the rate limit',
      retryAfterMs: 1000,
      notSent: true,
    });
    await expect(supplier.balance()).rejects.toBeInstanceOf(SupplierUnavailable);
    expect([vendor.calls.length, waits]).toEqual([0, [77, 77]]);
  });

  it('about an account wait in its part, other work at its own pacer, all on one connection', async () => {
    vendor.answerWith(json(taken));
    const waits: string[] = [];
    const pacer = (name: string) => ({
      takeSlot: (withinMs: number) => {
        waits.push(`${name} ${withinMs}`);
        return Promise.resolve(true);
      },
    });
    const supplier = vendor.supplier({
      pacer: pacer('orders'),
      accountPacer: (accountId, work) => pacer(`${work} of ${accountId}`),
      paceWithinMs: 77,
    });
    const reads = supplier.pacedBy({ pacer: pacer('reads'), paceWithinMs: 88 });
    const [esim, from] = [{ ...OF_ACCOUNT, esimTranNo: '1' }, new Date()];
    for (const paced of [supplier, reads]) {
      await paced.order(order, OPEN);
      await paced.topUp({ ...order, ...esim }, OPEN);
      await paced.cancel(esim, OPEN);
      await paced.revoke(esim, OPEN);
      await paced.profile(esim);
      await paced.findTopUp({ ...esim, transactionId: 'txn-1' });
      await paced.findOrder({ ...OF_ACCOUNT, transactionId: 'txn-1', from, until: from });
      await paced.balance().catch(() => undefined);
    }
    const [effect, question] = ['effects of acc-1 77', 'questions of acc-1 77'];
    expect(waits).toEqual([
      ...[effect, effect, effect, effect, question, question, question, 'orders 77'],
      ...Array<string>(8).fill('reads 88'),
    ]);
    expect(vendor.calls.some(({ body }) => JSON.stringify(body).includes('accountId'))).toBe(false);
    expect(new Set(vendor.calls.map((call) => call.socketPort)).size).toBe(1);
  });
});

describe('the eSIM Access client, an expired timestamp', () => {
  it('is repeated once by the vendor’s clock, and later requests begin with it', async () => {
    vendor.answerWith(json(failure('101001')), json(taken), json(taken));
    const hourAhead = { now: () => new Date(Date.now() + 3_600_000) };
    const supplier = vendor.supplier({ sign: true, clock: hourAhead });
    expect(await supplier.order(order, OPEN)).toEqual({ outcome: 'done', value: { orderNo: 'B1' } });
    await supplier.pacedBy({ pacer: { takeSlot: () => Promise.resolve(true) } }).order(order, OPEN);
    const aheadMinutes = vendor.calls.map((call) =>
      Math.round(Math.abs(Number(call.headers['rt-timestamp']) - Date.now()) / 60_000),
    );
    expect(aheadMinutes).toEqual([60, 0, 0]);
  });

  it('is not repeated twice', async () => {
    vendor.answerWith(json(failure('101001')));
    expect(await vendor.supplier({ sign: true }).order(order, OPEN)).toMatchObject(
      refused('CREDENTIALS_REFUSED'),
    );
    expect(vendor.calls).toHaveLength(2);
  });
});

describe('the eSIM Access client, a connection that the vendor has closed', () => {
  const closing = () => vendor.answerWith(resetIfKept(vendor, json(taken)));

  it('is replaced for a lookup', async () => {
    closing();
    const supplier = vendor.supplier();
    await supplier.order(order, OPEN);
    expect(await supplier.profile({ ...OF_ACCOUNT, orderNo: 'B1' })).toMatchObject({
      detail: saying('unreadable list'),
    });
    expect(vendor.calls.map((call) => call.path.slice('/api/v1/open'.length))).toEqual([
      '/esim/order',
      '/esim/query',
      '/esim/query',
    ]);
  });

  it('leaves an effect unknown, sent once', async () => {
    closing();
    const supplier = vendor.supplier();
    expect((await supplier.order(order, OPEN)).outcome).toBe('done');
    expect((await supplier.order(order, OPEN)).outcome).toBe('unknown');
    expect(vendor.calls).toHaveLength(2);
  });
});
