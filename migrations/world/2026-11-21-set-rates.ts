/**
 * Exchange rates that a person set: kept with who and why, and observed again in place of the configuration's until the next word. A
 * quarantined observation that a person confirmed says why.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Without a rate: the configuration's counts again.
  await sql`
    create table set_rates (
      id bigint generated always as identity primary key,
      currency text not null check (currency ~ '^[A-Z]{3}$'),
      rate_micros bigint check (rate_micros > 0),
      set_by text not null,
      reason text not null,
      set_at timestamptz not null default clock_timestamp()
    )`.execute(db);
  await sql`create index set_rates_latest on set_rates (currency, id desc)`.execute(db);
  await sql`alter table exchange_rates add column confirmed_reason text`.execute(db);
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant select, insert on set_rates to ${role}`.execute(db);
}
