/**
 * The windows of the gateway's list that are read for money, each with when it is to be read next; an index of the payments that have brought nothing
 * yet; when the gateway was asked for the newest answer that is booked; and when a caller last had a closed payment looked at.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table gateway_windows (
      starts_at timestamptz primary key,
      wanted_at timestamptz not null,
      due_at timestamptz not null,
      settled_total integer
    )`.execute(db);
  await sql`create index gateway_windows_due on gateway_windows (due_at)`.execute(db);
  await sql`
    create index payments_unpaid on payments (created_at) where status in ('ASKED', 'OPEN') and booked_minor = 0`.execute(
    db,
  );
  await sql`alter table payments add column seen_at timestamptz, add column confirmed_at timestamptz`.execute(
    db,
  );
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant select, insert, update, delete on gateway_windows to ${role}`.execute(db);
}
