/** Batch repairs: one action on many stuck items, asked for by one person and approved by another. The rows hold what the second person saw. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table batch_repairs (
      id text primary key check (id ~ '^repair-[0-9a-f]{32}$'),
      repair_key text not null unique check (length(repair_key) between 1 and 200),
      action text not null,
      filter jsonb not null,
      reason text not null,
      evidence text,
      by_person text not null,
      status text not null check (status in ('WAITS_FOR_APPROVAL', 'RUNNING', 'COMPLETED', 'STOPPED', 'DECLINED', 'EXPIRED')),
      row_count integer not null check (row_count between 1 and 500),
      expires_at timestamptz not null,
      decided_by text,
      decided_at timestamptz,
      stop_asked_at timestamptz,
      next_check_at timestamptz,
      created_at timestamptz not null,
      closed_at timestamptz,
      constraint batch_repair_by_two_people check (status = 'DECLINED' or lower(trim(decided_by)) <> lower(trim(by_person))),
      check ((decided_by is null) = (decided_at is null)),
      check (status not in ('RUNNING', 'COMPLETED', 'STOPPED') or decided_by is not null),
      check ((status in ('WAITS_FOR_APPROVAL', 'RUNNING')) = (closed_at is null)),
      check ((status = 'RUNNING') = (next_check_at is not null))
    )`.execute(db);
  await sql`create index batch_repairs_newest on batch_repairs (created_at desc, id)`.execute(db);
  await sql`create index batch_repairs_open on batch_repairs (created_at) where closed_at is null`.execute(
    db,
  );
  await sql`
    create table batch_repair_rows (
      repair_id text not null references batch_repairs (id),
      row_number integer not null check (row_number between 1 and 500),
      transaction_id text not null,
      class text not null,
      amount_minor bigint check (amount_minor > 0),
      currency text,
      foreseen text not null,
      status text not null default 'WAITING' check (status in ('WAITING', 'DONE', 'REFUSED', 'UNKNOWN', 'SKIPPED')),
      detail text,
      attempts integer not null default 0,
      next_at timestamptz,
      closed_at timestamptz,
      primary key (repair_id, row_number),
      check ((amount_minor is null) = (currency is null)),
      check ((status = 'WAITING') = (closed_at is null))
    )`.execute(db);
  // One open batch repair at most works on a transaction.
  await sql`
    create unique index batch_repair_rows_open on batch_repair_rows (transaction_id) where closed_at is null`.execute(
    db,
  );
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`
    grant select, insert, update (status, decided_by, decided_at, stop_asked_at, next_check_at, closed_at) on batch_repairs to ${role}`.execute(
    db,
  );
  await sql`
    grant select, insert, update (status, detail, attempts, next_at, closed_at) on batch_repair_rows to ${role}`.execute(
    db,
  );
}
