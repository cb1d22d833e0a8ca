/** What a supplier has delivered: an eSIM's profile or a top-up's totals, kept once, with the settlement. */
import { afterAll, describe, expect, it } from 'vitest';
import { READS_ALL } from '../../src/domain/account.ts';
import { ESIM_STATUSES } from '../../src/domain/states.ts';
import type { TopUpTotals } from '../../src/esims/rules.ts';
import { findEsim } from '../../src/esims/store/esims.ts';
import {
  acceptOtherPackage,
  profileItem,
  saveDeliveredItem,
  settlePurchase,
  topUpItem,
} from '../../src/purchases/store/purchases.ts';
import { findPurchase, findTimeline } from '../../src/purchases/store/reads.ts';
import { beginWithdrawal, loadDelivery, planNextOrder } from '../../src/purchases/store/supplier-orders.ts';
import { profileFacts } from '../support/money/facts.ts';
import { failPurchase } from '../support/money/give-back.ts';
import { installDataWith } from '../support/vendors/install-data.ts';
import { NOW, openOrderBooks } from '../support/money/supplier-order-books.ts';

const installData = installDataWith();
const { books, open, openTopUp, attempt } = await openOrderBooks();
afterAll(() => books.close());

describe('another package than the one that was ordered', () => {
  const other = { packageCode: 'OTHER', volumeBytes: 1n };

  it('is settled, on record, and needs a person until that one has seen it', async () => {
    const { transactionId } = await open();
    const item = { ...profileItem(profileFacts(), NOW, {}), other };
    expect(await settlePurchase(books.world, transactionId, item)).toEqual({
      isFirst: true,
      isMoneyOpen: false,
    });
    expect((await findPurchase(books.world, transactionId))?.purchase).toMatchObject({
      status: 'SUCCESS',
      attention_reason: 'OTHER_PACKAGE_DELIVERED',
      needs_attention_since: expect.any(Date) as unknown,
    });
    expect(await findTimeline(books.world, transactionId)).toMatchObject([
      { what: 'wallet-held' },
      { what: 'delivered' },
      { what: 'other-package-delivered' },
    ]);
    expect(await acceptOtherPackage(books.world, transactionId)).toBe('OTHER');
    expect(await acceptOtherPackage(books.world, transactionId)).toBeUndefined();
    expect((await findPurchase(books.world, transactionId))?.purchase.attention_reason).toBeNull();
  });

  it('is flagged also where it is kept first and settled later', async () => {
    const { transactionId } = await open();
    await saveDeliveredItem(books.world, transactionId, { ...profileItem(profileFacts(), NOW, {}), other });
    await settlePurchase(books.world, transactionId);
    expect((await findPurchase(books.world, transactionId))?.purchase.attention_reason).toBe(
      'OTHER_PACKAGE_DELIVERED',
    );
  });

  it('does not concern a delivery as ordered', async () => {
    const { transactionId } = await open();
    await settlePurchase(books.world, transactionId, profileItem(profileFacts(), NOW, {}));
    expect(await acceptOtherPackage(books.world, transactionId)).toBeUndefined();
    expect((await findPurchase(books.world, transactionId))?.purchase.needs_attention_since).toBeNull();
  });
});

describe('a delivery', () => {
  it('is delivered once its profile is stored, which opens nothing yet', async () => {
    const { transactionId, esimId } = await open();
    const facts = profileFacts({ pin: '1234', puk: '87654321' });
    await saveDeliveredItem(
      books.world,
      transactionId,
      profileItem(facts, NOW, installData.columns(esimId, facts)),
    );
    expect(await loadDelivery(books.world, transactionId)).toMatchObject({
      isDelivered: true,
      iccid: '8901000000000000001',
      esimTranNo: 'T1',
    });
    const row = (await findEsim(books.world, esimId))!;
    expect({ ...row, ...installData.open(row, READS_ALL) }).toMatchObject({
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
        arrange: async (id: string) => {
          await attempt(id);
          await beginWithdrawal(books.world, id);
        },
      },
      {
        of: 'an order that was replaced',
        arrange: async (id: string) => {
          await beginWithdrawal(books.world, id);
          await planNextOrder(books.world, id);
        },
      },
    ];

    it.each(CASES)('for $of', async ({ arrange }) => {
      const base = await open();
      const topUp = await openTopUp();
      for (const { transactionId } of [base, topUp]) await arrange(transactionId);
      const before = await Promise.all(
        [base, topUp].map((each) => findPurchase(books.world, each.transactionId)),
      );
      const profile = { ...profileItem(profileFacts(), NOW, {}), orderId: base.transactionId };
      const added = { ...topUpItem(totals, NOW), orderId: topUp.transactionId };
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

  it.each(ESIM_STATUSES.filter((status) => status !== 'PENDING'))(
    'stores no profile for an eSIM that is %s',
    async (status) => {
      const { transactionId, esimId } = await open();
      await books.owner.updateTable('esims').set({ status }).where('id', '=', esimId).execute();
      await saveDeliveredItem(books.world, transactionId, profileItem(profileFacts(), NOW, {}));
      expect(await findEsim(books.world, esimId)).toMatchObject({ status, iccid: '', checked_at: null });
    },
  );

  it('stores every column of its profile together with the settlement, once', async () => {
    const { transactionId, esimId } = await open();
    const item = profileItem(profileFacts({ eid: '89', msisdn: '234', apn: 'web' }), NOW, {});
    await settlePurchase(books.world, transactionId, item);
    const other = profileItem(profileFacts({ iccid: 'another' }), NOW, {});
    await settlePurchase(books.world, transactionId, other);
    expect(await findEsim(books.world, esimId)).toMatchObject({ ...item.profile, status: 'CREATED' });
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
    expect((await loadDelivery(books.world, transactionId)).isDelivered).toBe(false);
    await keep(books.world, transactionId, topUpItem(totals, NOW));
    await keep(books.world, transactionId, topUpItem(changed, NOW));
    expect((await loadDelivery(books.world, transactionId)).isDelivered).toBe(true);
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
