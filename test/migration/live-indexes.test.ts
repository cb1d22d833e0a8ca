/**
 * Indexes of large tables are built without blocking writes, and built again where an attempt was
 * interrupted.
 */
import { sql, type Kysely } from 'kysely';
import pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import { migrate } from '../../migrations/migrate.ts';
import { accountsMigrations, worldMigrations, type Migrations } from '../../migrations/registry.ts';
import { createTestDatabase, openSchema, type TestDatabase } from '../support/world/database.ts';

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

/** As a later release would have it: a column, and an index on it. */
const LATER: Migrations = {
  '9999-12-31-1-notes': {
    up: async (db: Kysely<unknown>) => {
      await sql`alter table gateway_windows add column note text`.execute(db);
    },
    indexes: [{ name: 'gateway_windows_by_note', definition: 'gateway_windows (note, starts_at)' }],
  },
};

const migrateToLater = (url: string) =>
  migrate({
    open: (schema) => openSchema(url, schema),
    log: () => undefined,
    lists: { accounts: accountsMigrations, world: { ...worldMigrations, ...LATER } },
  });

/** Migrated to that later release. */
async function laterDatabase(): Promise<string> {
  const made = await createTestDatabase();
  databases.push(made);
  expect(await migrateToLater(made.url)).toBe(2);
  return made.url;
}

const WINDOW = `insert into test.gateway_windows (starts_at, wanted_at, due_at, note) values ($1, now(), now(), 'x')`;

const stateOf = async (client: pg.Client): Promise<object[]> =>
  (
    await client.query<{ name: string; valid: boolean }>(
      `select indexrelid::regclass::text as name, indisvalid as valid from pg_index
        where indexrelid::regclass::text like '%.gateway_windows_by_note' order by 1`,
    )
  ).rows;

const ALL_VALID = ['live', 'test'].map((world) => ({
  name: `${world}.gateway_windows_by_note`,
  valid: true,
}));

it('an interrupted index is built again', async () => {
  const url = await laterDatabase();
  const client = await connect(url);
  expect(await stateOf(client)).toEqual(ALL_VALID);
  await client.query(
    `update pg_index set indisvalid = false where indexrelid = 'test.gateway_windows_by_note'::regclass`,
  );
  expect(await stateOf(client)).not.toEqual(ALL_VALID);
  await Promise.all([migrateToLater(url), migrateToLater(url)]);
  expect(await stateOf(client)).toEqual(ALL_VALID);
});

it('rows can be written while an index is built', async () => {
  const url = await laterDatabase();
  const [open, other] = [await connect(url), await connect(url)];
  await open.query('drop index test.gateway_windows_by_note');
  await open.query('begin');
  await open.query(WINDOW, ['2026-01-01']);
  // It cannot end before the transaction does, so all of this happens while it is being built.
  let isOver = false;
  const migrating = migrateToLater(url).finally(() => {
    isOver = true;
  });
  const building = `select from pg_stat_activity where query like 'create index concurrently%' and wait_event_type = 'Lock'
                      and datname = current_database()`;
  await expect.poll(async () => (await other.query(building)).rowCount, { timeout: 10_000 }).toBe(1);
  await other.query(`set lock_timeout = '1s'`);
  await other.query(WINDOW, ['2026-01-02']);
  expect(isOver).toBe(false);
  await open.query('commit');
  await migrating;
  expect(await stateOf(other)).toEqual(ALL_VALID);
});
