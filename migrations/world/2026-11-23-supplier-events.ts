/**
 * The supplier's events as they arrived: unsigned, so each is only a hint to ask the supplier. Of the body only what finds the eSIM is kept, each text cut,
 * so that a row stays under a kilobyte.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table supplier_events (
      id bigint generated always as identity primary key,
      notify_id text not null,
      type text not null,
      about text not null check (about in ('esim', 'order', 'health', 'unknown')),
      esim_tran_no text,
      order_no text,
      transaction_id text,
      supplier_status text,
      sender text not null,
      is_foreign boolean not null,
      generated_at timestamptz,
      received_at timestamptz not null default clock_timestamp(),
      claimed_until timestamptz,
      applied_at timestamptz,
      note text,
      -- A stranger who guesses a number must not hold back the supplier's own event.
      unique (notify_id, is_foreign)
    )`.execute(db);
  await sql`create index supplier_events_waiting on supplier_events (id) where applied_at is null`.execute(
    db,
  );
  await sql`create index supplier_events_foreign on supplier_events (received_at) where is_foreign`.execute(
    db,
  );
  await sql`create index supplier_events_applied on supplier_events (applied_at) where applied_at is not null`.execute(
    db,
  );
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant select, insert, update, delete on supplier_events to ${role}`.execute(db);
}
