/** What a delivery stores between its attempts: every order request counted before it is sent, the first order number, the totals of a top-up once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TopUpTotals } from '../../src/esims/rules.ts';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { ESIM_STATUSES } from '../../src/domain/states.ts';
import { replaceCatalogue, replaceTopUps } from '../../src/catalogue/store/catalogue.ts';
import {
  countOrderAttempt,
  beginCancelling,
  beginWithdrawal,
  keepOrderNo,
  keepRefusal,
  keepWithdrawn,
  loadDelivery,
  reopenDelivery,
} from '../../src/purchases/store/deliveries.ts';
import { findEsim } from '../../src/esims/store/esims.ts';
import { refreshEsim } from '../../src/esims/store/facts.ts';
import { ensureWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { findPurchase, findTimeline } from '../../src/purchases/store/reads.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import {
  failRefused,
  settlePurchase,
  saveDeliveredItem,
  profileItem,
  topUpItem,
} from '../../src/purchases/store/purchases.ts';
import { failPurchase } from '../support/give-back.ts';
import { openBooks, type Books } from '../support/books.ts';
import { basePackage, profileFacts, purchaseInput, region } from '../support/facts.ts';
import { installDataWith } from '../support/install-data.ts';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const installData = installDataWith();
const ACCOUNT = 'acc-1';

const books: Books = await openBooks();
beforeAll(async () => {
  const { world } = books;
  await replaceCatalogue(
    world,
    { supplier: 'esim-access', regions: [region()], packages: [basePackage()] },
    NOW,
  );
  await replaceTopUps(
    world,
    'NG-5GB-30D',
    [basePackage({ packageCode: 'TOPUP_NG', packageType: 'TOPUP' })],
    NOW,
  );
  await ensureWallet(world, ACCOUNT, 'USD');
  const amount = { amountMinor: 1_000_000n, currency: 'USD' };
  await fundWallet(world, { operationKey: 'fund', accountId: ACCOUNT, amount, reason: 'a test' });
});
afterAll(() => books.close());

let opened = 0;
async function open(given: Partial<PurchaseInput> = {}): Promise<PurchaseInput> {
  const input = purchaseInput({ transactionId: `txn-${(opened += 1)}`, accountId: ACCOUNT, ...given });
  expect(
    await openPurchase(books.world, input, { now: NOW, gateway: 'paystack', keepRefusal: () => false }),
  ).toEqual({
    opened: true,
  });
  return input;
}

async function openTopUp(): Promise<PurchaseInput> {
  const base = await open();
  const facts = profileFacts({ esimTranNo: `tran-${base.transactionId}` });
  await settlePurchase(books.world, base.transactionId, profileItem(facts, NOW, {}));
  await refreshEsim(books.world, base.esimId, profileFacts({ status: 'ACTIVE' }), NOW);
  return open({ packageCode: 'TOPUP_NG', packageType: 'TOPUP', esimId: base.esimId });
}

describe('a delivery', () => {
  it('starts from the opened purchase', async () => {
    const { transactionId, esimId } = await open();
    expect(await loadDelivery(books.world, transactionId)).toEqual({
      transactionId,
      packageType: 'BASE',
      packageCode: 'NG-5GB-30D',
      costUsdE4: 100_000n,
      status: 'PROCESSING',
      esimId,
      esimTranNo: '',
      iccid: '',
      orderNo: null,
      delivered: false,
      orderAttempts: 0,
      firstAttemptAt: null,
      previousAttemptAt: null,
      lastAttemptAt: null,
      searchedUntil: null,
      refusedAttempts: null,
      withdrawingSince: null,
      inFlightGraceMs: 10_000,
      reason: null,
      supplierId: transactionId,
      createdAt: NOW,
    });
  });

  it('counts each request before it is sent, with the times of the first, the last but one and the last', async () => {
    const { transactionId } = await open();
    const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
    expect(await countOrderAttempt(books.world, transactionId, at(1))).toMatchObject({
      mayOrder: true,
      delivery: { orderAttempts: 1, firstAttemptAt: at(1), previousAttemptAt: null, lastAttemptAt: at(1) },
    });
    await countOrderAttempt(books.world, transactionId, at(2));
    await countOrderAttempt(books.world, transactionId, at(5));
    expect(await loadDelivery(books.world, transactionId)).toMatchObject({
      orderAttempts: 3,
      firstAttemptAt: at(1),
      previousAttemptAt: at(2),
      lastAttemptAt: at(5),
    });
  });

  it('makes one of many concurrent requests the first', async () => {
    const { transactionId } = await open();
    const asks = await Promise.all(
      Array.from({ length: 8 }, () => countOrderAttempt(books.world, transactionId, NOW)),
    );
    expect(asks.map(({ delivery }) => delivery.orderAttempts).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('counts no request when the order number is known: the order is checked, not placed again', async () => {
    const { transactionId } = await open();
    await countOrderAttempt(books.world, transactionId, NOW);
    await keepOrderNo(books.world, { transactionId, supplierId: transactionId }, 'B1');
    expect(await countOrderAttempt(books.world, transactionId, NOW)).toMatchObject({
      mayOrder: true,
      delivery: { orderAttempts: 1, orderNo: 'B1' },
    });
  });

  it('cannot be requested once it is closed, by any caller', async () => {
    const { transactionId } = await open();
    await failPurchase(books.world, transactionId, { reason: 'OUT_OF_STOCK', detail: '' });
    expect(await countOrderAttempt(books.world, transactionId, NOW)).toMatchObject({
      mayOrder: false,
      delivery: { status: 'FAILED', reason: 'OUT_OF_STOCK', orderAttempts: 0 },
    });
    await expect(
      books.world
        .updateTable('purchases')
        .set({ order_attempts: 1 })
        .where('transaction_id', '=', transactionId)
        .execute(),
    ).rejects.toThrow('asked for no more');
  });

  it('of an unknown purchase throws', async () => {
    await expect(loadDelivery(books.world, 'txn-none')).rejects.toThrow();
    await expect(countOrderAttempt(books.world, 'txn-none', NOW)).rejects.toThrow();
  });

  it('keeps the first order number, and adds it to the timeline once', async () => {
    const { transactionId } = await open();
    const order = { transactionId, supplierId: transactionId };
    await keepOrderNo(books.world, order, 'B1');
    await keepOrderNo(books.world, order, 'B2');
    expect((await loadDelivery(books.world, transactionId)).orderNo).toBe('B1');
    const what = (await findTimeline(books.world, transactionId)).map((event) => event.what);
    expect(what).toEqual(['wallet-held', 'ordered-at-supplier']);
  });

  it('is delivered once its profile is stored, which opens nothing yet', async () => {
    const { transactionId, esimId } = await open();
    const facts = profileFacts({ pin: '1234', puk: '87654321' });
    await saveDeliveredItem(
      books.world,
      transactionId,
      profileItem(facts, NOW, installData.columns(esimId, facts)),
    );
    expect(await loadDelivery(books.world, transactionId)).toMatchObject({
      delivered: true,
      iccid: '8901000000000000001',
      esimTranNo: 'T1',
    });
    const row = (await findEsim(books.world, esimId))!;
    expect({ ...row, ...installData.open(row) }).toMatchObject({
      status: 'PENDING',
      iccid: '8901000000000000001',
      ac: 'LPA:1$rsp.example.com$MATCH-1',
      smdp_address: 'rsp.example.com',
      matching_id: 'MATCH-1',
      pin: '1234',
      puk: '87654321',
      expired_time: new Date('2026-07-30T00:00:00.000Z'),
      activate_time: null,
      total_volume_bytes: 5_368_709_120n,
      checked_at: NOW,
    });
  });

  describe('a delivery stores nothing and settles nothing', () => {
    const totals = {
      iccid: '8901000000000000001',
      totalVolumeBytes: 2,
      orderUsageBytes: 0,
      totalDuration: 14,
      expiredTime: null,
    };
    const CASES = [
      {
        of: 'a purchase that is closed',
        arrange: (id: string) =>
          failPurchase(books.world, id, { reason: 'OUT_OF_STOCK', detail: '' }).then(() => undefined),
      },
      {
        of: 'a purchase whose order is being withdrawn',
        arrange: (id: string) => beginWithdrawal(books.world, id, NOW).then(() => undefined),
      },
      {
        of: 'an order that was replaced',
        arrange: (id: string) =>
          books.world
            .updateTable('purchases')
            .set({ supplier_transaction_id: `${id}-2` })
            .where('transaction_id', '=', id)
            .execute()
            .then(() => undefined),
      },
    ];

    it.each(CASES)('for $of', async ({ arrange }) => {
      const base = await open();
      const topUp = await openTopUp();
      for (const { transactionId } of [base, topUp]) await arrange(transactionId);
      const before = await Promise.all(
        [base, topUp].map((each) => findPurchase(books.world, each.transactionId)),
      );
      const profile = { ...profileItem(profileFacts(), NOW, {}), supplierId: base.transactionId };
      const added = { ...topUpItem(totals, NOW), supplierId: topUp.transactionId };
      for (const [{ transactionId }, delivered] of [
        [base, profile],
        [topUp, added],
      ] as const) {
        await saveDeliveredItem(books.world, transactionId, delivered);
        await expect(settlePurchase(books.world, transactionId, delivered)).rejects.toThrow(
          'should be POSTED',
        );
      }
      expect(
        await Promise.all([base, topUp].map((each) => findPurchase(books.world, each.transactionId))),
      ).toEqual(before);
      expect(await findEsim(books.world, base.esimId)).toMatchObject({ iccid: '' });
    });
  });

  describe('a withdrawal', () => {
    const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);

    it('comes too late when something was delivered, settled or not', async () => {
      const settled = await open();
      await settlePurchase(books.world, settled.transactionId, profileItem(profileFacts(), NOW, {}));
      const kept = await open();
      await saveDeliveredItem(books.world, kept.transactionId, profileItem(profileFacts(), NOW, {}));
      for (const { transactionId } of [settled, kept])
        expect((await beginWithdrawal(books.world, transactionId, NOW)).state).toBe('delivered');
    });

    it('closes the purchase to orders, and opens it again', async () => {
      const { transactionId } = await open();
      expect((await beginWithdrawal(books.world, transactionId, at(1))).state).toBe('withdrawing');
      expect((await countOrderAttempt(books.world, transactionId, at(2))).mayOrder).toBe(false);
      expect(await reopenDelivery(books.world, transactionId, at(3))).toBe(0);
      expect((await countOrderAttempt(books.world, transactionId, at(4))).mayOrder).toBe(true);
    });

    it('opens nothing again while an abandoned cancellation may still arrive', async () => {
      const { transactionId } = await open();
      const { delivery } = await beginWithdrawal(books.world, transactionId, at(1));
      expect(await beginCancelling(books.world, delivery, at(2))).toBe(true);
      expect(await reopenDelivery(books.world, transactionId, at(5))).toBe(7_000);
      expect(await reopenDelivery(books.world, transactionId, at(12))).toBe(0);
    });

    it('cancels nothing once it has ended, not even for one that began after it', async () => {
      const { transactionId } = await open();
      const { delivery: stalled } = await beginWithdrawal(books.world, transactionId, at(1));
      await reopenDelivery(books.world, transactionId, at(2));
      expect(await beginCancelling(books.world, stalled, at(3))).toBe(false);
      await beginWithdrawal(books.world, transactionId, at(4));
      expect(await beginCancelling(books.world, stalled, at(5))).toBe(false);
    });
  });

  it('is closed as refused only if nothing was requested, withdrawn or delivered since', async () => {
    const refusal = { reason: 'OUT_OF_STOCK', detail: '' } as const;
    const close = (transactionId: string) => failRefused(books.world, transactionId);
    const openRefused = async () => {
      const { transactionId } = await open();
      await keepRefusal(books.world, await loadDelivery(books.world, transactionId), refusal);
      return transactionId;
    };
    const asked = await openRefused();
    await countOrderAttempt(books.world, asked, NOW);
    expect(await close(asked)).toBe('open');
    const withdrawn = await openRefused();
    const { delivery } = await beginWithdrawal(books.world, withdrawn, NOW);
    expect(await close(withdrawn)).toBe('open');
    const kept = await openRefused();
    await saveDeliveredItem(books.world, kept, profileItem(profileFacts(), NOW, {}));
    expect(await close(kept)).toBe('open');
    const settled = await openRefused();
    await settlePurchase(books.world, settled, profileItem(profileFacts(), NOW, {}));
    expect(await close(settled)).toBe('open');
    await keepRefusal(books.world, await loadDelivery(books.world, asked), refusal);
    for (let again = 0; again < 2; again += 1) expect(await close(asked)).toEqual(refusal);
    await keepWithdrawn(books.world, delivery);
    expect(await close(withdrawn)).toEqual(refusal);
  });

  it('is not closed as refused by a caller without a stored refusal', async () => {
    const { transactionId } = await open();
    const before = await findPurchase(books.world, transactionId);
    expect(await failRefused(books.world, transactionId)).toBe('never-refused');
    expect(await failRefused(books.world, 'txn-never')).toBe('never-refused');
    expect(await findPurchase(books.world, transactionId)).toEqual(before);
  });

  it('stores no refusal of an attempt that is not the last, nor of an order that was replaced', async () => {
    const { transactionId } = await open();
    const { delivery } = await countOrderAttempt(books.world, transactionId, NOW);
    const refusal = { reason: 'OUT_OF_STOCK', detail: '' } as const;
    await keepRefusal(books.world, { ...delivery, orderAttempts: 0 }, refusal);
    await keepRefusal(books.world, { ...delivery, supplierId: `${transactionId}-2` }, refusal);
    expect(await loadDelivery(books.world, transactionId)).toMatchObject({ refusedAttempts: null });
  });

  it.each(ESIM_STATUSES.filter((status) => status !== 'PENDING'))(
    'stores no profile for an eSIM that is %s',
    async (status) => {
      const { transactionId, esimId } = await open();
      await books.owner.updateTable('esims').set({ status }).where('id', '=', esimId).execute();
      await saveDeliveredItem(books.world, transactionId, profileItem(profileFacts(), NOW, {}));
      expect(await findEsim(books.world, esimId)).toMatchObject({ status, iccid: '', checked_at: null });
    },
  );

  it('stores its profile together with the settlement, once', async () => {
    const { transactionId, esimId } = await open();
    await settlePurchase(books.world, transactionId, profileItem(profileFacts(), NOW, {}));
    await settlePurchase(
      books.world,
      transactionId,
      profileItem(profileFacts({ iccid: 'another' }), NOW, {}),
    );
    expect(await findEsim(books.world, esimId)).toMatchObject({
      status: 'CREATED',
      iccid: '8901000000000000001',
      checked_at: NOW,
    });
  });
});

describe('a top-up', () => {
  const totals: TopUpTotals = {
    iccid: '8901000000000000001',
    totalVolumeBytes: 2 * 5_368_709_120,
    orderUsageBytes: 1_000,
    totalDuration: 60,
    expiredTime: '2026-12-31T00:00:00.000Z',
  };

  const changed = { ...totals, totalVolumeBytes: 1, totalDuration: 1 };
  it.each([
    ['with the settling', settlePurchase],
    ['alone', saveDeliveredItem],
  ] as const)('stores its totals on the purchase and on the eSIM, once: %s', async (_how, keep) => {
    const { transactionId, esimId } = await openTopUp();
    expect((await loadDelivery(books.world, transactionId)).delivered).toBe(false);
    await keep(books.world, transactionId, topUpItem(totals, NOW));
    await keep(books.world, transactionId, topUpItem(changed, NOW));
    expect((await loadDelivery(books.world, transactionId)).delivered).toBe(true);
    expect((await findPurchase(books.world, transactionId))?.purchase).toMatchObject({
      top_up_iccid: totals.iccid,
      top_up_total_volume_bytes: 10_737_418_240n,
      top_up_remaining_bytes: 10_737_417_240n,
    });
    expect(await findEsim(books.world, esimId)).toMatchObject({
      status: 'ACTIVE',
      total_volume_bytes: 10_737_418_240n,
      order_usage_bytes: 1_000n,
      total_duration: 60,
      expired_time: new Date('2026-12-31T00:00:00.000Z'),
    });
  });

  it('keeps the end of validity when the supplier does not name one, and never has less than nothing left', async () => {
    const { transactionId, esimId } = await openTopUp();
    const used = { ...totals, expiredTime: null, orderUsageBytes: totals.totalVolumeBytes + 5 };
    await settlePurchase(books.world, transactionId, topUpItem(used, NOW));
    expect((await findEsim(books.world, esimId))?.expired_time).toEqual(new Date('2026-07-30T00:00:00.000Z'));
    expect((await findPurchase(books.world, transactionId))?.purchase.top_up_remaining_bytes).toBe(0n);
  });
});
