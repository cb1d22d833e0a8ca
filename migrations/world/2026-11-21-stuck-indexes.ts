/** What the stuck list reads: small indexes of what is flagged, open or without a purchase, so that its cost does not grow with the purchases. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['purchases', 'fundings']) {
    await sql`
      create index ${sql.id(`${table}_flagged`)} on ${sql.table(table)} (needs_attention_since)
       where needs_attention_since is not null`.execute(db);
  }
  await sql`create index fundings_open on fundings (created_at) where status = 'PENDING'`.execute(db);
  await sql`create index webhook_messages_failed on webhook_messages (closed_at) where status = 'FAILED'`.execute(
    db,
  );
  await sql`
    create index operator_moves_unfinished on operator_moves (created_at) where status in ('BEGUN', 'APPROVED')`.execute(
    db,
  );
  await sql`
    create index gateway_events_about_nobody on gateway_events (received_at)
     where note = 'about no payment of ours' and about in ('charge', 'refund', 'dispute')`.execute(db);
}
