/**
 * Orders at suppliers: written before they are sent, one that may be delivered for each purchase, ended once.
 * Every time is Postgres's.
 */
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import {
  beginCancelling,
  beginWithdrawal,
  loadDelivery,
  planNextOrder,
  recordAccepted,
  recordNoEffect,
  recordWithdrawn,
  reopenDelivery,
  SEND_WITHIN_MS,
  type SupplierOrder,
} from '../../src/purchases/store/supplier-orders.ts';
import { flagMoney } from '../../src/payments/store/payments.ts';
import { findPurchase, findTimeline } from '../../src/purchases/store/reads.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import {
  failPurchaseIn,
  failRefused,
  flagAttention,
  refuseOrder,
  settlePurchase,
  saveDeliveredItem,
  profileItem,
} from '../../src/purchases/store/purchases.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { profileFacts, purchaseInput } from '../support/money/facts.ts';
import { NOW, openOrderBooks, SETTLES_MS, TIME_LIMIT_MS } from '../support/money/supplier-order-books.ts';

const { books, open, attempt } = await openOrderBooks();
afterAll(() => books.close());

async function orderOf(transactionId: string): Promise<SupplierOrder> {
  const { order } = await loadDelivery(books.world, transactionId);
  if (!order) throw new Error(`${transactionId} has no order`);
  return order;
}

/** Time passes: its times are moved back. */
async function pass(transactionId: string, ms: number): Promise<void> {
  const back = (column: string) => sql`${sql.ref(column)} = ${sql.ref(column)} - ${ms} * interval '1 ms'`;
  const times = [
    'first_sent_at',
    'last_sent_at',
    'settles_after',
    'earlier_settles_after',
    'cancel_settles_after',
  ];
  await sql`
    update supplier_orders set ${sql.join(times.map(back))} where transaction_id = ${transactionId}`.execute(
    books.owner,
  );
}

const OUT_OF_STOCK = { reason: 'OUT_OF_STOCK', detail: 'none left' } as const;

/** A refused purchase of an unknown package has no eSIM either. */
const loadOrderOrNull = async (transactionId: string) =>
  (await books.owner
    .selectFrom('supplier_orders')
    .select('id')
    .where('transaction_id', '=', transactionId)
    .executeTakeFirst()) ?? null;

const holdStatusOf = async (id: string) =>
  (await books.owner.selectFrom('holds').select('status').where('id', '=', id).executeTakeFirst())?.status;

const statusOf = async (transactionId: string) =>
  (await findPurchase(books.world, transactionId))?.purchase.status;

describe('an order', () => {
  it('is planned with its purchase, as it was agreed', async () => {
    const { transactionId, esimId } = await open();
    expect(await loadDelivery(books.world, transactionId)).toMatchObject({
      transactionId,
      status: 'PROCESSING',
      esimId,
      isDelivered: false,
      disputeReason: null,
      needsAttention: false,
      order: {
        id: transactionId,
        state: 'planned',
        isLive: true,
        supplier: 'esim-access',
        packageCode: 'NG-5GB-30D',
        volumeBytes: 5_368_709_120n,
        costUsdE4: 100_000n,
        attempts: 0,
        orderNo: null,
      },
    });
  });

  it('is not planned for what is not opened', async () => {
    const input = purchaseInput({
      transactionId: 'txn-unknown-package',
      accountId: 'acc-1',
      packageCode: 'NONE',
    });
    const options = { now: NOW, keepRefusal: () => true };
    expect(await openPurchase(books.world, input, options)).toMatchObject({ stage: 'failed' });
    expect(await loadOrderOrNull(input.transactionId)).toBeNull();
  });

  it('is written before it is sent, with the time until which it may still take effect', async () => {
    const { transactionId } = await open();
    const sent = await attempt(transactionId);
    expect(sent?.order).toMatchObject({ state: 'sent', attempts: 1, isAloneInFlight: true });
    expect(sent?.order?.settlesInMs).toBeGreaterThan(SETTLES_MS - 1_000);
    expect(sent?.order?.settlesInMs).toBeLessThanOrEqual(SETTLES_MS);
    const row = await books.owner
      .selectFrom('supplier_orders')
      .select(['last_sent_at', 'send_before'])
      .where('id', '=', transactionId)
      .executeTakeFirstOrThrow();
    expect(row.send_before!.getTime() - row.last_sent_at!.getTime()).toBe(SEND_WITHIN_MS);
  });

  it('is alone in flight again once what was sent before can no longer take effect', async () => {
    const { transactionId } = await open();
    await attempt(transactionId);
    expect((await attempt(transactionId))?.order).toMatchObject({ attempts: 2, isAloneInFlight: false });
    await pass(transactionId, SETTLES_MS);
    expect((await attempt(transactionId))?.order).toMatchObject({ attempts: 3, isAloneInFlight: true });
  });

  it('is counted once for each of many concurrent attempts', async () => {
    const { transactionId } = await open();
    const attempts = await Promise.all(Array.from({ length: 8 }, () => attempt(transactionId)));
    expect(attempts.map((each) => each?.order?.attempts).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('in doubt is not sent again where the supplier does not promise that it is the same request', async () => {
    const { transactionId } = await open();
    const unsafe = { mayRepeat: { BASE: false, TOPUP: false } };
    expect((await attempt(transactionId, unsafe))?.order?.attempts).toBe(1);
    expect(await attempt(transactionId, unsafe)).toBeUndefined();
    expect(await attempt(transactionId, { ...unsafe, isSearched: true })).toBeUndefined();
    await pass(transactionId, SETTLES_MS);
    expect(await attempt(transactionId, unsafe)).toBeUndefined();
    expect((await attempt(transactionId, { ...unsafe, isSearched: true }))?.order?.attempts).toBe(2);
  });

  it('goes to no other supplier than it was agreed with', async () => {
    const { transactionId } = await open();
    expect(await attempt(transactionId, { supplier: 'another' })).toBeUndefined();
  });

  it('is not sent again once its number is known, and nothing is in doubt then', async () => {
    const { transactionId } = await open();
    await attempt(transactionId);
    await recordAccepted(books.world, { id: transactionId }, 'B1');
    await recordAccepted(books.world, { id: transactionId }, 'B2');
    expect(await attempt(transactionId)).toBeUndefined();
    expect(await orderOf(transactionId)).toMatchObject({ state: 'accepted', orderNo: 'B1', settlesInMs: 0 });
    const what = (await findTimeline(books.world, transactionId)).map((event) => event.what);
    expect(what).toEqual(['wallet-held', 'ordered-at-supplier']);
  });

  it.each(['PAYMENT_DISPUTED', 'PAYMENT_REVERSED'])(
    'is neither sent nor settled while its payment is disputed or reversed: %s',
    async (reason) => {
      const { transactionId } = await open();
      await flagMoney(books.world, transactionId, reason);
      expect(await attempt(transactionId)).toBeUndefined();
      await expect(
        settlePurchase(books.world, transactionId, profileItem(profileFacts(), NOW, {})),
      ).rejects.toThrow('should be POSTED');
      expect((await loadDelivery(books.world, transactionId)).disputeReason).toBe(reason);
    },
  );

  it('is sent while a person is asked about something else', async () => {
    const { transactionId } = await open();
    await flagAttention(books.world, transactionId, 'SUPPLIER_OUTCOME_UNKNOWN');
    expect(await attempt(transactionId)).toBeDefined();
  });

  it('cannot be sent once its purchase is closed, by any caller', async () => {
    const { transactionId } = await open();
    await failPurchase(books.world, transactionId, OUT_OF_STOCK);
    expect(await attempt(transactionId)).toBeUndefined();
    expect(await orderOf(transactionId)).toMatchObject({ state: 'withdrawn', attempts: 0 });
    await expect(
      books.world
        .updateTable('supplier_orders')
        .set({ attempts: 1 })
        .where('id', '=', transactionId)
        .execute(),
    ).rejects.toThrow('cannot change');
  });

  it('of an unknown purchase throws', async () => {
    await expect(loadDelivery(books.world, 'txn-none')).rejects.toThrow();
    expect(await attempt('txn-none')).toBeUndefined();
  });
});

describe('a refusal', () => {
  const refuse = async (transactionId: string, more: { isCancelled?: boolean } = {}) =>
    refuseOrder(books.world, await orderOf(transactionId), OUT_OF_STOCK, more);

  it('is recorded, and gives the money back with it', async () => {
    const { transactionId } = await open();
    await attempt(transactionId);
    expect(await refuse(transactionId)).toBe('failed');
    expect(await statusOf(transactionId)).toBe('FAILED');
    expect(await holdStatusOf(transactionId)).toBe('VOIDED');
    expect(await orderOf(transactionId)).toMatchObject({ state: 'refused' });
    expect(await refuse(transactionId)).toBe('open');
  });

  it('proves nothing while an earlier attempt may still take effect', async () => {
    const { transactionId } = await open();
    await attempt(transactionId);
    await attempt(transactionId);
    expect(await refuse(transactionId)).toBe('open');
    expect(await statusOf(transactionId)).toBe('PROCESSING');
    await pass(transactionId, SETTLES_MS);
    expect(await refuse(transactionId)).toBe('open');
    await attempt(transactionId);
    expect(await refuse(transactionId)).toBe('failed');
  });

  it('that is not final leaves only the earlier attempts in doubt', async () => {
    const { transactionId } = await open();
    await attempt(transactionId);
    await pass(transactionId, 10_000);
    const { settlesInMs } = await orderOf(transactionId);
    await attempt(transactionId);
    await recordNoEffect(books.world, await orderOf(transactionId));
    expect((await orderOf(transactionId)).settlesInMs).toBeLessThanOrEqual(settlesInMs);
    await pass(transactionId, settlesInMs);
    await attempt(transactionId);
    expect(await refuse(transactionId)).toBe('failed');
  });

  it('of an attempt that is not the last is not recorded', async () => {
    const { transactionId } = await open();
    await attempt(transactionId);
    const earlier = await orderOf(transactionId);
    await pass(transactionId, SETTLES_MS);
    await attempt(transactionId);
    expect(await refuseOrder(books.world, earlier, OUT_OF_STOCK)).toBe('open');
  });

  it.each([
    [
      'while it is being withdrawn',
      async (id: string) => {
        await beginWithdrawal(books.world, id);
      },
    ],
    [
      'once it is delivered',
      (id: string) => saveDeliveredItem(books.world, id, profileItem(profileFacts(), NOW, {})),
    ],
    [
      'once it is settled',
      async (id: string) => {
        await settlePurchase(books.world, id, profileItem(profileFacts(), NOW, {}));
      },
    ],
  ])('gives nothing back %s', async (_when, arrange) => {
    const { transactionId } = await open();
    await attempt(transactionId);
    await arrange(transactionId);
    expect(await refuse(transactionId)).toBe('open');
    expect(await failRefused(books.world, transactionId)).toBe('open');
    expect(await statusOf(transactionId)).not.toBe('FAILED');
  });

  it('of an accepted order that the supplier has cancelled is final in any case', async () => {
    const { transactionId } = await open();
    await attempt(transactionId);
    await attempt(transactionId);
    await recordAccepted(books.world, { id: transactionId }, 'B1');
    expect(await refuse(transactionId)).toBe('open');
    expect(await refuse(transactionId, { isCancelled: true })).toBe('failed');
  });

  it('while the payment is disputed is recorded, and gives the money back once it is not', async () => {
    const { transactionId } = await open();
    await attempt(transactionId);
    await flagMoney(books.world, transactionId, 'PAYMENT_DISPUTED');
    expect(await refuse(transactionId)).toBe('disputed');
    expect(await statusOf(transactionId)).toBe('PROCESSING');
    expect(await failRefused(books.world, transactionId)).toBe('open');
    await books.owner
      .updateTable('purchases')
      .set({ attention_reason: null, needs_attention_since: null })
      .where('transaction_id', '=', transactionId)
      .execute();
    expect(await failRefused(books.world, transactionId)).toEqual({
      reason: 'PACKAGE_UNAVAILABLE',
      detail: 'OUT_OF_STOCK: none left',
    });
    expect(await statusOf(transactionId)).toBe('FAILED');
  });

  it('is not made up by a caller: without one on record nothing is given back', async () => {
    const { transactionId } = await open();
    expect(await failRefused(books.world, transactionId)).toBe('open');
    expect(await failRefused(books.world, 'txn-never')).toBe('open');
    expect(await statusOf(transactionId)).toBe('PROCESSING');
  });
});

describe('the database', () => {
  it.each(['sent', 'accepted', 'delivered'] as const)(
    'gives no money back while an order is %s',
    async (state) => {
      const { transactionId } = await open();
      await attempt(transactionId);
      if (state === 'accepted') await recordAccepted(books.world, { id: transactionId }, 'B1');
      if (state === 'delivered')
        await saveDeliveredItem(books.world, transactionId, profileItem(profileFacts(), NOW, {}));
      await expect(
        books.world.transaction().execute((trx) => failPurchaseIn(trx, transactionId, OUT_OF_STOCK)),
      ).rejects.toThrow('may deliver, or has delivered');
      expect(await statusOf(transactionId)).toBe('PROCESSING');
    },
  );

  it('has no second order of a purchase while the first may be delivered, whoever writes it', async () => {
    const { transactionId } = await open();
    expect(await planNextOrder(books.world, transactionId)).toBe(false);
    const copy = sql`
      insert into supplier_orders (id, transaction_id, kind, supplier, package_code, volume_bytes, cost_usd_e4, in_flight_grace_ms)
      select id || '-2', transaction_id, kind, supplier, package_code, volume_bytes, cost_usd_e4, in_flight_grace_ms
        from supplier_orders where id = ${transactionId}`;
    await expect(copy.execute(books.world)).rejects.toThrow('supplier_orders_live');
  });

  it('keeps what was agreed', async () => {
    const { transactionId } = await open();
    for (const set of [{ cost_usd_e4: 1n }, { package_code: 'other' }, { supplier: 'other' }])
      await expect(
        books.world.updateTable('supplier_orders').set(set).where('id', '=', transactionId).execute(),
      ).rejects.toThrow('permission denied');
  });
});

describe('a withdrawal', () => {
  it('of what was never sent is done at once', async () => {
    const { transactionId } = await open();
    expect((await beginWithdrawal(books.world, transactionId)).state).toBe('withdrawn');
    expect(await attempt(transactionId)).toBeUndefined();
    expect((await beginWithdrawal(books.world, transactionId)).state).toBe('withdrawn');
  });

  it('comes too late when something was delivered, settled or not', async () => {
    const settled = await open();
    await settlePurchase(books.world, settled.transactionId, profileItem(profileFacts(), NOW, {}));
    const kept = await open();
    await saveDeliveredItem(books.world, kept.transactionId, profileItem(profileFacts(), NOW, {}));
    for (const { transactionId } of [settled, kept])
      expect((await beginWithdrawal(books.world, transactionId)).state).toBe('delivered');
  });

  it('closes the order to attempts, and opens it again', async () => {
    const { transactionId } = await open();
    await attempt(transactionId);
    expect((await beginWithdrawal(books.world, transactionId)).state).toBe('withdrawing');
    expect(await attempt(transactionId)).toBeUndefined();
    expect(await reopenDelivery(books.world, transactionId)).toBe(0);
    expect(await attempt(transactionId)).toBeDefined();
  });

  it('opens nothing again while a cancellation that was sent may still arrive', async () => {
    const { transactionId } = await open();
    await attempt(transactionId);
    await beginWithdrawal(books.world, transactionId);
    expect(await beginCancelling(books.world, await orderOf(transactionId), TIME_LIMIT_MS)).toBe(true);
    const leftMs = await reopenDelivery(books.world, transactionId);
    expect(leftMs).toBeGreaterThan(SETTLES_MS - 1_000);
    expect(leftMs).toBeLessThanOrEqual(SETTLES_MS);
    await pass(transactionId, leftMs);
    expect(await reopenDelivery(books.world, transactionId)).toBe(0);
  });

  it('cancels and withdraws nothing once it has ended, not even for one that began after it', async () => {
    const { transactionId } = await open();
    await attempt(transactionId);
    await beginWithdrawal(books.world, transactionId);
    const stalled = await orderOf(transactionId);
    await reopenDelivery(books.world, transactionId);
    expect(await beginCancelling(books.world, stalled, TIME_LIMIT_MS)).toBe(false);
    // Withdrawals are told apart by the millisecond.
    await new Promise((resolve) => setTimeout(resolve, 2));
    await beginWithdrawal(books.world, transactionId);
    expect(await beginCancelling(books.world, stalled, TIME_LIMIT_MS)).toBe(false);
    await pass(transactionId, SETTLES_MS);
    expect(await recordWithdrawn(books.world, stalled)).toBe(false);
    expect(await recordWithdrawn(books.world, await orderOf(transactionId))).toBe(true);
  });

  it('proves nothing while what was sent may still arrive', async () => {
    const { transactionId } = await open();
    await attempt(transactionId);
    await beginWithdrawal(books.world, transactionId);
    expect(await recordWithdrawn(books.world, await orderOf(transactionId))).toBe(false);
    await pass(transactionId, SETTLES_MS);
    expect(await recordWithdrawn(books.world, await orderOf(transactionId))).toBe(true);
  });

  it('makes room for the next order, under an id that was never used', async () => {
    const { transactionId } = await open();
    const other = { packageCode: 'OTHER', supplier: 'another', volumeBytes: 1n, costUsdE4: 2n };
    await beginWithdrawal(books.world, transactionId);
    expect(await planNextOrder(books.world, transactionId, other)).toBe(true);
    expect(await planNextOrder(books.world, transactionId, other)).toBe(false);
    expect(await orderOf(transactionId)).toMatchObject({
      id: `${transactionId}-2`,
      state: 'planned',
      ...other,
    });
    await beginWithdrawal(books.world, transactionId);
    // The same again, as after an action that was refused.
    expect(await planNextOrder(books.world, transactionId)).toBe(true);
    expect(await orderOf(transactionId)).toMatchObject({ id: `${transactionId}-3`, ...other });
  });

  it('plans nothing for a closed purchase', async () => {
    const { transactionId } = await open();
    await failPurchase(books.world, transactionId, OUT_OF_STOCK);
    expect(await planNextOrder(books.world, transactionId)).toBe(false);
  });
});
