/** Reports read whole tables: they get more time than a purchase does, see one moment, and can write nothing. */
import { sql } from 'kysely';
import type { WorldDb } from './tables.ts';

/** Tens of millions of entries are summed in less. */
const READ_TIMEOUT_MS = 120_000;

/** Runs reads in one read-only transaction, each with up to two minutes. */
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
