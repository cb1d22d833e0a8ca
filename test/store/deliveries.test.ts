/** What a delivery keeps between its attempts: every ask counted before it is made, the first order number, the totals of a top-up once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PurchaseInput } from '../../src/domain/purchase.ts';
import { replaceCatalogue, replaceTopUps } from '../../src/store/catalogue.ts';
import {
  beginAsking,
  keepOrderNo,
  keepTopUp,
  loadDelivery,
  type TopUpKept,
} from '../../src/store/deliveries.ts';
import { findEsim, keepProfile, refreshEsim } from '../../src/store/esims.ts';
import { ensureWallet, fundWallet } from '../../src/store/ledger.ts';
import { findPurchase, findTimeline } from '../../src/store/purchase-reads.ts';
import { openPurchase } from '../../src/store/purchase-opening.ts';
import { settlePurchase } from '../../src/store/purchases.ts';
import { openBooks, type Books } from '../support/books.ts';
import { basePackage, esimFacts, purchaseInput, region } from '../support/facts.ts';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const ACCOUNT = 'acc-1';

const books: Books = await openBooks();
beforeAll(async () => {
  const { world } = books;
  await replaceCatalogue(world, { regions: [region()], packages: [basePackage()] }, NOW);
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
    await openPurchase(books.world, input, { now: NOW, supplier: 's', keepRefusal: () => false }),
  ).toEqual({
    opened: true,
  });
  return input;
}

async function openTopUp(): Promise<PurchaseInput> {
  const base = await open();
  await keepProfile(books.world, base.esimId, esimFacts({ esimTranNo: `tran-${base.transactionId}` }), NOW);
  await settlePurchase(books.world, base.transactionId);
  await refreshEsim(books.world, base.esimId, esimFacts({ status: 'ACTIVE' }), NOW);
  return open({ packageCode: 'TOPUP_NG', packageType: 'TOPUP', esimId: base.esimId });
}

describe('a delivery', () => {
  it('starts from what was opened', async () => {
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
      askedBefore: false,
      wasAsked: false,
      supplierId: transactionId,
      createdAt: NOW,
    });
  });

  it('knows from its second ask on that an earlier one may be out', async () => {
    const { transactionId } = await open();
    const asked = [];
    for (let i = 0; i < 3; i += 1) asked.push((await beginAsking(books.world, transactionId)).askedBefore);
    expect(asked).toEqual([false, true, true]);
    const reread = await loadDelivery(books.world, transactionId);
    expect(reread.askedBefore).toBe(true);
  });

  it('lets one of many asks at once be the first', async () => {
    const { transactionId } = await open();
    const asks = await Promise.all(Array.from({ length: 8 }, () => beginAsking(books.world, transactionId)));
    expect(asks.filter(({ askedBefore }) => !askedBefore)).toHaveLength(1);
  });

  it('of a purchase that is not there is a bug to be seen', async () => {
    await expect(loadDelivery(books.world, 'txn-none')).rejects.toThrow();
    await expect(beginAsking(books.world, 'txn-none')).rejects.toThrow();
  });

  it('keeps the first order number, and tells of it once', async () => {
    const { transactionId } = await open();
    await keepOrderNo(books.world, transactionId, 'B1');
    await keepOrderNo(books.world, transactionId, 'B2');
    expect((await loadDelivery(books.world, transactionId)).orderNo).toBe('B1');
    const what = (await findTimeline(books.world, transactionId)).map((event) => event.what);
    expect(what).toEqual(['wallet-held', 'ordered-at-supplier']);
  });

  it('is delivered once its profile is kept', async () => {
    const { transactionId, esimId } = await open();
    await keepProfile(books.world, esimId, esimFacts(), NOW);
    expect(await loadDelivery(books.world, transactionId)).toMatchObject({
      delivered: true,
      iccid: '8901000000000000001',
      esimTranNo: 'T1',
    });
  });
});

describe('a top-up', () => {
  const totals: TopUpKept = {
    iccid: '8901000000000000001',
    totalVolumeBytes: 2 * 5_368_709_120,
    orderUsageBytes: 1_000,
    totalDuration: 60,
    expiredTime: '2026-12-31T00:00:00.000Z',
  };

  it('keeps its totals on the purchase and on the eSIM, once', async () => {
    const { transactionId, esimId } = await openTopUp();
    const delivery = await loadDelivery(books.world, transactionId);
    expect(delivery.delivered).toBe(false);
    await keepTopUp(books.world, delivery, totals);
    await keepTopUp(books.world, delivery, { ...totals, totalVolumeBytes: 1, totalDuration: 1 });
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

  it('leaves the end of validity alone when the supplier does not name one, and never has less than nothing left', async () => {
    const { transactionId, esimId } = await openTopUp();
    const delivery = await loadDelivery(books.world, transactionId);
    const used = { ...totals, expiredTime: null, orderUsageBytes: totals.totalVolumeBytes + 5 };
    await keepTopUp(books.world, delivery, used);
    expect((await findEsim(books.world, esimId))?.expired_time).toEqual(new Date('2026-07-30T00:00:00.000Z'));
    expect((await findPurchase(books.world, transactionId))?.purchase.top_up_remaining_bytes).toBe(0n);
  });
});
