/**
 * Users who sign in (tables of better-auth, under names of ours), and the accounts that they belong to.
 * Guarantee: who a user is (id, e-mail address) never changes; passwords are kept as scrypt with its
 * parameters, links and second factors as hashes or encrypted; a session's token opens nothing without the
 * signature in its cookie or in the program's token.
 */
import { sql } from 'kysely';
import { MEMBER_ROLES } from '../../../src/domain/member-roles.ts';
import { NOTICE_KINDS } from '../../../src/domain/notice-kinds.ts';
import { ACCOUNT_CURRENCIES } from '../../../src/domain/money.ts';
import { oneOf } from '../../one-of.ts';

export const users = () => sql`
  ${signedIn()}
  ${proofs()}
  ${notices()}
`;

const signedIn = () => sql`
  create table users (
    id text primary key check (id ~ '^user-[0-9a-f]{32}$'),
    email text not null unique
      check (email = lower(email) and email ~ '^[^@\\s]+@[^@\\s]+$' and length(email) <= 254),
    name text not null check (length(name) between 1 and 200),
    email_verified boolean not null default true,
    image text,
    two_factor_enabled boolean not null default false,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );

  -- user_agent: what the session is for, the dashboard or a program. device: the words of a person for it.
  -- confirmed_at: when the password was last given, and the code of a second factor.
  create table user_sessions (
    id text primary key,
    token text not null unique,
    user_id text not null references users (id) on delete cascade,
    ip_address text,
    user_agent text,
    device text,
    confirmed_at timestamptz not null default now(),
    expires_at timestamptz not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );
  create index user_sessions_by_user on user_sessions (user_id);
  create index user_sessions_by_expiry on user_sessions (expires_at);

  -- Wrong passwords in a row, from one place: a lock hits who guesses, not whose password it is.
  create table sign_in_failures (
    user_id text not null references users (id) on delete cascade,
    place text not null,
    failed integer not null default 1 check (failed >= 0),
    failed_at timestamptz not null default now(),
    locked_until timestamptz,
    primary key (user_id, place)
  );
  grant select, insert, update, delete on sign_in_failures to simway_accounts;

  -- Until its link is opened with its password, a sign-up is no user: an address may have several at once.
  create table sign_ups (
    token_sha256 bytea primary key check (length(token_sha256) = 32),
    email text not null
      check (email = lower(email) and email ~ '^[^@\\s]+@[^@\\s]+$' and length(email) <= 254),
    name text not null check (length(name) between 1 and 200),
    password text not null check (password like 'scrypt$%'),
    company_name text not null check (length(company_name) between 1 and 200),
    currency text not null ${oneOf('currency', ACCOUNT_CURRENCIES)},
    wrong_passwords integer not null default 0,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null
  );
  create index sign_ups_by_email on sign_ups (email);
  create index sign_ups_by_expiry on sign_ups (expires_at);

  grant select, insert, update (name, email_verified, image, two_factor_enabled, updated_at), delete on users to simway_accounts;
  grant select, insert, update, delete on user_sessions to simway_accounts;
  grant select, insert, update (wrong_passwords), delete on sign_ups to simway_accounts;
`;

const proofs = () => sql`
  -- The columns for other ways of signing in than a password stay empty: better-auth expects them.
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
  );

  create table user_verifications (
    id text primary key,
    identifier text not null,
    value text not null,
    expires_at timestamptz not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );
  create index user_verifications_by_identifier on user_verifications (identifier);
  create index user_verifications_by_expiry on user_verifications (expires_at);

  create table user_second_factors (
    id text primary key,
    user_id text not null unique references users (id) on delete cascade,
    secret text not null,
    backup_codes text not null,
    verified boolean not null default true,
    failed_verification_count integer not null default 0,
    locked_until timestamptz
  );

  -- A code of an authenticator app counts once, and one address gets few of our mails. Both hold hashes, for
  -- minutes and an hour.
  create table used_codes (
    user_id text not null references users (id) on delete cascade,
    code_sha256 bytea not null,
    used_at timestamptz not null,
    primary key (user_id, code_sha256)
  );
  create table mails_to (
    address_sha256 bytea primary key,
    since timestamptz not null,
    count integer not null check (count > 0)
  );
  -- People who are not users, and want none of our mail.
  create table mail_stops (
    address_sha256 bytea primary key check (length(address_sha256) = 32),
    created_at timestamptz not null default now()
  );

  grant select, insert on mail_stops to simway_accounts;
  grant select, insert, update, delete on user_credentials, user_verifications, user_second_factors, mails_to
    to simway_accounts;
  grant select, insert, delete on used_codes to simway_accounts;
`;

const notices = () => sql`
  -- Mails to users about their own access that wait to be sent.
  create table user_notices (
    id bigint generated always as identity primary key,
    user_id text not null references users (id) on delete cascade,
    kind text not null ${oneOf('kind', NOTICE_KINDS)},
    facts jsonb not null,
    attempts integer not null default 0,
    next_attempt_at timestamptz not null default now(),
    created_at timestamptz not null default now()
  );
  create index user_notices_due on user_notices (next_attempt_at);
  create index user_notices_by_user on user_notices (user_id);

  grant select, insert, update (attempts, next_attempt_at), delete on user_notices to simway_accounts;
`;

export const members = () => sql`
  create table members (
    account_id text not null references accounts (id),
    user_id text not null references users (id),
    role text not null ${oneOf('role', MEMBER_ROLES)},
    joined_at timestamptz not null default now(),
    primary key (account_id, user_id)
  );
  create index members_by_user on members (user_id);

  create table invitations (
    id text primary key check (id ~ '^inv-[0-9a-f]{32}$'),
    account_id text not null references accounts (id),
    email text not null
      check (email = lower(email) and email ~ '^[^@\\s]+@[^@\\s]+$' and length(email) <= 254),
    role text not null ${oneOf('role', MEMBER_ROLES)},
    token_sha256 bytea not null unique check (length(token_sha256) = 32),
    invited_by text not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    unique (account_id, email)
  );

  grant select, insert, update (role), delete on members to simway_accounts;
  grant select, insert, delete on invitations to simway_accounts;
`;
