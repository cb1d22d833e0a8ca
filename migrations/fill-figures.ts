/**
 * Counts what was there before the triggers of the kept figures. It may read millions of rows, and the triggers must be committed before it starts, so
 * it is no part of their migration. Purchases go on meanwhile. Safe to run twice and by several processes at once.
 */
import { sql, type Kysely } from 'kysely';

/** The migration that makes the figures. */
export const FIGURES = '2026-11-23-8-statistics';

/** Does nothing where it was done before. */
export function fillFigures(db: Kysely<unknown>): Promise<void> {
  return db.connection().execute(async (connection) => {
    // The lock of src/purchases/store/kept-figures.ts. Taken before the transaction, so that its snapshot is of what the last holder left.
    const lock = sql`hashtextextended('figures of ' || current_schema(), 0)`;
    await sql`select pg_advisory_lock(${lock})`.execute(connection);
    try {
      const filled = await sql`select from figures_filled`.execute(connection);
      if (filled.rows.length > 0) return;
      await connection
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (trx) => {
          await sql`select rebuild_figures()`.execute(trx);
          await sql`insert into figures_filled default values`.execute(trx);
        });
    } finally {
      await sql`select pg_advisory_unlock(${lock})`.execute(connection);
    }
  });
}
