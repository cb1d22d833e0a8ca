/**
 * Brings a database to the present schema: roles, three schemas, their migrations. Run as the owner; safe to run twice and by several
 * processes at once (an advisory lock while a schema is made, the lock of Kysely's migrator for what is in it). Adds only, so that it can
 * run beside the version before.
 */
import { sql, type Kysely } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import { leapAfterRestore } from './event-positions.ts';
import { FIGURES, fillFigures } from './fill-figures.ts';
import { fillWalletEntries, WALLET_ENTRIES } from './fill-wallet-entries.ts';
import { ACCOUNTS_INDEXES, buildIndex, WORLD_INDEXES, type LiveIndex } from './indexes.ts';
import { accountsMigrations, worldMigrations } from './registry.ts';

export interface MigrateOptions {
  /** Opens the database as its owner with this schema as search_path; migrate closes what it opens. */
  readonly open: (schema: string) => Kysely<unknown>;
  readonly log: (line: string) => void;
  /** Which migrations to apply, to go as far as an earlier release; all of them without. */
  readonly isWanted?: (migration: string, schema: string) => boolean;
}

const SCHEMAS: {
  name: string;
  migrations: Record<string, Migration>;
  indexes: readonly LiveIndex[];
}[] = [
  { name: 'accounts', migrations: accountsMigrations, indexes: ACCOUNTS_INDEXES },
  { name: 'test', migrations: worldMigrations, indexes: WORLD_INDEXES },
  { name: 'live', migrations: worldMigrations, indexes: WORLD_INDEXES },
];

/** Returns how many migrations ran. Throws the first error; each migration is one transaction, so nothing is left half-done. */
export async function migrate({ open, log, isWanted = () => true }: MigrateOptions): Promise<number> {
  let ran = 0;
  for (const { name, migrations: all, indexes } of SCHEMAS) {
    const migrations = Object.fromEntries(
      Object.entries(all).filter(([migration]) => isWanted(migration, name)),
    );
    const db = open(name);
    try {
      await prepareSchema(db, name);
      const migrator = new Migrator({
        db,
        provider: { getMigrations: () => Promise.resolve(migrations) },
        migrationTableSchema: name,
      });
      const { error, results = [] } = await migrator.migrateToLatest();
      for (const result of results) log(`${name}: ${result.migrationName} ${result.status.toLowerCase()}`);
      if (error !== undefined)
        throw error instanceof Error ? error : new Error('migration failed', { cause: error });
      ran += results.length;
      if (name !== 'accounts') {
        await sql`insert into world (environment) values (${name}) on conflict do nothing`.execute(db);
        if ('2026-11-23-5-events' in migrations) await leapAfterRestore(db);
        if (FIGURES in migrations) await fillFigures(db);
        if (WALLET_ENTRIES in migrations) await fillWalletEntries(db);
      }
      for (const index of indexes) if (index.after in migrations) await buildIndex(db, name, index);
    } finally {
      await db.destroy();
    }
  }
  return ran;
}

async function prepareSchema(db: Kysely<unknown>, schema: string): Promise<void> {
  const name = `simway_${schema}`;
  const role = sql.id(name);
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`prepare schema ${schema}`}, 0))`.execute(trx);
    // Roles belong to the whole cluster, and advisory locks to one database: another one migrating may win the race.
    await sql`
      do $$ begin
        if not exists (select from pg_roles where rolname = ${sql.lit(name)}) then create role ${role} nologin; end if;
      exception when duplicate_object or unique_violation then null;
      end $$`.execute(trx);
    // An owner that may not grant roles was made a member together with them (ops/postgres/roles.sql). Since Postgres 16 the membership of
    // the one who made a role does not allow `set role`.
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
