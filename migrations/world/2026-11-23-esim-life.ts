/**
 * What keeps eSIMs fresh and their owners informed: how old figures are, when the supplier is asked next, and what their owners were notified of. Every default is
 * constant, so no row is rewritten; eSIMs that are there already are due at once. Indexes: ../indexes.ts.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table esims
      add column usage_as_of timestamptz,
      add column totals_as_of timestamptz,
      add column check_asked_at timestamptz,
      add column next_check_at timestamptz not null default now(),
      add column next_usage_at timestamptz not null default now(),
      add column notified_status text,
      add column status_changes integer not null default 0,
      add column notified_usage_percent smallint not null default 0,
      add column notified_usage_total_bytes bigint,
      add column notified_expiry_days smallint not null default 0`.execute(db);
}
