/**
 * The control interface of the supplier simulator, its faults and its magic package codes, and that a bad
 * request changes nothing. What our client makes of the faults is in test/vendors/.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MAGIC_RULES } from '../../packages/simulators/esim-access/magic.ts';
import {
  startSimulator,
  stopAll,
  until,
  type Reply,
  type TestSimulator,
} from './supplier-simulator.support.ts';

let simulator: TestSimulator;
let serial = 0;
const fresh = () => `control-${(serial += 1)}`;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterEach(async () => {
  await simulator.control('DELETE', '/faults');
});
afterAll(stopAll);

const setFaults = (body: unknown) => simulator.control('PUT', '/faults', body);

async function newEsim(): Promise<{ esimTranNo: string; iccid: string; orderNo: string }> {
  const { obj } = await simulator.order(fresh());
  return (await simulator.esim((obj as { orderNo: string }).orderNo)) as {
    esimTranNo: string;
    iccid: string;
    orderNo: string;
  };
}

const held = async (transactionId: string) =>
  (await simulator.control('GET', `/orders?transactionId=${transactionId}`)).body as {
    status: string;
    requests: number;
  }[];
/** The error code of an answer, "0" for success, "lost" if the connection was cut. */
async function codeOf(call: Promise<Reply>): Promise<string | null> {
  return call.then(
    (reply) => reply.errorCode,
    () => 'lost',
  );
}
const topUp = (esimTranNo: string, packageCode: string, transactionId = fresh()) =>
  simulator.call('esim/topup', { transactionId, esimTranNo, packageCode });

describe('the supplier simulator, its control interface', () => {
  it.each([
    { nonsense: 1 },
    { busy: 2 },
    { busy: -0.1 },
    { busy: true },
    { busy: '1' },
    { busy: null },
    { busy: { next: 1.5 } },
    { busy: { next: -1 } },
    { busy: { next: 1, more: 2 } },
    { busy: [1] },
    { latencyMs: -1 },
    { latencyMs: 0.5 },
    { latencyMs: '5' },
    { allocationMs: { next: 1 } },
    { rateLimit: 1 },
    { webhooks: 'explode' },
    { latencyMs: 5, unknown: 1 },
    [],
    7,
    'text',
    '{"busy":',
    '',
  ])('PUT /faults refuses %j with 400 and changes nothing', async (body) => {
    const before = (await simulator.control('GET', '/faults')).body;
    const reply = await setFaults(body);
    expect(reply.status).toBe(400);
    expect((reply.body as { error: { message: string } }).error.message).not.toBe('');
    expect((await simulator.control('GET', '/faults')).body).toEqual(before);
  });

  it('GET /orders lists the orders, newest first, up to a limit, without activation codes', async () => {
    await newEsim();
    const all = (await simulator.control('GET', '/orders?limit=3')).body as { createdAt: string }[];
    expect(all.length).toBeGreaterThan(0);
    expect(all.length).toBeLessThanOrEqual(3);
    expect(all.map((each) => each.createdAt)).toEqual(
      all
        .map((each) => each.createdAt)
        .sort()
        .reverse(),
    );
    expect(JSON.stringify(all)).not.toMatch(/LPA:|"pin"|"puk"/);
    expect((await simulator.control('GET', '/orders?transactionId=unknown')).body).toEqual([]);
    for (const limit of ['0', 'x', '-1', '10001']) {
      expect((await simulator.control('GET', `/orders?limit=${limit}`)).status).toBe(400);
    }
  });

  it('PUT /esims gives an eSIM any status, also a new one', async () => {
    const { iccid, esimTranNo, orderNo } = await newEsim();
    const put = (body: unknown, id = iccid) => simulator.control('PUT', `/esims/${id}`, body);
    for (const status of [
      'IN_USE',
      'USED_UP',
      'USED_EXPIRED',
      'UNUSED_EXPIRED',
      'CANCEL',
      'REVOKE',
      'SUSPENDED',
      'BRAND_NEW',
      'GOT_RESOURCE',
    ]) {
      expect((await put({ esimStatus: status })).body).toMatchObject({ esimStatus: status });
      expect(await simulator.esim(orderNo)).toMatchObject({ esimStatus: status });
    }
    expect((await put({ smdpStatus: 'DELETED' }, esimTranNo)).body).toMatchObject({ smdpStatus: 'DELETED' });
    expect((await simulator.control('GET', `/esims/${iccid}`)).body).toMatchObject({ smdpStatus: 'DELETED' });
    expect((await put({ smdpStatus: null, esimStatus: 'IN_USE', orderUsage: 5 })).body).toMatchObject({
      esimStatus: 'IN_USE',
      smdpStatus: 'ENABLED',
      orderUsage: 5,
    });
    expect((await put({ esimStatus: 'IN_USE' }, 'no-such-esim')).status).toBe(404);
    for (const body of [
      {},
      { orderUsage: -1 },
      { orderUsage: '5' },
      { esimStatus: 'lower' },
      { esimStatus: 7 },
      { x: 1 },
    ]) {
      expect((await put(body)).status).toBe(400);
    }
  });
});

describe('the supplier simulator, its faults', () => {
  it('a probability applies to that share of the calls, the same ones for the same seed', async () => {
    const draw = async () => {
      const own = await startSimulator({ seed: 42 });
      await own.control('PUT', '/faults', { outOfStock: 0.3 });
      const codes: (string | null)[] = [];
      for (let i = 0; i < 100; i += 1) codes.push((await own.order(`share-${i}`)).errorCode);
      return codes;
    };
    const [first, second] = [await draw(), await draw()];
    expect(first).toEqual(second);
    const hits = first.filter((code) => code === '200011').length;
    expect(hits).toBeGreaterThan(20);
    expect(hits).toBeLessThan(40);
  });

  it.each(['PUT 0', 'PUT next 0', 'DELETE'])('neverAllocate keeps profiles back until %s', async (way) => {
    await setFaults({ neverAllocate: 1 });
    const { obj } = await simulator.order(fresh());
    const { orderNo } = obj as { orderNo: string };
    simulator.clock.nowMs += 86_400_000;
    await expect(simulator.esim(orderNo)).rejects.toThrow('200010');
    if (way === 'PUT 0') await setFaults({ neverAllocate: 0 });
    else if (way === 'PUT next 0') await setFaults({ neverAllocate: { next: 0 } });
    else await simulator.control('DELETE', '/faults');
    expect(await simulator.esim(orderNo)).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    simulator.clock.nowMs += 5000;
    expect(await simulator.esim(orderNo)).toMatchObject({ esimStatus: 'IN_USE' });
  });

  it('POST /orders/{orderNo}/allocate allocates the profiles of one order', async () => {
    const { obj } = await simulator.order(fresh(), 'SIM-NEVER-ALLOCATE');
    const { orderNo } = obj as { orderNo: string };
    await simulator.control('DELETE', '/faults');
    await expect(simulator.esim(orderNo)).rejects.toThrow('200010');
    expect((await simulator.control('POST', `/orders/${orderNo}/allocate`)).status).toBe(200);
    expect(await simulator.esim(orderNo)).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    expect((await simulator.control('POST', '/orders/B1/allocate')).status).toBe(404);
  });

  it('nullErrorCode, omitTopUpEsimTranNo and reuseIccid change answers as documented', async () => {
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

describe('the supplier simulator, its magic package codes', () => {
  const repeat = async (count: number, call: () => Promise<Reply>) => {
    const codes: (string | null)[] = [];
    for (let i = 0; i < count; i += 1) codes.push(await codeOf(call()));
    return codes;
  };

  const FOR_BOTH: [code: string, expected: string[]][] = [
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
  ];

  it.each([
    ...FOR_BOTH,
    ['SIM-NO-TOPUP', ['0', '0']],
    ['SIM-TOO-DEAR', ['0', '0']],
    ['SIM-SLOW', ['0', '0']],
    ['SIM-NEVER-ALLOCATE', ['0', '0']],
  ])('%s is answered with %j call by call, and is held at most once', async (code, expected) => {
    const transactionId = fresh();
    expect(await repeat(expected.length, () => simulator.order(transactionId, code))).toEqual(expected);
    const isTaken = expected.includes('0');
    expect(await held(transactionId)).toMatchObject(isTaken ? [{ requests: expected.length }] : []);
  });

  it.each([...FOR_BOTH, ['SIM-NEVER-ALLOCATE', ['900001', '900001', '900001', '900001', '900001']]])(
    'TOPUP_%s is answered with %j call by call, and tops up at most once',
    async (code, expected) => {
      const { esimTranNo, orderNo } = await newEsim();
      const transactionId = fresh();
      expect(await repeat(expected.length, () => topUp(esimTranNo, `TOPUP_${code}`, transactionId))).toEqual(
        expected,
      );
      const totalDuration = expected.includes('0') ? 14 : 7;
      expect(await simulator.esim(orderNo)).toMatchObject({ totalDuration });
    },
  );

  it('SIM-SLOW has its profile after 12 s, and TOPUP_SIM-SLOW is answered after 12 s', async () => {
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

  it('are listed in ZZ with 1 GB for 7 days at $2.00, except SIM-TOO-DEAR, each with a top-up, except SIM-NO-TOPUP', async () => {
    const { obj } = await simulator.call('package/list', { locationCode: 'ZZ' });
    const listed = (obj as { packageList: Record<string, unknown>[] }).packageList;
    expect(listed.map((each) => each['packageCode'])).toEqual(Object.keys(MAGIC_RULES));
    for (const each of listed)
      expect(each).toMatchObject({
        price: each['packageCode'] === 'SIM-TOO-DEAR' ? 10_000_000_000 : 20_000,
        volume: 1_073_741_824,
        duration: 7,
      });
    const topUps = await simulator.call('package/list', { type: 'TOPUP', packageCode: 'SIM-SLOW' });
    const codes = (topUps.obj as { packageList: { packageCode: string }[] }).packageList.map(
      (each) => each.packageCode,
    );
    const expected = Object.keys(MAGIC_RULES).filter((code) => code !== 'SIM-NO-TOPUP');
    expect(codes).toEqual(expected.map((code) => `TOPUP_${code}`));
    const none = await simulator.call('package/list', { type: 'TOPUP', packageCode: 'SIM-NO-TOPUP' });
    expect(none.obj).toEqual({ packageList: [] });
    const { iccid } = await newEsim();
    const forEsim = await simulator.call('package/list', { type: 'TOPUP', iccid });
    expect(forEsim.obj).toEqual(topUps.obj);
  });
});
