/** What a delivery keeps between its attempts: every ask counted before it is made, the first order number, the totals of a top-up once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TopUpTotals } from '../../src/domain/esim.ts';
import type { PurchaseInput } from '../../src/domain/purchase.ts';
import { ESIM_STATUSES } from '../../src/domain/states.ts';
import { replaceCatalogue, replaceTopUps } from '../../src/store/catalogue.ts';
import { beginAsking, keepOrderNo, loadDelivery } from '../../src/store/deliveries.ts';
import { findEsim, refreshEsim } from '../../src/store/esims.ts';
import { keepGoods, profileGoods, topUpGoods } from '../../src/store/goods.ts';
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
  const facts = esimFacts({ esimTranNo: `tran-${base.transactionId}` });
  await settlePurchase(books.world, base.transactionId, profileGoods(facts, NOW));
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

  it('is delivered once its profile is kept, which opens nothing yet', async () => {
    const { transactionId, esimId } = await open();
    await keepGoods(
      books.world,
      transactionId,
      profileGoods(esimFacts({ pin: '1234', puk: '87654321' }), NOW),
    );
    expect(await loadDelivery(books.world, transactionId)).toMatchObject({
      delivered: true,
      iccid: '8901000000000000001',
      esimTranNo: 'T1',
    });
    expect(await findEsim(books.world, esimId)).toMatchObject({
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
      looked_at: NOW,
    });
  });

  it.each(ESIM_STATUSES.filter((status) => status !== 'PENDING'))(
    'keeps no profile where the eSIM is %s',
    async (status) => {
      const { transactionId, esimId } = await open();
      await books.owner.updateTable('esims').set({ status }).where('id', '=', esimId).execute();
      await keepGoods(books.world, transactionId, profileGoods(esimFacts(), NOW));
      expect(await findEsim(books.world, esimId)).toMatchObject({ status, iccid: '', looked_at: null });
    },
  );

  it('keeps its profile with the settling, once', async () => {
    const { transactionId, esimId } = await open();
    await settlePurchase(books.world, transactionId, profileGoods(esimFacts(), NOW));
    await settlePurchase(books.world, transactionId, profileGoods(esimFacts({ iccid: 'another' }), NOW));
    expect(await findEsim(books.world, esimId)).toMatchObject({
      status: 'CREATED',
      iccid: '8901000000000000001',
      looked_at: NOW,
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
    ['alone', keepGoods],
  ] as const)('keeps its totals on the purchase and on the eSIM, once: %s', async (_how, keep) => {
    const { transactionId, esimId } = await openTopUp();
    expect((await loadDelivery(books.world, transactionId)).delivered).toBe(false);
    await keep(books.world, transactionId, topUpGoods(totals));
    await keep(books.world, transactionId, topUpGoods(changed));
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
    const used = { ...totals, expiredTime: null, orderUsageBytes: totals.totalVolumeBytes + 5 };
    await settlePurchase(books.world, transactionId, topUpGoods(used));
    expect((await findEsim(books.world, esimId))?.expired_time).toEqual(new Date('2026-07-30T00:00:00.000Z'));
    expect((await findPurchase(books.world, transactionId))?.purchase.top_up_remaining_bytes).toBe(0n);
  });
});
