import { describe, expect, it } from 'vitest';
import { MAGIC_RULES } from '../../packages/simulators/esim-access/magic.ts';
import { describeRefusedFaults, expectShare } from './simulator.support.ts';
import { fresh, sharedSimulator, startSimulator, until, type Reply } from './supplier-simulator.support.ts';

const simulator = sharedSimulator({ activateAfterMs: 5_000 });
const setFaults = (body: unknown) => simulator.control('PUT', '/faults', body);
const held = async (transactionId: string, at = simulator) =>
  (await at.control('GET', `/orders?transactionId=${transactionId}`)).body as { requests: number }[];
const topUp = (esimTranNo: string, packageCode: string, transactionId = fresh(), at = simulator) =>
  at.call('esim/topup', { transactionId, esimTranNo, packageCode });

describe('the supplier simulator, its control interface', () => {
  describeRefusedFaults(simulator, [
    { nonsense: 1 },
    { busy: 2 },
    { busy: '1' },
    { busy: null },
    { busy: { next: 1.5 } },
    { busy: { next: -1 } },
    { busy: { next: 1, more: 2 } },
    { latencyMs: 0.5 },
    { allocationMs: { next: 1 } },
    { rateLimit: 1 },
    { webhooks: 'explode' },
    { latencyMs: 5, unknown: 1 },
    [],
    'text',
    '{"busy":',
  ]);

  it('GET /orders lists the orders, newest first, up to a limit, without activation codes', async () => {
    for (let i = 0; i < 4; i += 1) {
      await simulator.buy();
      simulator.clock.nowMs += 1;
    }
    const all = (await simulator.control('GET', '/orders?limit=3')).body as { createdAt: string }[];
    const times = all.map((each) => each.createdAt);
    expect(times).toHaveLength(3);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(JSON.stringify(all)).not.toMatch(/LPA:|"pin"|"puk"/);
    expect(await held('unknown')).toEqual([]);
    for (const limit of ['0', 'x', '-1', '20001'])
      expect((await simulator.control('GET', `/orders?limit=${limit}`)).status).toBe(400);
  });

  it('PUT /esims gives an eSIM any status, also a new one', async () => {
    const { iccid, change, read } = await simulator.buy();
    const ended = ['USED_EXPIRED', 'UNUSED_EXPIRED', 'CANCEL', 'REVOKE'];
    for (const esimStatus of ['IN_USE', 'USED_UP', ...ended, 'SUSPENDED', 'BRAND_NEW', 'GOT_RESOURCE']) {
      expect((await change({ esimStatus })).body).toMatchObject({ esimStatus });
      expect(await read()).toMatchObject({ esimStatus });
    }
    expect((await change({ smdpStatus: 'DELETED' })).body).toMatchObject({ smdpStatus: 'DELETED' });
    expect((await simulator.control('GET', `/esims/${iccid}`)).body).toMatchObject({ smdpStatus: 'DELETED' });
    const inUse = { esimStatus: 'IN_USE', orderUsage: 5 };
    const { body } = await change({ smdpStatus: null, ...inUse });
    expect(body).toMatchObject({ ...inUse, smdpStatus: 'ENABLED' });
    expect((await simulator.control('PUT', '/esims/no-such-esim', inUse)).status).toBe(404);
    for (const wrong of [{}, { orderUsage: -1 }, { orderUsage: '5' }, { esimStatus: 'lower' }, { x: 1 }])
      expect((await change(wrong)).status).toBe(400);
  });
});

describe('the supplier simulator, its faults', () => {
  it('a probability applies to that share of the calls, the same ones for the same seed', async () => {
    await expectShare(async () => {
      const own = await startSimulator({ seed: 42 });
      await own.control('PUT', '/faults', { outOfStock: 0.3 });
      return async (nth) => (await own.order(`share-${nth}`)).errorCode === '200011';
    });
  });

  it.each([
    ['PUT 0', () => setFaults({ neverAllocate: 0 })],
    ['PUT next 0', () => setFaults({ neverAllocate: { next: 0 } })],
    ['DELETE', () => simulator.control('DELETE', '/faults')],
  ])('neverAllocate keeps profiles back until %s', async (_way, clear) => {
    await setFaults({ neverAllocate: 1 });
    const orderNo = await simulator.ordered();
    simulator.clock.nowMs += 86_400_000;
    await expect(simulator.esim(orderNo)).rejects.toThrow('200010');
    await clear();
    expect(await simulator.esim(orderNo)).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    simulator.clock.nowMs += 5000;
    expect(await simulator.esim(orderNo)).toMatchObject({ esimStatus: 'IN_USE' });
  });

  it('POST /orders/{orderNo}/allocate allocates the profiles of one order', async () => {
    const orderNo = await simulator.ordered('SIM-NEVER-ALLOCATE');
    await simulator.control('DELETE', '/faults');
    await expect(simulator.esim(orderNo)).rejects.toThrow('200010');
    expect((await simulator.control('POST', `/orders/${orderNo}/allocate`)).status).toBe(200);
    expect(await simulator.esim(orderNo)).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    expect((await simulator.control('POST', '/orders/B1/allocate')).status).toBe(404);
  });

  it('nullErrorCode, omitTopUpEsimTranNo and reuseIccid change answers as documented', async () => {
    const { esimTranNo, iccid } = await simulator.buy();
    await setFaults({ nullErrorCode: true, omitTopUpEsimTranNo: true, reuseIccid: 1 });
    const reply = await topUp(esimTranNo, 'TOPUP_SIM-OK');
    expect(reply).toMatchObject({ success: true, errorCode: null });
    expect(reply.obj).not.toHaveProperty('topUpEsimTranNo');
    await simulator.call('esim/cancel', { esimTranNo });
    const again = await simulator.buy();
    expect(again.iccid).toBe(iccid);
    expect(again.esimTranNo).not.toBe(esimTranNo);
  });
});

describe('the supplier simulator, its magic package codes', () => {
  /** The error codes of several answers: "0" for success, "lost" if the connection was cut. */
  const repeat = async (count: number, call: () => Promise<Reply>) => {
    const codes: (string | null)[] = [];
    while (codes.length < count)
      codes.push(
        await call().then(
          ({ errorCode }) => errorCode,
          () => 'lost',
        ),
      );
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
      const { esimTranNo, read } = await simulator.buy();
      const transactionId = fresh();
      const call = () => topUp(esimTranNo, `TOPUP_${code}`, transactionId);
      expect(await repeat(expected.length, call)).toEqual(expected);
      expect(await read()).toMatchObject({ totalDuration: expected.includes('0') ? 14 : 7 });
    },
  );

  it('SIM-SLOW has its profile after 12 s, and TOPUP_SIM-SLOW is answered after 12 s', async () => {
    const own = await startSimulator();
    const orderNo = await own.ordered('SIM-SLOW');
    own.clock.nowMs += 11_500;
    await expect(own.esim(orderNo)).rejects.toThrow('200010');
    own.clock.nowMs += 600;
    const { esimTranNo } = await own.esim(orderNo);
    const transactionId = fresh();
    let answered: Reply | undefined;
    const first = topUp(esimTranNo, 'TOPUP_SIM-SLOW', transactionId, own);
    void first.then((reply) => (answered = reply)).catch(() => undefined);
    await until(async () => (await held(transactionId, own)).length === 1);
    own.clock.nowMs += 12_000;
    const again = await topUp(esimTranNo, 'TOPUP_SIM-SLOW', transactionId, own);
    expect(again.obj).toMatchObject({ totalDuration: 14 });
    expect(answered).toBeUndefined();
    await own.stop();
    await expect(first).rejects.toThrow();
  });

  it('are listed in ZZ with 1 GB for 7 days at $2.00, except SIM-TOO-DEAR, each with a top-up, except SIM-NO-TOPUP', async () => {
    const codes = Object.keys(MAGIC_RULES);
    expect(await simulator.packages({ locationCode: 'ZZ' })).toMatchObject(
      codes.map((packageCode) => ({
        packageCode,
        price: packageCode === 'SIM-TOO-DEAR' ? 10_000_000_000 : 20_000,
        volume: 1_073_741_824,
        duration: 7,
      })),
    );
    const topUps = await simulator.packages({ type: 'TOPUP', packageCode: 'SIM-SLOW' });
    const expected = codes.filter((code) => code !== 'SIM-NO-TOPUP').map((code) => `TOPUP_${code}`);
    expect(topUps.map((each) => each.packageCode)).toEqual(expected);
    expect(await simulator.packages({ type: 'TOPUP', packageCode: 'SIM-NO-TOPUP' })).toEqual([]);
    const { iccid } = await simulator.buy();
    expect(await simulator.packages({ type: 'TOPUP', iccid })).toEqual(topUps);
  });
});
