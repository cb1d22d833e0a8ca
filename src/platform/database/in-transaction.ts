/** For steps that are a transaction of their own, or a part of their caller's. */
import type { WorldDb } from './tables.ts';

/** Runs the work in the transaction that is under way, or in one of its own. */
export function inTransaction<T>(db: WorldDb, work: (trx: WorldDb) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}
