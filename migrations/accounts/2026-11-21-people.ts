/**
 * People who operate the service, and their sessions. Guarantee: passwords are kept as scrypt with its parameters, tokens as SHA-256, so
 * that nothing in a dump opens the door; who a person is (id, e-mail address) never changes, and no person is removed.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // `one_time_until`: the password was made for them; it opens a session in which it can be changed, until then.
  await sql`
    create table people (
      id text primary key check (id ~ '^person-[0-9a-f]{32}$'),
      email text not null unique check (email = lower(email) and email ~ '^[^@\\s]+@[^@\\s]+$' and length(email) <= 254),
      name text not null check (length(name) between 1 and 200),
      role text not null check (role in ('SUPPORT', 'OPERATIONS', 'FINANCE', 'ADMIN')),
      password_hash text not null check (password_hash like 'scrypt$%'),
      one_time_until timestamptz,
      failed_logins integer not null default 0 check (failed_logins >= 0),
      locked_until timestamptz,
      disabled_at timestamptz,
      created_at timestamptz not null default now(),
      changed_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    create table sessions (
      token_sha256 bytea primary key check (length(token_sha256) = 32),
      person_id text not null references people (id),
      address text not null check (length(address) <= 100),
      created_at timestamptz not null,
      last_seen_at timestamptz not null,
      expires_at timestamptz not null,
      revoked_at timestamptz
    )`.execute(db);
  await sql`create index sessions_by_person on sessions (person_id)`.execute(db);
  await sql`
    grant select, insert,
      update (name, role, password_hash, one_time_until, failed_logins, locked_until, disabled_at, changed_at) on people
      to simway_accounts`.execute(db);
  await sql`
    grant select, insert, update (last_seen_at, revoked_at), delete on sessions to simway_accounts`.execute(
    db,
  );
}
