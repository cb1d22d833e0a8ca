// A migration runs while the previous version still serves. For every recorded release: each of its
// statements is planned and allowed on today's schema, under the role it is sent under; its columns are
// unchanged; and no old table has become stricter than its rows.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../migrations/migrate.ts';
import { accountsMigrations, worldMigrations, type Migrations } from '../../migrations/registry.ts';
import { createTestDatabase, openSchema, type TestDatabase } from '../support/world/database.ts';
import { distinct, readReleases, type ReleaseRecord } from './releases.ts';
import type { SentStatement } from './statement-recorder.ts';

/**
 * What a migration made stricter for existing tables, each with the reason why the previous version is not
 * affected.
 */
const STRICTER: Readonly<Record<string, string>> = {};

const releases = readReleases();
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Why a statement of the old version cannot run; undefined if it can. */
async function refusalOf(client: pg.Client, { text }: SentStatement): Promise<string | undefined> {
  const count = Math.max(0, ...Array.from(text.matchAll(/\$(\d+)/g), ([, number]) => Number(number)));
  const values = count === 0 ? '' : `(${Array.from({ length: count }, () => 'null').join(', ')})`;
  try {
    // Planning finds every table, column and type; explaining also checks rights, and runs nothing.
    await client.query(`prepare old as ${text}`);
    await client.query(`explain execute old${values}`);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await client.query('deallocate all');
  }
}

interface Refused {
  readonly statement: SentStatement;
  readonly reason: string;
}

/** What cannot run. */
async function refused(url: string, statements: readonly SentStatement[]): Promise<Refused[]> {
  const found: Refused[] = [];
  for (const role of new Set(statements.map((statement) => statement.role))) {
    const schema = role.replace(/^simway_/, '');
    const client = new pg.Client({
      connectionString: url,
      options: `-c search_path=${schema} -c role=${role}`,
    });
    await client.connect();
    try {
      for (const statement of statements.filter((one) => one.role === role)) {
        const reason = await refusalOf(client, statement);
        if (reason !== undefined)
          found.push({ statement, reason: `${reason}: ${statement.text.slice(0, 200)}` });
      }
    } finally {
      await client.end();
    }
  }
  return found;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isNeeded: boolean;
}

const COLUMNS = `
  select c.relname || '.' || a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
         a.attnotnull and d.oid is null and a.attidentity = '' as "isNeeded"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = $1
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum where c.relkind = 'r'`;

/** Checks, keys, unique indexes and triggers: whatever may refuse a row. */
const RULES = `
  select c.relname || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid) as name
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace and n.nspname = $1
  union all
  select tablename || ' ' || indexname || ' ' || indexdef from pg_indexes where schemaname = $1 and indexdef like 'CREATE UNIQUE%'
  union all
  select c.relname || ' ' || t.tgname || ' ' || pg_get_triggerdef(t.oid)
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace and n.nspname = $1
   where not t.tgisinternal`;

async function read<Row extends object>(url: string, query: string, schema: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(query, [schema])).rows;
  } finally {
    await client.end();
  }
}

const tableOf = ({ name }: { readonly name: string }): string => name.split(/[. ]/, 1)[0] ?? '';

describe.each([...releases])('release %s', (_release, record) => {
  let old: TestDatabase;
  beforeAll(async () => {
    old = await createTestDatabase({ migrate: (url) => migrateTo(url, record) });
  });
  afterAll(() => old.drop());

  it('came with migrations that still exist, in the same order', () => {
    expect(Object.keys(accountsMigrations).slice(0, record.accounts.length)).toEqual(record.accounts);
    expect(Object.keys(worldMigrations).slice(0, record.world.length)).toEqual(record.world);
  });

  it('sends only statements that today’s schema accepts, if its own schema accepts them', async () => {
    // Tests also try what the database must refuse, which is recorded with the rest.
    const tried = new Set((await refused(old.url, record.statements)).map(({ statement }) => statement));
    const sent = record.statements.filter((statement) => !tried.has(statement));
    expect(sent.length).toBeGreaterThan(100);
    expect((await refused(database.url, sent)).map(({ reason }) => reason)).toEqual([]);
  });

  it.each(['accounts', 'test'])(
    'finds its columns in %s unchanged, and needs no new ones',
    async (schema) => {
      const before = await read<Column>(old.url, COLUMNS, schema);
      const after = await read<Column>(database.url, COLUMNS, schema);
      expect(before.length).toBeGreaterThan(10);
      const now = new Map(after.map((column) => [column.name, column]));
      expect(
        before.filter(
          ({ name, type, isNeeded }) =>
            now.get(name)?.type !== type || (!isNeeded && now.get(name)?.isNeeded === true),
        ),
      ).toEqual([]);
      const known = new Set(before.map(({ name }) => name));
      const tables = new Set(before.map(tableOf));
      const asked = after.filter(
        (column) => tables.has(tableOf(column)) && !known.has(column.name) && column.isNeeded,
      );
      expect(asked).toEqual([]);
    },
  );

  it.each(['accounts', 'test'])(
    'meets no newer constraint in %s, except those that cannot affect it',
    async (schema) => {
      const before = await read<{ name: string }>(old.url, RULES, schema);
      const after = await read<{ name: string }>(database.url, RULES, schema);
      const known = new Set(before.map(({ name }) => name));
      const tables = new Set((await read<Column>(old.url, COLUMNS, schema)).map(tableOf));
      const newer = after
        .filter((rule) => tables.has(tableOf(rule)) && !known.has(rule.name))
        .map(({ name }) => name.split(' ').slice(0, 2).join(' '));
      expect(newer.filter((name) => !(name in STRICTER))).toEqual([]);
    },
  );
});

it('every exception is still needed', async () => {
  const [first] = releases.values();
  const old = await createTestDatabase({ migrate: (url) => migrateTo(url, first!) });
  try {
    const known = new Set((await read<{ name: string }>(old.url, RULES, 'test')).map(({ name }) => name));
    const now = (await read<{ name: string }>(database.url, RULES, 'test'))
      .filter(({ name }) => !known.has(name))
      .map(({ name }) => name.split(' ').slice(0, 2).join(' '));
    expect(Object.keys(STRICTER).filter((name) => !now.includes(name))).toEqual([]);
  } finally {
    await old.drop();
  }
});

describe('the check itself', () => {
  it('notices a removed column and a revoked grant', async () => {
    const [first] = releases.values();
    const broken = await createTestDatabase();
    try {
      const client = new pg.Client({ connectionString: broken.url });
      await client.connect();
      await client.query('alter table test.purchases rename column package_name to name_of_package');
      await client.query('revoke insert on test.purchase_events from simway_test');
      await client.end();
      const before = new Set(
        (await refused(database.url, first!.statements)).map(({ statement }) => statement),
      );
      const found = (await refused(broken.url, first!.statements)).filter(
        ({ statement }) => !before.has(statement),
      );
      const reasons = found.map(({ reason }) => reason.split(':', 1)[0] ?? '');
      expect(reasons).toContain('column "package_name" of relation "purchases" does not exist');
      expect(reasons).toContain('permission denied for table purchase_events');
      expect(reasons.filter((reason) => !/package_name|purchase_events/.test(reason))).toEqual([]);
    } finally {
      await broken.drop();
    }
  });

  it('keeps one statement of each shape', () => {
    const role = 'simway_test';
    const of = (text: string) => ({ role, text });
    expect(
      distinct([
        of('select a from t where b in ($1, $2, $3)'),
        of('select a from t where b in ($1)'),
        of('insert into t (a, b) values ($1, $2), ($3, $4)'),
        of('insert into t (a, b) values ($1, $2)'),
        of('begin'),
      ]),
    ).toEqual([of('insert into t (a, b) values ($1, $2)'), of('select a from t where b in ($1)')]);
  });
});

/** Applies what a release came with, and nothing newer. */
async function migrateTo(url: string, { accounts, world }: ReleaseRecord): Promise<void> {
  const only = (migrations: Migrations, names: readonly string[]): Migrations =>
    Object.fromEntries(Object.entries(migrations).filter(([name]) => names.includes(name)));
  await migrate({
    open: (schema) => openSchema(url, schema),
    log: () => undefined,
    lists: { accounts: only(accountsMigrations, accounts), world: only(worldMigrations, world) },
  });
}
