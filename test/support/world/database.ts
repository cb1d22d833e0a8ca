// A fresh, migrated database for each test file that asks for one.
// Migrations run once per test run, in a template that the databases are copied from. Roles are shared by all
// databases of a server. Must not be used outside a test: it needs what global-setup provides.
import { randomBytes } from 'node:crypto';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { inject } from 'vitest';
import { migrate as migrateOurs } from '../../../migrations/migrate.ts';

type Migrate = (databaseUrl: string) => Promise<unknown>;

export type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>;

/**
 * A separate database with all migrations applied. Drop it in afterAll. With `migrate` another set of
 * migrations is applied, in this database only; with null none at all: an empty database.
 */
export async function createTestDatabase(
  options: { readonly migrate?: Migrate | null; readonly template?: Template } = {},
) {
  const ownerUrl = inject('databaseUrl');
  const name = `simway_${inject('runId')}_${randomBytes(6).toString('hex')}`;
  const url = withDatabase(ownerUrl, name);
  await asOwner(ownerUrl, async (client) => {
    const template =
      options.migrate === undefined
        ? await templateOf(options.template ?? MIGRATED, client, ownerUrl)
        : 'template1';
    await client.query(`CREATE DATABASE "${name}" TEMPLATE "${template}"`);
  });
  if (options.migrate !== undefined && options.migrate !== null) {
    await options.migrate(url);
  }
  return {
    /** postgres://… of the owner of this database. */
    url,
    name,
    /** Removes it and closes open connections. */
    drop: () =>
      asOwner(ownerUrl, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
      }),
  };
}

/** Apply all of our migrations to the database at this URL, as its owner. */
export async function applyMigrations(url: string): Promise<void> {
  await migrateOurs({ open: (schema) => openSchema(url, schema), log: () => undefined });
}

/** A Kysely instance of the owner with this search_path; destroy it when done. */
export function openSchema<Tables = unknown>(url: string, schema: string): Kysely<Tables> {
  const pool = new pg.Pool({ connectionString: url, options: `-c search_path=${schema}`, max: 4 });
  // A drop or a restart may cut off connections.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** A database that is made once in a test run, to be copied. */
export interface Template {
  readonly name: string;
  readonly fill: (url: string) => Promise<void>;
  /** The database that it is a copy of; an empty database without. */
  readonly of?: Template;
}

export const MIGRATED: Template = { name: 'template', fill: applyMigrations };

/** Test files run in parallel: the first makes the template while the others wait on an advisory lock. */
async function templateOf(template: Template, client: pg.Client, ownerUrl: string): Promise<string> {
  const source = template.of ? await templateOf(template.of, client, ownerUrl) : 'template1';
  const name = `simway_${inject('runId')}_${template.name}`;
  const lock = [`simway ${name}`];
  await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', lock);
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount !== 0) return name;
    const partial = `${name}_partial`;
    await client.query(`DROP DATABASE IF EXISTS "${partial}" WITH (FORCE)`);
    await client.query(`CREATE DATABASE "${partial}" TEMPLATE "${source}"`);
    await template.fill(withDatabase(ownerUrl, partial));
    await client.query(`ALTER DATABASE "${partial}" RENAME TO "${name}"`);
    return name;
  } finally {
    await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', lock);
  }
}

async function asOwner<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: withDatabase(url, 'postgres') });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
