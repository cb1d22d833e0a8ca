// The life of an eSIM through the whole service, on the supplier's simulator over HTTP: its events come
// doubled, or not at all. The merchant is notified of each change once, and the row ends in the
// supplier's state.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { findEsim } from '../../src/esims/store/esims.ts';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { startReceiver, type Listener, type Receiver } from '../support/people/webhook-receiver.ts';

const EVENTS = ['esim.status_changed', 'esim.usage_threshold', 'esim.expiring', 'esim.expired'] as const;
const GB = 1_073_741_824;
const DAY_SECONDS = 86_400;

let stack: Stack;
let receiver: Receiver;
let buyer: Buyer;
let listener: Listener;
beforeAll(async () => {
  // Empty: the simulator sends its events to the API of this stack.
  stack = await startStack({
    env: { SIMWAY_TEST_SUPPLIER_EVENTS_URL: '' },
    supplier: { activateAfterMs: null },
  });
  receiver = await startReceiver();
  buyer = await newBuyer(stack);
  listener = await receiver.listen(stack, buyer.account, { events: EVENTS });
  await until(
    () => noted('CHECK_HEALTH'),
    (notes) => notes.includes('answered'),
    {
      what: 'the address of the API at the supplier',
    },
  );
});
afterEach(() => stack.clearFaults());
afterAll(async () => {
  await stack.close();
  await receiver.close();
});

/** The results of the events of a type, oldest first. */
async function noted(type: string): Promise<(string | null)[]> {
  const rows = await stack.world
    .selectFrom('supplier_events')
    .select('note')
    .where('type', '=', type)
    .orderBy('id')
    .execute();
  return rows.map(({ note }) => note);
}

/** The metrics of the alert SimwaySupplierEventsOdd, API and worker together. */
async function counted(): Promise<Readonly<Record<string, number>>> {
  const sums: Record<string, number> = {};
  for (const url of [stack.adminUrl, stack.workerAdminUrl()]) {
    const text = await (await fetch(`${url}/metrics`)).text();
    const lines = text.matchAll(
      /^simway_supplier_events_total\{environment="test",verdict="([a-z-]+)"\} (\d+)$/gm,
    );
    for (const [, verdict = '', value] of lines) sums[verdict] = (sums[verdict] ?? 0) + Number(value);
  }
  return sums;
}

interface Esim {
  readonly esimId: string;
  readonly tranNo: string;
  readonly transactionId: string;
}

async function bought(packageCode = 'SIM-OK'): Promise<Esim> {
  const { body, text } = await buyer.buy(packageCode);
  expect(body.status, text).toBe('SUCCESS');
  const row = await findEsim(stack.world, body.esimDetails.esimId);
  return { esimId: row!.id, tranNo: row!.esim_tran_no, transactionId: body.transactionId };
}

async function atSupplier({ tranNo }: Esim, change: object): Promise<void> {
  const answer = await fetch(`${stack.supplierControlUrl}/esims/${tranNo}`, {
    method: 'PUT',
    body: JSON.stringify(change),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

/** The events sent to the merchant about one eSIM, in short. */
const notices = ({ esimId }: Esim): string[] =>
  listener.received
    .filter(({ data }) => data['esimId'] === esimId)
    .map(({ event, data }) => {
      const { from, to, thresholdPercent, daysBefore } = data;
      const what = [from, to, thresholdPercent, daysBefore].filter((one) => one !== undefined).map(String);
      return [event.replace('esim.', ''), ...what].join(' ');
    })
    .toSorted();

async function expectNotices(esim: Esim, expected: readonly string[]): Promise<void> {
  const all = await until(
    () => notices(esim),
    (found) => found.length >= expected.length,
    { what: `events to the merchant: ${expected.join(', ')}` },
  );
  expect(all).toEqual(expected.toSorted());
}

const runSchedule = () => stack.temporal.schedule.getHandle('refreshUsage-schedule').trigger();

it('with the sandbox controls the supplier sends its events, and the merchant is notified of each threshold and expiry once', async () => {
  await stack.faults({ webhooks: 'duplicate' });
  const esim = await bought('SIM-MANUAL-LIFE');
  const act = async (action: string, body?: object): Promise<void> => {
    const answer = await stack.call('POST', `/api/sandbox/esims/${esim.esimId}/${action}`, {
      key: buyer.account.apiKey,
      body,
    });
    expect([action, answer.status], answer.text).toEqual([action, 200]);
  };
  const steps: readonly (readonly [string, object | undefined, ...string[]])[] = [
    ['install', undefined, 'status_changed CREATED ACTIVE'],
    ['use', { bytes: Math.trunc(GB * 0.6) }, 'usage_threshold 50'],
    ['clock', { advanceSeconds: 5 * DAY_SECONDS }, 'expiring 3'],
    ['use-up', undefined, 'usage_threshold 80', 'usage_threshold 90'],
    ['clock', { advanceSeconds: 1.5 * DAY_SECONDS }, 'expiring 1'],
    ['expire', undefined, 'status_changed ACTIVE EXPIRED', 'expired'],
  ];
  const expected: string[] = [];
  for (const [action, body, ...messages] of steps) {
    await act(action, body);
    expected.push(...messages);
    await expectNotices(esim, expected);
  }
  const events = () =>
    stack.world
      .selectFrom('supplier_events')
      .select(['type', 'applied_at'])
      .where('esim_tran_no', '=', esim.tranNo)
      .execute();
  // Late events change nothing.
  const all = await until(
    events,
    (rows) =>
      rows.every((row) => row.applied_at !== null) && rows.some(({ type }) => type === 'VALIDITY_USAGE'),
    { what: 'every event of the supplier processed' },
  );
  expect([...new Set(all.map(({ type }) => type))].toSorted()).toEqual(
    expect.arrayContaining(['DATA_USAGE', 'ESIM_STATUS', 'SMDP_EVENT', 'VALIDITY_USAGE']),
  );
  expect(notices(esim)).toEqual(expected.toSorted());
  expect(new Set(listener.received.map(({ id }) => id)).size).toBe(listener.received.length);
  expect(listener.received.every(({ isGenuine }) => isGenuine)).toBe(true);
});

it('lost events: the schedule finds the change', async () => {
  await stack.faults({ webhooks: 'drop' });
  const esim = await bought();
  await atSupplier(esim, { esimStatus: 'REVOKE' });
  await sql`update esims set next_check_at = now() where id = ${esim.esimId}`.execute(stack.owner);
  await until(
    async () => {
      await runSchedule();
      return findEsim(stack.world, esim.esimId);
    },
    (row) => row?.status === 'CANCELLED',
    { what: 'the change found by the schedule', everyMs: 500 },
  );
  await expectNotices(esim, ['status_changed CREATED CANCELLED']);
});

const post = (given: object) =>
  stack.call('POST', '/webhooks/esim-access/test', {
    body: { notifyType: 'DATA_USAGE', notifyId: randomUUID(), content: {}, ...given },
  });

it('an event that names its eSIM only by the order leads to a check at the supplier', async () => {
  await stack.faults({ webhooks: 'drop' });
  const esim = await bought();
  await atSupplier(esim, { esimStatus: 'IN_USE' });
  await post({ notifyType: 'VALIDITY_USAGE', content: { transactionId: esim.transactionId, remain: 1 } });
  await expectNotices(esim, ['status_changed CREATED ACTIVE']);
});

it('an event about our own order leads to a check by its delivery, and about another order is recorded only', async () => {
  const { transactionId } = await bought();
  const before = (await counted())['unknown-esim'] ?? 0;
  const order = (content: object) =>
    post({ notifyType: 'ORDER_STATUS', content: { orderStatus: 'GOT_RESOURCE', ...content } });
  await order({ transactionId });
  await order({ transactionId: 'txn-unknown' });
  await order({});
  await until(
    () => noted('ORDER_STATUS'),
    (notes) => notes.length > 2 && !notes.includes(null) && notes.includes('about no order of ours'),
  );
  expect((await noted('ORDER_STATUS')).filter((note) => note === 'about no order of ours')).toHaveLength(1);
  expect((await counted())['unknown-esim']).toBe(before + 1);
});

it('an event about an unknown eSIM, or of an unknown type or status, is recorded, and the status stays', async () => {
  const esim = await bought();
  const before = await findEsim(stack.world, esim.esimId);
  const unknownBefore = (await counted())['unknown-esim'] ?? 0;
  await post({ content: { esimTranNo: 'n-of-another', transactionId: 'txn-of-another' } });
  await post({});
  await post({ notifyType: 'MELTDOWN', content: { esimTranNo: esim.tranNo } });
  await until(
    () => noted('DATA_USAGE'),
    (notes) => notes.filter((note) => note === 'about no eSIM of ours').length === 2,
  );
  await until(
    () => noted('MELTDOWN'),
    (notes) => notes.includes('of a type never seen before'),
  );
  const known = await counted();
  expect(known).toMatchObject({ 'unknown-type': 1, 'unknown-status': 0, foreign: 0 });
  expect(known['unknown-esim']).toBe(unknownBefore + 2);
  expect(await findEsim(stack.world, esim.esimId)).toMatchObject({ checked_at: before?.checked_at });
  await atSupplier(esim, { esimStatus: 'MELTED' });
  await until(
    () => findEsim(stack.world, esim.esimId),
    (row) => Number(row?.checked_at) > Number(before?.checked_at),
    { what: 'a check at the supplier' },
  );
  expect(await findEsim(stack.world, esim.esimId)).toMatchObject({ status: 'CREATED' });
  expect((await counted())['unknown-status']).toBeGreaterThan(0);
  expect(notices(esim)).toEqual([]);
});

// The supplier gives the ICCID of an eSIM that it has revoked to a new one. So one merchant may hold both,
// and an event about one must not change the other: only the supplier's own number of an eSIM, or its order,
// may find the row.
it('two eSIMs with the same ICCID: a change of one leaves the other as it was, and a search lists both', async () => {
  const facts = async ({ esimId }: Esim) => {
    const { iccid, status, checked_at } = (await findEsim(stack.world, esimId))!;
    return { iccid, status, checkedAt: checked_at };
  };
  await stack.faults({ webhooks: 'drop' });
  const first = await bought();
  await atSupplier(first, { esimStatus: 'REVOKE' });
  await stack.faults({ webhooks: 'deliver', reuseIccid: 1 });
  const second = await bought();
  const before = await facts(first);
  const { iccid } = await facts(second);
  expect(before).toMatchObject({ iccid, status: 'CREATED' });

  await atSupplier(second, { esimStatus: 'IN_USE' });
  await expectNotices(second, ['status_changed CREATED ACTIVE']);
  expect(await facts(first)).toEqual(before);

  const revoked = { iccid, esimStatus: 'REVOKED' };
  await post({ notifyType: 'ESIM_STATUS', content: revoked });
  await until(
    () => noted('ESIM_STATUS'),
    (notes) => notes.includes('about no eSIM of ours'),
    { what: 'the event with the ICCID alone recorded' },
  );
  expect(await facts(first)).toEqual(before);

  await post({ notifyType: 'ESIM_STATUS', content: { ...revoked, esimTranNo: first.tranNo } });
  await expectNotices(first, ['status_changed CREATED CANCELLED']);
  expect(await facts(second)).toMatchObject({ iccid, status: 'ACTIVE' });
  expect(notices(second)).toEqual(['status_changed CREATED ACTIVE']);

  const found = await buyer.read(`/api/esim/my-esims?search=${iccid}`);
  const { esims } = JSON.parse(found.text) as { esims: { _id: string; esimStatus: string }[] };
  expect(esims.map(({ _id: id, esimStatus }) => [id, esimStatus])).toEqual([
    [second.esimId, 'ACTIVE'],
    [first.esimId, 'CANCELLED'],
  ]);
});
