/** The usage schedule: each run asks about the eSIMs whose usage is unknown for longest, whatever the supplier answered before. */
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/index.ts';
import { createOpsActivities } from '../../activities/ops.ts';
import type { EsimStatus } from '../../src/domain/states.ts';
import { findEsim, refreshEsim } from '../../src/esims/store/esims.ts';
import { startAnsweringVendor, json, type Answering } from '../support/answering-vendor.ts';
import { openBooks, refusalOf } from '../support/books.ts';
import { profileFacts } from '../support/facts.ts';

const books = await openBooks();
const vendor = await startAnsweringVendor();
afterAll(async () => {
  await vendor.close();
  await books.close();
});
beforeEach(() => sql`truncate esims`.execute(books.owner));

const PER_RUN = 200;
const MINUTE_MS = 60_000;
let nowMs = Date.UTC(2026, 5, 1);

/** eSIMs that were last seen in the order of their numbers, an hour ago and before. */
async function plant(count: number, status: EsimStatus = 'ACTIVE'): Promise<void> {
  await sql`
    insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
                       esim_tran_no, total_volume_bytes, total_duration, duration_unit, data_type, created_at, looked_at)
    select 'e' || i, 'acc-1', 't' || i, 'P', 'P', ${status}, 100, 'USD', '{}', 's', 'n' || i, 1000, 30, 'DAY', 1, ${new Date(nowMs)},
           ${new Date(nowMs - 60 * MINUTE_MS)}::timestamptz - (${count} - i) * interval '1 second'
      from generate_series(1, ${count}::int) i`.execute(books.owner);
}

/** The numbers that one run of the schedule asked about, in order. */
async function run(answer: Answering): Promise<number[]> {
  vendor.answerWith(answer);
  const deps = { db: books.world, supplier: vendor.supplier(), clock: { now: () => new Date(nowMs) } };
  await refusalOf(createOpsActivities(deps as unknown as ActivityDeps).refreshUsage());
  return vendor.calls.flatMap(({ body }) =>
    (JSON.parse(body) as { esimTranNoList: string[] }).esimTranNoList.map((tranNo) =>
      Number(tranNo.slice(1)),
    ),
  );
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
const sorted = (list: readonly number[]): number[] => list.toSorted((a, b) => a - b);

const usages = (esimUsageList: readonly object[]) =>
  json({ success: true, errorCode: '0', errorMsg: null, obj: { esimUsageList } });
const nothing = usages([]);
/** Says of every eSIM what it said a month ago. */
const old: Answering = (response, call) => {
  const { esimTranNoList } = JSON.parse(call.body) as { esimTranNoList: string[] };
  const stale = { dataUsage: 0, totalData: 1000, lastUpdateTime: '2026-05-01T00:00:00+0000' };
  usages(esimTranNoList.map((esimTranNo) => ({ esimTranNo, ...stale })))(response, call);
};

it.each([
  ['nothing', nothing],
  ['an old observation', old],
])('eSIMs of which the supplier says %s do not hold back the rest', async (_name, answer) => {
  await plant(2 * PER_RUN + 50);
  expect(sorted(await run(answer))).toEqual(numbers(1, PER_RUN));
  nowMs += 20 * MINUTE_MS;
  expect(sorted(await run(answer))).toEqual(numbers(PER_RUN + 1, 2 * PER_RUN));
  nowMs += 20 * MINUTE_MS;
  // The last fifty, and then those again that were asked about longest ago.
  const third = await run(answer);
  expect(third.slice(0, 50)).toSatisfy((list: number[]) => list.every((number) => number > 2 * PER_RUN));
  expect(third.slice(50)).toSatisfy((list: number[]) => list.every((number) => number <= PER_RUN));
  expect(third).toHaveLength(PER_RUN);
});

it('eSIMs of a call that the supplier refuses do not hold back the rest', async () => {
  await plant(15);
  const refusal = json({ success: false, errorCode: '310241', errorMsg: 'no such eSIM', obj: null });
  expect(sorted(await run(refusal))).toEqual(numbers(1, 10));
  expect(sorted(await run(nothing))).toEqual(numbers(11, 15));
});

it('leaves out eSIMs that were read or asked about in the last 15 minutes', async () => {
  await plant(3);
  await refreshEsim(books.world, 'e1', profileFacts({ status: 'ACTIVE', esimTranNo: 'n1' }), new Date(nowMs));
  expect(sorted(await run(nothing))).toEqual([2, 3]);
  expect(await run(nothing)).toEqual([]);
  nowMs += 16 * MINUTE_MS;
  expect(sorted(await run(nothing))).toEqual([1, 2, 3]);
});

it('two runs at once ask about each eSIM once', async () => {
  await plant(100);
  vendor.answerWith(nothing);
  const deps = { db: books.world, supplier: vendor.supplier(), clock: { now: () => new Date(nowMs) } };
  const ops = createOpsActivities(deps as unknown as ActivityDeps);
  await Promise.all([ops.refreshUsage(), ops.refreshUsage()]);
  const asked = vendor.calls.flatMap(
    ({ body }) => (JSON.parse(body) as { esimTranNoList: string[] }).esimTranNoList,
  );
  expect(asked).toHaveLength(100);
  expect(new Set(asked).size).toBe(100);
});

it('asking for usage does not count as reading the eSIM: the next read still asks for its state', async () => {
  await plant(1);
  const before = await findEsim(books.world, 'e1');
  await run(usages([{ esimTranNo: 'n1', dataUsage: 7, totalData: 1000 }]));
  expect(await findEsim(books.world, 'e1')).toMatchObject({
    order_usage_bytes: 7n,
    looked_at: before?.looked_at,
  });
});

it.each<EsimStatus>(['PENDING', 'EXPIRED', 'FAILED', 'CANCELLED'])(
  'does not ask about eSIMs that are %s',
  async (status) => {
    await plant(3, status);
    expect(await run(nothing)).toEqual([]);
  },
);
