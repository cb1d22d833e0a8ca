/**
 * Ids of requests that were refused before a purchase was written, kept when their Idempotency-Key is forgotten. A key that is used again must not
 * get such an id: its workflow may still be in Temporal, with the old answer.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table retired_transaction_ids (
      transaction_id text primary key,
      retired_at timestamptz not null default now()
    )`.execute(db);
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant select, insert on retired_transaction_ids to ${role}`.execute(db);
}
