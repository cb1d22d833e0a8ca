/**
 * The control interface: what it answers, what it refuses, and that a bad request changes nothing.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startSimulator, stopAll, type TestSimulator } from './supplier-simulator.support.ts';

let simulator: TestSimulator;
let serial = 0;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterEach(async () => {
  await simulator.control('DELETE', '/faults');
});
afterAll(stopAll);

const setFaults = (body: unknown) => simulator.control('PUT', '/faults', body);

async function newEsim(): Promise<{ esimTranNo: string; iccid: string; orderNo: string }> {
  const { obj } = await simulator.order(`control-${(serial += 1)}`);
  return (await simulator.esim((obj as { orderNo: string }).orderNo)) as {
    esimTranNo: string;
    iccid: string;
    orderNo: string;
  };
}

describe('the control interface', () => {
  it('merges faults, answers the result, and resets', async () => {
    const defaults = (await simulator.control('DELETE', '/faults')).body as Record<string, unknown>;
    expect((await setFaults({ latencyMs: 1, busy: { next: 3 } })).body).toMatchObject({
      latencyMs: 1,
      busy: { next: 3 },
    });
    expect((await setFaults({ latencyMs: 2 })).body).toMatchObject({ latencyMs: 2, busy: { next: 3 } });
    expect((await simulator.control('GET', '/faults')).body).toMatchObject({
      latencyMs: 2,
      busy: { next: 3 },
    });
    expect((await simulator.control('DELETE', '/faults')).body).toEqual(defaults);
  });

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

  it('names every wrong field', async () => {
    const { body } = await setFaults({ busy: 2, latencyMs: 'x', what: 1 });
    expect((body as { error: { problems: string[] } }).error.problems).toHaveLength(3);
  });

  it('lists what the supplier holds, newest first, with a limit', async () => {
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

  it('sets an eSIM into any state, also one never seen before', async () => {
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
    expect((await put({ esimStatus: 'IN_USE' }, 'nobody')).status).toBe(404);
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

  it('answers 404, 405 and 413 in JSON', async () => {
    expect((await simulator.control('GET', '/nothing')).status).toBe(404);
    expect((await simulator.control('POST', '/faults')).status).toBe(405);
    expect((await simulator.control('PUT', '/balance', { balance: 'all' })).status).toBe(400);
    const large = await simulator
      .control('PUT', '/faults', { x: 'y'.repeat(70_000) })
      .then((reply) => reply.status)
      .catch(() => 413);
    expect(large).toBe(413);
    expect((await simulator.control('GET', '/health')).body).toEqual({ ok: true });
  });
});
