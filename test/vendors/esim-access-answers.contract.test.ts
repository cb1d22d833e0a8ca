/**
 * How the eSIM Access client reads answers: lists that it searches, catalogues that it refuses, refused
 * credentials.
 */
import type { Fence } from '../../src/domain/fence.ts';
import { OPEN, OVER } from '../support/time/fences.ts';
import { describe, expect, it } from 'vitest';
import { failure, json, order, startAnsweringVendor } from '../support/vendors/answering-vendor.ts';
import { done, OF_ACCOUNT, refused } from './outcomes.ts';
import { forFile } from '../support/world/for-file.ts';

const vendor = await forFile(startAnsweringVendor());

const justNow = () => ({ ...OF_ACCOUNT, transactionId: 'txn-1', from: new Date(), until: new Date() });

describe('the eSIM Access client, refused credentials', () => {
  it('end an effect as refused, and a lookup as unknown', async () => {
    vendor.answerWith(json(failure('101003')));
    const supplier = vendor.supplier();
    const since = { ...OF_ACCOUNT, transactionId: 'txn-1', from: new Date(), until: new Date() };
    expect(await supplier.order(order, OPEN)).toMatchObject(refused('CREDENTIALS_REFUSED'));
    expect((await supplier.findOrder(since)).outcome).toBe('unknown');
    expect(
      (await supplier.findTopUp({ ...OF_ACCOUNT, transactionId: 'txn-1', esimTranNo: '1' })).outcome,
    ).toBe('unknown');
    expect((await supplier.profile({ ...OF_ACCOUNT, esimTranNo: '1' })).outcome).toBe('unknown');
    await expect(supplier.balance()).rejects.toMatchObject({ retryable: false });
    await expect(supplier.catalogue()).rejects.toMatchObject({ retryable: false });
  });
});

describe('the eSIM Access client, lists of eSIMs', () => {
  const esim = (change: object) => ({
    esimTranNo: '1',
    orderNo: 'B1',
    transactionId: 'txn-1',
    iccid: '8900000000000000001',
    ac: 'LPA:1$rsp.example.com$MARKER-AC',
    pin: 'MARKER-PIN',
    puk: 'MARKER-PUK',
    esimStatus: 'GOT_RESOURCE',
    totalVolume: 1,
    totalDuration: 1,
    packageList: [],
    ...change,
  });
  const listed = (esims: object[], total?: number) =>
    json({ success: true, obj: { esimList: esims, ...(total === undefined ? {} : { pager: { total } }) } });

  describe('orders', () => {
    const NOW = new Date('2026-09-27T19:30:00.500Z');
    const FROM = new Date('2026-09-27T19:00:00.500Z');
    const bought = (nth: number, createTime = '2026-09-27T19:29:36+0000') =>
      esim({
        esimTranNo: String(nth),
        transactionId: `txn-${nth}`,
        packageList: [{ transactionId: `txn-${nth}`, packageCode: 'ES-1', createTime }],
      });
    const listOf = async (from = FROM, to = NOW) => {
      const orders = [];
      for await (const order of vendor.supplier().orders(from, to)) orders.push(order);
      return orders;
    };

    it('reads all pages, each eSIM once, over whole seconds', async () => {
      const page = Array.from({ length: 500 }, (_, nth) => bought(nth));
      vendor.answerWith(listed(page, 502), listed([bought(499), bought(500), bought(501)], 502));
      const orders = await listOf();
      expect(orders.map((order) => order.transactionId)).toEqual(
        Array.from({ length: 502 }, (_, nth) => `txn-${nth}`),
      );
      expect(vendor.calls.map((call) => JSON.parse(call.body) as unknown)).toEqual(
        [1, 2].map((pageNum) => ({
          startTime: '2026-09-27T19:00:00+00:00',
          endTime: '2026-09-27T19:30:01+00:00',
          pager: { pageNum, pageSize: 500 },
        })),
      );
      expect(JSON.stringify(orders)).not.toContain('MARKER');
    });

    it('reads until a page is short if there is no total', async () => {
      const page = Array.from({ length: 500 }, (_, nth) => bought(nth));
      vendor.answerWith(listed(page), listed([bought(500)]));
      expect(await listOf()).toHaveLength(501);
    });

    it('lists an order without its package or without its time', async () => {
      vendor.answerWith(listed([esim({}), bought(2, '')], 2));
      expect(await listOf()).toMatchObject([
        { transactionId: 'txn-1', packageCode: '', listedAt: FROM, at: NOW },
        { transactionId: 'txn-2', packageCode: 'ES-1', listedAt: FROM, at: NOW },
      ]);
    });

    it('leaves out what the vendor lists outside of the window', async () => {
      vendor.answerWith(
        listed([bought(1, '2026-09-27T18:59:59+0000'), bought(2), bought(3, '2026-09-27T19:30:01+0000')], 3),
      );
      expect(await listOf()).toMatchObject([{ transactionId: 'txn-2' }]);
    });

    it('lists an order exactly at a limit in the window that begins there, and in no other', async () => {
      const limit = new Date('2026-09-27T19:29:36Z');
      vendor.answerWith(listed([bought(1)], 1));
      expect(await listOf(FROM, limit)).toEqual([]);
      expect(await listOf(limit, NOW)).toHaveLength(1);
    });

    it.each([
      ['a page that repeats', [listed([bought(1)], 2)]],
      ['a page that is missing', [listed([bought(1)], 2), listed([], 2)]],
      ['an eSIM without a number', [listed([esim({ esimTranNo: '' })], 1)]],
      ['eSIMs that are still being allocated', [json(failure('200010'))]],
    ])('throws after %s', async (_name, answers) => {
      vendor.answerWith(...answers);
      await expect(listOf()).rejects.toMatchObject({ name: 'SupplierUnavailable', retryable: true });
    });
  });

  it('profile has no status for a new status of the vendor, and warns without secrets', async () => {
    vendor.answerWith(listed([esim({ esimStatus: 'TELEPORTED' })], 1));
    const profile = await vendor.supplier().profile({ ...OF_ACCOUNT, orderNo: 'B1' });
    expect(profile).toMatchObject({
      value: { state: 'ready', profile: { status: null, supplierStatus: 'TELEPORTED' } },
    });
    expect(vendor.warnings).toEqual([
      { fields: { esimStatus: 'TELEPORTED' }, message: expect.any(String) as unknown },
    ]);
    expect(JSON.stringify(vendor.warnings)).not.toContain('MARKER');
  });

  it("profile and findTopUp never return another customer's eSIM", async () => {
    vendor.answerWith(listed([esim({ orderNo: 'B2', esimTranNo: '2' })], 1));
    const supplier = vendor.supplier();
    expect((await supplier.profile({ ...OF_ACCOUNT, orderNo: 'B1' })).outcome).toBe('unknown');
    expect((await supplier.profile({ ...OF_ACCOUNT, esimTranNo: '1' })).outcome).toBe('unknown');
    expect((await supplier.findTopUp({ ...OF_ACCOUNT, transactionId: 't', esimTranNo: '1' })).outcome).toBe(
      'unknown',
    );
  });

  it('findOrder finds an order on a later page', async () => {
    const page = Array.from({ length: 500 }, (_, i) => esim({ transactionId: `other-${i}` }));
    vendor.answerWith(listed(page, 501), listed([esim({})], 501));
    const found = await vendor.supplier().findOrder(justNow());
    expect(found).toEqual(done({ state: 'found', orderNo: 'B1', esimTranNo: '1' }));
    expect(vendor.calls.map((call) => (JSON.parse(call.body) as { pager: object }).pager)).toEqual([
      { pageNum: 1, pageSize: 500 },
      { pageNum: 2, pageSize: 500 },
    ]);
  });

  it('findOrder searches from two minutes before the first request to two minutes after the last', async () => {
    vendor.answerWith(listed([], 0));
    const from = new Date('2026-09-27T10:00:00Z');
    const until = new Date('2026-09-27T12:00:00Z');
    expect(await vendor.supplier().findOrder({ ...OF_ACCOUNT, transactionId: 'txn-1', from, until })).toEqual(
      done({ state: 'not-listed' }),
    );
    expect(JSON.parse(vendor.calls[0]!.body)).toMatchObject({
      startTime: '2026-09-27T09:58:00+00:00',
      endTime: '2026-09-27T12:02:00+00:00',
    });
  });

  it('findOrder reads until a page is empty if there is no total', async () => {
    vendor.answerWith(listed([esim({ transactionId: 'other' })]), listed([esim({})]));
    const found = await vendor.supplier().findOrder(justNow());
    expect(found).toMatchObject({ outcome: 'done', value: { orderNo: 'B1' } });
    vendor.answerWith(listed([esim({ transactionId: 'other' })]), listed([]));
    const none = await vendor.supplier().findOrder(justNow());
    expect(none).toEqual(done({ state: 'not-listed' }));
  });

  it('findOrder says how far it searched after 40 pages, never "none"', async () => {
    vendor.answerWith(listed([esim({ transactionId: 'other' })], 1_000_000));
    const from = new Date('2026-09-27T10:00:00Z');
    const found = await vendor
      .supplier()
      .findOrder({ ...OF_ACCOUNT, transactionId: 'txn-1', from, until: from });
    expect(found).toMatchObject({ outcome: 'done', value: { state: 'searching' } });
    expect(vendor.calls).toHaveLength(40);
  });

  /** Answers as a vendor whose eSIMs were made at these times, the one with this number for us. */
  const listing = (madeMs: readonly number[], ours: number) => {
    vendor.answerWith((response, call) => {
      const { startTime, endTime, pager } = JSON.parse(call.body) as {
        startTime: string;
        endTime: string;
        pager: { pageNum: number; pageSize: number };
      };
      const [from, to] = [Date.parse(startTime), Date.parse(endTime)];
      const within = madeMs.flatMap((ms, nth) => (ms >= from && ms <= to ? [nth] : []));
      const page = within
        .slice((pager.pageNum - 1) * pager.pageSize, pager.pageNum * pager.pageSize)
        .map((nth) => esim({ transactionId: nth === ours ? 'txn-1' : 'other' }));
      listed(page, within.length)(response, call);
    });
  };

  it('findOrder reads a long list in windows, oldest first, and continues where the last search ended', async () => {
    // One eSIM a second for 16 hours: 116 pages in 29 windows, and ours is among the last.
    const startMs = Date.parse('2026-09-25T00:00:00Z');
    const seconds = 16 * 3_600;
    const supplier = vendor.supplier({ timeLimitMs: 5_000 });
    listing(
      Array.from({ length: seconds }, (_, nth) => startMs + nth * 1_000),
      seconds - 10,
    );
    const until = new Date(startMs + seconds * 1_000);
    let from = new Date(startMs);
    let searches = 0;
    for (;;) {
      const search = await supplier.findOrder({ ...OF_ACCOUNT, transactionId: 'txn-1', from, until });
      searches += 1;
      if (search.outcome !== 'done') throw new Error(JSON.stringify(search));
      if (search.value.state !== 'searching') {
        expect(search.value).toEqual({ state: 'found', orderNo: 'B1', esimTranNo: '1' });
        break;
      }
      expect(search.value.searchedUntil.getTime()).toBeGreaterThan(from.getTime());
      from = search.value.searchedUntil;
    }
    expect(searches).toBeGreaterThan(2);
    expect(searches).toBeLessThan(16);
  });

  /** How the last search ended, where each goes on from the one before. Each must have come further. */
  async function searchToTheEnd(from: Date, hours: number): Promise<string> {
    const until = new Date(from.getTime() + hours * 3_600_000);
    for (let at = from; ;) {
      const query = { ...OF_ACCOUNT, transactionId: 'txn-1', from: at, until };
      const found = await vendor.supplier().findOrder(query);
      if (found.outcome !== 'done') expect.fail(found.detail);
      if (found.value.state !== 'searching') return found.value.state;
      expect(found.value.searchedUntil.getTime()).toBeGreaterThan(at.getTime());
      at = found.value.searchedUntil;
    }
  }

  it.each([
    ['a burst at the start of a week', 3_000, 1, 168],
    ['a large one, four a second', 10_000, 4, 168],
    ['one in two days', 4_000, 4, 48],
  ])('findOrder comes further with each search: %s', async (_name, count, perSecond, hours) => {
    const from = new Date('2026-09-25T00:00:00Z');
    const madeMs = (nth: number) => from.getTime() + Math.trunc(nth / perSecond) * 1_000;
    listing(
      Array.from({ length: count }, (_, nth) => madeMs(nth)),
      -1,
    );
    expect(await searchToTheEnd(from, hours)).toBe('not-listed');
  });

  it('findOrder keeps how far it came where a page is not answered', async () => {
    const from = new Date('2026-09-25T00:00:00Z');
    listing(
      Array.from({ length: 10_000 }, (_, nth) => from.getTime() + nth * 1_000),
      -1,
    );
    let slots = 9;
    const pacer = { takeSlot: () => Promise.resolve((slots -= 1) >= 0) };
    const search = {
      ...OF_ACCOUNT,
      transactionId: 'txn-1',
      from,
      until: new Date(from.getTime() + 10_000_000),
    };
    const found = await vendor.supplier({ pacer }).findOrder(search);
    expect(found).toMatchObject({ outcome: 'done', value: { state: 'searching' } });
    slots = 0;
    expect(await vendor.supplier({ pacer }).findOrder(search)).toMatchObject({ notSent: true });
  });

  it('findOrder searches both parts of a window before any later one', async () => {
    // A burst that is split again and again, and then so many that a search ends among them.
    const from = new Date('2026-09-25T00:00:00Z');
    const burst = Array.from({ length: 6_000 }, (_, nth) => from.getTime() + nth * 100);
    const later = Array.from({ length: 37_440 }, (_, nth) => from.getTime() + 600_000 + nth * 1_500);
    listing([...burst, ...later], 1_000);
    expect(await searchToTheEnd(from, 16)).toBe('found');
  });

  it.each([
    ['order', (fence: Fence) => vendor.supplier().order(order, fence)],
    ['topUp', (fence: Fence) => vendor.supplier().topUp({ ...order, esimTranNo: '1' }, fence)],
    ['cancel', (fence: Fence) => vendor.supplier().cancel({ ...OF_ACCOUNT, esimTranNo: '1' }, fence)],
    ['revoke', (fence: Fence) => vendor.supplier().revoke({ ...OF_ACCOUNT, esimTranNo: '1' }, fence)],
  ])('%s is not sent once its fence is over, and says so', async (_effect, send) => {
    vendor.answerWith(json({ success: true, errorCode: '0', obj: { orderNo: 'B1' } }));
    expect(await send(OVER)).toMatchObject({ outcome: 'unknown', notSent: true });
    expect(vendor.calls).toEqual([]);
  });

  it('a fence that ends while a request waits for its turn and its connection holds it back', async () => {
    vendor.answerWith(json({ success: true, errorCode: '0', obj: { orderNo: 'B1' } }));
    let looks = 0;
    const fence = { isOver: () => (looks += 1) > 0 };
    expect(await vendor.supplier().order(order, fence)).toMatchObject({ notSent: true });
    // Only at the last moment: the connection is open.
    expect(looks).toBe(1);
    expect(vendor.calls).toEqual([]);
  });

  it('revoke that the state does not allow is done only if the eSIM has ended', async () => {
    const supplier = vendor.supplier();
    for (const esimStatus of ['REVOKE', 'REVOKED', 'CANCEL', 'USED_EXPIRED']) {
      vendor.answerWith(json(failure('200002')), listed([esim({ esimStatus })], 1));
      expect(await supplier.revoke({ ...OF_ACCOUNT, esimTranNo: '1' }, OPEN)).toEqual(done(null));
    }
    vendor.answerWith(json(failure('200002')), listed([esim({ esimStatus: 'IN_USE' })], 1));
    expect(await supplier.revoke({ ...OF_ACCOUNT, esimTranNo: '1' }, OPEN)).toMatchObject(
      refused('NOT_ALLOWED_IN_STATE'),
    );
    vendor.answerWith(json(failure('200002')), listed([], 0));
    expect((await supplier.revoke({ ...OF_ACCOUNT, esimTranNo: '1' }, OPEN)).outcome).toBe('unknown');
  });

  it('cancel that the state does not allow is done only if the eSIM is cancelled', async () => {
    const supplier = vendor.supplier();
    vendor.answerWith(json(failure('200002')), listed([esim({ esimStatus: 'CANCEL' })], 1));
    expect(await supplier.cancel({ ...OF_ACCOUNT, esimTranNo: '1' }, OPEN)).toEqual(done(null));
    vendor.answerWith(json(failure('200002')), listed([esim({ esimStatus: 'REVOKE' })], 1));
    expect(await supplier.cancel({ ...OF_ACCOUNT, esimTranNo: '1' }, OPEN)).toMatchObject(
      refused('NOT_ALLOWED_IN_STATE'),
    );
    vendor.answerWith(json(failure('200002')), json(failure('900001')));
    expect((await supplier.cancel({ ...OF_ACCOUNT, esimTranNo: '1' }, OPEN)).outcome).toBe('unknown');
    vendor.answerWith(json(failure('200002')), listed([], 0));
    expect((await supplier.cancel({ ...OF_ACCOUNT, esimTranNo: '1' }, OPEN)).outcome).toBe('unknown');
  });
});

describe('the eSIM Access client, the catalogue', () => {
  it('is refused if it is empty', async () => {
    vendor.answerWith(
      json({ success: true, obj: { locationList: [] } }),
      json({ success: true, obj: { packageList: [] } }),
    );
    await expect(vendor.supplier().catalogue()).rejects.toMatchObject({ retryable: true });
  });

  it('is refused if its format has changed', async () => {
    const rows = [{ packageCode: 'A' }, { packageCode: 'B' }];
    vendor.answerWith(
      json({ success: true, obj: { locationList: [] } }),
      json({ success: true, obj: { packageList: rows } }),
    );
    await expect(vendor.supplier().catalogue()).rejects.toThrow('2 of 2 rows unreadable');
  });

  it('has no top-ups for a package that is gone', async () => {
    vendor.answerWith(json(failure('310241')));
    expect(await vendor.supplier().topUps('GONE')).toEqual([]);
  });
});

describe('the eSIM Access client, usage', () => {
  it('is for at most ten eSIMs, and sends no request for none', async () => {
    vendor.answerWith();
    const supplier = vendor.supplier();
    await expect(supplier.usage(Array<string>(11).fill('1'))).rejects.toBeInstanceOf(RangeError);
    expect(await supplier.usage([])).toEqual([]);
    expect(vendor.calls).toHaveLength(0);
  });
});

describe('the eSIM Access client, its base address', () => {
  it('must be http or https', () => {
    expect(() => vendor.supplier({ baseUrl: 'ftp://127.0.0.1' })).toThrow(TypeError);
  });
});
