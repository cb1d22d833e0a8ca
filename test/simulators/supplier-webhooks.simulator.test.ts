import { afterEach, describe, expect, it } from 'vitest';
import {
  DAY_MS,
  GIGABYTE,
  startReceiver,
  startSimulator,
  stopAll,
  until,
} from './supplier-simulator.support.ts';
import type { Received, Receiver } from './simulator.support.ts';

interface Message {
  notifyType: string;
  notifyId: string;
  eventGenerateTime: string;
  content: Record<string, unknown>;
}
const readAll = (received: Received[]) => received.map(({ text }) => JSON.parse(text) as Message);

async function listening(options: Parameters<typeof startSimulator>[0] = {}) {
  const receiver = await startReceiver();
  const simulator = await startSimulator({ activateAfterMs: 60_000, now: Date.now, ...options });
  expect((await simulator.call('webhook/save', { webhook: receiver.url })).obj).toEqual({});
  receiver.messages.length = 0;
  const setMode = (webhooks: string) => simulator.control('PUT', '/faults', { webhooks });
  return { receiver, simulator, setMode };
}

const ofType = (receiver: Receiver, type: string) =>
  readAll(receiver.messages).filter((each) => each.notifyType === type);
const statuses = (receiver: Receiver) =>
  ofType(receiver, 'ESIM_STATUS').map((each) => each.content['esimStatus']);

afterEach(stopAll);

describe('the supplier simulator, /webhook/save', () => {
  it('sends CHECK_HEALTH and saves the URL when it is answered with 2xx', async () => {
    const receiver = await startReceiver();
    const simulator = await startSimulator({ now: Date.now });
    const saved = async () => (await simulator.call('webhook/query', {})).obj;
    const save = async (webhook: unknown) => (await simulator.call('webhook/save', { webhook })).errorCode;
    receiver.answers.push(500);
    for (const [webhook, code] of [
      [receiver.url, '200008'],
      [undefined, '000105'],
      [null, '000106'],
      ['', '000107'],
      ['ftp://x', '200008'],
      ['http://127.0.0.1:1/', '200008'],
    ])
      expect(await save(webhook)).toBe(code);
    expect(await saved()).toEqual({ webhook: '' });
    expect(await save(receiver.url)).toBe('0');
    expect(readAll(receiver.messages)).toMatchObject([
      { notifyType: 'CHECK_HEALTH', content: { orderNo: '1234567890', orderStatus: 'Test' } },
    ]);
    expect(await saved()).toEqual({ webhook: receiver.url });
  });
});

describe('the supplier simulator, its webhooks', () => {
  it('are ORDER_STATUS without an ICCID, then the steps of the installation in order', async () => {
    const { receiver, simulator } = await listening({ activateAfterMs: 100 });
    const { orderNo, iccid, esimTranNo, transactionId } = await simulator.buy();
    const status = await until(() => ofType(receiver, 'ESIM_STATUS')[0]);
    const [order] = ofType(receiver, 'ORDER_STATUS');
    expect(order?.content).toEqual({ orderNo, transactionId, orderStatus: 'GOT_RESOURCE' });
    expect(order?.eventGenerateTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const own = { iccid, orderNo, esimTranNo, transactionId };
    const eid = expect.stringMatching(/^\d{32}$/) as unknown;
    expect(ofType(receiver, 'SMDP_EVENT').map((each) => each.content)).toMatchObject([
      { ...own, smdpStatus: 'DOWNLOAD', esimStatus: 'GOT_RESOURCE' },
      { ...own, smdpStatus: 'INSTALLATION', esimStatus: 'GOT_RESOURCE' },
      { ...own, smdpStatus: 'ENABLED', esimStatus: 'IN_USE', eid, seqNumber: null },
    ]);
    expect(status.content).toMatchObject({ ...own, esimStatus: 'IN_USE', smdpStatus: 'ENABLED' });
    const ids = readAll(receiver.messages).map((each) => each.notifyId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('are DATA_USAGE at 0.5, 0.2 and 0.1 left, and USED_UP; a top-up sends no ORDER_STATUS', async () => {
    const { receiver, simulator } = await listening();
    const { iccid, esimTranNo, change } = await simulator.buy();
    await change({ esimStatus: 'IN_USE' });
    await until(() => statuses(receiver).length === 1);
    for (const share of [0.4, 0.55, 0.95]) await change({ orderUsage: Math.floor(GIGABYTE * share) });
    await until(() => ofType(receiver, 'DATA_USAGE').length === 3);
    const usages = ofType(receiver, 'DATA_USAGE').map((each) => each.content);
    expect(usages.map((each) => each['remainThreshold'] as number).sort()).toEqual([0.1, 0.2, 0.5]);
    expect(usages[0]).toMatchObject({ iccid, esimTranNo, totalVolume: GIGABYTE });
    await change({ orderUsage: GIGABYTE });
    await until(() => statuses(receiver).includes('USED_UP'));
    const used = { esimStatus: 'USED_UP', orderUsage: GIGABYTE, remainVolume: 0 };
    expect(ofType(receiver, 'ESIM_STATUS').at(-1)?.content).toMatchObject(used);
    await simulator.call('esim/topup', { transactionId: 'more', esimTranNo, packageCode: 'TOPUP_SIM-OK' });
    await until(() => statuses(receiver).at(-1) === 'IN_USE');
    const more = { esimStatus: 'IN_USE', totalVolume: 2 * GIGABYTE };
    expect(ofType(receiver, 'ESIM_STATUS').at(-1)?.content).toMatchObject(more);
    expect(ofType(receiver, 'ORDER_STATUS')).toHaveLength(1);
  });

  it('are SUSPENDED, CANCEL and REVOKED for those changes', async () => {
    const { receiver, simulator } = await listening();
    for (const name of ['suspend', 'cancel', 'revoke'])
      await simulator.call(`esim/${name}`, { esimTranNo: (await simulator.buy()).esimTranNo });
    await until(() => statuses(receiver).length === 3);
    expect(statuses(receiver).sort()).toEqual(['CANCEL', 'REVOKED', 'SUSPENDED']);
  });

  it('are VALIDITY_USAGE a day before the end, then USED_EXPIRED, also after a restart', async () => {
    const { receiver, simulator } = await listening({ activateAfterMs: 0 });
    const { dataDir } = simulator;
    const { iccid } = await simulator.buy();
    await until(() => statuses(receiver).length === 1);
    await simulator.stop();
    const later = await startSimulator({ dataDir, now: () => Date.now() + 6 * DAY_MS + 60_000 });
    const validity = await until(() => ofType(receiver, 'VALIDITY_USAGE')[0]);
    expect(validity.content).toMatchObject({ iccid, remain: 1, totalDuration: 7, durationUnit: 'DAY' });
    await later.stop();
    await startSimulator({ dataDir, now: () => Date.now() + 7 * DAY_MS + 60_000 });
    await until(() => statuses(receiver).includes('USED_EXPIRED'));
  });

  it('are ORDER_STATUS for orders that were kept back, once they are allocated', async () => {
    const { receiver, simulator } = await listening();
    await simulator.control('PUT', '/faults', { neverAllocate: 1 });
    await simulator.ordered();
    await simulator.ordered();
    expect(ofType(receiver, 'ORDER_STATUS')).toEqual([]);
    await simulator.control('DELETE', '/faults');
    await until(() => ofType(receiver, 'ORDER_STATUS').length === 2);
  });
});

describe('the supplier simulator, the delivery of webhooks', () => {
  it('is repeated after a failure, with the same notifyId', async () => {
    const { receiver, simulator } = await listening();
    receiver.answers.push(503);
    await simulator.ordered();
    const { notifyId } = await until(() => ofType(receiver, 'ORDER_STATUS')[0]);
    expect(readAll(receiver.attempts).filter((each) => each.notifyId === notifyId)).toHaveLength(2);
  });

  it('happens twice with one notifyId under duplicate', async () => {
    const { receiver, simulator, setMode } = await listening();
    await setMode('duplicate');
    await simulator.ordered();
    await until(() => readAll(receiver.messages).length === 2);
    expect(readAll(receiver.messages)[0]).toEqual(readAll(receiver.messages)[1]);
  });

  it('does not happen under drop, and the next webhook is sent after it', async () => {
    const { receiver, simulator, setMode } = await listening();
    await setMode('drop');
    const { esimTranNo } = await simulator.buy();
    await simulator.call('esim/suspend', { esimTranNo });
    await setMode('deliver');
    await simulator.call('esim/revoke', { esimTranNo });
    await until(() => readAll(receiver.messages).length > 0);
    expect(readAll(receiver.messages).map((each) => each.content['esimStatus'])).toEqual(['REVOKED']);
  });

  it('swaps two webhooks under reorder', async () => {
    const { receiver, simulator, setMode } = await listening();
    const { esimTranNo } = await simulator.buy();
    await until(() => ofType(receiver, 'ORDER_STATUS')[0]);
    await setMode('reorder');
    await simulator.call('esim/suspend', { esimTranNo });
    await simulator.call('esim/revoke', { esimTranNo });
    await until(() => statuses(receiver).length === 2);
    expect(statuses(receiver)).toEqual(['REVOKED', 'SUSPENDED']);
  });

  it('stops after DELETE /webhook', async () => {
    const { receiver, simulator } = await listening();
    expect((await simulator.control('DELETE', '/webhook')).status).toBe(200);
    expect((await simulator.call('webhook/query', {})).obj).toEqual({ webhook: '' });
    await simulator.ordered();
    await simulator.call('webhook/save', { webhook: receiver.url });
    await simulator.ordered('SIM-OK', 'saved-again');
    await until(() => ofType(receiver, 'ORDER_STATUS')[0]);
    const orders = ofType(receiver, 'ORDER_STATUS').map((each) => each.content['transactionId']);
    expect(orders).toEqual(['saved-again']);
  });
});
