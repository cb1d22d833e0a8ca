/** Accounts, keys and the audit log: the one schema both worlds read. Keys are stored as SHA-256 only (promise A7). */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table accounts (
      id text primary key,
      type text not null check (type in ('USER', 'MERCHANT')),
      name text not null check (length(name) between 1 and 200),
      email text not null check (email ~ '^[^@\\s]+@[^@\\s]+$' and length(email) <= 254),
      currency text not null check (currency in ('NGN', 'USD')),
      plan text not null check (plan in ('STANDARD', 'PREMIUM', 'ENTERPRISE')),
      enterprise_requests_per_minute integer check (enterprise_requests_per_minute > 0),
      created_at timestamptz not null default now(),
      changed_at timestamptz not null default now(),
      constraint enterprise_carries_its_own_number
        check ((plan = 'ENTERPRISE') = (enterprise_requests_per_minute is not null))
    )`.execute(db);
  await sql`
    create table api_keys (
      id text primary key,
      account_id text not null references accounts (id),
      environment text not null check (environment in ('live', 'test')),
      key_sha256 bytea not null unique check (length(key_sha256) = 32),
      display_prefix text not null,
      last_four text not null check (length(last_four) = 4),
      scopes text[] not null check (cardinality(scopes) between 1 and 2 and scopes <@ array['read', 'purchase']),
      allowed_addresses text[] not null check (cardinality(allowed_addresses) between 1 and 10),
      company_name text not null,
      website_url text not null,
      expires_at timestamptz,
      revoked_at timestamptz,
      created_at timestamptz not null default now(),
      changed_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index api_keys_by_account on api_keys (account_id)`.execute(db);
  await sql`create index api_keys_by_change on api_keys (changed_at)`.execute(db);
  await sql`create index accounts_by_change on accounts (changed_at)`.execute(db);
  await sql`
    create table audit_log (
      id bigint generated always as identity primary key,
      at timestamptz not null default now(),
      actor text not null,
      action text not null,
      subject text not null,
      detail jsonb not null default '{}'
    )`.execute(db);
  await sql`grant select, insert, update on accounts, api_keys to simway_accounts`.execute(db);
  await sql`grant select, insert on audit_log to simway_accounts`.execute(db);
}
