/**
 * What every client of an eSIM supplier must do, for every vendor. Runs on real calls: `create` makes a
 * client together with a control over the supplier that misbehaves and shows what it holds.
 */
import { OPEN } from '../support/time/fences.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CataloguePackage } from '../../src/catalogue/rules.ts';
import { type SupplierProfile } from '../../src/esims/port.ts';
import { SupplierUnavailable } from '../../src/catalogue/port.ts';
import { parseLpa } from '../../src/esims/rules.ts';
import { until } from '../support/time/until.ts';
import { OF_ACCOUNT, refused } from './outcomes.ts';
import { newId, valueOf, type SupplierUnderTest } from './esim-supplier-kit.ts';

/** Runs the whole suite on one client. */
export function describeEsimSupplier(name: string, create: () => Promise<SupplierUnderTest>): void {
  describe(name, () => {
    let under: SupplierUnderTest;
    let catalogue: Awaited<ReturnType<SupplierUnderTest['supplier']['catalogue']>>;
    let item: CataloguePackage;
    let withoutTopUps: CataloguePackage;
    let topUp: CataloguePackage;

    beforeAll(async () => {
      under = await create();
      catalogue = await under.supplier.catalogue();
      const { packages } = catalogue;
      const plain = packages.filter((each) => each.regionType === 'LC' && each.regionCode !== 'ZZ');
      item = plain.find((each) => each.topUpAvailable && each.dataType === 1)!;
      withoutTopUps = packages.find((each) => !each.topUpAvailable)!;
      topUp = (await under.supplier.topUps(item.packageCode))[0]!;
    });
    afterEach(() => under.control.clearFaults());
    afterAll(() => under.close());

    const orderOf = (transactionId: string, packageCode = item.packageCode, costUsdE4 = item.cost) =>
      under.supplier.order({ ...OF_ACCOUNT, transactionId, packageCode, costUsdE4 }, OPEN);

    const topUpOf = (transactionId: string, esimTranNo: string, { packageCode, cost } = topUp) =>
      under.supplier.topUp({ ...OF_ACCOUNT, transactionId, esimTranNo, packageCode, costUsdE4: cost }, OPEN);

    async function readyProfile(orderNo: string): Promise<SupplierProfile> {
      const ready = await until(
        async () => valueOf(await under.supplier.profile({ ...OF_ACCOUNT, orderNo })),
        (found) => found.state === 'ready',
      );
      if (ready.state !== 'ready') throw new Error(ready.state);
      return ready.profile;
    }

    async function newEsim(): Promise<SupplierProfile> {
      return readyProfile(valueOf(await orderOf(newId())).orderNo);
    }

    describe('catalogue', () => {
      it('lists countries, regions, global regions and the packages of each', () => {
        const { regions, packages } = catalogue;
        expect(new Set(regions.map((region) => region.regionType))).toEqual(new Set(['LC', 'RG', 'GL']));
        const types = new Map(regions.map((region) => [region.regionCode, region.regionType]));
        expect(types.size).toBe(regions.length);
        expect(new Set(packages.map((each) => each.packageCode)).size).toBe(packages.length);
        for (const each of packages) {
          expect(each).toMatchObject({ packageType: 'BASE', regionType: types.get(each.regionCode) });
          expect(each.cost > 0n && each.volumeBytes > 0 && each.duration > 0).toBe(true);
        }
        for (const region of regions) {
          expect(region.countryCode).toBe(region.regionType === 'LC' ? region.regionCode : null);
          expect(region.flagUrl).toMatch(/^https?:\/\//);
        }
      });

      it('lists the top-ups of a package, and none for a package without or an unknown one', async () => {
        const topUps = await under.supplier.topUps(item.packageCode);
        expect(topUps.length).toBeGreaterThan(0);
        for (const each of topUps)
          expect(each).toMatchObject({ packageType: 'TOPUP', regionCode: item.regionCode });
        expect(await under.supplier.topUps(withoutTopUps.packageCode)).toEqual([]);
        expect(await under.supplier.topUps('NO-SUCH-PACKAGE')).toEqual([]);
      });
    });

    describe('order', () => {
      it('is done, charged once, and has an eSIM', async () => {
        const before = await under.supplier.balance();
        const transactionId = newId();
        const { orderNo } = valueOf(await orderOf(transactionId));
        expect(await under.supplier.balance()).toBe(before - item.cost);
        const profile = await readyProfile(orderNo);
        expect(profile).toMatchObject({
          orderNo,
          transactionId,
          status: 'CREATED',
          totalVolumeBytes: item.volumeBytes,
          totalDuration: item.duration,
          durationUnit: item.durationUnit,
          orderUsageBytes: 0,
          activateTime: null,
        });
        expect(parseLpa(profile.ac)).not.toBeNull();
        expect(profile.iccid).toMatch(/^\d{18,20}$/);
        expect(profile.expiredTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(
          valueOf(await under.supplier.profile({ ...OF_ACCOUNT, esimTranNo: profile.esimTranNo })),
        ).toEqual({
          state: 'ready',
          profile,
        });
      });

      it('repeated is the same order, also at another price and while the supplier refuses new orders', async () => {
        const transactionId = newId();
        const first = valueOf(await orderOf(transactionId));
        const before = await under.supplier.balance();
        expect(valueOf(await orderOf(transactionId))).toEqual(first);
        expect(valueOf(await orderOf(transactionId, item.packageCode, item.cost + 100n))).toEqual(first);
        await under.control.setFaults({ outOfStock: 1, priceChanged: 1, lowBalance: 1 });
        expect(valueOf(await orderOf(transactionId))).toEqual(first);
        expect(await orderOf(newId())).toMatchObject(refused('OUT_OF_STOCK'));
        expect(await under.supplier.balance()).toBe(before);
        expect(await under.control.held(transactionId)).toBe(1);
      });

      it.each([
        ['out of stock', { outOfStock: 1 }, 'OUT_OF_STOCK'],
        ['price changed', { priceChanged: 1 }, 'PRICE_CHANGED'],
        ['balance too low', { lowBalance: 1 }, 'BALANCE_TOO_LOW'],
        ['credentials refused', { wrongSignature: 1 }, 'CREDENTIALS_REFUSED'],
      ])(
        'is refused with %s, like a top-up; the supplier holds neither, and takes both later',
        async (_name, faults, reason) => {
          const { esimTranNo } = await newEsim();
          const [orderId, topUpId] = [newId(), newId()];
          const purchases = () => [orderOf(orderId), topUpOf(topUpId, esimTranNo)];
          await under.control.setFaults(faults);
          const refused = { outcome: 'refused', reason };
          expect(await Promise.all(purchases())).toMatchObject([refused, refused]);
          expect([await under.control.held(orderId), await under.control.held(topUpId)]).toEqual([0, 0]);
          await under.control.clearFaults();
          expect(await Promise.all(purchases())).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }]);
        },
      );

      it('of an unknown package or at another price is refused', async () => {
        const transactionId = newId();
        expect(await orderOf(transactionId, 'NO-SUCH-PACKAGE')).toMatchObject(refused('PACKAGE_UNKNOWN'));
        expect(await orderOf(transactionId, item.packageCode, item.cost - 1n)).toMatchObject(
          refused('PRICE_CHANGED'),
        );
        expect(await under.control.held(transactionId)).toBe(0);
      });

      it('at a busy supplier is unknown with a wait, like a top-up, and done later', async () => {
        await under.control.setFaults({ busy: { next: 1 } });
        const transactionId = newId();
        const waits = { outcome: 'unknown', retryAfterMs: expect.any(Number) as unknown };
        expect(await orderOf(transactionId)).toMatchObject(waits);
        const { orderNo } = valueOf(await orderOf(transactionId));
        expect(await under.control.held(transactionId)).toBe(1);
        const { esimTranNo } = await readyProfile(orderNo);
        const topUpId = newId();
        await under.control.setFaults({ busy: { next: 1 } });
        expect(await topUpOf(topUpId, esimTranNo)).toMatchObject(waits);
        expect(await under.control.held(topUpId)).toBe(0);
      });

      it('whose answer is lost is unknown, found, and done when repeated, and the supplier holds it once', async () => {
        await under.control.setFaults({ loseAnswer: { next: 1 } });
        const transactionId = newId();
        const from = new Date();
        expect((await orderOf(transactionId)).outcome).toBe('unknown');
        const found = valueOf(
          await under.supplier.findOrder({ ...OF_ACCOUNT, transactionId, from, until: new Date() }),
        );
        if (found.state !== 'found') throw new Error(found.state);
        expect(valueOf(await orderOf(transactionId))).toEqual({ orderNo: found.orderNo });
        expect((await readyProfile(found.orderNo)).esimTranNo).toBe(found.esimTranNo);
        expect(await under.control.held(transactionId)).toBe(1);
      });

      it('whose answers are all lost stays unknown, and is held once; a refusal is not lost', async () => {
        await under.control.setFaults({ loseAnswer: 1 });
        const transactionId = newId();
        for (let i = 0; i < 2; i += 1) expect((await orderOf(transactionId)).outcome).toBe('unknown');
        expect(await under.control.held(transactionId)).toBe(1);
        expect((await orderOf(newId(), 'NO-SUCH-PACKAGE')).outcome).toBe('refused');
      });

      it('that takes too long is unknown, and done when repeated; the supplier holds it once', async () => {
        await under.control.setFaults({ latencyMs: under.tooSlowMs });
        const transactionId = newId();
        const { packageCode, cost: costUsdE4 } = item;
        const slow = await under.withShortTimeout.order(
          { ...OF_ACCOUNT, transactionId, packageCode, costUsdE4 },
          OPEN,
        );
        expect(slow.outcome).toBe('unknown');
        await under.control.clearFaults();
        valueOf(await orderOf(transactionId));
        // By then the slow request has reached the supplier as well.
        await new Promise((resolve) => setTimeout(resolve, under.tooSlowMs));
        expect(await under.control.held(transactionId)).toBe(1);
      });

      it('above the rate limit is unknown with a wait, and never held twice', async () => {
        await under.control.setFaults({ rateLimit: true });
        const ids = Array.from({ length: 24 }, newId);
        const outcomes = await Promise.all(ids.map((id) => orderOf(id)));
        const limited = outcomes.filter((outcome) => outcome.outcome === 'unknown');
        expect(limited.length).toBeGreaterThan(0);
        for (const outcome of limited) expect(outcome).toHaveProperty('retryAfterMs');
        expect(outcomes.every((outcome) => outcome.outcome !== 'refused')).toBe(true);
        await under.control.clearFaults();
        for (const [i, id] of ids.entries()) {
          expect(await under.control.held(id)).toBe(outcomes[i]?.outcome === 'done' ? 1 : 0);
        }
      });
    });

    describe('findOrder', () => {
      it('finds an order, and none where none was placed', async () => {
        const transactionId = newId();
        const from = new Date();
        const { orderNo } = valueOf(await orderOf(transactionId));
        const { esimTranNo } = await readyProfile(orderNo);
        const when = { from, until: new Date() };
        expect(valueOf(await under.supplier.findOrder({ ...OF_ACCOUNT, transactionId, ...when }))).toEqual({
          state: 'found',
          orderNo,
          esimTranNo,
        });
        const other = newId();
        expect(
          valueOf(await under.supplier.findOrder({ ...OF_ACCOUNT, transactionId: other, ...when })),
        ).toEqual({
          state: 'not-listed',
        });
        expect(await under.control.held(other)).toBe(0);
      });

      it('is unknown, never "none", when the supplier answers with an error', async () => {
        const request = { ...OF_ACCOUNT, transactionId: newId(), from: new Date(), until: new Date() };
        for (const faults of [{ busy: 1 }, { wrongSignature: 1 }]) {
          await under.control.setFaults(faults);
          expect((await under.supplier.findOrder(request)).outcome).toBe('unknown');
          await under.control.clearFaults();
        }
      });
    });

    describe('profile', () => {
      it('is allocating until the supplier has allocated it', async () => {
        await under.control.setFaults({ allocationMs: 400 });
        const { orderNo } = valueOf(await orderOf(newId()));
        expect(valueOf(await under.supplier.profile({ ...OF_ACCOUNT, orderNo }))).toEqual({
          state: 'allocating',
        });
        expect((await readyProfile(orderNo)).status).toBe('CREATED');
      });

      it('is allocating as long as the supplier does not allocate it, while another order has its profile', async () => {
        await under.control.setFaults({ neverAllocate: { next: 1 } });
        const transactionId = newId();
        const { orderNo } = valueOf(await orderOf(transactionId));
        for (let i = 0; i < 3; i += 1) {
          expect(valueOf(await under.supplier.profile({ ...OF_ACCOUNT, orderNo }))).toEqual({
            state: 'allocating',
          });
        }
        expect(valueOf(await orderOf(transactionId))).toEqual({ orderNo });
        await newEsim();
        expect(valueOf(await under.supplier.profile({ ...OF_ACCOUNT, orderNo }))).toEqual({
          state: 'allocating',
        });
        await under.control.clearFaults();
        expect((await readyProfile(orderNo)).transactionId).toBe(transactionId);
      });

      it('of an order or eSIM that the supplier does not hold is unknown', async () => {
        expect((await under.supplier.profile({ ...OF_ACCOUNT, orderNo: 'B0000000000000' })).outcome).toBe(
          'unknown',
        );
        expect((await under.supplier.profile({ ...OF_ACCOUNT, esimTranNo: '00000000000000' })).outcome).toBe(
          'unknown',
        );
      });

      it.each([
        ['IN_USE', 'ACTIVE'],
        ['TELEPORTED', null],
      ])('with the supplier’s status %s has our status %s', async (esimStatus, status) => {
        const { esimTranNo } = await newEsim();
        await under.control.changeEsim(esimTranNo, { esimStatus });
        expect(valueOf(await under.supplier.profile({ ...OF_ACCOUNT, esimTranNo }))).toMatchObject({
          state: 'ready',
          profile: { status, supplierStatus: esimStatus },
        });
      });
    });

    describe('topUp', () => {
      it('adds volume and days once, also when it is repeated', async () => {
        const esim = await newEsim();
        await under.control.changeEsim(esim.esimTranNo, { esimStatus: 'USED_UP' });
        const before = await under.supplier.balance();
        const transactionId = newId();
        const totals = valueOf(await topUpOf(transactionId, esim.esimTranNo));
        expect(totals).toMatchObject({
          iccid: esim.iccid,
          totalVolumeBytes: item.volumeBytes + topUp.volumeBytes,
          totalDuration: item.duration + topUp.duration,
          orderUsageBytes: item.volumeBytes,
        });
        expect(valueOf(await topUpOf(transactionId, esim.esimTranNo))).toEqual(totals);
        expect(await under.supplier.balance()).toBe(before - topUp.cost);
        expect(await under.control.held(transactionId)).toBe(1);
        expect(
          valueOf(await under.supplier.profile({ ...OF_ACCOUNT, esimTranNo: esim.esimTranNo })),
        ).toMatchObject({
          profile: { status: 'ACTIVE', totalVolumeBytes: totals.totalVolumeBytes },
        });
      });

      it('whose answer is lost is unknown, found, and done when repeated, and the supplier holds it once', async () => {
        const { esimTranNo } = await newEsim();
        const transactionId = newId();
        const request = { ...OF_ACCOUNT, transactionId, esimTranNo, askedAt: new Date() };
        expect(valueOf(await under.supplier.findTopUp(request))).toEqual({ found: false });
        await under.control.setFaults({ loseAnswer: { next: 1 } });
        expect((await topUpOf(transactionId, esimTranNo)).outcome).toBe('unknown');
        const found = valueOf(await under.supplier.findTopUp(request));
        // Enough to settle it without asking again.
        expect(found).toMatchObject({
          found: true,
          packageCode: topUp.packageCode,
          totals: { totalVolumeBytes: item.volumeBytes + topUp.volumeBytes },
        });
        expect(valueOf(await topUpOf(transactionId, esimTranNo))).toEqual(
          'totals' in found ? found.totals : undefined,
        );
        expect(await under.control.held(transactionId)).toBe(1);
      });

      it('of an eSIM that has ended, or with an unknown package, is refused', async () => {
        const { esimTranNo } = await newEsim();
        const unknownPackage = { ...topUp, packageCode: 'TOPUP_NONE' };
        expect(await topUpOf(newId(), esimTranNo, unknownPackage)).toMatchObject(refused('PACKAGE_UNKNOWN'));
        valueOf(await under.supplier.cancel({ ...OF_ACCOUNT, esimTranNo }, OPEN));
        expect(await topUpOf(newId(), esimTranNo)).toMatchObject(refused('NOT_ALLOWED_IN_STATE'));
      });

      it('is unknown to findTopUp for an eSIM that the supplier does not hold', async () => {
        const request = {
          ...OF_ACCOUNT,
          transactionId: newId(),
          esimTranNo: '00000000000000',
          askedAt: new Date(),
        };
        expect((await under.supplier.findTopUp(request)).outcome).toBe('unknown');
      });
    });

    describe('cancel', () => {
      it('gives the money back once, and is done when repeated', async () => {
        const before = await under.supplier.balance();
        const { esimTranNo } = await newEsim();
        expect(await under.supplier.cancel({ ...OF_ACCOUNT, esimTranNo }, OPEN)).toEqual({
          outcome: 'done',
          value: null,
        });
        expect(await under.supplier.cancel({ ...OF_ACCOUNT, esimTranNo }, OPEN)).toEqual({
          outcome: 'done',
          value: null,
        });
        expect(await under.supplier.balance()).toBe(before);
        expect(valueOf(await under.supplier.profile({ ...OF_ACCOUNT, esimTranNo }))).toMatchObject({
          profile: { status: 'CANCELLED' },
        });
      });

      it('gives back the price of the top-ups, too', async () => {
        const before = await under.supplier.balance();
        const { esimTranNo } = await newEsim();
        valueOf(await topUpOf(newId(), esimTranNo));
        expect(await under.supplier.balance()).toBe(before - item.cost - topUp.cost);
        valueOf(await under.supplier.cancel({ ...OF_ACCOUNT, esimTranNo }, OPEN));
        expect(await under.supplier.balance()).toBe(before);
      });

      it('whose answer is lost is unknown, and done when repeated', async () => {
        const { esimTranNo } = await newEsim();
        await under.control.setFaults({ loseAnswer: { next: 1 } });
        expect((await under.supplier.cancel({ ...OF_ACCOUNT, esimTranNo }, OPEN)).outcome).toBe('unknown');
        expect(await under.supplier.cancel({ ...OF_ACCOUNT, esimTranNo }, OPEN)).toEqual({
          outcome: 'done',
          value: null,
        });
      });

      it.each(['IN_USE', 'REVOKE'])('of an eSIM with the status %s is refused', async (esimStatus) => {
        const { esimTranNo } = await newEsim();
        await under.control.changeEsim(esimTranNo, { esimStatus });
        expect(await under.supplier.cancel({ ...OF_ACCOUNT, esimTranNo }, OPEN)).toMatchObject(
          refused('NOT_ALLOWED_IN_STATE'),
        );
      });
    });

    describe('revoke', () => {
      it('ends an eSIM that is in use without money back, and is done when repeated', async () => {
        const { esimTranNo } = await newEsim();
        await under.control.changeEsim(esimTranNo, { esimStatus: 'IN_USE' });
        const before = await under.supplier.balance();
        expect(await under.supplier.revoke({ ...OF_ACCOUNT, esimTranNo }, OPEN)).toEqual({
          outcome: 'done',
          value: null,
        });
        expect(await under.supplier.revoke({ ...OF_ACCOUNT, esimTranNo }, OPEN)).toEqual({
          outcome: 'done',
          value: null,
        });
        expect(await under.supplier.balance()).toBe(before);
        expect(valueOf(await under.supplier.profile({ ...OF_ACCOUNT, esimTranNo }))).toMatchObject({
          profile: { status: 'CANCELLED' },
        });
      });

      it('whose answer is lost is unknown, and done when repeated', async () => {
        const { esimTranNo } = await newEsim();
        await under.control.setFaults({ loseAnswer: { next: 1 } });
        expect((await under.supplier.revoke({ ...OF_ACCOUNT, esimTranNo }, OPEN)).outcome).toBe('unknown');
        expect(await under.supplier.revoke({ ...OF_ACCOUNT, esimTranNo }, OPEN)).toEqual({
          outcome: 'done',
          value: null,
        });
      });
    });

    describe('orders', () => {
      const ordersOf = async (from: Date, to: Date) => {
        const listed = [];
        for await (const order of under.supplier.orders(from, to)) listed.push(order);
        return listed;
      };

      it('lists the eSIMs of a time, their top-ups, and which were refunded', async () => {
        const from = new Date();
        const kept = await newEsim();
        const cancelled = await newEsim();
        valueOf(await under.supplier.cancel({ ...OF_ACCOUNT, esimTranNo: cancelled.esimTranNo }, OPEN));
        const transactionId = newId();
        valueOf(await topUpOf(transactionId, kept.esimTranNo));
        // The supplier's times are whole seconds, so it lists others of the same second as well.
        const ours = [kept.esimTranNo, cancelled.esimTranNo];
        const listed = (await ordersOf(from, new Date())).filter((order) => ours.includes(order.esimTranNo));
        const own = ({ orderNo, esimTranNo }: SupplierProfile) => ({ orderNo, esimTranNo });
        const { packageCode } = item;
        expect(listed).toMatchObject([
          { ...own(kept), transactionId: kept.transactionId, packageCode, isRefunded: false },
          { ...own(kept), transactionId, packageCode: topUp.packageCode, isRefunded: false },
          { ...own(cancelled), transactionId: cancelled.transactionId, packageCode, isRefunded: true },
        ]);
        for (const { at, listedAt } of listed) {
          expect(at.getTime()).toBeGreaterThan(from.getTime() - 1_000);
          expect(at.getTime()).toBeLessThan(Date.now() + 1_000);
          expect(listedAt <= at).toBe(true);
        }
        expect(JSON.stringify(listed)).not.toContain(kept.ac);
      });

      it('lists nothing of another time', async () => {
        expect(await ordersOf(new Date(Date.now() - 7_200_000), new Date(Date.now() - 3_600_000))).toEqual(
          [],
        );
      });

      it('throws SupplierUnavailable when the supplier is busy', async () => {
        await under.control.setFaults({ busy: { next: 1 } });
        const listed = ordersOf(new Date(Date.now() - 1_000), new Date());
        await expect(listed).rejects.toBeInstanceOf(SupplierUnavailable);
      });
    });

    describe('reads', () => {
      it('return the usage of several eSIMs', async () => {
        const esims = [await newEsim(), await newEsim()];
        await under.control.changeEsim(esims[0]!.esimTranNo, { esimStatus: 'IN_USE', orderUsage: 1234 });
        const usage = await under.supplier.usage(esims.map((esim) => esim.esimTranNo));
        expect(usage).toMatchObject([
          { esimTranNo: esims[0]?.esimTranNo, usedBytes: 1234, totalBytes: item.volumeBytes },
          { esimTranNo: esims[1]?.esimTranNo, usedBytes: 0, totalBytes: item.volumeBytes },
        ]);
        expect(usage[0]?.observedAt).toMatch(/Z$/);
      });

      it.each([
        ['busy', { busy: 1 }, true],
        ['wrong key', { wrongSignature: 1 }, false],
      ])('throw SupplierUnavailable when the supplier says: %s', async (_name, faults, retryable) => {
        await under.control.setFaults(faults);
        const { supplier } = under;
        for (const read of [
          () => supplier.catalogue(),
          () => supplier.topUps(item.packageCode),
          () => supplier.usage(['1']),
          () => supplier.balance(),
        ]) {
          const error: unknown = await read().catch((thrown: unknown) => thrown);
          expect(error).toBeInstanceOf(SupplierUnavailable);
          expect(error).toMatchObject({ retryable });
        }
      });
    });
  });
}
