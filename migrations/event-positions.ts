/**
 * Keeps the positions of events growing. They are made of transaction ids, which start again on a server that
 * was restored from a dump, and go back where a server was recovered to an earlier moment, or a standby
 * without the last commits took over.
 */
import { sql, type Kysely } from 'kysely';

/**
 * More than all transactions between a backup and its restore, so no position that a reader has seen comes
 * again. Eight million such leaps fit.
 */
const LEAP = 2n ** 40n;

/** The server, and its timeline: a new one begins with every recovery and every takeover. */
const CLUSTER = sql<string>`(
  select system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) from pg_control_system())`;

/**
 * Call before anything writes after a restore. Leaps if this is another server or timeline than at the last
 * call. Safe to repeat.
 */
export async function leapAfterRestore(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`select from event_feed where cluster is distinct from ${CLUSTER}`.execute(db);
  if (rows.length === 0) return;
  await db.transaction().execute(async (trx) => {
    // Waits for those who have taken a position: it would be below one that readers have passed.
    await sql`lock table events in share row exclusive mode`.execute(trx);
    await sql`
      update event_feed
         set cluster = ${CLUSTER},
             position_offset = case when cluster is null then position_offset
               else greatest((select max(position) from events), deleted_to, position_offset) + ${LEAP}::bigint
                    - pg_snapshot_xmax(pg_current_snapshot())::text::bigint end
       where cluster is distinct from ${CLUSTER}`.execute(trx);
  });
}
