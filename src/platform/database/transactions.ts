import { sql, type Kysely } from 'kysely';
import type { WorldDb } from './tables.ts';

/** Runs the work in the transaction that is under way, or in one of its own. */
export function inTransaction<Database, T>(
  db: Kysely<Database>,
  work: (trx: Kysely<Database>) => Promise<T>,
): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}

/** Tens of millions of entries are summed in less. */
const READ_TIMEOUT_MS = 120_000;

/**
 * Runs the reads of a report in one read-only transaction, each with up to two minutes: they read whole
 * tables.
 */
export function withReadTimeout<T>(db: WorldDb, read: (trx: WorldDb) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      await sql`select set_config('statement_timeout', ${String(READ_TIMEOUT_MS)}, true)`.execute(trx);
      return read(trx);
    });
}
