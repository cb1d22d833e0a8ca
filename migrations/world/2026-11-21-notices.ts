/**
 * Notices: what an account's owner is told by e-mail, written in the transaction of what it tells of and kept until it is sent. The address is
 * read where it is sent, from the account. Beside it an index for finding endpoints that have failed for long.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table notices (
      id text primary key check (id ~ '^notice-[0-9a-f]{32}$'),
      account_id text not null,
      kind text not null check (kind ~ '^[a-z-]{3,50}$'),
      facts jsonb not null,
      attempts integer not null default 0,
      next_attempt_at timestamptz,
      sent_at timestamptz,
      created_at timestamptz not null default now(),
      check ((sent_at is null) = (next_attempt_at is not null))
    )`.execute(db);
  await sql`create index notices_due on notices (next_attempt_at) where sent_at is null`.execute(db);
  await sql`create index notices_by_age on notices (created_at)`.execute(db);
  await sql`
    create index webhook_endpoints_failing on webhook_endpoints (failing_since)
     where enabled and deleted_at is null and failing_since is not null`.execute(db);
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant select, insert, update (attempts, next_attempt_at, sent_at), delete on notices to ${role}`.execute(
    db,
  );
}
