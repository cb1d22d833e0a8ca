import { sql, type Kysely } from 'kysely';
import type { Environment } from '../../domain/account.ts';
import type { AccountsDb, WorldDb } from './tables.ts';

/** Runs the work in the transaction that is under way, or in one of its own. */
export function inTransaction<Database, T>(
  db: Kysely<Database>,
  work: (trx: Kysely<Database>) => Promise<T>,
): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}

/**
 * Runs work on the rows of an environment in a transaction of the accounts, so that both commit or neither.
 * The environment's role and schema hold for this work alone. If it throws, the transaction must end.
 */
export function inEnvironment<T>(
  db: AccountsDb,
  environment: Environment,
  work: (world: WorldDb) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (trx) => {
    const take = (role: unknown, path: unknown) =>
      sql`select set_config('role', ${role}, true), set_config('search_path', ${path}, true)`.execute(trx);
    const { rows } = await sql<{ role: string; path: string }>`
      select current_setting('role') as role, current_setting('search_path') as path`.execute(trx);
    await take(`simway_${environment}`, environment);
    const result = await work(trx as unknown as WorldDb);
    await take(rows[0]?.role, rows[0]?.path);
    return result;
  });
}

/**
 * One holder of a name at a time, until the transaction ends. Each environment has names of its own: advisory
 * locks belong to the whole database, and test and live must not wait for each other.
 */
export async function lockByName(trx: WorldDb | AccountsDb, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || ${name}::text, 0))`.execute(
    trx,
  );
}

/** Tens of millions of entries are summed in less. */
const READ_TIMEOUT_MS = 120_000;

/**
 * Runs the reads of a report in one read-only transaction, each with up to two minutes: they read whole
 * tables.
 */
export const withReadTimeout = <T>(db: WorldDb, read: (trx: WorldDb) => Promise<T>): Promise<T> =>
  atOneMoment(db, async (trx) => {
    await sql`select set_config('statement_timeout', ${String(READ_TIMEOUT_MS)}, true)`.execute(trx);
    return read(trx);
  });

/** Runs reads that must fit together: none sees what was committed after the first. */
export const atOneMoment = <T>(db: WorldDb, read: (trx: WorldDb) => Promise<T>): Promise<T> =>
  db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
