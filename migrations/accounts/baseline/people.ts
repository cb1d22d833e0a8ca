/**
 * Users who operate the service, and who gave them access. Guarantee: who an operator is (id, e-mail address)
 * never changes, and no operator is removed.
 */
import { sql } from 'kysely';
import { ROLES } from '../../../src/domain/operator-roles.ts';
import { oneOf } from '../../one-of.ts';

export const people = () => sql`
  -- one_time_until: the user's password was made for them; it opens a session in which it can be changed,
  -- until then. second_factor_waived: a login of the sandbox, whose role would take one.
  create table operators (
    user_id text primary key references users (id),
    role text not null ${oneOf('role', ROLES)},
    one_time_until timestamptz,
    disabled_at timestamptz,
    second_factor_waived boolean not null default false,
    created_at timestamptz not null default now(),
    changed_at timestamptz not null default now()
  );

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
    approved_by text references operators (user_id),
    session_until timestamptz,
    check ((approved_by is null) = (session_until is null))
  );

  -- Who gave an operator access, and who confirmed it; the record stays. second_half: of the one-time
  -- password, until it was shown to the person who confirms, or is void. email is the operator's and never
  -- changes.
  create table access_grants (
    id bigint generated always as identity primary key,
    user_id text not null references operators (user_id),
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
  create unique index access_grants_waiting on access_grants (user_id) where second_half is not null;
  create index access_grants_by_email on access_grants (email, given_at);

  -- The first of two requests: to reset, disable or demote an administrator, or to remove a user's second
  -- factor.
  create table admin_removals (
    user_id text not null references users (id),
    change text not null,
    asked_by text not null check (length(asked_by) between 1 and 254),
    asked_at timestamptz not null,
    primary key (user_id, asked_by)
  );

  grant select, insert, update (role, one_time_until, disabled_at, second_factor_waived, changed_at) on operators to simway_accounts;
  grant select, insert, update (polled_at, approved_by, session_until), delete on device_logins to simway_accounts;
  grant select, insert, update, delete on admin_removals to simway_accounts;
  grant select, insert, update (second_half, confirmed_by, confirmed_at) on access_grants to simway_accounts;
`;
