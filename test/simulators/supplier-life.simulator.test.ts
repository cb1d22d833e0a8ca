/** Every stage and cause of trouble is in test/esims/sandbox-life. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  DAY_MS,
  GIGABYTE,
  sharedSimulator,
  startReceiver,
  startSimulator,
  until,
  type TestSimulator,
} from './supplier-simulator.support.ts';

const simulator = sharedSimulator({ activateAfterMs: 5_000 });

const bought = (packageCode = 'SIM-MANUAL-LIFE', at = simulator) => at.buy(packageCode);

const atMs = (wireTime: string | null) => Date.parse(wireTime ?? 'none');

describe('the supplier simulator, the actions on an eSIM', () => {
  it('leave SIM-MANUAL-LIFE unused as time passes, also after a suspension', async () => {
    const { read, act } = await bought();
    const auto = await bought('SIM-OK');
    simulator.clock.nowMs += DAY_MS;
    expect(await auto.read()).toMatchObject({ esimStatus: 'IN_USE' });
    expect(await read()).toMatchObject({ esimStatus: 'GOT_RESOURCE', smdpStatus: 'RELEASED', eid: '' });
    await act('suspend');
    await act('resume');
    simulator.clock.nowMs += DAY_MS;
    expect(await read()).toMatchObject({ esimStatus: 'GOT_RESOURCE', smdpStatus: 'RELEASED' });
  });

  it('leave SIM-MANUAL-LIFE unused if its profile was kept back', async () => {
    await simulator.control('PUT', '/faults', { neverAllocate: 1 });
    const orderNo = await simulator.ordered('SIM-MANUAL-LIFE');
    await simulator.control('DELETE', '/faults');
    simulator.clock.nowMs += DAY_MS;
    expect(await simulator.esim(orderNo)).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
  });

  it('install starts a package that is active from its installation', async () => {
    const packages = await simulator.packages({});
    const { read, act } = await bought(packages.find((one) => one.activeType === 1)!.packageCode);
    for (const [smdpStatus, esimStatus] of [
      ['DOWNLOAD', 'GOT_RESOURCE'],
      ['INSTALLATION', 'IN_USE'],
      ['ENABLED', 'IN_USE'],
    ]) {
      expect((await act('install', { stage: smdpStatus })).status).toBe(200);
      expect(await read()).toMatchObject({ esimStatus, smdpStatus });
    }
  });

  it('install up to a stage ends the automatic installation', async () => {
    const { read, act } = await bought('SIM-OK');
    await act('install', { stage: 'DOWNLOAD' });
    simulator.clock.nowMs += DAY_MS;
    expect(await read()).toMatchObject({ esimStatus: 'GOT_RESOURCE', smdpStatus: 'DOWNLOAD' });
  });

  it('use uses data up to the last byte, and connects at first', async () => {
    const { read, act } = await bought();
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

  it('switch-off, switch-on, suspend, resume and delete-profile each have their own state', async () => {
    const { read, act } = await bought();
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

  it('expire ends an eSIM used or unused, with its data used up or not', async () => {
    const { read, act } = await bought();
    const [used, auto] = [await bought(), await bought('SIM-OK')];
    await used.act('install');
    await used.act('use-up');
    for (const one of [{ read, act }, used, auto]) await one.act('expire');
    expect(await read()).toMatchObject({ esimStatus: 'UNUSED_EXPIRED', smdpStatus: 'RELEASED', eid: '' });
    expect(await used.read()).toMatchObject({ esimStatus: 'USED_EXPIRED', orderUsage: GIGABYTE });
    expect(await auto.read()).toMatchObject({ esimStatus: 'UNUSED_EXPIRED' });
    expect(atMs((await read()).expiredTime)).toBe(Math.floor(simulator.clock.nowMs / 1000) * 1000);
    expect((await act('expire')).status).toBe(409);
    const body = { transactionId: 'late', packageCode: 'TOPUP_SIM-OK', esimTranNo: used.esimTranNo };
    expect((await simulator.call('esim/topup', body)).errorCode).toBe('200002');
  });
});

describe('the supplier simulator, the clock of one eSIM', () => {
  it('moves the validity of the eSIM, not its order and no other eSIM', async () => {
    const { read, act } = await bought();
    const other = await bought();
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

  it('ends an unused eSIM after its time to install, and starts one whose first use is due', async () => {
    const { read, act } = await bought();
    await act('clock', { advanceMs: 180 * DAY_MS - 1000 });
    expect(await read()).toMatchObject({ esimStatus: 'GOT_RESOURCE' });
    await act('clock', { advanceMs: 1000 });
    expect(await read()).toMatchObject({ esimStatus: 'UNUSED_EXPIRED' });
    const auto = await bought('SIM-OK');
    await auto.act('clock', { advanceMs: 6 * DAY_MS });
    expect(await auto.read()).toMatchObject({ esimStatus: 'IN_USE' });
  });
});

describe('the supplier simulator, the events of an eSIM', () => {
  interface Message {
    readonly notifyType: string;
    readonly notifyId: string;
    readonly content: Readonly<Record<string, unknown>>;
  }
  let live: TestSimulator;
  let messages: () => Message[];

  beforeAll(async () => {
    live = await startSimulator({ now: Date.now, activateAfterMs: 3_600_000 });
    const receiver = await startReceiver();
    await live.call('webhook/save', { webhook: receiver.url });
    messages = () => receiver.messages.map(({ text }) => JSON.parse(text) as Message);
  });

  async function boughtLive(packageCode = 'SIM-MANUAL-LIFE') {
    const esim = await bought(packageCode, live);
    const own = () => messages().filter(({ content }) => content['esimTranNo'] === esim.esimTranNo);
    /** A word for each event, once there are `count`. */
    const events = async (count: number) => {
      await until(() => own().length >= count);
      expect(new Set(own().map(({ notifyId }) => notifyId)).size).toBe(own().length);
      return own().map(({ notifyType, content }) => {
        const { smdpStatus, esimStatus, remainThreshold } = content;
        if (notifyType === 'SMDP_EVENT') return `${String(smdpStatus)} ${String(esimStatus)}`;
        if (notifyType === 'ESIM_STATUS') return String(esimStatus);
        return typeof remainThreshold === 'number' ? `${notifyType} ${remainThreshold}` : notifyType;
      });
    };
    return { ...esim, events };
  }

  const INSTALLED = ['DOWNLOAD GOT_RESOURCE', 'INSTALLATION GOT_RESOURCE', 'ENABLED IN_USE', 'IN_USE'];
  const THRESHOLDS = ['DATA_USAGE 0.5', 'DATA_USAGE 0.2', 'DATA_USAGE 0.1'];

  it('of a life step by step are each sent once, in order', async () => {
    const { act, events } = await boughtLive();
    await act('install', { stage: 'DOWNLOAD' });
    await events(1);
    await act('install', { stage: 'ENABLED' });
    await events(3);
    await act('use', { bytes: Math.ceil(GIGABYTE * 0.6) });
    await events(5);
    await act('use', { bytes: 1 });
    await act('use-up');
    await events(8);
    await act('clock', { advanceMs: 6 * DAY_MS });
    await events(9);
    await act('clock', { advanceMs: DAY_MS / 2 });
    await act('expire');
    expect(await events(10)).toEqual([
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

  it('of a jump over a whole life are sent in the order of time', async () => {
    const { act, events } = await boughtLive('SIM-OK');
    await act('clock', { advanceMs: 400 * DAY_MS });
    expect(await events(6)).toEqual([...INSTALLED, 'VALIDITY_USAGE', 'USED_EXPIRED']);
    await act('clock', { advanceMs: 400 * DAY_MS });
    await act('delete-profile');
    expect((await events(7)).slice(6)).toEqual(['DELETED USED_EXPIRED']);
  });

  it('of a switch, a suspension and an unused end are sent as well', async () => {
    const { act, events } = await boughtLive();
    await act('install');
    await events(4);
    await act('switch-off');
    await events(5);
    await act('switch-on');
    await events(6);
    await act('suspend');
    await events(8);
    await act('clock', { advanceMs: 8 * DAY_MS });
    await act('resume');
    expect((await events(9)).slice(4)).toEqual([
      'DISABLED IN_USE',
      'ENABLED IN_USE',
      'DISABLED SUSPENDED',
      'SUSPENDED',
      'USED_EXPIRED',
    ]);
    const unused = await boughtLive();
    await unused.act('clock', { advanceMs: 200 * DAY_MS });
    expect(await unused.events(1)).toEqual(['UNUSED_EXPIRED']);
  });

  it('of an end that a top-up has moved are not sent', async () => {
    const { esimTranNo, act, events } = await boughtLive();
    await act('install');
    await act('clock', { advanceMs: 5 * DAY_MS });
    await live.call('esim/topup', { transactionId: 'more', esimTranNo, packageCode: 'TOPUP_SIM-OK' });
    await act('clock', { advanceMs: 4 * DAY_MS });
    await act('use-up');
    expect(await events(8)).toEqual([...INSTALLED, ...THRESHOLDS, 'USED_UP']);
    await act('clock', { advanceMs: 4 * DAY_MS });
    await events(9);
    await act('clock', { advanceMs: DAY_MS });
    expect((await events(10)).slice(8)).toEqual(['VALIDITY_USAGE', 'USED_EXPIRED']);
  });

  it('follow as time passes after the clock was moved', async () => {
    const { act, events } = await boughtLive();
    await act('install');
    await events(4);
    await act('clock', { advanceMs: 6 * DAY_MS - 400 });
    expect(await events(5)).toEqual([...INSTALLED, 'VALIDITY_USAGE']);
    await act('clock', { advanceMs: DAY_MS - 400 });
    expect((await events(6)).slice(5)).toEqual(['USED_EXPIRED']);
  });
});

describe('the supplier simulator, refused actions', () => {
  it.each([
    ['install', { stage: 'RELEASED' }],
    ['install', { more: 1 }],
    ['use', {}],
    ['use', { bytes: 0 }],
    ['use', { bytes: 1.5 }],
    ['use', { bytes: '5' }],
    ['clock', { advanceMs: 0 }],
    ['clock', { advanceMs: 401 * DAY_MS }],
    ['suspend', { requestId: '' }],
    ['expire', []],
  ])('%s with %j is refused with 400 and changes nothing', async (action, body) => {
    const { read, act } = await bought();
    const before = await read();
    expect((await act(action, body)).status).toBe(400);
    expect(await read()).toEqual(before);
  });

  it.each(['use-up', 'resume', 'switch-off', 'switch-on', 'delete-profile'])(
    '%s of an eSIM that is not installed is refused with 409 and changes nothing',
    async (action) => {
      const { read, act } = await bought();
      const before = await read();
      expect((await act(action)).status).toBe(409);
      expect(await read()).toEqual(before);
    },
  );

  it('an unknown eSIM, one named by its ICCID and one without a profile are refused', async () => {
    const { iccid } = await bought();
    expect((await simulator.control('POST', '/esims/26010100000000/install')).status).toBe(404);
    expect((await simulator.control('POST', `/esims/${iccid}/install`)).status).toBe(404);
    await simulator.order('allocating', 'SIM-SLOW');
    const { body } = await simulator.control('GET', '/orders?transactionId=allocating');
    const { esimTranNo } = (body as { esimTranNo: string }[])[0]!;
    expect((await simulator.control('POST', `/esims/${esimTranNo}/install`)).status).toBe(409);
  });

  it('a repeated step, steps after the end, and a clock ten years ahead are refused with 409', async () => {
    const { act } = await bought();
    await act('install');
    expect((await act('install', { stage: 'DOWNLOAD' })).status).toBe(409);
    expect((await act('install')).status).toBe(409);
    await act('expire');
    for (const action of ['install', 'use-up', 'suspend', 'expire'])
      expect([action, (await act(action)).status]).toEqual([action, 409]);
    const old = await bought();
    const statuses = [];
    for (let times = 0; times < 10; times += 1)
      statuses.push((await old.act('clock', { advanceMs: 400 * DAY_MS })).status);
    expect(statuses).toEqual([...Array.from({ length: 9 }, () => 200), 409]);
  });

  it('a requestId is carried out once, and may be sent again after a refusal', async () => {
    const { read, act } = await bought();
    expect((await act('use', { bytes: 5, requestId: 'r-1' })).status).toBe(409);
    await act('install');
    for (let times = 0; times < 3; times += 1)
      expect((await act('use', { bytes: 5, requestId: 'r-1' })).status).toBe(200);
    expect(await read()).toMatchObject({ orderUsage: 5 });
    await act('use', { bytes: 5, requestId: 'r-2' });
    expect(await read()).toMatchObject({ orderUsage: 10 });
  });
});
