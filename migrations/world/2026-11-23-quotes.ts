/** Prices that are frozen for a while before the purchase. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table quotes (
      id text primary key,
      account_id text not null,
      package_type text not null check (package_type in ('BASE', 'TOPUP')),
      package_code text not null references packages (package_code),
      package_name text not null,
      esim_id text check ((esim_id is not null) = (package_type = 'TOPUP')),
      payment_method text,
      price_minor bigint not null check (price_minor >= 0),
      currency text not null,
      price_usd_minor bigint not null check (price_usd_minor >= 0),
      cost_usd_e4 bigint not null,
      settings_id text not null references pricing_settings (id),
      rate_id text,
      charge jsonb,
      created_at timestamptz not null,
      expires_at timestamptz not null check (expires_at > created_at),
      used_by text,
      used_at timestamptz,
      check ((used_by is null) = (used_at is null))
    )`.execute(db);
  await sql`create index quotes_unused on quotes (account_id, expires_at) where used_by is null`.execute(db);
  await sql`create index quotes_by_age on quotes (expires_at)`.execute(db);
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const schema = rows[0]?.schema ?? '';
  await sql`grant select, insert, update, delete on quotes to ${sql.id(`simway_${schema}`)}`.execute(db);
}
