// What jobs of both kinds have in common, on a real Postgres: leases, ends of rows, results, and that no two
// work on one transaction.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeId } from '../../src/domain/ids.ts';
import { runJob } from '../../src/jobs/run.ts';
import { findJob, insertJob, leaseOverdueJobs, noteRow, type JobRow } from '../../src/jobs/store/jobs.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks());
const { world } = books;

const NOW = new Date();
const at = (ms: number) => new Date(NOW.getTime() + ms);
const hex = () => randomBytes(16).toString('hex');
const newIds = (count: number) => Array.from({ length: count }, hex);
const running = { status: 'RUNNING', next_check_at: NOW, created_at: NOW } as const;
const ORDER = {
  kind: 'order',
  account_id: 'acc-1',
  sender_name: 'M',
  email_count: 0,
  currency: 'USD',
} as const;
const REPAIR = { kind: 'repair', action: 'replay', filter: '{}', reason: 'a test', expires_at: NOW } as const;
const PEOPLE = { by_person: 'ada', decided_by: 'bayo', decided_at: NOW };

const order = (ids: readonly string[]) =>
  insertJob(
    world,
    { ...running, ...ORDER, id: makeId('batch', hex()), total_minor: 1n, all_begun_at: NOW },
    ids.map((id, row_number) => ({
      ...{ row_number, transaction_id: id, reference: id, package_code: 'P', terms: '{}' },
    })),
  );
const repair = (ids: readonly string[]) =>
  insertJob(
    world,
    { ...running, ...REPAIR, ...PEOPLE, id: makeId('repair', hex()), repair_key: hex() },
    ids.map((transaction_id, index) => ({
      ...{ row_number: index + 1, transaction_id, class: 'hold-too-old', preview: 'cancel' },
    })),
  );

const end = (row: JobRow, status: 'DONE' | 'REFUSED') =>
  noteRow(world, row, { status, detail: status }, NOW).then(() => true);

async function run(id: string, tryRow: (row: JobRow) => Promise<boolean>, nowMs = 0) {
  const deps = { db: world, clock: { now: () => at(nowMs) } };
  const work = { readAtOnce: 4, tryRow, waitMs: () => 700 };
  return runJob(deps, (await findJob(world, id))!, work, new AbortController().signal);
}

describe.each([
  ['order', order, 'job_rows_bought_once'],
  ['repair', repair, 'job_rows_repaired_by_one'],
] as const)('a job of the kind %s', (_kind, insert, once) => {
  it('is leased once when its workflow has not shown itself in time, and again when the lease is over', async () => {
    const { id } = await insert(newIds(1));
    const lease = async (now: Date) =>
      (await leaseOverdueJobs(world, { now, againAfterMs: 60_000, limit: 99 })).filter(
        (job) => job.id === id,
      );
    expect((await Promise.all([lease(NOW), lease(NOW)])).flat()).toHaveLength(1);
    expect([await lease(at(59_999)), await lease(at(60_000))]).toMatchObject([[], [{ id }]]);
  });

  it('tries its rows until one has no outcome, later the rest, and ends with the results of all', async () => {
    const { id } = await insert(newIds(9));
    let tried = 0;
    const first = await run(id, (row) => ((tried += 1) > 3 ? Promise.resolve(false) : end(row, 'DONE')));
    const { status, counts, next_check_at } = first.job;
    expect([tried, first.waitMs, status, counts.done, next_check_at]).toEqual([
      4,
      700,
      'RUNNING',
      3,
      at(60_700),
    ]);
    const last = await run(id, (row) => end(row, 'REFUSED'));
    const all = { waiting: 0, done: 3, refused: 6, unknown: 0, skipped: 0 };
    expect(last).toMatchObject({ waitMs: null, job: { status: 'COMPLETED', closed_at: NOW, counts: all } });
  });

  it('keeps the first end of a row, and tries one without an end again at its time', async () => {
    const { id } = await insert(newIds(2));
    const tried: JobRow[] = [];
    const note = (row: JobRow) => Promise.resolve(tried.push(row) > 99);
    const twice = async (row: JobRow) => {
      const isFirst = row.row_number === (insert === order ? 0 : 1);
      if (!isFirst) await noteRow(world, row, { nextAt: at(5_000), detail: 'no answer' }, NOW);
      return isFirst ? (await end(row, 'DONE')) && end(row, 'REFUSED') : false;
    };
    expect((await run(id, twice)).job.counts).toMatchObject({ waiting: 1, done: 1, refused: 0 });
    await run(id, note, 4_999);
    expect(tried).toEqual([]);
    await run(id, note, 5_000);
    expect(tried).toMatchObject([{ detail: 'no answer', attempts: 1 }]);
  });

  it('works alone on a transaction', async () => {
    const ids = newIds(1);
    await insert(ids);
    await expect(insert(ids)).rejects.toMatchObject({ constraint: once });
  });
});
