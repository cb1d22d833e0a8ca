/**
 * The supplier's operations over HTTP, with every documented error code that a request can cause.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { luhnDigit } from '../../src/sandbox/supplier/numbers.ts';
import {
  DAY_MS,
  GIGABYTE,
  startSimulator,
  stopAll,
  type TestSimulator,
} from './supplier-simulator.support.ts';

let simulator: TestSimulator;
let serial = 0;
const fresh = (name: string) => `${name}-${(serial += 1)}`;

beforeAll(async () => {
  simulator = await startSimulator({ activateAfterMs: 60_000 });
});
afterAll(stopAll);

const balance = async () => ((await simulator.call('balance/query', {})).obj as { balance: number }).balance;
const line = (packageCode: string, more: Record<string, unknown> = {}) => ({
  packageCode,
  count: 1,
  ...more,
});
const order = (body: Record<string, unknown>) => simulator.call('esim/order', body);
const query = (body: Record<string, unknown>, pageSize = 20, pageNum = 1) =>
  simulator.call('esim/query', { pager: { pageNum, pageSize }, ...body });

/** Buys one eSIM and answers it as /esim/query shows it. */
async function bought(packageCode = 'SIM-OK') {
  const { obj } = await simulator.order(fresh('bought'), packageCode);
  return (await simulator.esim((obj as { orderNo: string }).orderNo)) as Record<string, never> & {
    esimTranNo: string;
    iccid: string;
    orderNo: string;
    transactionId: string;
  };
}

describe('transport', () => {
  it('answers everything in the envelope', async () => {
    expect(await simulator.call('balance/query', undefined)).toMatchObject({
      status: 200,
      success: true,
      errorCode: '0',
      errorMsg: null,
    });
    expect(await simulator.call('esim/order', {})).toMatchObject({
      status: 200,
      success: false,
      errorCode: '000105',
      errorMsg: expect.any(String) as string,
      obj: null,
    });
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('%s is 000103', async (method) => {
    expect((await simulator.call('balance/query', {}, { method })).errorCode).toBe('000103');
  });

  it('an unknown operation is 404, still in the envelope', async () => {
    expect(await simulator.call('esim/steal', {})).toMatchObject({ status: 404, success: false, obj: null });
  });

  it.each(['{', 'null', '[]', '7', '"x"', '{"a":1}}', '\u0000'])('body %j is 000104', async (rawBody) => {
    expect((await simulator.call('balance/query', undefined, { rawBody })).errorCode).toBe('000104');
  });

  it('a body above 1 MB is refused', async () => {
    const reply = await simulator
      .call('balance/query', { x: 'y'.repeat(1_100_000) })
      .catch((error: unknown) => error as Error);
    if (reply instanceof Error) expect(reply.message).toMatch(/ECONNRESET|EPIPE|hang up/);
    else expect(reply).toMatchObject({ status: 413, errorCode: '000107' });
    expect((await simulator.call('balance/query', {})).success).toBe(true);
  });
});

describe('/esim/order', () => {
  it('charges at once and answers order number and transactionId', async () => {
    const before = await balance();
    const reply = await order({
      transactionId: 'first',
      packageInfoList: [line('SIM-OK', { price: 20_000 })],
    });
    expect(reply.obj).toEqual({
      orderNo: expect.stringMatching(/^B\d{14}$/) as string,
      transactionId: 'first',
    });
    const { orderNo } = reply.obj as { orderNo: string };
    const stamp = new Date(simulator.clock.nowMs).toISOString().replace(/\D/g, '').slice(2, 10);
    expect(orderNo.slice(1, 9)).toBe(stamp);
    expect(await balance()).toBe(before - 20_000);
  });

  it('takes a repeated transactionId as the same request, whatever its body says', async () => {
    const transactionId = fresh('repeat');
    const first = await simulator.order(transactionId);
    const afterFirst = await balance();
    expect(await simulator.order(transactionId, 'ES_20_30')).toEqual(first);
    expect(await order({ transactionId })).toEqual(first);
    expect(await order({ transactionId, packageInfoList: 'nonsense', amount: -1 })).toEqual(first);
    expect(await balance()).toBe(afterFirst);
    const { body } = await simulator.control('GET', `/orders?transactionId=${transactionId}`);
    expect(body).toHaveLength(1);
    expect((body as { requests: number }[])[0]?.requests).toBe(4);
  });

  it('gives up to 30 eSIMs of several packages, by code and by slug', async () => {
    const transactionId = fresh('batch');
    const before = await balance();
    const reply = await order({
      transactionId,
      packageInfoList: [
        { packageCode: 'SIM-OK', count: 20 },
        { packageCode: 'ES_1_7', count: 10 },
      ],
    });
    const { orderNo } = reply.obj as { orderNo: string };
    const { obj } = await query({ orderNo }, 50);
    const list = (
      obj as { esimList: { iccid: string; esimTranNo: string; packageList: { slug: string }[] }[] }
    ).esimList;
    expect(list).toHaveLength(30);
    expect(new Set(list.map((each) => each.iccid)).size).toBe(30);
    expect(new Set(list.map((each) => each.esimTranNo)).size).toBe(30);
    expect(list.filter((each) => each.packageList[0]?.slug === 'ES_1_7')).toHaveLength(10);
    const spent = before - (await balance());
    const { body } = await simulator.control('GET', `/orders?transactionId=${transactionId}`);
    expect((body as { amount: number; count: number }[])[0]).toMatchObject({ amount: spent, count: 30 });
  });

  it('counts periodNum into amount and totals of a day-pass', async () => {
    const slug = 'ES_1_Daily_1Mbps';
    const { obj: list } = await simulator.call('package/list', { slug });
    const { price } = (list as { packageList: { price: number }[] }).packageList[0]!;
    const lines = [{ packageCode: slug, count: 2, price, periodNum: 5 }];
    const wrong = await order({ transactionId: fresh('daily'), amount: price * 2, packageInfoList: lines });
    expect(wrong.errorCode).toBe('200006');
    const right = await order({ transactionId: fresh('daily'), amount: price * 10, packageInfoList: lines });
    const esim = (await simulator.esim((right.obj as { orderNo: string }).orderNo)) as Record<
      string,
      unknown
    >;
    expect(esim).toMatchObject({
      totalDuration: 5,
      totalVolume: 5 * GIGABYTE,
      dataType: 2,
      fupPolicy: '1 Mbps',
    });
  });

  it('charges nothing and holds nothing when it refuses', async () => {
    const before = await balance();
    const transactionId = fresh('refused');
    const ok = [line('SIM-OK')];
    const cases: [Record<string, unknown>, string][] = [
      [{ packageInfoList: ok }, '000105'],
      [{ transactionId: null, packageInfoList: ok }, '000106'],
      [{ transactionId: 7, packageInfoList: ok }, '200008'],
      [{ transactionId: '', packageInfoList: ok }, '000107'],
      [{ transactionId: 'x'.repeat(51), packageInfoList: ok }, '000107'],
      [{ transactionId }, '000105'],
      [{ transactionId, packageInfoList: null }, '000106'],
      [{ transactionId, packageInfoList: {} }, '200008'],
      [{ transactionId, packageInfoList: ['SIM-OK'] }, '200008'],
      [{ transactionId, packageInfoList: [] }, '000107'],
      [{ transactionId, packageInfoList: [{ count: 1 }] }, '000105'],
      [{ transactionId, packageInfoList: [{ packageCode: null, count: 1 }] }, '000106'],
      [{ transactionId, packageInfoList: [{ packageCode: 'SIM-OK' }] }, '000105'],
      [{ transactionId, packageInfoList: [line('SIM-OK', { count: 0 })] }, '000107'],
      [{ transactionId, packageInfoList: [line('SIM-OK', { count: 31 })] }, '000107'],
      [
        { transactionId, packageInfoList: [line('SIM-OK', { count: 20 }), line('ES_1_7', { count: 11 })] },
        '200008',
      ],
      [{ transactionId, packageInfoList: [line('SIM-OK', { count: 1.5 })] }, '200008'],
      [{ transactionId, packageInfoList: [line('SIM-OK', { price: 9999 })] }, '200005'],
      [{ transactionId, packageInfoList: [line('SIM-OK', { price: 'cheap' })] }, '200008'],
      [{ transactionId, packageInfoList: [line('SIM-OK', { periodNum: 2 })] }, '200008'],
      [{ transactionId, packageInfoList: [line('ES_1_Daily', { periodNum: 366 })] }, '200008'],
      [{ transactionId, packageInfoList: ok, amount: 9999 }, '200006'],
      [{ transactionId, packageInfoList: [line('NOPE')] }, '310241'],
      [{ transactionId, packageInfoList: [line('TOPUP_SIM-OK')] }, '310241'],
    ];
    for (const [body, code] of cases) expect([body, (await order(body)).errorCode]).toEqual([body, code]);
    expect((await order({ transactionId, packageInfoList: [line('NOPE')] })).errorMsg).toContain('[NOPE]');
    expect(await balance()).toBe(before);
    expect((await simulator.control('GET', `/orders?transactionId=${transactionId}`)).body).toEqual([]);
    expect((await simulator.order('y'.repeat(50))).success).toBe(true);
  });

  it('refuses with 200007 what the balance does not pay for', async () => {
    const before = await balance();
    await simulator.control('PUT', '/balance', { balance: 50_000 });
    const lines = [line('SIM-OK', { count: 3 })];
    expect((await order({ transactionId: fresh('poor'), packageInfoList: lines })).errorCode).toBe('200007');
    expect(await balance()).toBe(50_000);
    expect((await simulator.order(fresh('poor'))).success).toBe(true);
    expect(await balance()).toBe(30_000);
    await simulator.control('PUT', '/balance', { balance: before });
  });
});

describe('/esim/query', () => {
  it('answers a new eSIM as a live answer does', async () => {
    const esim = await bought('ES_3_30');
    const { obj } = await query({ orderNo: esim.orderNo });
    expect(obj).toMatchObject({ pager: { pageSize: 20, pageNum: 1, total: 1 } });
    expect(Object.keys(esim)).toEqual([
      'esimTranNo', 'orderNo', 'transactionId', 'imsi', 'iccid', 'smsStatus', 'msisdn', 'ac', 'qrCodeUrl',
      'shortUrl', 'smdpStatus', 'eid', 'activeType', 'dataType', 'activateTime', 'expiredTime',
      'installationTime', 'totalVolume', 'totalDuration', 'durationUnit', 'orderUsage', 'esimStatus', 'pin', 'puk',
      'apn', 'ipExport', 'supportTopUpType', 'fupPolicy', 'packageList',
    ]); // prettier-ignore
    expect(esim).toMatchObject({
      imsi: expect.stringMatching(/^\d{15}$/) as string,
      iccid: expect.stringMatching(/^89\d{18}$/) as string,
      ac: expect.stringMatching(/^LPA:1\$rsp\.sandbox\.example\$[0-9A-F]{32}$/) as string,
      smdpStatus: 'RELEASED',
      esimStatus: 'GOT_RESOURCE',
      eid: '',
      activateTime: null,
      installationTime: null,
      totalVolume: 3 * GIGABYTE,
      totalDuration: 30,
      durationUnit: 'DAY',
      orderUsage: 0,
      msisdn: '',
    });
    const { iccid, esimTranNo, orderNo, qrCodeUrl, shortUrl, expiredTime, packageList } = esim as unknown as {
      [name: string]: string;
    } & { packageList: Record<string, unknown>[] };
    expect(luhnDigit(iccid!.slice(0, -1))).toBe(iccid!.slice(-1));
    expect(esimTranNo).toMatch(/^\d{14}$/);
    expect(esimTranNo).not.toBe(orderNo!.slice(1));
    expect(qrCodeUrl).toBe(`${shortUrl!}.png`);
    expect(expiredTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/);
    const created = packageList[0]?.['createTime'] as string;
    expect(Date.parse(expiredTime!) - Date.parse(created)).toBe(180 * DAY_MS);
    expect(packageList).toEqual([
      {
        packageName: 'Spain 3GB 30Days',
        packageCode: expect.stringMatching(/^P[0-9A-Z]{9}$/) as string,
        slug: 'ES_3_30',
        duration: 30,
        volume: 3 * GIGABYTE,
        locationCode: 'ES',
        createTime: created,
        esimTranNo,
        transactionId: esim.transactionId,
      },
    ]);
  });

  it('goes into use activateAfterMs after allocation, by the clock alone', async () => {
    const own = await startSimulator({ activateAfterMs: 5000 });
    const { obj } = await own.order('in-use', 'ES_1_7');
    const { orderNo } = obj as { orderNo: string };
    own.clock.nowMs += 4000;
    expect(await own.esim(orderNo)).toMatchObject({ esimStatus: 'GOT_RESOURCE', smdpStatus: 'RELEASED' });
    own.clock.nowMs += 1000;
    const esim = (await own.esim(orderNo)) as { activateTime: string; expiredTime: string };
    expect(esim).toMatchObject({
      esimStatus: 'IN_USE',
      smdpStatus: 'ENABLED',
      eid: expect.stringMatching(/^\d{32}$/) as string,
      installationTime: esim.activateTime,
      orderUsage: 0,
    });
    expect(Date.parse(esim.expiredTime) - Date.parse(esim.activateTime)).toBe(7 * DAY_MS);
    own.clock.nowMs += 7 * DAY_MS;
    expect(await own.esim(orderNo)).toMatchObject({ esimStatus: 'USED_EXPIRED', smdpStatus: 'DISABLED' });
  });

  it('expires unused after 180 days when nobody installs it', async () => {
    const own = await startSimulator({ activateAfterMs: null });
    const { obj } = await own.order('unused');
    own.clock.nowMs += 180 * DAY_MS + 1000;
    expect(await own.esim((obj as { orderNo: string }).orderNo)).toMatchObject({
      esimStatus: 'UNUSED_EXPIRED',
      smdpStatus: 'RELEASED',
      eid: '',
    });
  });

  it('answers 200010 while profiles are being allocated', async () => {
    const own = await startSimulator({ allocationMs: 3000 });
    const pager = { pageNum: 1, pageSize: 20 };
    const { obj } = await own.order('slow');
    const { orderNo } = obj as { orderNo: string };
    expect((await own.call('esim/query', { orderNo, pager })).errorCode).toBe('200010');
    const everything = await own.call('esim/query', { pager });
    expect((everything.obj as { esimList: unknown[] }).esimList).toEqual([]);
    own.clock.nowMs += 3000;
    expect(await own.esim(orderNo)).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    expect(((await own.call('esim/query', { pager })).obj as { esimList: unknown[] }).esimList).toHaveLength(
      1,
    );
  });

  it('finds by iccid, esimTranNo and time, and pages', async () => {
    const own = await startSimulator();
    for (let i = 0; i < 7; i += 1) await own.order(`page-${i}`);
    const ask = async (body: Record<string, unknown>) =>
      (await own.call('esim/query', body)).obj as {
        esimList: { iccid: string; esimTranNo: string }[];
        pager: { total: number };
      };
    const first = await ask({ pager: { pageNum: 1, pageSize: 5 } });
    const second = await ask({ pager: { pageNum: 2, pageSize: 5 } });
    expect([first.esimList.length, second.esimList.length, second.pager.total]).toEqual([5, 2, 7]);
    expect(new Set([...first.esimList, ...second.esimList].map((each) => each.iccid)).size).toBe(7);
    const pager = { pageNum: 1, pageSize: 1 };
    const { iccid, esimTranNo } = second.esimList[0]!;
    expect((await ask({ pager, iccid })).esimList).toMatchObject([{ esimTranNo }]);
    expect((await ask({ pager, esimTranNo })).esimList).toMatchObject([{ iccid }]);
    const iso = (atMs: number) => new Date(atMs).toISOString().replace('Z', '+00:00');
    const around = { startTime: iso(own.clock.nowMs - 60_000), endTime: iso(own.clock.nowMs + 60_000) };
    const ago = { startTime: iso(own.clock.nowMs - 120_000), endTime: iso(own.clock.nowMs - 60_000) };
    expect((await ask({ pager, ...around })).pager.total).toBe(7);
    expect((await ask({ pager, ...ago })).pager.total).toBe(0);
  });

  it('refuses bad requests', async () => {
    const esim = await bought();
    const pager = { pageNum: 1, pageSize: 20 };
    const cases: [Record<string, unknown>, string][] = [
      [{ orderNo: esim.orderNo }, '000105'],
      [{ pager: null }, '000106'],
      [{ pager: 'x' }, '200008'],
      [{ pager: { pageSize: 20 } }, '000105'],
      [{ pager: { pageNum: 1, pageSize: null } }, '000106'],
      [{ pager: { pageNum: 0, pageSize: 20 } }, '000107'],
      [{ pager: { pageNum: 10_001, pageSize: 20 } }, '000107'],
      [{ pager: { pageNum: 1, pageSize: 501 } }, '000107'],
      [{ pager, orderNo: 'B00000000000000' }, '310272'],
      [{ pager, iccid: '8999900000000000000' }, '310403'],
      [{ pager, esimTranNo: '00000000000000' }, '310403'],
      [{ pager, orderNo: esim.orderNo, iccid: '8999900000000000000' }, '310403'],
      [{ pager, startTime: '2026-01-01T00:00:00+00:00' }, '000105'],
      [{ pager, startTime: 'then', endTime: 'now' }, '200008'],
      [{ pager, iccid: ['x'] }, '200008'],
    ];
    for (const [body, code] of cases) {
      expect([body, (await simulator.call('esim/query', body)).errorCode]).toEqual([body, code]);
    }
  });
});
