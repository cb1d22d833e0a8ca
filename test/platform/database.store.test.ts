/** The bounded connection to Postgres, and which of its errors are temporary: each is caused for real. */
import { sql, type Kysely } from 'kysely';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { freePort } from '../../src/dev/ports.ts';
import { CONSTRAINTS, constraintOf, isPassing } from '../../src/platform/database/errors.ts';
import { openDatabase, openPool, type DatabaseOptions } from '../../src/platform/database/database.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { openBooks, type Books } from '../support/world/books.ts';
import { until } from '../support/time/until.ts';

const books: Books = await openBooks();
const opened: { destroy(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all(opened.map((db) => db.destroy()));
  await books.close();
});

const options = (given: Partial<DatabaseOptions> = {}): DatabaseOptions => ({
  url: books.url,
  schema: 'test',
  role: 'simway_test',
  maxConnections: 1,
  statementTimeoutMs: 300,
  applicationName: 'simway-database-test',
  ...given,
});

function open(given: Partial<DatabaseOptions> = {}): Kysely<unknown> {
  const db = openDatabase<unknown>(options(given));
  opened.push(db);
  return db;
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing went wrong');
}

const one = async <T>(db: Kysely<unknown>, text: string): Promise<T> =>
  (await sql.raw<{ value: T }>(text).execute(db)).rows[0]!.value;

describe('a connection', () => {
  it('uses its own schema and role, and names its application', async () => {
    const db = open();
    expect(await one(db, 'select current_user::text as value')).toBe('simway_test');
    expect(await one(db, 'select current_schema()::text as value')).toBe('test');
    expect(await one(db, `select current_setting('application_name') as value`)).toBe('simway-database-test');
  });

  it('reads 64-bit numbers as bigint, to the last digit, and other types unchanged', async () => {
    const db = open();
    expect(await one(db, 'select 9007199254740993::int8 as value')).toBe(9_007_199_254_740_993n);
    expect(await one(db, 'select (-9223372036854775808)::int8 as value')).toBe(-9_223_372_036_854_775_808n);
    expect(await one(db, 'select count(*) as value from pg_class')).toBeTypeOf('bigint');
    expect(await one(db, 'select 7::int4 as value')).toBe(7);
    expect(await one(db, `select timestamptz '2026-01-01T00:00:00Z' as value`)).toEqual(
      new Date(Date.UTC(2026, 0, 1)),
    );
    expect(await one(db, `select '{"a": 1}'::jsonb as value`)).toEqual({ a: 1 });
  });

  it('is replaced when Postgres ends it, and the loss is reported', async () => {
    const broken: Error[] = [];
    const db = open({ onIdleError: (error) => broken.push(error) });
    const pid = await one<number>(db, 'select pg_backend_pid() as value');
    await sql`select pg_terminate_backend(${pid})`.execute(books.owner);
    await until(
      () => broken.length,
      (count) => count === 1,
    );
    expect(await one<number>(db, 'select pg_backend_pid() as value')).not.toBe(pid);
  });

  it('is waited for as long as connect_timeout says', async () => {
    const url = new URL(books.url);
    url.searchParams.set('connect_timeout', '4');
    const pool = openPool(options({ url: url.href }));
    const only = await pool.connect();
    const beganAtMs = performance.now();
    await expect(pool.connect()).rejects.toThrow('timeout exceeded');
    // Without it, after 3 s.
    expect(performance.now() - beganAtMs).toBeGreaterThan(3_900);
    only.release();
    await pool.end();
  });

  it('that ends while borrowed fails its next query, not the process', async () => {
    const pool = openPool(options());
    const client = await pool.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    await sql`select pg_terminate_backend(${rows[0]!.pid})`.execute(books.owner);
    const error = await errorOf(
      until(
        () => client.query('select 1'),
        () => false,
        { withinMs: 500 },
      ).then(() => undefined),
    );
    expect(String(error)).toMatch(/not queryable|terminat/i);
    client.release(true);
    await pool.end();
  });
});

describe('temporary errors', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a statement that takes too long', () => sql`select pg_sleep(5)`.execute(open())],
    [
      'a lock that is not given in time',
      async () => {
        const locked = Promise.withResolvers<undefined>();
        const hasFailed = Promise.withResolvers<undefined>();
        const holding = books.owner.transaction().execute(async (trx) => {
          await sql`lock table regions in access exclusive mode`.execute(trx);
          locked.resolve(undefined);
          await hasFailed.promise;
        });
        await locked.promise;
        try {
          await sql`select from regions`.execute(open());
        } finally {
          hasFailed.resolve(undefined);
          await holding;
        }
      },
    ],
    ['a server that is not there', async () => sql`select 1`.execute(open({ url: await nowhere() }))],
    [
      'a connection that is cut off',
      async () => {
        const db = open({ statementTimeoutMs: 10_000, applicationName: 'cut-off' });
        const cutting = cutOff('cut-off');
        try {
          await sql`select pg_sleep(10)`.execute(db);
        } finally {
          await cutting;
        }
      },
    ],
    [
      'a transaction that slept too long',
      () =>
        open()
          .transaction()
          .execute(async (trx) => {
            const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
            await sql`set local idle_in_transaction_session_timeout = 20`.execute(trx);
            await until(
              () => sql`select from pg_stat_activity where pid = ${rows[0]!.pid}`.execute(books.owner),
              (found) => found.rows.length === 0,
            );
            await sql`select 1`.execute(trx);
          }),
    ],
    ['a deadlock', () => deadlock(books.world)],
    ['a conflict of serializable transactions', () => writeSkew(books.world)],
  ])('include this one: %s', async (_name, work) => {
    const error = await errorOf(work());
    expect(isPassing(error), String(error)).toBe(true);
    expect(constraintOf(error)).toBeUndefined();
  });
});

describe('permanent errors', () => {
  it.each<[string, string, string | undefined]>([
    ['a syntax error', 'selekt 1', undefined],
    ['a missing privilege', 'delete from ledger_entries', undefined],
    ['a table that is not there', 'select from nothing', undefined],
    ['a division by zero', 'select 1 / 0', undefined],
    [
      'a unique key',
      `insert into ledger_accounts (id, kind, currency) values ('held:USD', 'held', 'USD')`,
      'ledger_accounts_pkey',
    ],
    [
      'a check',
      `insert into holds (id, account_id, currency, amount_minor) values ('h', 'a', 'USD', -1)`,
      'holds_amount_minor_check',
    ],
  ])('include this one: %s', async (_name, text, constraint) => {
    const error = await errorOf(sql.raw(text).execute(books.world));
    expect(isPassing(error)).toBe(false);
    expect(constraintOf(error)).toBe(constraint);
  });

  it.each([undefined, null, 'text', 5, {}, new Error('something else')])('include this one: %s', (error) => {
    expect(isPassing(error)).toBe(false);
    expect(constraintOf(error)).toBeUndefined();
  });

  it('the names of our own guards are those of the database', async () => {
    const { rows } = await sql<{ text: string }>`
      select string_agg(prosrc, ' ') || ' ' || (select string_agg(conname, ' ') from pg_constraint) as text
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'test'`.execute(
      books.owner,
    );
    for (const name of Object.values(CONSTRAINTS)) expect(rows[0]!.text).toContain(name);
  });
});

/** A URL without a server. */
async function nowhere(): Promise<string> {
  const url = new URL(books.url);
  url.port = String(await freePort());
  return url.href;
}

async function cutOff(applicationName: string): Promise<void> {
  const client = new pg.Client({ connectionString: books.url });
  await client.connect();
  const cut = async (): Promise<number> =>
    (
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and state = 'active'`,
        [applicationName],
      )
    ).rowCount ?? 0;
  try {
    await until(cut, (count) => count > 0);
  } finally {
    await client.end();
  }
}

/** Two transactions that lock the same two rows in opposite order. */
async function deadlock(db: WorldDb): Promise<void> {
  const both = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()] as const;
  const take = (first: string, second: string, mine: 0 | 1) =>
    db.transaction().execute(async (trx) => {
      await sql`update revisions set revision = revision where name = ${first}`.execute(trx);
      both[mine].resolve(undefined);
      await both[1 - mine]!.promise;
      await sql`update revisions set revision = revision where name = ${second}`.execute(trx);
    });
  const results = await Promise.allSettled([take('rates', 'pricing', 0), take('pricing', 'rates', 1)]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Two transactions that each change what the other one read. */
async function writeSkew(db: WorldDb): Promise<void> {
  const both = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()] as const;
  const skew = (reads: string, writes: string, mine: 0 | 1) =>
    db
      .transaction()
      .setIsolationLevel('serializable')
      .execute(async (trx) => {
        await sql`select revision from revisions where name = ${reads}`.execute(trx);
        both[mine].resolve(undefined);
        await both[1 - mine]!.promise;
        await sql`update revisions set revision = revision + 1 where name = ${writes}`.execute(trx);
      });
  const results = await Promise.allSettled([skew('rates', 'pricing', 0), skew('pricing', 'rates', 1)]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
