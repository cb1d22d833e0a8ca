/**
 * Requests that were refused and left no other row. Without this the same signed request, started again in Temporal, would open what its caller was
 * told is refused. Deleted once the signature is too old to open anything.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table refused_transaction_ids (
      transaction_id text primary key,
      reason text not null,
      detail text not null,
      refused_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index refused_transaction_ids_refused_at on refused_transaction_ids (refused_at)`.execute(
    db,
  );
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant select, insert, delete on refused_transaction_ids to ${role}`.execute(db);
}
