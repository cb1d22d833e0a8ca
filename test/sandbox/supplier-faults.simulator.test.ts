/**
 * Faults by the control interface and by magic package code, for orders and top-ups.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MAGIC_RULES } from '../../src/sandbox/supplier/catalogue/magic.ts';
import {
  startSimulator,
  stopAll,
  until,
  type Reply,
  type TestSimulator,
} from './supplier-simulator.support.ts';

let simulator: TestSimulator;
let serial = 0;
const fresh = () => `fault-${(serial += 1)}`;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterEach(async () => {
  await simulator.control('DELETE', '/faults');
});
afterAll(stopAll);

const setFaults = (body: unknown) => simulator.control('PUT', '/faults', body);
const held = async (transactionId: string) =>
  (await simulator.control('GET', `/orders?transactionId=${transactionId}`)).body as {
    status: string;
    requests: number;
    orderNo: string;
    esims: { esimStatus: string }[];
  }[];
/** The error code of an order, "0" for success, "lost" when the connection was cut. */
async function codeOf(call: Promise<Reply>): Promise<string | null> {
  return call.then(
    (reply) => reply.errorCode,
    () => 'lost',
  );
}
const buy = (transactionId = fresh(), packageCode = 'SIM-OK') =>
  codeOf(simulator.order(transactionId, packageCode));

async function newEsim(): Promise<{ esimTranNo: string; iccid: string; orderNo: string }> {
  const { obj } = await simulator.order(fresh());
  return (await simulator.esim((obj as { orderNo: string }).orderNo)) as {
    esimTranNo: string;
    iccid: string;
    orderNo: string;
  };
}
const topUp = (esimTranNo: string, packageCode: string, transactionId = fresh()) =>
  simulator.call('esim/topup', { transactionId, esimTranNo, packageCode });

describe('faults that refuse', () => {
  it.each([
    ['outOfStock', '200011'],
    ['priceChanged', '200005'],
    ['lowBalance', '200007'],
    ['busy', '900001'],
    ['wrongSignature', '101003'],
  ])('%s answers %s for orders and top-ups, and nothing is held', async (name, code) => {
    const { esimTranNo } = await newEsim();
    expect((await setFaults({ [name]: 1 })).body).toMatchObject({ [name]: 1 });
    const transactionId = fresh();
    expect(await buy(transactionId)).toBe(code);
    expect(await codeOf(topUp(esimTranNo, 'TOPUP_SIM-OK'))).toBe(code);
    expect(await held(transactionId)).toEqual([]);
    await setFaults({ [name]: 0 });
    expect(await buy(transactionId)).toBe('0');
    expect((await held(transactionId))[0]?.requests).toBe(2);
  });

  it('{next: n} hits the next n calls it could apply to', async () => {
    await setFaults({ outOfStock: { next: 2 } });
    await simulator.call('balance/query', {});
    expect([await buy(), await buy(), await buy()]).toEqual(['200011', '200011', '0']);
    expect((await simulator.control('GET', '/faults')).body).toMatchObject({ outOfStock: { next: 0 } });
  });

  it('a share hits that share of the calls, alike for the same seed', async () => {
    const draw = async () => {
      const own = await startSimulator({ seed: 42 });
      await own.control('PUT', '/faults', { outOfStock: 0.3 });
      const codes: (string | null)[] = [];
      for (let i = 0; i < 200; i += 1) codes.push((await own.order(`share-${i}`)).errorCode);
      return codes;
    };
    const [first, second] = [await draw(), await draw()];
    expect(first).toEqual(second);
    const hits = first.filter((code) => code === '200011').length;
    expect(hits).toBeGreaterThan(40);
    expect(hits).toBeLessThan(80);
  });

  it('a refusal does not hit the repeat of an order that was taken', async () => {
    const transactionId = fresh();
    expect(await buy(transactionId)).toBe('0');
    await setFaults({ outOfStock: 1, priceChanged: 1, lowBalance: 1 });
    expect(await buy(transactionId)).toBe('0');
    expect(await buy()).toBe('200011');
  });
});

describe('answers that get lost', () => {
  it('every answer is lost while the share is 1, repeats included; a refusal is not lost', async () => {
    await setFaults({ loseAnswer: 1 });
    const transactionId = fresh();
    expect([await buy(transactionId), await buy(transactionId)]).toEqual(['lost', 'lost']);
    expect(await held(transactionId)).toHaveLength(1);
    expect(await buy(fresh(), 'NOPE')).toBe('310241');
    expect((await simulator.control('GET', '/stats')).body).toMatchObject({
      lostAnswers: expect.any(Number) as number,
    });
  });

  it('top-ups and cancels lose theirs too', async () => {
    const { esimTranNo, orderNo } = await newEsim();
    const transactionId = fresh();
    await setFaults({ loseAnswer: { next: 1 } });
    expect(await codeOf(topUp(esimTranNo, 'TOPUP_SIM-OK', transactionId))).toBe('lost');
    expect(await held(transactionId)).toHaveLength(1);
    expect((await topUp(esimTranNo, 'TOPUP_SIM-OK', transactionId)).obj).toMatchObject({ totalDuration: 14 });
    await setFaults({ loseAnswer: { next: 1 } });
    expect(await codeOf(simulator.call('esim/cancel', { esimTranNo }))).toBe('lost');
    expect(await simulator.esim(orderNo)).toMatchObject({ esimStatus: 'CANCEL' });
  });
});

describe('slowness', () => {
  it.each(['PUT 0', 'PUT next 0', 'DELETE'])('neverAllocate holds orders until %s', async (way) => {
    await setFaults({ neverAllocate: 1 });
    const { obj } = await simulator.order(fresh());
    const { orderNo } = obj as { orderNo: string };
    simulator.clock.nowMs += 86_400_000;
    await expect(simulator.esim(orderNo)).rejects.toThrow('200010');
    if (way === 'PUT 0') await setFaults({ neverAllocate: 0 });
    else if (way === 'PUT next 0') await setFaults({ neverAllocate: { next: 0 } });
    else await simulator.control('DELETE', '/faults');
    const esim = await until(() => simulator.esim(orderNo), 2000);
    expect(esim).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    simulator.clock.nowMs += 5000;
    expect(await simulator.esim(orderNo)).toMatchObject({ esimStatus: 'IN_USE' });
  });

  it('neverAllocate as a count holds that many orders', async () => {
    await setFaults({ neverAllocate: { next: 1 } });
    const [stuck, fine] = [fresh(), fresh()];
    await simulator.order(stuck);
    await simulator.order(fine);
    expect([(await held(stuck))[0]?.status, (await held(fine))[0]?.status]).toEqual([
      'GETTING_RESOURCE',
      'GOT_RESOURCE',
    ]);
  });

  it('POST /orders/{orderNo}/allocate frees one order', async () => {
    const { obj } = await simulator.order(fresh(), 'SIM-NEVER-ALLOCATE');
    const { orderNo } = obj as { orderNo: string };
    await simulator.control('DELETE', '/faults');
    await expect(simulator.esim(orderNo)).rejects.toThrow('200010');
    expect((await simulator.control('POST', `/orders/${orderNo}/allocate`)).status).toBe(200);
    expect(await simulator.esim(orderNo)).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    expect((await simulator.control('POST', '/orders/B1/allocate')).status).toBe(404);
  });
});

describe('rateLimit', () => {
  it('lets 8 requests a second pass and answers the rest with 429 and 900001', async () => {
    const burst = () => Promise.all(Array.from({ length: 20 }, () => simulator.call('balance/query', {})));
    expect((await burst()).every((reply) => reply.success)).toBe(true);
    await setFaults({ rateLimit: true });
    const replies = await burst();
    expect(replies.filter((reply) => reply.success)).toHaveLength(8);
    for (const reply of replies.filter((each) => !each.success)) {
      expect(reply).toMatchObject({ status: 429, errorCode: '900001', obj: null });
    }
    simulator.clock.nowMs += 1000;
    expect((await burst()).filter((reply) => reply.success)).toHaveLength(8);
    await setFaults({ rateLimit: false });
    expect((await burst()).every((reply) => reply.success)).toBe(true);
  });
});

describe('oddities of the wire', () => {
  it('errorCode null on success, topUpEsimTranNo left out, ICCIDs used again', async () => {
    const { esimTranNo, iccid } = await newEsim();
    await setFaults({ nullErrorCode: true, omitTopUpEsimTranNo: true, reuseIccid: 1 });
    const reply = await topUp(esimTranNo, 'TOPUP_SIM-OK');
    expect(reply).toMatchObject({ success: true, errorCode: null });
    expect(reply.obj).not.toHaveProperty('topUpEsimTranNo');
    await simulator.call('esim/cancel', { esimTranNo });
    const again = await newEsim();
    expect(again.iccid).toBe(iccid);
    expect(again.esimTranNo).not.toBe(esimTranNo);
  });
});

describe('magic codes', () => {
  const repeat = async (count: number, call: () => Promise<Reply>) => {
    const codes: (string | null)[] = [];
    for (let i = 0; i < count; i += 1) codes.push(await codeOf(call()));
    return codes;
  };

  it.each([
    ['SIM-OK', ['0', '0']],
    ['SIM-OUT-OF-STOCK', ['200011', '200011']],
    ['SIM-PRICE-CHANGED', ['200005', '200005']],
    ['SIM-LOW-BALANCE', ['200007', '200007']],
    ['SIM-UNKNOWN-PACKAGE', ['310241', '310241']],
    ['SIM-WRONG-SIGNATURE', ['101003', '101003']],
    ['SIM-BUSY', ['900001', '900001', '900001', '0', '0']],
    ['SIM-SERVER-ERROR', ['000001', '000001', '0', '0']],
    ['SIM-LOSE-ANSWER', ['lost', '0', '0']],
    ['SIM-MANUAL-LIFE', ['0', '0']],
    ['SIM-NO-TOPUP', ['0', '0']],
    ['SIM-TOO-DEAR', ['0', '0']],
    ['SIM-SLOW', ['0', '0']],
    ['SIM-NEVER-ALLOCATE', ['0', '0']],
  ])('%s answers %j call by call and takes at most one order', async (code, expected) => {
    const transactionId = fresh();
    expect(await repeat(expected.length, () => simulator.order(transactionId, code))).toEqual(expected);
    const isTaken = expected.includes('0');
    expect(await held(transactionId)).toMatchObject(isTaken ? [{ requests: expected.length }] : []);
  });

  it.each([
    ['SIM-OK', ['0', '0']],
    ['SIM-OUT-OF-STOCK', ['200011', '200011']],
    ['SIM-PRICE-CHANGED', ['200005', '200005']],
    ['SIM-LOW-BALANCE', ['200007', '200007']],
    ['SIM-UNKNOWN-PACKAGE', ['310241', '310241']],
    ['SIM-WRONG-SIGNATURE', ['101003', '101003']],
    ['SIM-BUSY', ['900001', '900001', '900001', '0', '0']],
    ['SIM-SERVER-ERROR', ['000001', '000001', '0', '0']],
    ['SIM-LOSE-ANSWER', ['lost', '0', '0']],
    ['SIM-MANUAL-LIFE', ['0', '0']],
    ['SIM-NEVER-ALLOCATE', ['900001', '900001', '900001', '900001', '900001']],
  ])('TOPUP_%s answers %j call by call and tops up at most once', async (code, expected) => {
    const { esimTranNo, orderNo } = await newEsim();
    const transactionId = fresh();
    expect(await repeat(expected.length, () => topUp(esimTranNo, `TOPUP_${code}`, transactionId))).toEqual(
      expected,
    );
    const totalDuration = expected.includes('0') ? 14 : 7;
    expect(await simulator.esim(orderNo)).toMatchObject({ totalDuration });
  });

  it('SIM-SLOW has its profile after 12 s, TOPUP_SIM-SLOW answers after 12 s', async () => {
    const { obj } = await simulator.order(fresh(), 'SIM-SLOW');
    const { orderNo } = obj as { orderNo: string };
    simulator.clock.nowMs += 11_500;
    await expect(simulator.esim(orderNo)).rejects.toThrow('200010');
    simulator.clock.nowMs += 600;
    const esim = (await simulator.esim(orderNo)) as { esimTranNo: string };
    const transactionId = fresh();
    let answered: Reply | undefined;
    const first = topUp(esim.esimTranNo, 'TOPUP_SIM-SLOW', transactionId);
    void first.then((reply) => (answered = reply)).catch(() => undefined);
    await until(async () => (await held(transactionId)).length === 1);
    expect(answered).toBeUndefined();
    simulator.clock.nowMs += 12_000;
    expect((await topUp(esim.esimTranNo, 'TOPUP_SIM-SLOW', transactionId)).obj).toMatchObject({
      totalDuration: 14,
    });
    expect(answered).toBeUndefined();
    await simulator.stop();
    await expect(first).rejects.toThrow();
    simulator = await startSimulator();
  });

  it('all are listed in ZZ for 1 GB and 7 days at $2.00, but SIM-TOO-DEAR, each with its twin, but SIM-NO-TOPUP', async () => {
    const { obj } = await simulator.call('package/list', { locationCode: 'ZZ' });
    const listed = (obj as { packageList: Record<string, unknown>[] }).packageList;
    expect(listed.map((each) => each['packageCode'])).toEqual(Object.keys(MAGIC_RULES));
    for (const each of listed)
      expect(each).toMatchObject({
        price: each['packageCode'] === 'SIM-TOO-DEAR' ? 10_000_000_000 : 20_000,
        volume: 1_073_741_824,
        duration: 7,
      });
    const twins = await simulator.call('package/list', { type: 'TOPUP', packageCode: 'SIM-SLOW' });
    const codes = (twins.obj as { packageList: { packageCode: string }[] }).packageList.map(
      (each) => each.packageCode,
    );
    const expected = Object.keys(MAGIC_RULES).filter((code) => code !== 'SIM-NO-TOPUP');
    expect(codes).toEqual(expected.map((code) => `TOPUP_${code}`));
    const none = await simulator.call('package/list', { type: 'TOPUP', packageCode: 'SIM-NO-TOPUP' });
    expect(none.obj).toEqual({ packageList: [] });
    const { iccid } = await newEsim();
    const forEsim = await simulator.call('package/list', { type: 'TOPUP', iccid });
    expect(forEsim.obj).toEqual(twins.obj);
  });
});
