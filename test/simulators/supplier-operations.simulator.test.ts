/** Fields and documented error codes. What our client makes of the answers is in test/vendors/. */
import { describe, expect, it } from 'vitest';
import { luhnDigit } from '../../packages/simulators/esim-access/numbers.ts';
import { DAY_MS, fresh, GIGABYTE, sharedSimulator, startSimulator } from './supplier-simulator.support.ts';

const simulator = sharedSimulator({ activateAfterMs: 60_000 });
const line = (packageCode: string, more: object = {}) => ({ packageCode, count: 1, ...more });
const codeOf = async (operation: string, body: object) => (await simulator.call(operation, body)).errorCode;
async function expectCodes(operation: string, cases: [body: object, code: string][]): Promise<void> {
  for (const [body, code] of cases) expect([body, await codeOf(operation, body)]).toEqual([body, code]);
}
const held = async (transactionId: string) =>
  (await simulator.control('GET', `/orders?transactionId=${transactionId}`)).body;
const putBalance = (balance: number) => simulator.control('PUT', '/balance', { balance });

describe('the supplier simulator, every request', () => {
  it('is answered in the envelope', async () => {
    const yes = { status: 200, success: true, errorCode: '0', errorMsg: null };
    expect(await simulator.call('balance/query')).toMatchObject(yes);
    const no = { status: 200, success: false, errorCode: '000105', obj: null };
    expect(await simulator.call('esim/order', {})).toMatchObject(no);
    expect(await simulator.call('esim/steal', {})).toMatchObject({ status: 404, success: false, obj: null });
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('by %s is refused with 000103', async (method) => {
    expect((await simulator.call('balance/query', {}, { method })).errorCode).toBe('000103');
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
    const transactionId = fresh();
    const packageInfoList = [line('SIM-OK', { price: 20_000 })];
    const { obj } = await simulator.call('esim/order', { transactionId, packageInfoList });
    const stamp = new Date(simulator.clock.nowMs).toISOString().replace(/\D/g, '').slice(2, 10);
    const orderNo = expect.stringMatching(new RegExp(`^B${stamp}\\d{6}$`)) as unknown;
    expect(obj).toEqual({ orderNo, transactionId });
  });

  it('with a repeated transactionId is answered like the first, whatever else its body has', async () => {
    const transactionId = fresh();
    const first = await simulator.order(transactionId);
    expect(await simulator.order(transactionId, 'ES_20_30')).toEqual(first);
    expect(await simulator.call('esim/order', { transactionId })).toEqual(first);
    const nonsense = { transactionId, packageInfoList: 'nonsense', amount: -1 };
    expect(await simulator.call('esim/order', nonsense)).toEqual(first);
    expect(await held(transactionId)).toMatchObject([{ requests: 4 }]);
  });

  it('may be for 30 eSIMs of several packages, by code and by slug', async () => {
    const transactionId = fresh();
    const before = await simulator.balance();
    const packageInfoList = [line('SIM-OK', { count: 20 }), line('ES_1_7', { count: 10 })];
    const { obj } = await simulator.call('esim/order', { transactionId, packageInfoList });
    const { esimList } = await simulator.query({ orderNo: (obj as { orderNo: string }).orderNo }, 50);
    expect(new Set(esimList.map((each) => each.iccid)).size).toBe(30);
    expect(new Set(esimList.map((each) => each.esimTranNo)).size).toBe(30);
    expect(esimList.filter((each) => each.packageList[0]?.slug === 'ES_1_7')).toHaveLength(10);
    const amount = before - (await simulator.balance());
    expect(await held(transactionId)).toMatchObject([{ amount, count: 30 }]);
  });

  it('multiplies amount, volume and days of a day-pass by periodNum', async () => {
    const slug = 'ES_1_Daily_1Mbps';
    const [{ price } = { price: 0 }] = await simulator.packages({ slug });
    const packageInfoList = [{ packageCode: slug, count: 2, price, periodNum: 5 }];
    const order = (amount: number) =>
      simulator.call('esim/order', { transactionId: fresh(), amount, packageInfoList });
    expect((await order(price * 2)).errorCode).toBe('200006');
    const { orderNo } = (await order(price * 10)).obj as { orderNo: string };
    expect(await simulator.esim(orderNo)).toMatchObject({
      totalDuration: 5,
      totalVolume: 5 * GIGABYTE,
      dataType: 2,
      fupPolicy: '1 Mbps',
    });
  });

  it('that is refused with a code of the table charges nothing and is not held', async () => {
    const before = await simulator.balance();
    const transactionId = fresh();
    const ok = [line('SIM-OK')];
    const of = (...packageInfoList: unknown[]) => ({ transactionId, packageInfoList });
    await expectCodes('esim/order', [
      [{ packageInfoList: ok }, '000105'],
      [{ transactionId: null, packageInfoList: ok }, '000106'],
      [{ transactionId: 7, packageInfoList: ok }, '200008'],
      [{ transactionId: 'x'.repeat(51), packageInfoList: ok }, '000107'],
      [{ transactionId }, '000105'],
      [{ transactionId, packageInfoList: {} }, '200008'],
      [of('SIM-OK'), '200008'],
      [of(), '000107'],
      [of({ count: 1 }), '000105'],
      [of({ packageCode: null, count: 1 }), '000106'],
      [of(line('SIM-OK', { count: 0 })), '000107'],
      [of(line('SIM-OK', { count: 31 })), '000107'],
      [of(line('SIM-OK', { count: 20 }), line('ES_1_7', { count: 11 })), '200008'],
      [of(line('SIM-OK', { price: 9999 })), '200005'],
      [of(line('SIM-OK', { price: 'cheap' })), '200008'],
      [of(line('SIM-OK', { periodNum: 2 })), '200008'],
      [of(line('ES_1_Daily', { periodNum: 366 })), '200008'],
      [{ ...of(...ok), amount: 9999 }, '200006'],
      [of(line('NOPE')), '310241'],
      [of(line('TOPUP_SIM-OK')), '310241'],
    ]);
    expect((await simulator.order(transactionId, 'NOPE')).errorMsg).toContain('[NOPE]');
    expect(await simulator.balance()).toBe(before);
    expect(await held(transactionId)).toEqual([]);
  });

  it('that the balance does not cover is refused with 200007', async () => {
    const before = await simulator.balance();
    await putBalance(50_000);
    const packageInfoList = [line('SIM-OK', { count: 3 })];
    expect(await codeOf('esim/order', { transactionId: fresh(), packageInfoList })).toBe('200007');
    expect(await simulator.balance()).toBe(50_000);
    await simulator.ordered();
    expect(await simulator.balance()).toBe(30_000);
    await putBalance(before);
  });
});

describe('the supplier simulator, /esim/query', () => {
  it('has the fields of a real answer for a new eSIM', async () => {
    const { orderNo, read, transactionId } = await simulator.buy('ES_3_30');
    expect(await simulator.query({ orderNo })).toMatchObject({
      pager: { pageSize: 20, pageNum: 1, total: 1 },
    });
    const esim = await read();
    expect(Object.keys(esim)).toEqual([
      'esimTranNo', 'orderNo', 'transactionId', 'imsi', 'iccid', 'smsStatus', 'msisdn', 'ac', 'qrCodeUrl',
      'shortUrl', 'smdpStatus', 'eid', 'activeType', 'dataType', 'activateTime', 'expiredTime',
      'installationTime', 'totalVolume', 'totalDuration', 'durationUnit', 'orderUsage', 'esimStatus', 'pin', 'puk',
      'apn', 'ipExport', 'supportTopUpType', 'fupPolicy', 'packageList',
    ]); // prettier-ignore
    const { iccid, esimTranNo, expiredTime, packageList } = esim;
    expect(luhnDigit(iccid.slice(0, -1))).toBe(iccid.slice(-1));
    const createTime = packageList[0]?.createTime ?? '';
    expect(Date.parse(expiredTime) - Date.parse(createTime)).toBe(180 * DAY_MS);
    expect(esim).toMatchObject({
      esimTranNo: expect.stringMatching(/^\d{14}$/) as unknown,
      imsi: expect.stringMatching(/^\d{15}$/) as unknown,
      iccid: expect.stringMatching(/^89\d{18}$/) as unknown,
      ac: expect.stringMatching(/^LPA:1\$rsp\.sandbox\.example\$[0-9A-F]{32}$/) as unknown,
      qrCodeUrl: `${esim.shortUrl}.png`,
      expiredTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/) as unknown,
      smdpStatus: 'RELEASED',
      eid: '',
      installationTime: null,
      packageList: [
        {
          packageName: 'Spain 3GB 30Days',
          packageCode: expect.stringMatching(/^P[0-9A-Z]{9}$/) as unknown,
          slug: 'ES_3_30',
          duration: 30,
          volume: 3 * GIGABYTE,
          locationCode: 'ES',
          createTime,
          esimTranNo,
          transactionId,
        },
      ],
    });
  });

  it('shows an eSIM in use activateAfterMs after allocation, and expired at the end of its days', async () => {
    const { read } = await simulator.buy('ES_1_7');
    simulator.clock.nowMs += 59_000;
    expect(await read()).toMatchObject({ esimStatus: 'GOT_RESOURCE', smdpStatus: 'RELEASED' });
    simulator.clock.nowMs += 1000;
    const { activateTime, expiredTime, ...inUse } = await read();
    expect(inUse).toMatchObject({
      esimStatus: 'IN_USE',
      smdpStatus: 'ENABLED',
      eid: expect.stringMatching(/^\d{32}$/) as unknown,
      installationTime: activateTime,
    });
    expect(Date.parse(expiredTime) - Date.parse(activateTime ?? '')).toBe(7 * DAY_MS);
    simulator.clock.nowMs += 7 * DAY_MS;
    expect(await read()).toMatchObject({ esimStatus: 'USED_EXPIRED', smdpStatus: 'DISABLED' });
  });

  it('shows an eSIM that was not installed expired after 180 days', async () => {
    const own = await startSimulator({ activateAfterMs: null });
    const { read } = await own.buy();
    own.clock.nowMs += 180 * DAY_MS + 1000;
    expect(await read()).toMatchObject({ esimStatus: 'UNUSED_EXPIRED', smdpStatus: 'RELEASED', eid: '' });
  });

  it('refuses with 200010 while profiles are being allocated, and leaves them out of lists', async () => {
    const own = await startSimulator({ allocationMs: 3000 });
    const orderNo = await own.ordered();
    await expect(own.esim(orderNo)).rejects.toThrow('200010');
    expect((await own.query({})).esimList).toEqual([]);
    own.clock.nowMs += 3000;
    expect(await own.esim(orderNo)).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    expect((await own.query({})).esimList).toHaveLength(1);
  });

  it('finds eSIMs by iccid, esimTranNo and time, page by page', async () => {
    const own = await startSimulator();
    for (let i = 0; i < 7; i += 1) await own.ordered();
    const [first, second] = [await own.query({}, 5, 1), await own.query({}, 5, 2)];
    expect([first.esimList.length, second.esimList.length, second.pager.total]).toEqual([5, 2, 7]);
    expect(new Set([...first.esimList, ...second.esimList].map((each) => each.iccid)).size).toBe(7);
    const { iccid, esimTranNo } = second.esimList[0]!;
    expect((await own.query({ iccid })).esimList).toMatchObject([{ esimTranNo }]);
    expect((await own.query({ esimTranNo })).esimList).toMatchObject([{ iccid }]);
    const iso = (offMs: number) => new Date(own.clock.nowMs + offMs).toISOString().replace('Z', '+00:00');
    const totalIn = async (fromMs: number, toMs: number) =>
      (await own.query({ startTime: iso(fromMs), endTime: iso(toMs) })).pager.total;
    expect(await totalIn(-60_000, 60_000)).toBe(7);
    expect(await totalIn(-120_000, -60_000)).toBe(0);
  });

  it('refuses bad requests with codes of the table', async () => {
    const { orderNo } = await simulator.buy();
    const pager = { pageNum: 1, pageSize: 20 };
    const iccid = '8999900000000000000';
    await expectCodes('esim/query', [
      [{ orderNo }, '000105'],
      [{ pager: null }, '000106'],
      [{ pager: 'x' }, '200008'],
      [{ pager: { pageSize: 20 } }, '000105'],
      [{ pager: { pageNum: 0, pageSize: 20 } }, '000107'],
      [{ pager: { pageNum: 1, pageSize: 501 } }, '000107'],
      [{ pager, orderNo: 'B00000000000000' }, '310272'],
      [{ pager, iccid }, '310403'],
      [{ pager, esimTranNo: '00000000000000' }, '310403'],
      [{ pager, orderNo, iccid }, '310403'],
      [{ pager, startTime: '2026-01-01T00:00:00+00:00' }, '000105'],
      [{ pager, startTime: 'then', endTime: 'now' }, '200008'],
      [{ pager, iccid: ['x'] }, '200008'],
    ]);
  });
});

describe('the supplier simulator, changes of an eSIM', () => {
  const change = (name: string, body: object) => codeOf(`esim/${name}`, body);

  it('suspend and unsuspend take an iccid or an esimTranNo, each once', async () => {
    const { iccid, esimTranNo, read, act } = await simulator.buy();
    await act('install');
    expect(await change('suspend', { iccid })).toBe('0');
    expect(await read()).toMatchObject({ esimStatus: 'SUSPENDED', smdpStatus: 'DISABLED' });
    expect(await change('suspend', { iccid })).toBe('200002');
    expect(await change('unsuspend', { esimTranNo })).toBe('0');
    expect(await read()).toMatchObject({ esimStatus: 'IN_USE', smdpStatus: 'ENABLED' });
    expect(await change('unsuspend', { esimTranNo })).toBe('200002');
  });

  it('suspend before the first use delays that use until unsuspend', async () => {
    const { esimTranNo, read } = await simulator.buy();
    await change('suspend', { esimTranNo });
    simulator.clock.nowMs += 600_000;
    expect(await read()).toMatchObject({ esimStatus: 'SUSPENDED', eid: '' });
    await change('unsuspend', { esimTranNo });
    expect(await read()).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    simulator.clock.nowMs += 60_000;
    expect(await read()).toMatchObject({ esimStatus: 'IN_USE' });
  });

  it('revoke ends an eSIM without a refund, as REVOKE', async () => {
    const { esimTranNo, read } = await simulator.buy();
    const before = await simulator.balance();
    expect(await change('revoke', { esimTranNo })).toBe('0');
    expect(await read()).toMatchObject({ esimStatus: 'REVOKE' });
    expect(await simulator.balance()).toBe(before);
    for (const name of ['revoke', 'cancel', 'suspend', 'unsuspend'])
      expect(await change(name, { esimTranNo })).toBe('200002');
  });

  it.each(['cancel', 'suspend', 'unsuspend', 'revoke', 'sendSms'])(
    '%s is refused without an eSIM that exists',
    async (name) => {
      expect(await change(name, { orderNo: 'B00000000000000', message: 'x' })).toBe('000105');
      expect(await change(name, { esimTranNo: '0', message: 'x' })).toBe('310403');
    },
  );

  it('sendSms is for installed eSIMs whose package has SMS', async () => {
    const { esimTranNo, act } = await simulator.buy();
    expect(await change('sendSms', { esimTranNo, message: 'hello' })).toBe('200002');
    await act('install');
    await expectCodes('esim/sendSms', [
      [{ esimTranNo, message: 'x'.repeat(500) }, '0'],
      [{ esimTranNo, message: 'x'.repeat(501) }, '000107'],
      [{ esimTranNo, message: null }, '000106'],
      [{ esimTranNo }, '000105'],
    ]);
    const without = (await simulator.packages({})).find((each) => each.smsStatus === 0)!;
    const silent = await simulator.buy(without.slug);
    await silent.act('install');
    expect(await change('sendSms', { iccid: silent.iccid, message: 'x' })).toBe('200008');
  });
});

describe('the supplier simulator, /esim/topup', () => {
  it('may name the base package in place of the top-up, and an iccid', async () => {
    const { iccid } = await simulator.buy();
    const body = { transactionId: fresh(), packageCode: 'SIM-OK', iccid };
    expect((await simulator.call('esim/topup', body)).obj).toMatchObject({
      totalVolume: 2 * GIGABYTE,
      totalDuration: 14,
    });
  });

  it('multiplies amount and days of a day-pass by periodNum', async () => {
    const { iccid, esimTranNo } = await simulator.buy('ES_1_Daily');
    const [{ packageCode, price } = { packageCode: '', price: 0 }] = await simulator.packages({
      type: 'TOPUP',
      iccid,
    });
    const topUp = (amount: number) => ({
      transactionId: fresh(),
      packageCode,
      esimTranNo,
      periodNum: '3',
      amount: String(amount),
    });
    expect(await codeOf('esim/topup', topUp(price))).toBe('200006');
    const { obj } = await simulator.call('esim/topup', topUp(price * 3));
    expect(obj).toMatchObject({ totalDuration: 4 });
  });

  it('that is refused with a code of the table charges nothing', async () => {
    const { esimTranNo, transactionId: ordered } = await simulator.buy();
    const noTopUp = await simulator.buy('SIM-NO-TOPUP');
    const ended = await simulator.buy();
    await simulator.call('esim/cancel', { esimTranNo: ended.esimTranNo });
    const before = await simulator.balance();
    const transactionId = fresh();
    const good = { transactionId, packageCode: 'TOPUP_SIM-OK', esimTranNo };
    await expectCodes('esim/topup', [
      [{ ...good, transactionId: undefined }, '000105'],
      [{ ...good, transactionId: 'x'.repeat(51) }, '000107'],
      [{ ...good, packageCode: undefined }, '000105'],
      [{ ...good, esimTranNo: undefined }, '000105'],
      [{ ...good, esimTranNo: '0' }, '310403'],
      [{ ...good, packageCode: 'TOPUP_NOPE' }, '310241'],
      [{ ...good, packageCode: 'ES_3_30' }, '200008'],
      [{ ...good, esimTranNo: noTopUp.esimTranNo }, '200008'],
      [{ ...good, esimTranNo: ended.esimTranNo }, '200002'],
      [{ ...good, amount: '1' }, '200006'],
      [{ ...good, periodNum: '2' }, '200008'],
      [{ ...good, transactionId: ordered }, '200008'],
    ]);
    expect(await simulator.balance()).toBe(before);
    await putBalance(9999);
    expect(await codeOf('esim/topup', good)).toBe('200007');
    await putBalance(before);
    expect(await codeOf('esim/topup', good)).toBe('0');
    expect((await simulator.order(transactionId)).errorCode).toBe('200008');
  });
});

describe('the supplier simulator, /esim/usage/query', () => {
  it('reports the usage of up to ten eSIMs, late under the fault usageLagMs', async () => {
    const { esimTranNo, change } = await simulator.buy();
    const usage = async (...esimTranNoList: string[]) =>
      (await simulator.call('esim/usage/query', { esimTranNoList })).obj as { esimUsageList: unknown[] };
    const lastUpdateTime = expect.stringMatching(/\+0000$/) as unknown;
    expect(await usage(esimTranNo, 'unknown')).toEqual({
      esimUsageList: [{ esimTranNo, dataUsage: 0, totalData: GIGABYTE, lastUpdateTime }],
    });
    await change({ esimStatus: 'IN_USE', orderUsage: 300_000_000 });
    for (const [usageLagMs, dataUsage] of [
      [0, 300_000_000],
      [7_200_000, 0],
      [0, 300_000_000],
    ] as const) {
      await simulator.control('PUT', '/faults', { usageLagMs });
      expect(await usage(esimTranNo)).toMatchObject({ esimUsageList: [{ dataUsage }] });
    }
    await expectCodes('esim/usage/query', [
      [{}, '000105'],
      [{ esimTranNoList: [] }, '000107'],
      [{ esimTranNoList: Array.from({ length: 11 }, () => 'x') }, '000107'],
      [{ esimTranNoList: 'x' }, '200008'],
    ]);
  });
});
