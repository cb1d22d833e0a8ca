// Recent requests of an account: what is kept, and what a flood of requests costs.
import { afterAll, beforeEach, expect, it } from 'vitest';
import { sql } from 'kysely';
import { createRequestLog, KEPT_REQUESTS } from '../../src/accounts/keys/request-log.ts';
import type { AccountsDatabase } from '../../src/platform/database/tables.ts';
import { untilStatementWaits } from '../support/world/books.ts';
import { createTestDatabase, openSchema } from '../support/world/database.ts';

const NEVER_MS = 3_600_000;

const database = await createTestDatabase();
const db = openSchema<AccountsDatabase>(database.url, 'accounts');
let log: ReturnType<typeof createRequestLog>;
const errors: unknown[] = [];
beforeEach(async () => {
  await db.deleteFrom('api_requests').execute();
  log = createRequestLog({ db, onError: (error) => errors.push(error), writeEveryMs: NEVER_MS });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const request = (accountId: string, nth: number) =>
  ({
    accountId,
    environment: 'test',
    requestId: `${accountId}-${nth}`,
    atMs: Date.UTC(2026, 0, 1) + nth,
    method: 'GET',
    path: '/api/esim/regions',
    status: 200,
    errorCode: nth % 2 === 0 ? null : 'NOT "FOUND"',
    durationMs: 1.5,
    keyId: 'key-1',
  }) as const;
const note = (accountId: string, nth: number): void => log.note(request(accountId, nth));

/** stop() writes what is noted. */
async function written(accountId: string) {
  await log.stop();
  expect(errors).toEqual([]);
  return db
    .selectFrom('api_requests')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('id')
    .execute();
}

it('the log of recent requests keeps each request unchanged', async () => {
  note('acc-a', 7);
  expect(await written('acc-a')).toMatchObject([
    {
      account_id: 'acc-a',
      environment: 'test',
      request_id: 'acc-a-7',
      at: new Date('2026-01-01T00:00:00.007Z'),
      method: 'GET',
      path: '/api/esim/regions',
      status: 200,
      error_code: 'NOT "FOUND"',
      duration_ms: 1.5,
      key_id: 'key-1',
    },
  ]);
});

it.each([1_000, 1_001, 1_500, 2_000, 4_321])(
  'of %i requests of an account between two writes only the newest thousand are written',
  async (count) => {
    const before = await insertedRows();
    for (let nth = 1; nth <= count; nth += 1) note('acc-a', nth);
    const rows = await written('acc-a');
    expect(rows.map((row) => row.request_id)).toEqual(
      Array.from({ length: KEPT_REQUESTS }, (_none, i) => `acc-a-${count - KEPT_REQUESTS + 1 + i}`),
    );
    expect((await insertedRows()) - before).toBe(KEPT_REQUESTS);
  },
);

it('never changes what it was given', async () => {
  const first = request('acc-a', 1);
  log.note(first);
  for (let nth = 2; nth <= 3 * KEPT_REQUESTS; nth += 1) note('acc-a', nth);
  expect(first).toEqual(request('acc-a', 1));
  await log.stop();
});

it('a flood of one account removes no request of another', async () => {
  for (let nth = 1; nth <= 50_000; nth += 1) note('acc-a', nth);
  note('acc-b', 1);
  const rows = await written('acc-b');
  expect(rows.map((row) => row.request_id)).toEqual(['acc-b-1']);
});

it('keeps what an account asks while its requests are written', async () => {
  for (let nth = 1; nth <= 300; nth += 1) note('acc-a', nth);
  let writing: Promise<void> | undefined;
  await db.transaction().execute(async (trx) => {
    await sql`lock table api_requests in share mode`.execute(trx);
    writing = log.stop();
    await untilStatementWaits(db);
    note('acc-a', 301);
  });
  await writing;
  const rows = await written('acc-a');
  expect(rows.map((row) => row.request_id)).toEqual(
    Array.from({ length: 301 }, (_none, i) => `acc-a-${i + 1}`),
  );
});

/** The sequence counts every row that was ever inserted, deleted ones too. */
async function insertedRows(): Promise<number> {
  const { rows } = await sql<{ last: string }>`
    select coalesce(pg_sequence_last_value(pg_get_serial_sequence('api_requests', 'id')::regclass), 0)::text as last`.execute(
    db,
  );
  return Number(rows[0]?.last);
}
