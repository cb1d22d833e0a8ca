/**
 * Brings a database to the present schema: roles, three schemas, their migrations. Run as the owner; safe to
 * run twice and by several processes at once (an advisory lock while a schema is made, the lock of Kysely's
 * migrator for what is in it). Adds only, so that it can run beside the version before.
 */
import { sql, type Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { leapAfterRestore } from './event-positions.ts';
import { buildIndex } from './indexes.ts';
import { accountsMigrations, worldMigrations, type Migrations } from './registry.ts';

export interface MigrateOptions {
  /** Opens the database as its owner with this schema as search_path; migrate closes what it opens. */
  readonly open: (schema: string) => Kysely<unknown>;
  readonly log: (line: string) => void;
  /** Other lists than those of the registry: those of an earlier release, for example. */
  readonly lists?: MigrationLists;
}

/** `world`: run once in `live` and once in `test`. */
export interface MigrationLists {
  readonly accounts: Migrations;
  readonly world: Migrations;
}

const REGISTERED: MigrationLists = { accounts: accountsMigrations, world: worldMigrations };

/**
 * Returns how many migrations ran. Throws the first error; each migration is one transaction, so nothing is
 * left half-done.
 */
export async function migrate({ open, log, lists = REGISTERED }: MigrateOptions): Promise<number> {
  let ran = 0;
  for (const schema of ['accounts', 'test', 'live']) {
    const migrations = schema === 'accounts' ? lists.accounts : lists.world;
    const db = open(schema);
    try {
      await prepareSchema(db, schema);
      ran += await runMigrations(db, schema, migrations, log);
      if (schema !== 'accounts') {
        await sql`insert into world (environment) values (${schema}) on conflict do nothing`.execute(db);
        await leapAfterRestore(db);
      }
      for (const { indexes = [] } of Object.values(migrations))
        for (const index of indexes) await buildIndex(db, schema, index);
    } finally {
      await db.destroy();
    }
  }
  return ran;
}

async function runMigrations(
  db: Kysely<unknown>,
  schema: string,
  migrations: Migrations,
  log: (line: string) => void,
): Promise<number> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
    migrationTableSchema: schema,
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  for (const result of results) log(`${schema}: ${result.migrationName} ${result.status.toLowerCase()}`);
  if (error !== undefined)
    throw error instanceof Error ? error : new Error('migration failed', { cause: error });
  return results.length;
}

async function prepareSchema(db: Kysely<unknown>, schema: string): Promise<void> {
  const name = `simway_${schema}`;
  const role = sql.id(name);
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`prepare schema ${schema}`}, 0))`.execute(trx);
    // Roles belong to the whole cluster, and advisory locks to one database: another one migrating may win
    // the race.
    await sql`
      do $$ begin
        if not exists (select from pg_roles where rolname = ${sql.lit(name)}) then create role ${role} nologin; end if;
      exception when duplicate_object or unique_violation then null;
      end $$`.execute(trx);
    // An owner that may not grant roles was made a member together with them (ops/postgres/roles.sql). Since
    // Postgres 16 the membership of the one who made a role does not allow `set role`.
    await sql`
      do $$ begin
        if not exists (
          select from pg_auth_members membership
           where roleid = ${sql.lit(name)}::regrole
             and member = (select oid from pg_roles where rolname = current_user)
             and coalesce((to_jsonb(membership) ->> 'set_option')::boolean, true)
        ) then grant ${role} to current_user; end if;
      exception when unique_violation then null;
      end $$`.execute(trx);
    await sql`create schema if not exists ${sql.id(schema)}`.execute(trx);
    // Only once: it would fail beside a migration that grants something in this schema and has not ended.
    await sql`
      do $$ begin
        if not has_schema_privilege(${sql.lit(name)}, ${sql.lit(schema)}, 'usage') then
          grant usage on schema ${sql.id(schema)} to ${role};
        end if;
      end $$`.execute(trx);
  });
}
