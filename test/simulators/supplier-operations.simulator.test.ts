/**
 * The wire format of the supplier simulator: every operation with its fields and every documented error code
 * that a request can cause. What our client makes of the answers is in test/vendors/.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { luhnDigit } from '../../packages/simulators/esim-access/numbers.ts';
import {
  DAY_MS,
  GIGABYTE,
  startSimulator,
  stopAll,
  type Reply,
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

describe('the supplier simulator, every request', () => {
  it('is answered in the envelope', async () => {
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

  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('by %s is refused with 000103', async (method) => {
    expect((await simulator.call('balance/query', {}, { method })).errorCode).toBe('000103');
  });

  it('for an unknown operation is answered with 404, in the envelope', async () => {
    expect(await simulator.call('esim/steal', {})).toMatchObject({ status: 404, success: false, obj: null });
  });

  it.each(['{', 'null', '[]', '7', '"x"', '{"a":1}}', '\u0000'])(
    'with the body %j is refused with 000104',
    async (rawBody) => {
      expect((await simulator.call('balance/query', undefined, { rawBody })).errorCode).toBe('000104');
    },
  );

  it('with a body above 1 MB is refused', async () => {
    const reply = await simulator
      .call('balance/query', { x: 'y'.repeat(1_100_000) })
      .catch((error: unknown) => error as Error);
    if (reply instanceof Error) expect(reply.message).toMatch(/ECONNRESET|EPIPE|hang up/);
    else expect(reply).toMatchObject({ status: 413, errorCode: '000107' });
    expect((await simulator.call('balance/query', {})).success).toBe(true);
  });
});

describe('the supplier simulator, /esim/order', () => {
  it('is answered with a dated order number and the transactionId', async () => {
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
  });

  it('with a repeated transactionId is answered like the first, whatever else its body has', async () => {
    const transactionId = fresh('repeat');
    const first = await simulator.order(transactionId);
    expect(await simulator.order(transactionId, 'ES_20_30')).toEqual(first);
    expect(await order({ transactionId })).toEqual(first);
    expect(await order({ transactionId, packageInfoList: 'nonsense', amount: -1 })).toEqual(first);
    const { body } = await simulator.control('GET', `/orders?transactionId=${transactionId}`);
    expect(body).toMatchObject([{ requests: 4 }]);
  });

  it('may be for 30 eSIMs of several packages, by code and by slug', async () => {
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

  it('multiplies amount, volume and days of a day-pass by periodNum', async () => {
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

  it('that is refused with a code of the table charges nothing and is not held', async () => {
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

  it('that the balance does not cover is refused with 200007', async () => {
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

describe('the supplier simulator, /esim/query', () => {
  it('has the fields of a real answer for a new eSIM', async () => {
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

  it('shows an eSIM in use activateAfterMs after allocation, and expired at the end of its days', async () => {
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

  it('shows an eSIM that was not installed expired after 180 days', async () => {
    const own = await startSimulator({ activateAfterMs: null });
    const { obj } = await own.order('unused');
    own.clock.nowMs += 180 * DAY_MS + 1000;
    expect(await own.esim((obj as { orderNo: string }).orderNo)).toMatchObject({
      esimStatus: 'UNUSED_EXPIRED',
      smdpStatus: 'RELEASED',
      eid: '',
    });
  });

  it('refuses with 200010 while profiles are being allocated, and leaves them out of lists', async () => {
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

  it('finds eSIMs by iccid, esimTranNo and time, page by page', async () => {
    const own = await startSimulator();
    for (let i = 0; i < 7; i += 1) await own.order(`page-${i}`);
    const found = async (body: Record<string, unknown>) =>
      (await own.call('esim/query', body)).obj as {
        esimList: { iccid: string; esimTranNo: string }[];
        pager: { total: number };
      };
    const first = await found({ pager: { pageNum: 1, pageSize: 5 } });
    const second = await found({ pager: { pageNum: 2, pageSize: 5 } });
    expect([first.esimList.length, second.esimList.length, second.pager.total]).toEqual([5, 2, 7]);
    expect(new Set([...first.esimList, ...second.esimList].map((each) => each.iccid)).size).toBe(7);
    const pager = { pageNum: 1, pageSize: 1 };
    const { iccid, esimTranNo } = second.esimList[0]!;
    expect((await found({ pager, iccid })).esimList).toMatchObject([{ esimTranNo }]);
    expect((await found({ pager, esimTranNo })).esimList).toMatchObject([{ iccid }]);
    const iso = (atMs: number) => new Date(atMs).toISOString().replace('Z', '+00:00');
    const around = { startTime: iso(own.clock.nowMs - 60_000), endTime: iso(own.clock.nowMs + 60_000) };
    const ago = { startTime: iso(own.clock.nowMs - 120_000), endTime: iso(own.clock.nowMs - 60_000) };
    expect((await found({ pager, ...around })).pager.total).toBe(7);
    expect((await found({ pager, ...ago })).pager.total).toBe(0);
  });

  it('refuses bad requests with codes of the table', async () => {
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

describe('the supplier simulator, changes of an eSIM', () => {
  const change = (name: string, body: Record<string, unknown>): Promise<Reply> =>
    simulator.call(`esim/${name}`, body);

  it('suspend and unsuspend take an iccid or an esimTranNo, each once', async () => {
    const esim = await bought();
    await simulator.control('PUT', `/esims/${esim.iccid}`, { esimStatus: 'IN_USE' });
    expect((await change('suspend', { iccid: esim.iccid })).obj).toEqual({});
    expect(await simulator.esim(esim.orderNo)).toMatchObject({
      esimStatus: 'SUSPENDED',
      smdpStatus: 'DISABLED',
    });
    expect((await change('suspend', { iccid: esim.iccid })).errorCode).toBe('200002');
    expect((await change('unsuspend', { esimTranNo: esim.esimTranNo })).success).toBe(true);
    expect(await simulator.esim(esim.orderNo)).toMatchObject({ esimStatus: 'IN_USE', smdpStatus: 'ENABLED' });
    expect((await change('unsuspend', { esimTranNo: esim.esimTranNo })).errorCode).toBe('200002');
  });

  it('suspend before the first use delays that use until unsuspend', async () => {
    const own = await startSimulator({ activateAfterMs: 1000 });
    const { obj } = await own.order('paused');
    const { orderNo } = obj as { orderNo: string };
    const { esimTranNo } = (await own.esim(orderNo)) as { esimTranNo: string };
    await own.call('esim/suspend', { esimTranNo });
    own.clock.nowMs += 10_000;
    expect(await own.esim(orderNo)).toMatchObject({ esimStatus: 'SUSPENDED', eid: '' });
    await own.call('esim/unsuspend', { esimTranNo });
    expect(await own.esim(orderNo)).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    own.clock.nowMs += 1000;
    expect(await own.esim(orderNo)).toMatchObject({ esimStatus: 'IN_USE' });
  });

  it('revoke ends an eSIM without a refund, as REVOKE', async () => {
    const esim = await bought();
    const before = await balance();
    expect((await change('revoke', { esimTranNo: esim.esimTranNo })).obj).toEqual({});
    expect(await simulator.esim(esim.orderNo)).toMatchObject({ esimStatus: 'REVOKE' });
    expect(await balance()).toBe(before);
    for (const name of ['revoke', 'cancel', 'suspend', 'unsuspend']) {
      expect((await change(name, { esimTranNo: esim.esimTranNo })).errorCode).toBe('200002');
    }
  });

  it.each(['cancel', 'suspend', 'unsuspend', 'revoke', 'sendSms'])(
    '%s is refused without an eSIM that exists',
    async (name) => {
      expect((await change(name, { message: 'x' })).errorCode).toBe('000105');
      expect((await change(name, { esimTranNo: '0', message: 'x' })).errorCode).toBe('310403');
      expect((await change(name, { orderNo: 'B00000000000000', message: 'x' })).errorCode).toBe('000105');
    },
  );

  it('sendSms is for installed eSIMs whose package has SMS', async () => {
    const esim = await bought();
    const send = (message: unknown) => change('sendSms', { esimTranNo: esim.esimTranNo, message });
    expect((await send('hello')).errorCode).toBe('200002');
    await simulator.control('PUT', `/esims/${esim.iccid}`, { esimStatus: 'IN_USE' });
    expect(await send('x'.repeat(500))).toMatchObject({ success: true, obj: {} });
    expect((await send('x'.repeat(501))).errorCode).toBe('000107');
    expect((await send(null)).errorCode).toBe('000106');
    expect((await change('sendSms', { esimTranNo: esim.esimTranNo })).errorCode).toBe('000105');
    const { obj } = await simulator.call('package/list', {});
    const without = (obj as { packageList: { smsStatus: number; slug: string }[] }).packageList.find(
      (each) => each.smsStatus === 0,
    )!;
    const silent = await bought(without.slug);
    await simulator.control('PUT', `/esims/${silent.iccid}`, { esimStatus: 'IN_USE' });
    expect((await change('sendSms', { iccid: silent.iccid, message: 'x' })).errorCode).toBe('200008');
  });
});

describe('the supplier simulator, /esim/topup', () => {
  const topUp = (body: Record<string, unknown>) => simulator.call('esim/topup', body);

  it('may name the base package in place of the top-up, and an iccid', async () => {
    const { iccid } = await bought();
    const reply = await topUp({ transactionId: fresh('topup'), packageCode: 'SIM-OK', iccid });
    expect(reply.obj).toMatchObject({ totalVolume: 2 * GIGABYTE, totalDuration: 14 });
  });

  it('multiplies amount and days of a day-pass by periodNum', async () => {
    const esim = await bought('ES_1_Daily');
    const { obj } = await simulator.call('package/list', { type: 'TOPUP', iccid: esim.iccid });
    const offer = (obj as { packageList: { packageCode: string; price: number }[] }).packageList[0]!;
    const body = { packageCode: offer.packageCode, esimTranNo: esim.esimTranNo, periodNum: '3' };
    expect((await topUp({ ...body, transactionId: fresh('t'), amount: String(offer.price) })).errorCode).toBe(
      '200006',
    );
    const reply = await topUp({ ...body, transactionId: fresh('t'), amount: String(offer.price * 3) });
    expect(reply.obj).toMatchObject({ totalDuration: 4 });
  });

  it('that is refused with a code of the table charges nothing', async () => {
    const esim = await bought();
    const { esimTranNo } = esim;
    const noTopUp = await bought('SIM-NO-TOPUP');
    const ended = await bought();
    await simulator.call('esim/cancel', { esimTranNo: ended.esimTranNo });
    const before = await balance();
    const transactionId = fresh('topup');
    const code = 'TOPUP_SIM-OK';
    const cases: [Record<string, unknown>, string][] = [
      [{ packageCode: code, esimTranNo }, '000105'],
      [{ transactionId: 'x'.repeat(51), packageCode: code, esimTranNo }, '000107'],
      [{ transactionId, esimTranNo }, '000105'],
      [{ transactionId, packageCode: code }, '000105'],
      [{ transactionId, packageCode: code, esimTranNo: '0' }, '310403'],
      [{ transactionId, packageCode: 'TOPUP_NOPE', esimTranNo }, '310241'],
      [{ transactionId, packageCode: 'ES_3_30', esimTranNo }, '200008'],
      [{ transactionId, packageCode: code, esimTranNo: noTopUp.esimTranNo }, '200008'],
      [{ transactionId, packageCode: code, esimTranNo: ended.esimTranNo }, '200002'],
      [{ transactionId, packageCode: code, esimTranNo, amount: '1' }, '200006'],
      [{ transactionId, packageCode: code, esimTranNo, periodNum: '2' }, '200008'],
      [{ transactionId: esim.transactionId, packageCode: code, esimTranNo }, '200008'],
    ];
    for (const [body, error] of cases) expect([body, (await topUp(body)).errorCode]).toEqual([body, error]);
    await simulator.control('PUT', '/balance', { balance: 9999 });
    expect((await topUp({ transactionId, packageCode: code, esimTranNo })).errorCode).toBe('200007');
    await simulator.control('PUT', '/balance', { balance: before });
    expect((await topUp({ transactionId, packageCode: code, esimTranNo })).success).toBe(true);
    expect((await simulator.order(transactionId)).errorCode).toBe('200008');
  });
});

describe('the supplier simulator, /esim/usage/query', () => {
  it('reports the usage of up to ten eSIMs, late under the fault usageLagMs', async () => {
    const esim = await bought();
    const query = async (esimTranNoList: unknown) => simulator.call('esim/usage/query', { esimTranNoList });
    const usage = async () =>
      ((await query([esim.esimTranNo])).obj as { esimUsageList: Record<string, unknown>[] }).esimUsageList;
    expect(await usage()).toEqual([
      {
        esimTranNo: esim.esimTranNo,
        dataUsage: 0,
        totalData: GIGABYTE,
        lastUpdateTime: expect.stringMatching(/\+0000$/) as string,
      },
    ]);
    await simulator.control('PUT', `/esims/${esim.iccid}`, { esimStatus: 'IN_USE', orderUsage: 300_000_000 });
    expect(await usage()).toMatchObject([{ dataUsage: 300_000_000 }]);
    await simulator.control('PUT', '/faults', { usageLagMs: 7_200_000 });
    expect(await usage()).toMatchObject([{ dataUsage: 0 }]);
    await simulator.control('DELETE', '/faults');
    expect(await usage()).toMatchObject([{ dataUsage: 300_000_000 }]);
    expect((await query([esim.esimTranNo, 'unknown'])).obj).toMatchObject({ esimUsageList: [{}] });
    expect((await query(undefined)).errorCode).toBe('000105');
    expect((await query([])).errorCode).toBe('000107');
    expect((await query(Array.from({ length: 11 }, () => 'x'))).errorCode).toBe('000107');
    expect((await query('x')).errorCode).toBe('200008');
  });
});
