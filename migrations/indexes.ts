/**
 * Indexes on large tables, built while these are written to: a plain `create index` would hold up every write
 * for as long as it reads the table. That cannot be part of a transaction, so a migration exports them as
 * `indexes` and they are built after it. Safe to run twice and by several processes at once.
 */
import { setTimeout } from 'node:timers/promises';
import { sql, type Kysely } from 'kysely';

export interface LiveIndex {
  readonly name: string;
  /** What stands behind `create index … on`. */
  readonly definition: string;
}

/** Between two checks of an index that another process builds. */
const CHECK_EVERY_MS = 100;

export function buildIndex(db: Kysely<unknown>, schema: string, index: LiveIndex): Promise<void> {
  return db.connection().execute((connection) => build(connection, schema, index));
}

/** On one connection: the lock belongs to it. */
async function build(db: Kysely<unknown>, schema: string, index: LiveIndex): Promise<void> {
  const name = sql.id(schema, index.name);
  const lock = sql`hashtextextended(${`build index ${schema}.${index.name}`}, 0)`;
  for (;;) {
    if ((await stateOf(db, schema, index)) === 'ready') return;
    // Not waited for inside Postgres: who builds waits for every open statement.
    const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_lock(${lock}) as mine`.execute(db);
    if (rows[0]?.mine) break;
    await setTimeout(CHECK_EVERY_MS);
  }
  try {
    const state = await stateOf(db, schema, index);
    if (state === 'ready') return;
    // An earlier attempt was cut short.
    if (state === 'broken') await sql`drop index concurrently ${name}`.execute(db);
    await sql`create index concurrently ${sql.id(index.name)} on ${sql.raw(index.definition)}`.execute(db);
  } finally {
    await sql`select pg_advisory_unlock(${lock})`.execute(db);
  }
}

async function stateOf(
  db: Kysely<unknown>,
  schema: string,
  { name }: LiveIndex,
): Promise<'ready' | 'broken' | 'absent'> {
  const { rows } = await sql<{ isValid: boolean }>`
    select indisvalid as "isValid" from pg_index where indexrelid = to_regclass(${`${schema}.${name}`})`.execute(
    db,
  );
  if (rows.length === 0) return 'absent';
  return rows[0]?.isValid ? 'ready' : 'broken';
}
