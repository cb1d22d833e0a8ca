/**
 * The life of one eSIM on command: every stage and cause of trouble, its own clock, and that the vendor's events follow in order, each once, whatever the
 * jump.
 */
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { startReceiver } from './simulator.support.ts';
import {
  DAY_MS,
  GIGABYTE,
  startSimulator,
  stopAll,
  until,
  type TestSimulator,
} from './supplier-simulator.support.ts';

afterEach(stopAll);
afterAll(stopAll);

interface Esim {
  readonly esimTranNo: string;
  readonly iccid: string;
  readonly orderNo: string;
  readonly eid: string;
  readonly activateTime: string | null;
  readonly installationTime: string | null;
  readonly expiredTime: string;
  readonly packageList: readonly { readonly createTime: string }[];
}

let serial = 0;

/** A simulator whose clock the test moves, with an eSIM that is not installed. */
async function newLife(packageCode = 'SIM-MANUAL-LIFE', options: Parameters<typeof startSimulator>[0] = {}) {
  const simulator = await startSimulator(options);
  const esim = await ordered(simulator, packageCode);
  return { simulator, ...esim };
}

async function ordered(simulator: TestSimulator, packageCode = 'SIM-MANUAL-LIFE') {
  const { obj } = await simulator.order(`life-${(serial += 1)}`, packageCode);
  const { orderNo } = obj as { orderNo: string };
  const { esimTranNo, iccid } = (await simulator.esim(orderNo)) as Esim;
  return {
    esimTranNo,
    iccid,
    read: async () => (await simulator.esim(orderNo)) as Esim,
    act: (action: string, body?: object) => simulator.control('POST', `/esims/${esimTranNo}/${action}`, body),
  };
}

const atMs = (wireTime: string | null) => Date.parse(wireTime ?? 'none');

describe('a life by hand', () => {
  it('SIM-MANUAL-LIFE never goes into use by itself, not after a wait and not after a suspension', async () => {
    const { simulator, read, act } = await newLife();
    const auto = await ordered(simulator, 'SIM-OK');
    simulator.clock.nowMs += DAY_MS;
    expect(await auto.read()).toMatchObject({ esimStatus: 'IN_USE' });
    expect(await read()).toMatchObject({ esimStatus: 'GOT_RESOURCE', smdpStatus: 'RELEASED', eid: '' });
    await act('suspend');
    await act('resume');
    simulator.clock.nowMs += DAY_MS;
    expect(await read()).toMatchObject({ esimStatus: 'GOT_RESOURCE', smdpStatus: 'RELEASED' });
  });

  it('nor when its order was held back', async () => {
    const simulator = await startSimulator();
    await simulator.control('PUT', '/faults', { neverAllocate: 1 });
    const { obj } = await simulator.order('held-life', 'SIM-MANUAL-LIFE');
    await simulator.control('DELETE', '/faults');
    simulator.clock.nowMs += DAY_MS;
    expect(await simulator.esim((obj as { orderNo: string }).orderNo)).toMatchObject({
      esimStatus: 'GOT_RESOURCE',
    });
  });

  it('goes through every stage of an installation', async () => {
    const { read, act } = await newLife();
    expect((await act('install', { stage: 'DOWNLOAD' })).body).toMatchObject({ smdpStatus: 'DOWNLOAD' });
    expect(await read()).toMatchObject({
      esimStatus: 'GOT_RESOURCE',
      smdpStatus: 'DOWNLOAD',
      eid: expect.stringMatching(/^\d{32}$/) as string,
      installationTime: null,
      activateTime: null,
    });
    await act('install', { stage: 'INSTALLATION' });
    const installed = await read();
    expect(installed).toMatchObject({
      esimStatus: 'GOT_RESOURCE',
      smdpStatus: 'INSTALLATION',
      activateTime: null,
    });
    expect(installed.installationTime).not.toBeNull();
    await act('install', { stage: 'ENABLED' });
    expect(await read()).toMatchObject({ esimStatus: 'GOT_RESOURCE', smdpStatus: 'ENABLED', orderUsage: 0 });
    await act('install');
    const inUse = await read();
    expect(inUse).toMatchObject({ esimStatus: 'IN_USE', smdpStatus: 'ENABLED', orderUsage: 0 });
    expect(atMs(inUse.expiredTime) - atMs(inUse.activateTime)).toBe(7 * DAY_MS);
  });

  it('a plan that starts at installation starts there', async () => {
    const { simulator } = await newLife();
    const { obj } = await simulator.call('package/list', {});
    const { packageList } = obj as { packageList: { packageCode: string; activeType: number }[] };
    const eager = await ordered(simulator, packageList.find((one) => one.activeType === 1)!.packageCode);
    await eager.act('install', { stage: 'DOWNLOAD' });
    expect(await eager.read()).toMatchObject({ esimStatus: 'GOT_RESOURCE', activateTime: null });
    await eager.act('install', { stage: 'INSTALLATION' });
    expect(await eager.read()).toMatchObject({ esimStatus: 'IN_USE', smdpStatus: 'INSTALLATION' });
    expect((await eager.act('install', { stage: 'ENABLED' })).status).toBe(200);
    expect(await eager.read()).toMatchObject({ esimStatus: 'IN_USE', smdpStatus: 'ENABLED' });
  });

  it('stops an installation that would go on by itself', async () => {
    const { simulator, read, act } = await newLife('SIM-OK', { activateAfterMs: 5000 });
    await act('install', { stage: 'DOWNLOAD' });
    simulator.clock.nowMs += DAY_MS;
    expect(await read()).toMatchObject({ esimStatus: 'GOT_RESOURCE', smdpStatus: 'DOWNLOAD' });
  });

  it('uses data up to the last byte, and the first use connects', async () => {
    const { read, act } = await newLife();
    await act('install', { stage: 'ENABLED' });
    await act('use', { bytes: 600_000_000 });
    expect(await read()).toMatchObject({ esimStatus: 'IN_USE', orderUsage: 600_000_000 });
    await act('use', { bytes: GIGABYTE });
    expect(await read()).toMatchObject({ esimStatus: 'USED_UP', orderUsage: GIGABYTE });
    expect(await act('use', { bytes: 1 })).toMatchObject({
      status: 409,
      body: { error: { message: 'no data is left' } },
    });
  });

  it('is switched off and on, suspended and resumed, and deleted, each told apart', async () => {
    const { read, act } = await newLife();
    await act('install');
    await act('switch-off');
    expect(await read()).toMatchObject({ esimStatus: 'IN_USE', smdpStatus: 'DISABLED' });
    expect((await act('use', { bytes: 1 })).status).toBe(409);
    await act('suspend');
    expect((await act('switch-on')).status).toBe(200);
    expect(await read()).toMatchObject({ esimStatus: 'SUSPENDED', smdpStatus: 'DISABLED' });
    expect((await act('switch-on')).status).toBe(409);
    await act('resume');
    expect(await read()).toMatchObject({ esimStatus: 'IN_USE', smdpStatus: 'ENABLED' });
    await act('delete-profile');
    expect(await read()).toMatchObject({ esimStatus: 'IN_USE', smdpStatus: 'DELETED' });
    await act('suspend');
    await act('resume');
    expect(await read()).toMatchObject({ esimStatus: 'IN_USE', smdpStatus: 'DELETED' });
  });

  it('ends used or unused, with all of its data or none', async () => {
    const { simulator, read, act } = await newLife();
    const [used, auto] = [await ordered(simulator), await ordered(simulator, 'SIM-OK')];
    await used.act('install');
    await used.act('use-up');
    for (const one of [{ read, act }, used, auto]) await one.act('expire');
    expect(await read()).toMatchObject({ esimStatus: 'UNUSED_EXPIRED', smdpStatus: 'RELEASED', eid: '' });
    expect(await used.read()).toMatchObject({ esimStatus: 'USED_EXPIRED', orderUsage: GIGABYTE });
    expect(await auto.read()).toMatchObject({ esimStatus: 'UNUSED_EXPIRED' });
    for (const one of [await read(), await used.read(), await auto.read()])
      expect(atMs(one.expiredTime)).toBe(Math.floor(simulator.clock.nowMs / 1000) * 1000);
    expect((await act('expire')).status).toBe(409);
    const body = { transactionId: 'late', packageCode: 'TOPUP_SIM-OK', esimTranNo: used.esimTranNo };
    expect((await simulator.call('esim/topup', body)).errorCode).toBe('200002');
  });
});

describe('the clock of one eSIM', () => {
  it('moves its validity and its end, and nothing of its order or of another eSIM', async () => {
    const { simulator, read, act } = await newLife();
    const other = await ordered(simulator);
    for (const one of [{ act }, other]) await one.act('install');
    const [before, othersBefore] = [await read(), await other.read()];
    expect((await act('clock', { advanceMs: 3 * DAY_MS })).body).toMatchObject({ clockAheadMs: 3 * DAY_MS });
    const after = await read();
    for (const time of ['activateTime', 'installationTime', 'expiredTime'] as const)
      expect(atMs(before[time]) - atMs(after[time]), time).toBe(3 * DAY_MS);
    expect(after.packageList[0]?.createTime).toBe(before.packageList[0]?.createTime);
    expect(await other.read()).toEqual(othersBefore);
    await act('clock', { advanceMs: 4 * DAY_MS - 1000 });
    expect(await read()).toMatchObject({ esimStatus: 'IN_USE' });
    await act('clock', { advanceMs: 1000 });
    expect(await read()).toMatchObject({ esimStatus: 'USED_EXPIRED' });
  });

  it('ends an unused eSIM when its time to install is over, and reaches a first use that is due', async () => {
    const { simulator, read, act } = await newLife();
    await act('clock', { advanceMs: 180 * DAY_MS - 1000 });
    expect(await read()).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    await act('clock', { advanceMs: 1000 });
    expect(await read()).toMatchObject({ esimStatus: 'UNUSED_EXPIRED' });
    const auto = await ordered(simulator, 'SIM-OK');
    await auto.act('clock', { advanceMs: 6 * DAY_MS });
    expect(await auto.read()).toMatchObject({ esimStatus: 'IN_USE' });
  });

  it('goes on where it was after a restart', async () => {
    const { simulator, read, act } = await newLife();
    await act('install');
    await act('clock', { advanceMs: 2 * DAY_MS });
    const before = await read();
    await simulator.stop();
    const again = await startSimulator({ dataDir: simulator.dataDir, now: () => simulator.clock.nowMs });
    expect(await again.esim(before.orderNo)).toEqual(before);
  });

  it('reads data that a version without clocks has left', async () => {
    const { simulator, read } = await newLife('SIM-OK');
    const before = await read();
    await simulator.stop();
    const file = new DatabaseSync(join(simulator.dataDir, 'supplier.sqlite'));
    file.exec(
      'ALTER TABLE esims DROP COLUMN clockAheadMs; ALTER TABLE esims DROP COLUMN installedAtMs; DROP TABLE actions;',
    );
    file.close();
    const again = await startSimulator({ dataDir: simulator.dataDir, now: () => simulator.clock.nowMs });
    expect(await again.esim(before.orderNo)).toEqual(before);
    expect((await again.control('POST', `/esims/${before.esimTranNo}/clock`, { advanceMs: 1 })).status).toBe(
      200,
    );
    await ordered(again);
  });
});

describe('what is told', () => {
  interface Message {
    readonly notifyType: string;
    readonly notifyId: string;
    readonly content: Readonly<Record<string, unknown>>;
  }

  async function heardLife(packageCode = 'SIM-MANUAL-LIFE') {
    const simulator = await startSimulator({ now: Date.now, activateAfterMs: 3_600_000 });
    const receiver = await startReceiver();
    await simulator.call('webhook/save', { webhook: receiver.url });
    const all = () => receiver.messages.map(({ text }) => JSON.parse(text) as Message);
    const esim = await ordered(simulator, packageCode);
    await until(() => all().some(({ notifyType }) => notifyType === 'ORDER_STATUS'));
    receiver.messages.length = 0;
    /** What came since, in a word each, once there are so many. */
    const heard = async (count: number) => {
      await until(() => all().length >= count);
      expect(new Set(all().map(({ notifyId }) => notifyId)).size).toBe(all().length);
      for (const { content } of all()) expect(content['esimTranNo']).toBe(esim.esimTranNo);
      return all().map(({ notifyType, content }) => {
        const { smdpStatus, esimStatus, remainThreshold } = content;
        if (notifyType === 'SMDP_EVENT') return `${String(smdpStatus)} ${String(esimStatus)}`;
        if (notifyType === 'ESIM_STATUS') return String(esimStatus);
        return typeof remainThreshold === 'number' ? `${notifyType} ${remainThreshold}` : notifyType;
      });
    };
    return { simulator, ...esim, heard };
  }

  const INSTALLED = ['DOWNLOAD GOT_RESOURCE', 'INSTALLATION GOT_RESOURCE', 'ENABLED IN_USE', 'IN_USE'];
  const THRESHOLDS = ['DATA_USAGE 0.5', 'DATA_USAGE 0.2', 'DATA_USAGE 0.1'];

  it('a life step by step: each event once, in order', async () => {
    const { act, heard } = await heardLife();
    await act('install', { stage: 'DOWNLOAD' });
    await heard(1);
    await act('install', { stage: 'ENABLED' });
    await heard(3);
    await act('use', { bytes: Math.ceil(GIGABYTE * 0.6) });
    await heard(5);
    await act('use', { bytes: 1 });
    await act('use-up');
    await heard(8);
    await act('clock', { advanceMs: 6 * DAY_MS });
    await heard(9);
    await act('clock', { advanceMs: DAY_MS / 2 });
    await act('expire');
    expect(await heard(10)).toEqual([
      'DOWNLOAD GOT_RESOURCE',
      'INSTALLATION GOT_RESOURCE',
      'ENABLED GOT_RESOURCE',
      'IN_USE',
      ...THRESHOLDS,
      'USED_UP',
      'VALIDITY_USAGE',
      'USED_EXPIRED',
    ]);
  });

  it('one jump over a whole life tells it as it went', async () => {
    const { act, heard } = await heardLife('SIM-OK');
    await act('clock', { advanceMs: 400 * DAY_MS });
    expect(await heard(6)).toEqual([...INSTALLED, 'VALIDITY_USAGE', 'USED_EXPIRED']);
    await act('clock', { advanceMs: 400 * DAY_MS });
    await act('delete-profile');
    expect((await heard(7)).slice(6)).toEqual(['DELETED USED_EXPIRED']);
  });

  it('an unused end, a switch and a suspension are told too', async () => {
    const { act, heard } = await heardLife();
    await act('install');
    await heard(4);
    await act('switch-off');
    await heard(5);
    await act('switch-on');
    await heard(6);
    await act('suspend');
    await heard(8);
    await act('clock', { advanceMs: 8 * DAY_MS });
    await act('resume');
    expect((await heard(9)).slice(4)).toEqual([
      'DISABLED IN_USE',
      'ENABLED IN_USE',
      'DISABLED SUSPENDED',
      'SUSPENDED',
      'USED_EXPIRED',
    ]);
    const unused = await heardLife();
    await unused.act('clock', { advanceMs: 200 * DAY_MS });
    expect(await unused.heard(1)).toEqual(['UNUSED_EXPIRED']);
  });

  it('a top-up moves the end: no event of the old one comes', async () => {
    const { simulator, esimTranNo, act, heard } = await heardLife();
    await act('install');
    await act('clock', { advanceMs: 5 * DAY_MS });
    await simulator.call('esim/topup', { transactionId: 'more', esimTranNo, packageCode: 'TOPUP_SIM-OK' });
    await act('clock', { advanceMs: 4 * DAY_MS });
    await act('use-up');
    expect(await heard(8)).toEqual([...INSTALLED, ...THRESHOLDS, 'USED_UP']);
    await act('clock', { advanceMs: 4 * DAY_MS });
    await heard(9);
    await act('clock', { advanceMs: DAY_MS });
    expect((await heard(10)).slice(8)).toEqual(['VALIDITY_USAGE', 'USED_EXPIRED']);
  });

  it('time that passes by itself tells the rest of a life that was moved', async () => {
    const { act, heard } = await heardLife();
    await act('install');
    await act('clock', { advanceMs: 6 * DAY_MS - 400 });
    expect(await heard(5)).toEqual([...INSTALLED, 'VALIDITY_USAGE']);
    await act('clock', { advanceMs: DAY_MS - 400 });
    expect((await heard(6)).slice(5)).toEqual(['USED_EXPIRED']);
  });
});

describe('refusals', () => {
  it.each([
    ['install', { stage: 'RELEASED' }],
    ['install', { stage: null }],
    ['install', { more: 1 }],
    ['use', {}],
    ['use', { bytes: 0 }],
    ['use', { bytes: -1 }],
    ['use', { bytes: 1.5 }],
    ['use', { bytes: '5' }],
    ['use', { bytes: 1e300 }],
    ['clock', {}],
    ['clock', { advanceMs: 0 }],
    ['clock', { advanceMs: -DAY_MS }],
    ['clock', { advanceMs: 401 * DAY_MS }],
    ['suspend', { requestId: '' }],
    ['suspend', { requestId: 'x'.repeat(201) }],
    ['expire', []],
  ])('%s with %j: 400, and nothing changes', async (action, body) => {
    const { read, act } = await newLife();
    const before = await read();
    expect((await act(action, body)).status).toBe(400);
    expect(await read()).toEqual(before);
  });

  it.each(['use-up', 'resume', 'switch-off', 'switch-on', 'delete-profile'])(
    '%s of an eSIM that is not installed: 409, and nothing changes',
    async (action) => {
      const { read, act } = await newLife();
      const before = await read();
      expect((await act(action)).status).toBe(409);
      expect(await read()).toEqual(before);
    },
  );

  it('an eSIM that is not there, not delivered, or named by its ICCID', async () => {
    const { simulator, iccid } = await newLife();
    expect((await simulator.control('POST', '/esims/26010100000000/install')).status).toBe(404);
    expect((await simulator.control('POST', `/esims/${iccid}/install`)).status).toBe(404);
    await simulator.order('allocating', 'SIM-SLOW');
    const { body } = await simulator.control('GET', '/orders?transactionId=allocating');
    const { esimTranNo } = (body as { esimTranNo: string }[])[0]!;
    expect((await simulator.control('POST', `/esims/${esimTranNo}/install`)).status).toBe(409);
  });

  it('twice the same step, steps after the end, and a clock ten years ahead', async () => {
    const { simulator, act } = await newLife();
    await act('install');
    expect((await act('install', { stage: 'DOWNLOAD' })).status).toBe(409);
    expect((await act('install')).status).toBe(409);
    await act('expire');
    for (const action of ['install', 'use-up', 'suspend', 'expire'])
      expect([action, (await act(action)).status]).toEqual([action, 409]);
    const old = await ordered(simulator);
    const statuses = [];
    for (let times = 0; times < 10; times += 1)
      statuses.push((await old.act('clock', { advanceMs: 400 * DAY_MS })).status);
    expect(statuses).toEqual([...Array.from({ length: 9 }, () => 200), 409]);
  });

  it('an id is carried out once; one that was refused may come again', async () => {
    const { read, act } = await newLife();
    expect((await act('use', { bytes: 5, requestId: 'r-1' })).status).toBe(409);
    await act('install');
    for (let times = 0; times < 3; times += 1)
      expect((await act('use', { bytes: 5, requestId: 'r-1' })).status).toBe(200);
    expect(await read()).toMatchObject({ orderUsage: 5 });
    await act('use', { bytes: 5, requestId: 'r-2' });
    expect(await read()).toMatchObject({ orderUsage: 10 });
  });
});
