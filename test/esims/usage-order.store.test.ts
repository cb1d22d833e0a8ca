/**
 * The schedule that refreshes eSIMs: each run checks those that are overdue for longest, whatever the
 * supplier answered before.
 */
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { refreshEsims } from '../../activities/esims/refresh-esims.ts';
import type { ActivityDeps } from '../../activities/index.ts';
import { MINUTE_MS } from '../../src/domain/clock.ts';
import type { EsimStatus } from '../../src/domain/states.ts';
import { leaseForUsage, readOverdue } from '../../src/esims/store/due.ts';
import { findEsim, refreshEsim } from '../../src/esims/store/esims.ts';
import { createEvents } from '../../src/platform/telemetry/events.ts';
import { startAnsweringVendor, json, type Answering } from '../support/vendors/answering-vendor.ts';
import { openBooks, refusalOf } from '../support/world/books.ts';
import { profileFacts } from '../support/money/facts.ts';
import { installDataWith } from '../support/vendors/install-data.ts';

const books = await openBooks();
const vendor = await startAnsweringVendor();
afterAll(async () => {
  await vendor.close();
  await books.close();
});
beforeEach(() => sql`truncate esims cascade`.execute(books.owner));

let nowMs = Date.UTC(2026, 5, 1);

/**
 * eSIMs that are overdue for an hour and more, in the order of their numbers; `checked`: their state is not
 * due.
 */
async function plant(count: number, status: EsimStatus = 'ACTIVE', checked = true): Promise<void> {
  const due = sql`${new Date(nowMs - 60 * MINUTE_MS)}::timestamptz - (${count} - i) * interval '1 second'`;
  await sql`
    insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier,
                       esim_tran_no, total_volume_bytes, total_duration, duration_unit, data_type, created_at, checked_at, next_usage_at,
                       next_check_at)
    select 'e' || i, 'acc-1', 't' || i, 'P', 'P', ${status}, 100, 'USD', '{}', 'esim-access', 'n' || i, 1000, 30, 'DAY', 1, ${new Date(nowMs)},
           ${due}, ${due}, ${checked ? sql`timestamptz '2099-01-01'` : due}
      from generate_series(1, ${count}::int) i`.execute(books.owner);
}

function deps() {
  const nothing = (): undefined => undefined;
  return {
    db: books.world,
    supplier: vendor.supplier(),
    clock: { now: () => new Date(nowMs) },
    events: createEvents({ info: nothing, warn: nothing, error: nothing }),
    installData: installDataWith(),
  } as unknown as ActivityDeps;
}

interface Asked {
  readonly esimTranNoList?: string[];
  readonly esimTranNo?: string;
}

const asked = (): Asked[] => vendor.calls.map(({ body }) => JSON.parse(body) as Asked);

/** The numbers whose usage one run of the schedule read, in order. */
async function run(answer: Answering): Promise<number[]> {
  vendor.answerWith(answer);
  await refusalOf(refreshEsims(deps()));
  return asked().flatMap(({ esimTranNoList = [] }) =>
    esimTranNoList.map((tranNo) => Number(tranNo.slice(1))),
  );
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
const sorted = (list: readonly number[]): number[] => list.toSorted((a, b) => a - b);

const usages = (esimUsageList: readonly object[]) =>
  json({ success: true, errorCode: '0', errorMsg: null, obj: { esimUsageList } });
const nothing = usages([]);
/** Answers for every eSIM with the state of a month ago. */
const old: Answering = (response, call) => {
  const { esimTranNoList } = JSON.parse(call.body) as { esimTranNoList: string[] };
  const stale = { dataUsage: 0, totalData: 1000, lastUpdateTime: '2026-05-01T00:00:00+0000' };
  usages(esimTranNoList.map((esimTranNo) => ({ esimTranNo, ...stale })))(response, call);
};

it.each([
  ['nothing', nothing],
  ['an old observation', old],
])(
  'eSIMs of which the supplier says %s do not hold back the rest, nor are they asked about at once',
  async (_name, answer) => {
    const perRun = 500;
    await plant(perRun + 50);
    expect(sorted(await run(answer))).toEqual(numbers(1, perRun));
    nowMs += MINUTE_MS;
    expect(sorted(await run(answer))).toEqual(numbers(perRun + 1, perRun + 50));
    expect(await run(answer)).toEqual([]);
  },
);

it('the schedule reads ten at a time, longest overdue first, and fills a call with those that are due soon', async () => {
  await plant(12);
  await sql`update esims set next_usage_at = ${new Date(nowMs + 5 * MINUTE_MS)} where id in ('e11', 'e12')`.execute(
    books.owner,
  );
  vendor.answerWith(nothing);
  await refreshEsims(deps());
  expect(asked().map(({ esimTranNoList }) => esimTranNoList?.length)).toEqual([10]);
  expect(asked()[0]?.esimTranNoList?.toSorted()).toEqual(
    numbers(1, 10)
      .map((nth) => `n${nth}`)
      .toSorted(),
  );
  await plantOneMore();
  expect(sorted(await run(nothing))).toEqual([11, 12, 99]);
});

async function plantOneMore(): Promise<void> {
  await sql`
    insert into esims select (jsonb_populate_record(esims, '{"id": "e99", "transaction_id": "t99", "esim_tran_no": "n99"}')).* from esims where id = 'e1'`.execute(
    books.owner,
  );
  await sql`update esims set next_usage_at = ${new Date(nowMs)}, usage_asked_at = null where id = 'e99'`.execute(
    books.owner,
  );
}

it('eSIMs of a refused call do not hold back the rest', async () => {
  await plant(15);
  const refusal = json({ success: false, errorCode: '310241', errorMsg: 'no such eSIM', obj: null });
  expect(sorted(await run(refusal))).toEqual(numbers(1, 10));
  expect(sorted(await run(nothing))).toEqual(numbers(11, 15));
});

it('eSIMs without an answer stay overdue, so that an outage shows', async () => {
  await plant(5, 'ACTIVE', false);
  await run(nothing);
  expect(await readOverdue(books.world)).toMatchObject([
    { what: 'usage', count: 5 },
    { what: 'state', count: 5 },
  ]);
});

it('the schedule alternates between state and usage, so that neither waits for the other', async () => {
  await plant(40, 'ACTIVE', false);
  vendor.answerWith(nothing);
  await refreshEsims(deps());
  const kinds = asked().map(({ esimTranNo }) => (esimTranNo === undefined ? 'usage' : 'whole'));
  // Three calls without an answer end the run: the supplier is down for now.
  expect(kinds).toEqual(['usage', 'whole', 'usage', 'whole', 'usage', 'whole']);
  expect(asked().flatMap(({ esimTranNo }) => esimTranNo ?? [])).toEqual(['n1', 'n2', 'n3']);
});

it('the schedule leaves out an eSIM that was read just now', async () => {
  await plant(3);
  await refreshEsim(books.world, 'e1', profileFacts({ status: 'ACTIVE', esimTranNo: 'n1' }), new Date(nowMs));
  expect(sorted(await run(nothing))).toEqual([2, 3]);
  expect(await run(nothing)).toEqual([]);
});

it('of two leases at once each eSIM goes to one', async () => {
  await plant(100);
  const leases = Array.from({ length: 10 }, () =>
    leaseForUsage(books.world, { supplier: 'esim-access', now: new Date(nowMs), limit: 10 }),
  );
  const leased = (await Promise.all(leases)).flat();
  expect(leased).toHaveLength(100);
  expect(new Set(leased).size).toBe(100);
});

it('a usage read does not count as a state read: the next run still reads the state', async () => {
  await plant(1);
  const before = await findEsim(books.world, 'e1');
  await run(
    usages([{ esimTranNo: 'n1', dataUsage: 7, totalData: 1000, lastUpdateTime: '2026-05-31T20:00:00+0000' }]),
  );
  expect(await findEsim(books.world, 'e1')).toMatchObject({
    order_usage_bytes: 7n,
    usage_as_of: new Date('2026-05-31T20:00:00.000Z'),
    checked_at: before?.checked_at,
  });
});

it('the schedule reads an eSIM at once when its usage shows its first use', async () => {
  await plant(1, 'CREATED');
  await run(usages([{ esimTranNo: 'n1', dataUsage: 7, totalData: 1000 }]));
  expect(await findEsim(books.world, 'e1')).toMatchObject({ status: 'CREATED', order_usage_bytes: 7n });
  expect(asked().map(({ esimTranNo }) => esimTranNo)).toContain('n1');
});

it.each<EsimStatus>(['PENDING', 'EXPIRED', 'FAILED', 'CANCELLED'])(
  'the schedule does not read eSIMs that are %s',
  async (status) => {
    await plant(3, status, false);
    expect(await run(nothing)).toEqual([]);
    expect(vendor.calls).toEqual([]);
  },
);
