/** Who asked for a reconciliation, and for which time, written before Temporal is asked: a run believes this row, not its workflow's input. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table reconciliation_requests (
      run_key text primary key,
      asked_by text not null,
      from_at timestamptz,
      to_at timestamptz,
      asked_at timestamptz not null default now(),
      check ((from_at is null) = (to_at is null))
    )`.execute(db);
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant select, insert on reconciliation_requests to ${role}`.execute(db);
}
