/**
 * People who operate the service, their sessions, and who gave them access. Guarantee: passwords are kept as
 * scrypt with its parameters, tokens and codes as SHA-256, so that nothing in a dump opens the door; who a person is
 * (id, e-mail address) never changes, and no person is removed.
 */
import { sql } from 'kysely';
import { ROLES } from '../../../src/domain/operator-roles.ts';
import { oneOf } from '../../one-of.ts';

export const people = () => sql`
  ${persons()}
  ${access()}
`;

const persons = () => sql`
  -- one_time_until: the password was made for them; it opens a session in which it can be changed, until
  -- then.
  create table people (
    id text primary key check (id ~ '^person-[0-9a-f]{32}$'),
    email text not null unique
      check (email = lower(email) and email ~ '^[^@\\s]+@[^@\\s]+$' and length(email) <= 254),
    name text not null check (length(name) between 1 and 200),
    role text not null ${oneOf('role', ROLES)},
    password_hash text not null check (password_hash like 'scrypt$%'),
    one_time_until timestamptz,
    failed_logins integer not null default 0 check (failed_logins >= 0),
    locked_until timestamptz,
    disabled_at timestamptz,
    user_id text not null unique references users (id),
    created_at timestamptz not null default now(),
    changed_at timestamptz not null default now()
  );

  -- A person who operates the service signs in as a user with the same e-mail address and password. A
  -- merchant's user who becomes an operator begins anew: sessions and a second factor of before are void. A
  -- new password also ends links for a new password and sign-ins that wait for a code.
  create function keep_person_as_user() returns trigger language plpgsql set search_path from current as $$
    begin
      insert into users (id, email, name, email_verified)
      values ('user-' || substr(new.id, 8), new.email, new.name, true)
      on conflict (email) do update set email_verified = true
      returning id into new.user_id;
      if tg_op = 'INSERT' then
        delete from user_sessions where user_id = new.user_id;
        delete from user_second_factors where user_id = new.user_id;
        update users set two_factor_enabled = false where id = new.user_id;
      end if;
      if tg_op = 'INSERT' or new.password_hash <> old.password_hash then
        insert into user_credentials (id, account_id, provider_id, user_id, password)
        values (new.user_id, new.user_id, 'credential', new.user_id, new.password_hash)
        on conflict (user_id, provider_id) do update set password = excluded.password, updated_at = now();
        delete from user_verifications where value = new.user_id;
      end if;
      return new;
    end $$;
  create trigger keep_person_as_user before insert or update of password_hash on people
    for each row execute function keep_person_as_user();

  grant select, insert, update (name, role, password_hash, one_time_until, failed_logins, locked_until,
    disabled_at, user_id, changed_at) on people to simway_accounts;
`;

const access = () => sql`
  create table sessions (
    token_sha256 bytea primary key check (length(token_sha256) = 32),
    person_id text not null references people (id),
    address text not null check (length(address) <= 100),
    created_at timestamptz not null,
    last_seen_at timestamptz not null,
    expires_at timestamptz not null,
    revoked_at timestamptz
  );
  create index sessions_by_person on sessions (person_id);

  -- A command that asks for a session. approved_by: who let it in; the session then ends at session_until at
  -- the latest.
  create table device_logins (
    device_sha256 bytea primary key check (length(device_sha256) = 32),
    code_sha256 bytea not null unique check (length(code_sha256) = 32),
    machine text not null check (length(machine) between 1 and 100),
    address text not null check (length(address) <= 100),
    created_at timestamptz not null,
    expires_at timestamptz not null,
    polled_at timestamptz,
    approved_by text references people (id),
    session_until timestamptz,
    check ((approved_by is null) = (session_until is null))
  );

  -- Who gave a person access, and who confirmed it; the record stays. second_half: of the one-time password,
  -- until it was shown to the person who confirms, or is void. email is the person's and never changes.
  create table access_grants (
    id bigint generated always as identity primary key,
    person_id text not null references people (id),
    email text not null,
    role text not null ${oneOf('role', ROLES)},
    given_by text not null check (length(given_by) between 1 and 254),
    given_at timestamptz not null,
    second_half text,
    confirmed_by text check (length(confirmed_by) between 1 and 254),
    confirmed_at timestamptz,
    check ((confirmed_by is null) = (confirmed_at is null)),
    check (second_half is null or confirmed_by is null),
    constraint access_by_two_people check (lower(trim(confirmed_by)) <> lower(trim(given_by)))
  );
  create unique index access_grants_waiting on access_grants (person_id) where second_half is not null;
  create index access_grants_by_email on access_grants (email, given_at);

  grant select, insert, update (last_seen_at, revoked_at), delete on sessions to simway_accounts;
  grant select, insert, update (polled_at, approved_by, session_until), delete on device_logins to simway_accounts;
  grant select, insert, update (second_half, confirmed_by, confirmed_at) on access_grants to simway_accounts;
`;
