/**
 * Users who sign in at the dashboard (tables of better-auth, under names of ours), the accounts that they belong to, and the recent requests of an
 * account. Guarantee: passwords are kept as scrypt with its parameters, links and second factors as hashes or encrypted; a session's token opens
 * nothing without the signature in its cookie.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await addUsers(db);
  await addProofs(db);
  await addOperators(db);
  await addMembers(db);
  await addRequests(db);
  await sql`alter table accounts add column website_url text`.execute(db);
}

async function addUsers(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table users (
      id text primary key check (id ~ '^user-[0-9a-f]{32}$'),
      email text not null unique check (email = lower(email) and email ~ '^[^@\\s]+@[^@\\s]+$' and length(email) <= 254),
      name text not null check (length(name) between 1 and 200),
      email_verified boolean not null default false,
      image text,
      two_factor_enabled boolean not null default false,
      failed_logins integer not null default 0 check (failed_logins >= 0),
      locked_until timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    create table user_sessions (
      id text primary key,
      token text not null unique,
      user_id text not null references users (id) on delete cascade,
      ip_address text,
      user_agent text,
      expires_at timestamptz not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index user_sessions_by_user on user_sessions (user_id)`.execute(db);
  await sql`create index user_sessions_by_expiry on user_sessions (expires_at)`.execute(db);
}

async function addProofs(db: Kysely<unknown>): Promise<void> {
  // The columns for other ways of signing in than a password stay empty: better-auth expects them.
  await sql`
    create table user_credentials (
      id text primary key,
      account_id text not null,
      provider_id text not null,
      user_id text not null references users (id) on delete cascade,
      password text check (password like 'scrypt$%'),
      access_token text,
      refresh_token text,
      id_token text,
      access_token_expires_at timestamptz,
      refresh_token_expires_at timestamptz,
      scope text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (user_id, provider_id)
    )`.execute(db);
  await sql`
    create table user_verifications (
      id text primary key,
      identifier text not null,
      value text not null,
      expires_at timestamptz not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index user_verifications_by_identifier on user_verifications (identifier)`.execute(db);
  await sql`create index user_verifications_by_expiry on user_verifications (expires_at)`.execute(db);
  await sql`
    create table user_second_factors (
      id text primary key,
      user_id text not null unique references users (id) on delete cascade,
      secret text not null,
      backup_codes text not null,
      verified boolean not null default true,
      failed_verification_count integer not null default 0,
      locked_until timestamptz
    )`.execute(db);
  await sql`
    create table sign_ups (
      user_id text primary key references users (id) on delete cascade,
      company_name text not null check (length(company_name) between 1 and 200),
      currency text not null check (currency in ('NGN', 'USD')),
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    grant select, insert, update, delete
      on users, user_sessions, user_credentials, user_verifications, user_second_factors, sign_ups to simway_accounts`.execute(
    db,
  );
}

/**
 * A person who operates the service signs in as a user with the same e-mail address and password. The copy is made by the database, so that processes
 * of the release before, which know `people` alone, change both.
 */
async function addOperators(db: Kysely<unknown>): Promise<void> {
  await sql`alter table people add column user_id text unique references users (id)`.execute(db);
  await sql`
    create function keep_person_as_user() returns trigger language plpgsql set search_path from current as $$
    begin
      insert into users (id, email, name, email_verified)
      values ('user-' || substr(new.id, 8), new.email, new.name, true)
      on conflict (email) do update set email_verified = true
      returning id into new.user_id;
      if tg_op = 'INSERT' or new.password_hash <> old.password_hash or old.user_id is null then
        insert into user_credentials (id, account_id, provider_id, user_id, password)
        values (new.user_id, new.user_id, 'credential', new.user_id, new.password_hash)
        on conflict (user_id, provider_id) do update set password = excluded.password, updated_at = now();
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger keep_person_as_user before insert or update of password_hash on people
      for each row execute function keep_person_as_user()`.execute(db);
  // Fires the trigger: everybody keeps their password.
  await sql`update people set password_hash = password_hash`.execute(db);
  await sql`grant update (user_id) on people to simway_accounts`.execute(db);
}

async function addMembers(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table members (
      account_id text not null references accounts (id),
      user_id text not null references users (id),
      role text not null check (role in ('OWNER', 'DEVELOPER', 'FINANCE', 'SUPPORT')),
      joined_at timestamptz not null default now(),
      primary key (account_id, user_id)
    )`.execute(db);
  await sql`create index members_by_user on members (user_id)`.execute(db);
  await sql`
    create table invitations (
      id text primary key check (id ~ '^inv-[0-9a-f]{32}$'),
      account_id text not null references accounts (id),
      email text not null check (email = lower(email) and email ~ '^[^@\\s]+@[^@\\s]+$' and length(email) <= 254),
      role text not null check (role in ('OWNER', 'DEVELOPER', 'FINANCE', 'SUPPORT')),
      token_sha256 bytea not null unique check (length(token_sha256) = 32),
      invited_by text not null,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      unique (account_id, email)
    )`.execute(db);
  await sql`grant select, insert, update (role), delete on members to simway_accounts`.execute(db);
  await sql`grant select, insert, delete on invitations to simway_accounts`.execute(db);
}

async function addRequests(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table api_requests (
      id bigint generated always as identity primary key,
      account_id text not null,
      environment text not null check (environment in ('live', 'test')),
      request_id text not null,
      at timestamptz not null,
      method text not null,
      path text not null,
      status smallint not null,
      error_code text,
      duration_ms real not null,
      key_id text not null
    )`.execute(db);
  await sql`create index api_requests_by_account on api_requests (account_id, environment, id)`.execute(db);
  await sql`create index api_requests_by_time on api_requests (at)`.execute(db);
  await sql`grant select, insert, delete on api_requests to simway_accounts`.execute(db);
}
