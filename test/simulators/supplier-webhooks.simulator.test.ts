/** The webhooks of the supplier simulator, sent to a receiver. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  DAY_MS,
  GIGABYTE,
  startReceiver as startRawReceiver,
  startSimulator,
  stopAll,
  until,
  type TestSimulator,
} from './supplier-simulator.support.ts';

interface Message {
  notifyType: string;
  notifyId: string;
  eventGenerateTime: string;
  content: Record<string, unknown>;
}

interface Receiver {
  url: string;
  readonly attempts: Message[];
  readonly messages: Message[];
  answers: (number | 'hang')[];
  forget(): void;
}

async function startReceiver(): Promise<Receiver> {
  const raw = await startRawReceiver();
  const read = (received: { text: string }[]) => received.map(({ text }) => JSON.parse(text) as Message);
  return {
    url: raw.url,
    answers: raw.answers,
    get attempts() {
      return read(raw.attempts);
    },
    get messages() {
      return read(raw.messages);
    },
    forget: () => {
      raw.messages.length = 0;
    },
  };
}

async function listening(options: Parameters<typeof startSimulator>[0] = {}) {
  const receiver = await startReceiver();
  const simulator = await startSimulator({ activateAfterMs: 60_000, now: Date.now, ...options });
  expect(await simulator.call('webhook/save', { webhook: receiver.url })).toMatchObject({
    success: true,
    obj: {},
  });
  receiver.forget();
  return { receiver, simulator };
}

async function orderOne(simulator: TestSimulator, transactionId: string, packageCode = 'SIM-OK') {
  const { obj } = await simulator.order(transactionId, packageCode);
  const { orderNo } = obj as { orderNo: string };
  return { orderNo, ...((await simulator.esim(orderNo)) as { iccid: string; esimTranNo: string }) };
}

const ofType = (receiver: Receiver, type: string) =>
  receiver.messages.filter((each) => each.notifyType === type);

afterEach(stopAll);

describe('the supplier simulator, /webhook/save', () => {
  it('sends CHECK_HEALTH and saves the URL when it is answered with 2xx', async () => {
    const receiver = await startReceiver();
    const simulator = await startSimulator({ now: Date.now });
    expect((await simulator.call('webhook/query', {})).obj).toEqual({ webhook: '' });
    expect((await simulator.call('webhook/save', { webhook: receiver.url })).success).toBe(true);
    expect(receiver.messages).toMatchObject([
      { notifyType: 'CHECK_HEALTH', content: { orderNo: '1234567890', orderStatus: 'Test' } },
    ]);
    expect((await simulator.call('webhook/query', {})).obj).toEqual({ webhook: receiver.url });
  });

  it('keeps the old URL when the new one answers with an error, or is no URL', async () => {
    const receiver = await startReceiver();
    const simulator = await startSimulator({ now: Date.now });
    receiver.answers.push(500);
    expect((await simulator.call('webhook/save', { webhook: receiver.url })).errorCode).toBe('200008');
    expect((await simulator.call('webhook/query', {})).obj).toEqual({ webhook: '' });
    for (const [webhook, code] of [
      [undefined, '000105'],
      [null, '000106'],
      ['', '000107'],
      ['ftp://x', '200008'],
      ['x', '200008'],
    ] as const) {
      expect((await simulator.call('webhook/save', { webhook })).errorCode).toBe(code);
    }
    expect((await simulator.call('webhook/save', { webhook: 'http://127.0.0.1:1/' })).errorCode).toBe(
      '200008',
    );
  });
});

describe('the supplier simulator, its webhooks', () => {
  it('are ORDER_STATUS without an ICCID, then the steps of the installation in order', async () => {
    const { receiver, simulator } = await listening({ activateAfterMs: 100 });
    const { orderNo, iccid, esimTranNo } = await orderOne(simulator, 'in-order');
    const status = await until(() => ofType(receiver, 'ESIM_STATUS')[0]);
    const [order] = ofType(receiver, 'ORDER_STATUS');
    expect(order?.content).toEqual({ orderNo, transactionId: 'in-order', orderStatus: 'GOT_RESOURCE' });
    expect(order?.eventGenerateTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(ofType(receiver, 'SMDP_EVENT').map((each) => each.content)).toMatchObject([
      { smdpStatus: 'DOWNLOAD', esimStatus: 'GOT_RESOURCE', iccid, esimTranNo },
      { smdpStatus: 'INSTALLATION', esimStatus: 'GOT_RESOURCE' },
      {
        smdpStatus: 'ENABLED',
        esimStatus: 'IN_USE',
        eid: expect.stringMatching(/^\d{32}$/) as string,
        seqNumber: null,
      },
    ]);
    expect(status.content).toMatchObject({
      iccid,
      orderNo,
      esimTranNo,
      transactionId: 'in-order',
      esimStatus: 'IN_USE',
      smdpStatus: 'ENABLED',
    });
    expect(new Set(receiver.messages.map((each) => each.notifyId)).size).toBe(receiver.messages.length);
  });

  it('are DATA_USAGE at 0.5, 0.2 and 0.1 left, and USED_UP; a top-up sends no ORDER_STATUS', async () => {
    const { receiver, simulator } = await listening();
    const { iccid, esimTranNo } = await orderOne(simulator, 'usage');
    await simulator.control('PUT', `/esims/${iccid}`, { esimStatus: 'IN_USE' });
    await until(() => ofType(receiver, 'ESIM_STATUS').length === 1);
    const use = (share: number) =>
      simulator.control('PUT', `/esims/${iccid}`, { orderUsage: Math.floor(GIGABYTE * share) });
    await use(0.4);
    await use(0.55);
    await use(0.95);
    await until(() => ofType(receiver, 'DATA_USAGE').length === 3);
    const thresholds = ofType(receiver, 'DATA_USAGE').map(
      (each) => each.content['remainThreshold'] as number,
    );
    expect(thresholds.sort()).toEqual([0.1, 0.2, 0.5]);
    expect(ofType(receiver, 'DATA_USAGE')[0]?.content).toMatchObject({
      iccid,
      esimTranNo,
      totalVolume: GIGABYTE,
    });
    await use(1);
    const used = await until(() =>
      ofType(receiver, 'ESIM_STATUS').find((each) => each.content['esimStatus'] === 'USED_UP'),
    );
    expect(used.content).toMatchObject({ orderUsage: GIGABYTE, remainVolume: 0 });
    const orders = ofType(receiver, 'ORDER_STATUS').length;
    await simulator.call('esim/topup', { transactionId: 'more', esimTranNo, packageCode: 'TOPUP_SIM-OK' });
    await until(() =>
      ofType(receiver, 'ESIM_STATUS').some(
        (each) => each.content['esimStatus'] === 'IN_USE' && each.content['totalVolume'] === 2 * GIGABYTE,
      ),
    );
    expect(ofType(receiver, 'ORDER_STATUS')).toHaveLength(orders);
  });

  it('are SUSPENDED, CANCEL and REVOKED for those changes', async () => {
    const { receiver, simulator } = await listening();
    const names = ['suspend', 'cancel', 'revoke'] as const;
    for (const name of names) {
      const { esimTranNo } = await orderOne(simulator, name);
      await simulator.call(`esim/${name}`, { esimTranNo });
    }
    await until(() => ofType(receiver, 'ESIM_STATUS').length === 3);
    const statuses = ofType(receiver, 'ESIM_STATUS').map((each) => each.content['esimStatus'] as string);
    expect(statuses.sort()).toEqual(['CANCEL', 'REVOKED', 'SUSPENDED']);
  });

  it('are VALIDITY_USAGE a day before the end, then USED_EXPIRED, also after a restart', async () => {
    const { receiver, simulator } = await listening({ activateAfterMs: 0 });
    const { iccid } = await orderOne(simulator, 'validity');
    await until(() => ofType(receiver, 'ESIM_STATUS').length === 1);
    await simulator.stop();
    const later = await startSimulator({
      dataDir: simulator.dataDir,
      now: () => Date.now() + 6 * DAY_MS + 60_000,
    });
    const validity = await until(() => ofType(receiver, 'VALIDITY_USAGE')[0]);
    expect(validity.content).toMatchObject({ iccid, remain: 1, totalDuration: 7, durationUnit: 'DAY' });
    await later.stop();
    await startSimulator({ dataDir: simulator.dataDir, now: () => Date.now() + 7 * DAY_MS + 60_000 });
    const expired = await until(() =>
      ofType(receiver, 'ESIM_STATUS').find((each) => each.content['esimStatus'] === 'USED_EXPIRED'),
    );
    expect(expired.content).toMatchObject({ iccid });
  });

  it('are ORDER_STATUS for orders that were kept back, once they are allocated', async () => {
    const { receiver, simulator } = await listening();
    await simulator.control('PUT', '/faults', { neverAllocate: 1 });
    await simulator.order('freed');
    await simulator.order('freed-too');
    expect(ofType(receiver, 'ORDER_STATUS')).toEqual([]);
    await simulator.control('DELETE', '/faults');
    await until(() => ofType(receiver, 'ORDER_STATUS').length === 2);
  });
});

describe('the supplier simulator, the delivery of webhooks', () => {
  it('is repeated after a failure, with the same notifyId', async () => {
    const { receiver, simulator } = await listening();
    receiver.answers.push(503);
    await simulator.order('again');
    const message = await until(() => ofType(receiver, 'ORDER_STATUS')[0]);
    expect(message.content).toMatchObject({ transactionId: 'again' });
    expect(receiver.attempts.filter((each) => each.notifyId === message.notifyId)).toHaveLength(2);
  });

  it('happens twice with one notifyId under duplicate', async () => {
    const { receiver, simulator } = await listening();
    await simulator.control('PUT', '/faults', { webhooks: 'duplicate' });
    await simulator.order('twice');
    await until(() => receiver.messages.length === 2);
    expect(receiver.messages[0]).toEqual(receiver.messages[1]);
  });

  it('does not happen under drop, and the next webhook is sent after it', async () => {
    const { receiver, simulator } = await listening();
    await simulator.control('PUT', '/faults', { webhooks: 'drop' });
    const { esimTranNo } = await orderOne(simulator, 'dropped');
    await simulator.call('esim/suspend', { esimTranNo });
    await simulator.control('PUT', '/faults', { webhooks: 'deliver' });
    await simulator.call('esim/revoke', { esimTranNo });
    await until(() => ofType(receiver, 'ESIM_STATUS')[0]);
    expect(receiver.messages.map((each) => each.content['esimStatus'])).toEqual(['REVOKED']);
  });

  it('swaps two webhooks under reorder', async () => {
    const { receiver, simulator } = await listening();
    const { esimTranNo } = await orderOne(simulator, 'swapped');
    await until(() => ofType(receiver, 'ORDER_STATUS')[0]);
    receiver.forget();
    await simulator.control('PUT', '/faults', { webhooks: 'reorder' });
    await simulator.call('esim/suspend', { esimTranNo });
    await simulator.call('esim/revoke', { esimTranNo });
    await until(() => receiver.messages.length === 2);
    expect(receiver.messages.map((each) => each.content['esimStatus'])).toEqual(['REVOKED', 'SUSPENDED']);
  });

  it('stops after DELETE /webhook', async () => {
    const { receiver, simulator } = await listening();
    expect((await simulator.control('DELETE', '/webhook')).status).toBe(200);
    expect((await simulator.call('webhook/query', {})).obj).toEqual({ webhook: '' });
    await simulator.order('silent');
    await simulator.call('webhook/save', { webhook: receiver.url });
    await simulator.order('saved-again');
    await until(() => ofType(receiver, 'ORDER_STATUS')[0]);
    expect(ofType(receiver, 'ORDER_STATUS').map((each) => each.content['transactionId'])).toEqual([
      'saved-again',
    ]);
  });
});
