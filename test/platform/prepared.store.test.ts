/**
 * Statements are prepared once per connection, and a migration that changes their columns disturbs requests
 * for a moment at most.
 */
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { isPassing } from '../../src/platform/database/errors.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
import { openBooks } from '../support/world/books.ts';

const books = await openBooks();
// One connection, so that the prepared statement is used again.
const db = openDatabase<WorldDatabase>({
  url: books.url,
  schema: 'test',
  maxConnections: 1,
  statementTimeoutMs: 5_000,
  applicationName: 'simway-prepared-test',
});
afterAll(async () => {
  await db.destroy();
  await books.close();
});

const prepared = async (): Promise<string[]> =>
  (await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(db)).rows.map(
    (row) => row.statement,
  );
const readRegions = (trx = db) =>
  trx.selectFrom('regions').selectAll().where('region_code', '=', 'none').execute();

it('a connection prepares a statement with parameters once, whatever its values', async () => {
  for (const code of ['a', 'b', 'c']) {
    await db.selectFrom('packages').select('name').where('package_code', '=', code).execute();
  }
  expect((await prepared()).filter((text) => text.includes('"package_code" = $1'))).toHaveLength(1);
});

it('a connection does not prepare long lists of rows', async () => {
  const values = sql.join(Array.from({ length: 900 }, (_, index) => sql`(${index}::int)`));
  await sql`select count(*) from (values ${values}) rows (n)`.execute(db);
  expect((await prepared()).filter((text) => text.includes('(values'))).toEqual([]);
});

it('a prepared statement recovers at once when a migration adds a column that it reads', async () => {
  expect(await readRegions()).toEqual([]);
  await sql`alter table regions add column grown_1 integer`.execute(books.owner);
  expect(await readRegions()).toEqual([]);
});

it('a prepared statement inside a transaction fails with a temporary error then, and the next attempt succeeds', async () => {
  const inTransaction = () => db.transaction().execute((trx) => readRegions(trx));
  await inTransaction();
  await sql`alter table regions add column grown_2 integer`.execute(books.owner);
  const error: unknown = await inTransaction().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(isPassing(error)).toBe(true);
  expect(await inTransaction()).toEqual([]);
});
