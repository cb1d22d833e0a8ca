/**
 * Changing an eSIM at the supplier: cancel, suspend, unsuspend, revoke, SMS, top-up, and what usage says.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('changing an eSIM', () => {
  const change = (name: string, body: Record<string, unknown>): Promise<Reply> =>
    simulator.call(`esim/${name}`, body);

  it('cancel refunds an unused eSIM once', async () => {
    const esim = await bought();
    const before = await balance();
    expect(await change('cancel', { esimTranNo: esim.esimTranNo })).toMatchObject({ success: true, obj: {} });
    expect(await balance()).toBe(before + 20_000);
    expect(await simulator.esim(esim.orderNo)).toMatchObject({
      esimStatus: 'CANCEL',
      smdpStatus: 'RELEASED',
      eid: '',
    });
    expect((await change('cancel', { esimTranNo: esim.esimTranNo })).errorCode).toBe('200002');
    expect(await balance()).toBe(before + 20_000);
  });

  it('cancel refuses an eSIM in use and one still being allocated', async () => {
    const esim = await bought();
    await simulator.control('PUT', `/esims/${esim.iccid}`, { esimStatus: 'IN_USE' });
    expect((await change('cancel', { iccid: esim.iccid })).errorCode).toBe('200002');
    await simulator.control('PUT', '/faults', { allocationMs: 60_000 });
    const { obj } = await simulator.order(fresh('allocating'));
    await simulator.control('DELETE', '/faults');
    const { body } = await simulator.control(
      'GET',
      `/orders?transactionId=${(obj as { transactionId: string }).transactionId}`,
    );
    const { esimTranNo } = (body as { esimTranNo: string }[])[0]!;
    expect((await change('cancel', { esimTranNo })).errorCode).toBe('200002');
  });

  it('suspend and unsuspend, by esimTranNo and by iccid', async () => {
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

  it('an eSIM suspended before its first use does not start meanwhile', async () => {
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

  it('revoke ends it without a refund, spelled REVOKE', async () => {
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
    '%s needs an eSIM that exists',
    async (name) => {
      expect((await change(name, { message: 'x' })).errorCode).toBe('000105');
      expect((await change(name, { esimTranNo: '0', message: 'x' })).errorCode).toBe('310403');
      expect((await change(name, { orderNo: 'B00000000000000', message: 'x' })).errorCode).toBe('000105');
    },
  );

  it('sendSms reaches installed eSIMs whose plan has SMS', async () => {
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

describe('/esim/topup', () => {
  const topUp = (body: Record<string, unknown>) => simulator.call('esim/topup', body);

  it('adds volume and days at once, charges, and shows in packageList', async () => {
    const esim = await bought('ES_3_30');
    await simulator.control('PUT', `/esims/${esim.iccid}`, { esimStatus: 'IN_USE', orderUsage: 1000 });
    const { obj } = await simulator.call('package/list', { type: 'TOPUP', iccid: esim.iccid });
    const offer = (
      obj as { packageList: { packageCode: string; price: number; slug: string }[] }
    ).packageList.find((each) => each.slug === 'ES_5_30')!;
    const before = await balance();
    const { activateTime } = (await simulator.esim(esim.orderNo)) as { activateTime: string };
    const transactionId = fresh('topup');
    const reply = await topUp({
      transactionId,
      esimTranNo: esim.esimTranNo,
      packageCode: offer.packageCode,
      amount: String(offer.price),
    });
    expect(reply).toMatchObject({ status: 200, success: true });
    expect(reply.obj).toEqual({
      transactionId,
      iccid: esim.iccid,
      expiredTime: new Date(Date.parse(activateTime) + 60 * DAY_MS).toISOString().replace('.000Z', '+0000'),
      totalVolume: 8 * GIGABYTE,
      totalDuration: 60,
      orderUsage: 1000,
      topUpEsimTranNo: expect.stringMatching(/^\d{14}$/) as string,
    });
    expect(await balance()).toBe(before - offer.price);
    const after = (await simulator.esim(esim.orderNo)) as { packageList: Record<string, unknown>[] };
    expect(after).toMatchObject({ totalVolume: 8 * GIGABYTE, totalDuration: 60, esimStatus: 'IN_USE' });
    expect(after.packageList).toHaveLength(2);
    expect(after.packageList[1]).toMatchObject({ packageCode: offer.packageCode, transactionId });
    expect(await topUp({ transactionId, packageCode: 'NOPE' })).toEqual(reply);
    expect(await balance()).toBe(before - offer.price);
    const { body } = await simulator.control('GET', `/orders?transactionId=${transactionId}`);
    expect(body).toMatchObject([
      {
        kind: 'topup',
        transactionId,
        orderNo: esim.orderNo,
        esimTranNo: esim.esimTranNo,
        requests: 2,
        status: 'DONE',
      },
    ]);
  });

  it('revives a used-up eSIM and is open to a new one', async () => {
    const esim = await bought();
    await simulator.control('PUT', `/esims/${esim.iccid}`, { esimStatus: 'USED_UP' });
    expect(await simulator.esim(esim.orderNo)).toMatchObject({ esimStatus: 'USED_UP', orderUsage: GIGABYTE });
    const body = { packageCode: 'TOPUP_SIM-OK', esimTranNo: esim.esimTranNo };
    expect((await topUp({ ...body, transactionId: fresh('topup') })).obj).toMatchObject({
      orderUsage: GIGABYTE,
    });
    expect(await simulator.esim(esim.orderNo)).toMatchObject({
      esimStatus: 'IN_USE',
      totalVolume: 2 * GIGABYTE,
    });
    const unused = await bought();
    const reply = await topUp({ transactionId: fresh('topup'), packageCode: 'SIM-OK', iccid: unused.iccid });
    expect(reply.obj).toMatchObject({ totalVolume: 2 * GIGABYTE, totalDuration: 14 });
  });

  it('counts periodNum for day-passes', async () => {
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

  it('gives back base and top-up when a topped-up eSIM is cancelled', async () => {
    const before = await balance();
    const esim = await bought();
    await topUp({ transactionId: fresh('t'), packageCode: 'TOPUP_SIM-OK', esimTranNo: esim.esimTranNo });
    expect(await balance()).toBe(before - 40_000);
    await simulator.call('esim/cancel', { esimTranNo: esim.esimTranNo });
    expect(await balance()).toBe(before);
  });

  it('refuses bad requests and charges nothing', async () => {
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

describe('/esim/usage/query', () => {
  it('reports usage of up to ten eSIMs, lagging when told to', async () => {
    const esim = await bought();
    const ask = async (esimTranNoList: unknown) => simulator.call('esim/usage/query', { esimTranNoList });
    const usage = async () =>
      ((await ask([esim.esimTranNo])).obj as { esimUsageList: Record<string, unknown>[] }).esimUsageList;
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
    expect((await ask([esim.esimTranNo, 'unknown'])).obj).toMatchObject({ esimUsageList: [{}] });
    expect((await ask(undefined)).errorCode).toBe('000105');
    expect((await ask([])).errorCode).toBe('000107');
    expect((await ask(Array.from({ length: 11 }, () => 'x'))).errorCode).toBe('000107');
    expect((await ask('x')).errorCode).toBe('200008');
  });
});
