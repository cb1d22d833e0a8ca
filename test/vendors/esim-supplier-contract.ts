/**
 * What every implementation of the port esim-supplier must do, whatever vendor stands behind it. Runs on real calls: the hooks make
 * an implementation together with a control over the vendor's side that can misbehave and say what it really holds.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CataloguePackage } from '../../src/catalogue/rules.ts';
import { type SupplierProfile } from '../../src/esims/port.ts';
import { SupplierUnavailable } from '../../src/catalogue/port.ts';
import { newId, until, valueOf, type SupplierUnderTest } from './esim-supplier-kit.ts';
import { parseLpa } from '../../src/esims/rules.ts';

/** Runs the whole suite on one implementation. */
export function describeEsimSupplier(name: string, create: () => Promise<SupplierUnderTest>): void {
  describe(name, () => {
    let under: SupplierUnderTest;
    let item: CataloguePackage;
    let withoutTopUps: CataloguePackage;

    beforeAll(async () => {
      under = await create();
      const { packages } = await under.supplier.catalogue();
      const plain = packages.filter((each) => each.regionType === 'LC' && each.regionCode !== 'ZZ');
      item = plain.find((each) => each.topUpAvailable && each.dataType === 1)!;
      withoutTopUps = packages.find((each) => !each.topUpAvailable)!;
    });
    afterEach(() => under.control.clearFaults());
    afterAll(() => under.close());

    const orderOf = (transactionId: string, packageCode = item.packageCode, costUsdE4 = item.cost) =>
      under.supplier.order({ transactionId, packageCode, costUsdE4 });

    async function readyProfile(orderNo: string): Promise<SupplierProfile> {
      return until(async () => {
        const look = valueOf(await under.supplier.profile({ orderNo }));
        return look.state === 'ready' ? look.profile : undefined;
      });
    }

    async function newEsim(): Promise<SupplierProfile> {
      return readyProfile(valueOf(await orderOf(newId())).orderNo);
    }

    describe('catalogue', () => {
      it('has countries, regions and global places, and packages that fit them', async () => {
        const { regions, packages } = await under.supplier.catalogue();
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

      it('has top-ups for a package that takes them, none for one that does not', async () => {
        const topUps = await under.supplier.topUps(item.packageCode);
        expect(topUps.length).toBeGreaterThan(0);
        for (const each of topUps)
          expect(each).toMatchObject({ packageType: 'TOPUP', regionCode: item.regionCode });
        expect(await under.supplier.topUps(withoutTopUps.packageCode)).toEqual([]);
        expect(await under.supplier.topUps('NO-SUCH-PACKAGE')).toEqual([]);
      });
    });

    describe('order', () => {
      it('is done, charged once, and leads to an eSIM', async () => {
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
        expect(valueOf(await under.supplier.profile({ esimTranNo: profile.esimTranNo }))).toEqual({
          state: 'ready',
          profile,
        });
      });

      it('repeated is the same order', async () => {
        const transactionId = newId();
        const first = valueOf(await orderOf(transactionId));
        const before = await under.supplier.balance();
        expect(valueOf(await orderOf(transactionId))).toEqual(first);
        expect(await under.supplier.balance()).toBe(before);
        expect(await under.control.held(transactionId)).toBe(1);
      });

      it.each([
        ['out of stock', { outOfStock: 1 }, 'OUT_OF_STOCK'],
        ['price changed', { priceChanged: 1 }, 'PRICE_CHANGED'],
        ['our balance too low', { lowBalance: 1 }, 'BALANCE_TOO_LOW'],
        ['credentials refused', { wrongSignature: 1 }, 'CREDENTIALS_REFUSED'],
      ])('%s: refused, nothing held', async (_name, faults, reason) => {
        await under.control.setFaults(faults);
        const transactionId = newId();
        expect(await orderOf(transactionId)).toMatchObject({ outcome: 'refused', reason });
        expect(await under.control.held(transactionId)).toBe(0);
      });

      it('of an unknown package or at another price: refused', async () => {
        const transactionId = newId();
        expect(await orderOf(transactionId, 'NO-SUCH-PACKAGE')).toMatchObject({
          outcome: 'refused',
          reason: 'PACKAGE_UNKNOWN',
        });
        expect(await orderOf(transactionId, item.packageCode, item.cost - 1n)).toMatchObject({
          outcome: 'refused',
          reason: 'PRICE_CHANGED',
        });
        expect(await under.control.held(transactionId)).toBe(0);
      });

      it('at a busy vendor: unknown with a wait, later done', async () => {
        await under.control.setFaults({ busy: { next: 1 } });
        const transactionId = newId();
        const outcome = await orderOf(transactionId);
        expect(outcome).toMatchObject({ outcome: 'unknown', retryAfterMs: expect.any(Number) as unknown });
        valueOf(await orderOf(transactionId));
        expect(await under.control.held(transactionId)).toBe(1);
      });

      it('whose answer is lost: unknown, found, and done when repeated, held once', async () => {
        await under.control.setFaults({ loseAnswer: { next: 1 } });
        const transactionId = newId();
        const from = new Date();
        expect((await orderOf(transactionId)).outcome).toBe('unknown');
        const found = valueOf(await under.supplier.findOrder({ transactionId, from, until: new Date() }));
        if (found.state !== 'found') throw new Error(found.state);
        expect(valueOf(await orderOf(transactionId))).toEqual({ orderNo: found.orderNo });
        expect((await readyProfile(found.orderNo)).esimTranNo).toBe(found.esimTranNo);
        expect(await under.control.held(transactionId)).toBe(1);
      });

      it('that takes too long: unknown, done when repeated, held once', async () => {
        await under.control.setFaults({ latencyMs: under.tooSlowMs });
        const transactionId = newId();
        expect((await orderOf(transactionId)).outcome).toBe('unknown');
        await under.control.clearFaults();
        valueOf(await orderOf(transactionId));
        // The slow one arrives as well.
        await new Promise((resolve) => setTimeout(resolve, under.tooSlowMs));
        expect(await under.control.held(transactionId)).toBe(1);
      });

      it('limited: unknown with a wait, and never held twice', async () => {
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
        expect(valueOf(await under.supplier.findOrder({ transactionId, ...when }))).toEqual({
          state: 'found',
          orderNo,
          esimTranNo,
        });
        const other = newId();
        expect(valueOf(await under.supplier.findOrder({ transactionId: other, ...when }))).toEqual({
          state: 'not-listed',
        });
        expect(await under.control.held(other)).toBe(0);
      });

      it('is unknown, never "none", when the vendor will not say', async () => {
        const request = { transactionId: newId(), from: new Date(), until: new Date() };
        for (const faults of [{ busy: 1 }, { wrongSignature: 1 }]) {
          await under.control.setFaults(faults);
          expect((await under.supplier.findOrder(request)).outcome).toBe('unknown');
          await under.control.clearFaults();
        }
      });
    });

    describe('profile', () => {
      it('is allocating until the vendor has it', async () => {
        await under.control.setFaults({ allocationMs: 400 });
        const { orderNo } = valueOf(await orderOf(newId()));
        expect(valueOf(await under.supplier.profile({ orderNo }))).toEqual({ state: 'allocating' });
        expect((await readyProfile(orderNo)).status).toBe('CREATED');
      });

      it('is allocating for ever when it never comes, and there when it comes after all', async () => {
        await under.control.setFaults({ neverAllocate: { next: 1 } });
        const transactionId = newId();
        const { orderNo } = valueOf(await orderOf(transactionId));
        for (let i = 0; i < 3; i += 1) {
          expect(valueOf(await under.supplier.profile({ orderNo }))).toEqual({ state: 'allocating' });
        }
        expect(valueOf(await orderOf(transactionId))).toEqual({ orderNo });
        await under.control.clearFaults();
        expect((await readyProfile(orderNo)).transactionId).toBe(transactionId);
      });

      it('of what the vendor does not hold is unknown', async () => {
        expect((await under.supplier.profile({ orderNo: 'B0000000000000' })).outcome).toBe('unknown');
        expect((await under.supplier.profile({ esimTranNo: '00000000000000' })).outcome).toBe('unknown');
      });

      it.each([
        ['IN_USE', 'ACTIVE'],
        ['USED_UP', 'ACTIVE'],
        ['SUSPENDED', 'SUSPENDED'],
        ['USED_EXPIRED', 'EXPIRED'],
        ['UNUSED_EXPIRED', 'EXPIRED'],
        ['REVOKE', 'CANCELLED'],
        ['REVOKED', 'CANCELLED'],
        ['TELEPORTED', null],
      ])('in state %s is %s', async (esimStatus, status) => {
        const { esimTranNo } = await newEsim();
        await under.control.changeEsim(esimTranNo, { esimStatus });
        const look = valueOf(await under.supplier.profile({ esimTranNo }));
        expect(look).toMatchObject({ state: 'ready', profile: { status, supplierStatus: esimStatus } });
      });
    });

    describe('topUp', () => {
      let topUp: CataloguePackage;
      beforeAll(async () => {
        topUp = (await under.supplier.topUps(item.packageCode))[0]!;
      });
      const topUpOf = (transactionId: string, esimTranNo: string) =>
        under.supplier.topUp({
          transactionId,
          esimTranNo,
          packageCode: topUp.packageCode,
          costUsdE4: topUp.cost,
        });

      it('adds volume and days once, however often it is asked for', async () => {
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
        const look = valueOf(await under.supplier.profile({ esimTranNo: esim.esimTranNo }));
        expect(look).toMatchObject({
          profile: { status: 'ACTIVE', totalVolumeBytes: totals.totalVolumeBytes },
        });
      });

      it('whose answer is lost: unknown, found, and done when repeated, held once', async () => {
        const { esimTranNo } = await newEsim();
        const transactionId = newId();
        const request = { transactionId, esimTranNo, askedAt: new Date() };
        expect(valueOf(await under.supplier.findTopUp(request))).toEqual({ found: false });
        await under.control.setFaults({ loseAnswer: { next: 1 } });
        expect((await topUpOf(transactionId, esimTranNo)).outcome).toBe('unknown');
        expect(valueOf(await under.supplier.findTopUp(request))).toEqual({ found: true });
        expect(valueOf(await topUpOf(transactionId, esimTranNo)).totalVolumeBytes).toBe(
          item.volumeBytes + topUp.volumeBytes,
        );
        expect(await under.control.held(transactionId)).toBe(1);
      });

      it('of an eSIM that has ended, or with a package that is none: refused', async () => {
        const { esimTranNo } = await newEsim();
        const unknownPackage = {
          transactionId: newId(),
          esimTranNo,
          packageCode: 'TOPUP_NONE',
          costUsdE4: 1n,
        };
        expect(await under.supplier.topUp(unknownPackage)).toMatchObject({
          outcome: 'refused',
          reason: 'PACKAGE_UNKNOWN',
        });
        valueOf(await under.supplier.cancel(esimTranNo));
        expect(await topUpOf(newId(), esimTranNo)).toMatchObject({
          outcome: 'refused',
          reason: 'NOT_ALLOWED_IN_STATE',
        });
      });

      it('cannot be looked for on an eSIM that the vendor does not hold', async () => {
        const request = { transactionId: newId(), esimTranNo: '00000000000000', askedAt: new Date() };
        expect((await under.supplier.findTopUp(request)).outcome).toBe('unknown');
      });
    });

    describe('cancel', () => {
      it('gives the money back once, and twice is done', async () => {
        const before = await under.supplier.balance();
        const { esimTranNo } = await newEsim();
        expect(await under.supplier.cancel(esimTranNo)).toEqual({ outcome: 'done', value: null });
        expect(await under.supplier.cancel(esimTranNo)).toEqual({ outcome: 'done', value: null });
        expect(await under.supplier.balance()).toBe(before);
        const look = valueOf(await under.supplier.profile({ esimTranNo }));
        expect(look).toMatchObject({ profile: { status: 'CANCELLED' } });
      });

      it('whose answer is lost: unknown, done when repeated', async () => {
        const { esimTranNo } = await newEsim();
        await under.control.setFaults({ loseAnswer: { next: 1 } });
        expect((await under.supplier.cancel(esimTranNo)).outcome).toBe('unknown');
        expect(await under.supplier.cancel(esimTranNo)).toEqual({ outcome: 'done', value: null });
      });

      it.each(['IN_USE', 'REVOKE'])('of an eSIM in state %s: refused', async (esimStatus) => {
        const { esimTranNo } = await newEsim();
        await under.control.changeEsim(esimTranNo, { esimStatus });
        expect(await under.supplier.cancel(esimTranNo)).toMatchObject({
          outcome: 'refused',
          reason: 'NOT_ALLOWED_IN_STATE',
        });
      });
    });

    describe('orders', () => {
      const ordersOf = async (from: Date, to: Date) => {
        const listed = [];
        for await (const order of under.supplier.orders(from, to)) listed.push(order);
        return listed;
      };

      it('lists eSIMs made within a time, their top-ups, and what was given back', async () => {
        const from = new Date();
        const kept = await newEsim();
        const cancelled = await newEsim();
        valueOf(await under.supplier.cancel(cancelled.esimTranNo));
        const [topUp] = await under.supplier.topUps(item.packageCode);
        const transactionId = newId();
        valueOf(
          await under.supplier.topUp({
            transactionId,
            esimTranNo: kept.esimTranNo,
            packageCode: topUp!.packageCode,
            costUsdE4: topUp!.cost,
          }),
        );
        // The vendor tells whole seconds, so others of the same second are listed as well.
        const ours = [kept.esimTranNo, cancelled.esimTranNo];
        const listed = (await ordersOf(from, new Date())).filter((order) => ours.includes(order.esimTranNo));
        const own = ({ orderNo, esimTranNo }: SupplierProfile) => ({ orderNo, esimTranNo });
        const { packageCode } = item;
        expect(listed).toMatchObject([
          { ...own(kept), transactionId: kept.transactionId, packageCode, isRefunded: false },
          { ...own(kept), transactionId, packageCode: topUp!.packageCode, isRefunded: false },
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

      it('throws SupplierUnavailable while the vendor will not say', async () => {
        await under.control.setFaults({ busy: { next: 1 } });
        const asked = ordersOf(new Date(Date.now() - 1_000), new Date());
        await expect(asked).rejects.toBeInstanceOf(SupplierUnavailable);
      });
    });

    describe('reads', () => {
      it('usage of several eSIMs', async () => {
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
        ['the key is refused', { wrongSignature: 1 }, false],
      ])('throw SupplierUnavailable when %s', async (_name, faults, retryable) => {
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
