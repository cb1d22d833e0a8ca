/** The baseline makes the same schema as the chain of migrations before it, in every catalog; columns may be in another order. */
import { sql, type Kysely } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import { ACCOUNTS_INDEXES, buildIndex, WORLD_INDEXES } from '../../migrations/indexes.ts';
import * as old from '../../migrations/old-chain.ts';
import * as now from '../../migrations/registry.ts';
import { createTestDatabase, openSchema, type TestDatabase } from '../support/database.ts';

const databases: TestDatabase[] = [];
afterAll(() => Promise.all(databases.map((database) => database.drop())));

async function made(chains: typeof old, withIndexes: boolean): Promise<pg.Client> {
  const database = await createTestDatabase({ migrate: null });
  databases.push(database);
  const run = async (
    schema: string,
    migrations: Record<string, Migration>,
    indexes: typeof WORLD_INDEXES,
  ) => {
    const db = openSchema(database.url, schema) as Kysely<unknown>;
    const role = `simway_${schema}`;
    await sql`
      do $$ begin
        if not exists (select from pg_roles where rolname = ${sql.lit(role)}) then create role ${sql.id(role)} nologin; end if;
      end $$`.execute(db);
    await sql`create schema ${sql.id(schema)}`.execute(db);
    await sql`grant usage on schema ${sql.id(schema)} to ${sql.id(role)}`.execute(db);
    const provider = { getMigrations: () => Promise.resolve(migrations) };
    const { error } = await new Migrator({ db, provider, migrationTableSchema: schema }).migrateToLatest();
    if (error !== undefined) throw error;
    if (withIndexes) for (const index of indexes) await buildIndex(db, schema, index);
    await db.destroy();
  };
  await run('accounts', chains.accountsMigrations, ACCOUNTS_INDEXES);
  for (const world of ['test', 'live']) await run(world, chains.worldMigrations, WORLD_INDEXES);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return client;
}

/** One line for each thing of a schema, in one order. */
const CATALOG = `
  with s as (select oid, nspname from pg_namespace where nspname = $1)
  select line from (
    select format('relation %s kind %s options %s acl %s', c.relname, c.relkind, c.reloptions,
             (select array_agg(a::text order by a::text) from unnest(c.relacl) a)) as line
      from pg_class c join s on s.oid = c.relnamespace
    union all
    select format('column %s.%s %s %s default %s identity %s acl %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
             a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attidentity, (select array_agg(x::text order by x::text) from unnest(a.attacl) x))
      from pg_class c join s on s.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum where c.relkind in ('r', 'v')
    union all
    select format('constraint %s.%s %s', conrelid::regclass, conname, replace(pg_get_constraintdef(k.oid), ' NOT VALID', ''))
      from pg_constraint k join s on s.oid = k.connamespace
    union all
    select format('index %s', indexdef) from pg_indexes where schemaname = $1
    union all
    select format('view %s %s', viewname, definition) from pg_views where schemaname = $1
    union all
    select format('sequence %s %s', sequencename, (data_type, start_value, increment_by, min_value, max_value, cycle, cache_size))
      from pg_sequences where schemaname = $1
    union all
    select format('trigger %s %s', t.tgenabled, pg_get_triggerdef(t.oid))
      from pg_trigger t join pg_class c on c.oid = t.tgrelid join s on s.oid = c.relnamespace where not t.tgisinternal
    union all
    select format('function %s acl %s', pg_get_functiondef(p.oid), (select array_agg(a::text order by a::text) from unnest(p.proacl) a))
      from pg_proc p join s on s.oid = p.pronamespace
    union all
    select format('schema acl %s', (select array_agg(a::text order by a::text) from unnest(n.nspacl) a)) from pg_namespace n where nspname = $1
  ) lines`;

/** What the service finds in its tables before its first day. */
const ROWS = ['ledger_accounts', 'pricing_settings', 'revisions', 'event_feed', 'world'];

async function catalogOf(client: pg.Client, schema: string): Promise<string[]> {
  const lines = (await client.query<{ line: string }>(CATALOG, [schema])).rows.map(({ line }) => line);
  for (const table of schema === 'accounts' ? [] : ROWS) {
    const { rows } = await client.query<{ line: string }>(
      `select (to_jsonb(t) - 'valid_from')::text as line from ${schema}.${table} t`,
    );
    lines.push(...rows.map(({ line }) => `row of ${table} ${line}`));
  }
  return lines.map(normal).toSorted();
}

/** Comments, line breaks and quotes inside functions may differ. */
const normal = (line: string): string =>
  line
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\( /g, '(')
    .replaceAll(/ \)/g, ')')
    .replaceAll('"', '')
    // Written twice in count_esims: the first is in the branch of inserts, the second in that of updates.
    .replace(`tg_op = 'INSERT' or ${IS_FOUND_ANEW}`, 'true')
    .replace(`tg_op = 'INSERT' or ${IS_FOUND_ANEW}`, IS_FOUND_ANEW);
const IS_FOUND_ANEW =
  '(old.account_id, old.iccid, old.transaction_id) is distinct from (new.account_id, new.iccid, new.transaction_id)';

it('makes the same three schemas as the chain before it', async () => {
  const [before, after] = await Promise.all([made(old, true), made(now, false)]);
  try {
    for (const schema of ['accounts', 'test', 'live']) {
      const [was, is] = [await catalogOf(before, schema), await catalogOf(after, schema)];
      const kinds: Record<string, number> = {};
      for (const line of is) kinds[line.split(' ')[0]!] = (kinds[line.split(' ')[0]!] ?? 0) + 1;
      console.log(schema, `${was.length} lines before, ${is.length} now`, JSON.stringify(kinds));
      expect({
        missing: was.filter((l) => !is.includes(l)),
        added: is.filter((l) => !was.includes(l)),
      }).toEqual({ missing: [], added: [] });
      expect(is).toEqual(was);
    }
  } finally {
    await Promise.all([before.end(), after.end()]);
  }
});
