import { sql } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';

/**
 * Counters that change with the catalogue, markups and rules, the rates, and what can be delivered: one small
 * query shows whether a process's memory is out of date. `atMs`: Postgres' time, by which price rules begin
 * and end.
 */
export async function readRevisions(db: WorldDb) {
  const rows = await db
    .selectFrom('revisions')
    .select(['name', 'revision', sql<Date>`clock_timestamp()`.as('at')])
    .execute();
  const of = (name: string): string => String(rows.find((row) => row.name === name)?.revision ?? 0n);
  return {
    catalogue: of('catalogue'),
    pricing: of('pricing'),
    rates: of('rates'),
    availability: of('availability'),
    atMs: Math.max(...rows.map(({ at }) => at.getTime())),
  };
}

/** Call it in the transaction of the change itself. */
export async function bumpRevision(
  db: WorldDb,
  name: 'catalogue' | 'pricing' | 'rates' | 'availability',
): Promise<void> {
  await sql`update revisions set revision = revision + 1 where name = ${name}`.execute(db);
}

/** The environment this schema belongs to; a worker compares it with its namespace before it starts. */
export async function readEnvironment(db: WorldDb): Promise<string> {
  const row = await db.selectFrom('world').select('environment').executeTakeFirst();
  if (!row) throw new Error('the schema names no environment: run migrate first');
  return row.environment;
}
