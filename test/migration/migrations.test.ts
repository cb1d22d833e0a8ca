/**
 * Migrations on an empty database, a second time, and by two processes at once; and both environments are
 * equal to the last constraint.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountsMigrations, worldMigrations } from '../../migrations/registry.ts';
import { ACCOUNT_CURRENCIES } from '../../src/domain/money.ts';
import { migrateDatabase } from '../../src/platform/database/migrate-database.ts';
import { createTestDatabase, type TestDatabase } from '../support/world/database.ts';

const ALL = Object.keys(accountsMigrations).length + 2 * Object.keys(worldMigrations).length;

const databases: TestDatabase[] = [];
async function emptyDatabase(): Promise<string> {
  const database = await createTestDatabase({ migrate: null });
  databases.push(database);
  return database.url;
}
afterAll(() => Promise.all(databases.map((database) => database.drop())));

async function query(url: string, text: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ line: string }>(text);
    return rows.map((row) => row.line);
  } finally {
    await client.end();
  }
}

/**
 * Everything a schema contains, a line each, without the schema's own name (except for the text that lists
 * both environments).
 */
const anatomyOf = async (url: string, schema: string): Promise<string[]> =>
  (await query(url, anatomy(schema))).map((line) =>
    line.replaceAll(new RegExp(`\\b(simway_)?${schema}\\b(?!'::text)`, 'g'), '$1world'),
  );

const anatomy = (schema: string): string => `
  with s as (select oid, nspname from pg_namespace where nspname = '${schema}')
  select line from (
    select format('column %s.%s %s %s default %s identity %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                  case when a.attnotnull then 'not null' else 'null' end, pg_get_expr(d.adbin, d.adrelid), a.attidentity) as line
      from pg_class c join s on s.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum where c.relkind = 'r'
    union all
    select format('constraint %s.%s %s', conrelid::regclass, conname, pg_get_constraintdef(k.oid))
      from pg_constraint k join s on s.oid = k.connamespace
    union all
    select format('index %s', indexdef) from pg_indexes where schemaname = '${schema}'
    union all
    select format('trigger %s', pg_get_triggerdef(t.oid))
      from pg_trigger t join pg_class c on c.oid = t.tgrelid join s on s.oid = c.relnamespace where not t.tgisinternal
    union all
    select format('function %s', pg_get_functiondef(p.oid)) from pg_proc p join s on s.oid = p.pronamespace
    union all
    select format('grant %s to %s on %s', privilege_type, grantee, table_name) from information_schema.table_privileges
     where table_schema = '${schema}'
  ) lines order by line`;

const rowsOf = (url: string, table: string) =>
  query(url, `select t::text as line from ${table} t order by 1`);

describe('migrate', () => {
  let url: string;
  const said: string[] = [];
  beforeAll(async () => {
    url = await emptyDatabase();
    expect(await migrateDatabase(url, (line) => said.push(line))).toBe(ALL);
  });

  it('reports each migration it ran, schema by schema', () => {
    const expected = [
      ...Object.keys(accountsMigrations).map((name) => `accounts: ${name} success`),
      ...['test', 'live'].flatMap((schema) =>
        Object.keys(worldMigrations).map((name) => `${schema}: ${name} success`),
      ),
    ];
    expect(said).toEqual(expected);
  });

  it('names its migrations in the order they run', () => {
    for (const migrations of [accountsMigrations, worldMigrations])
      expect(Object.keys(migrations)).toEqual(Object.keys(migrations).toSorted());
  });

  it('changes nothing the second time', async () => {
    const snapshot = async () =>
      Promise.all([
        ...['accounts', 'test', 'live'].map((schema) => anatomyOf(url, schema)),
        ...['test.ledger_accounts', 'test.pricing_settings', 'live.revisions', 'live.world'].map((table) =>
          rowsOf(url, table),
        ),
      ]);
    const before = await snapshot();
    const again: string[] = [];
    expect(await migrateDatabase(url, (line) => again.push(line))).toBe(0);
    expect(again).toEqual([]);
    expect(await snapshot()).toEqual(before);
  });

  it('makes both environments equal, including constraints', async () => {
    const [test, live] = await Promise.all([anatomyOf(url, 'test'), anatomyOf(url, 'live')]);
    expect(test.filter((line) => line.startsWith('column purchases.')).length).toBeGreaterThan(20);
    expect(live).toEqual(test);
  });

  it('records in each environment which one it is, once', async () => {
    expect([await rowsOf(url, 'test.world'), await rowsOf(url, 'live.world')]).toEqual([
      ['(test)'],
      ['(live)'],
    ]);
  });

  it('gives each environment the same system accounts, each in its own currency', async () => {
    const accounts = await rowsOf(url, 'test.ledger_accounts');
    expect(accounts).toEqual(await rowsOf(url, 'live.ledger_accounts'));
    expect(accounts).toEqual(
      [
        ...ACCOUNT_CURRENCIES.flatMap((currency) => [
          ...['held', 'revenue', 'suspense', 'exchange', 'funding', 'evidence'].map(
            (kind) => `(${kind}:${currency},${kind},${currency},)`,
          ),
          `(gateway-clearing:paystack:${currency},gateway-clearing,${currency},)`,
        ]),
        '(supplier-cost:USD4,supplier-cost,USD4,)',
        '(supplier-prepaid:esim-access:USD4,supplier-prepaid,USD4,)',
      ].toSorted(),
    );
  });

  it('runs once when several processes start it at the same time, and none of them fails', async () => {
    const shared = await emptyDatabase();
    const ran = await Promise.all(Array.from({ length: 3 }, () => migrateDatabase(shared, () => undefined)));
    expect(ran.reduce((sum, count) => sum + count)).toBe(ALL);
    expect(await anatomyOf(shared, 'test')).toEqual(await anatomyOf(url, 'test'));
    expect(await rowsOf(shared, 'live.world')).toEqual(['(live)']);
  });

  it('does not wait or fail beside a running migration that has granted rights in the same schema', async () => {
    const underWay = new pg.Client({ connectionString: url });
    await underWay.connect();
    try {
      await underWay.query('begin; grant usage on schema accounts to simway_test');
      expect(await migrateDatabase(url, () => undefined)).toBe(0);
    } finally {
      await underWay.end();
    }
  });

  it('continues where an earlier run was interrupted', async () => {
    const cut = await emptyDatabase();
    await migrateDatabase(cut, () => undefined);
    await query(cut, 'drop schema live cascade');
    expect(await migrateDatabase(cut, () => undefined)).toBe(Object.keys(worldMigrations).length);
    expect(await anatomyOf(cut, 'live')).toEqual(await anatomyOf(url, 'live'));
  });
});
