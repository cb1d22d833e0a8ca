/** Indexes of large tables are built without blocking writes, and built again where an attempt was interrupted; and what the migration before them records. */
import pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import { migrate } from '../../migrations/migrate.ts';
import { createTestDatabase, openSchema, type TestDatabase } from '../support/database.ts';
import { readReleases } from './releases.ts';

const clients: pg.Client[] = [];
const databases: TestDatabase[] = [];
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await Promise.all(databases.map((database) => database.drop()));
});

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  clients.push(client);
  return client;
}

async function database(options?: Parameters<typeof createTestDatabase>[0]): Promise<string> {
  const made = await createTestDatabase(options);
  databases.push(made);
  return made.url;
}

const migrateAll = (url: string, isWanted?: (migration: string) => boolean) =>
  migrate({
    open: (schema) => openSchema(url, schema),
    log: () => undefined,
    ...(isWanted ? { isWanted } : {}),
  });

const ESIM = `
  insert into test.esims (id, account_id, transaction_id, package_code, package_name, status, price_minor, currency, snapshot, supplier, ac,
                          total_volume_bytes, total_duration, duration_unit, data_type, created_at)
  values ($1::text, 'acc-1', 'txn-of-' || $1::text, 'P', 'P', 'EXPIRED', 1, 'USD', '{}', 's', 'LPA:1$rsp.example.com$M', 1, 30, 'DAY', 1, now())`;

const stateOf = async (client: pg.Client): Promise<object[]> =>
  (
    await client.query<{ name: string; valid: boolean }>(
      `select indexrelid::regclass::text as name, indisvalid as valid from pg_index
        where indexrelid::regclass::text ~ '^(test|live)[.]esims_(by_seal|in_clear)$' order by 1`,
    )
  ).rows;

const ALL_VALID = [
  'live.esims_by_seal',
  'live.esims_in_clear',
  'test.esims_by_seal',
  'test.esims_in_clear',
].map((name) => ({ name, valid: true }));

it('an environment with eSIMs keeps install data in clear for a day, for the previous release; one without does not', async () => {
  const [release] = readReleases().values();
  const known = new Set([...release!.accounts, ...release!.world]);
  const url = await database({ migrate: (it) => migrateAll(it, (migration) => known.has(migration)) });
  const client = await connect(url);
  await client.query(ESIM, ['esim-1']);
  await migrateAll(url);
  const { rows } = await client.query(`
    select environment, extract(epoch from clear_until - now()) / 3600 between 23 and 25 as day from test.world
    union all select environment, clear_until is null from live.world order by 1`);
  expect(rows).toEqual([
    { environment: 'live', day: true },
    { environment: 'test', day: true },
  ]);
  expect(await stateOf(client)).toEqual(ALL_VALID);
});

it('an interrupted index is built again', async () => {
  const url = await database();
  const client = await connect(url);
  expect(await stateOf(client)).toEqual(ALL_VALID);
  await client.query(
    `update pg_index set indisvalid = false where indexrelid = 'test.esims_by_seal'::regclass`,
  );
  expect(await stateOf(client)).not.toEqual(ALL_VALID);
  await Promise.all([migrateAll(url), migrateAll(url)]);
  expect(await stateOf(client)).toEqual(ALL_VALID);
});

it('rows can be written while an index is built', async () => {
  const url = await database();
  const [open, other] = [await connect(url), await connect(url)];
  await open.query('drop index test.esims_by_seal');
  await open.query('begin');
  await open.query(ESIM, ['esim-open']);
  // It cannot end before the transaction does, so all of this happens while it is being built.
  let isOver = false;
  const migrating = migrateAll(url).finally(() => {
    isOver = true;
  });
  const building = `select from pg_stat_activity where query like 'create index concurrently%' and wait_event_type = 'Lock'
                      and datname = current_database()`;
  await expect.poll(async () => (await other.query(building)).rowCount, { timeout: 10_000 }).toBe(1);
  await other.query(`set lock_timeout = '1s'`);
  await other.query(ESIM, ['esim-meanwhile']);
  expect(isOver).toBe(false);
  await open.query('commit');
  await migrating;
  expect(await stateOf(other)).toEqual(ALL_VALID);
});
