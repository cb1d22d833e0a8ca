/**
 * Accounts and their keys, requests of late, and the audit log. Keys are stored as SHA-256 only (promise A7).
 */
import { sql } from 'kysely';
import { ACCOUNT_TYPES, ENVIRONMENTS, hasOwnLimit, PLANS, SCOPES } from '../../../src/domain/account.ts';
import { MEMBER_ROLES } from '../../../src/domain/member-roles.ts';
import { ACCOUNT_CURRENCIES } from '../../../src/domain/money.ts';
import { membersOf, oneOf } from '../../one-of.ts';

export const accounts = () => sql`
  ${accountsAndKeys()}
  ${records()}
`;

const accountsAndKeys = () => sql`
  -- disabled_at: its keys and members are refused until it is enabled again.
  create table accounts (
    id text primary key,
    type text not null ${oneOf('type', ACCOUNT_TYPES)},
    name text not null check (length(name) between 1 and 200),
    email text not null check (email ~ '^[^@\\s]+@[^@\\s]+$' and length(email) <= 254),
    website_url text,
    currency text not null ${oneOf('currency', ACCOUNT_CURRENCIES)},
    plan text not null ${oneOf('plan', PLANS)},
    enterprise_requests_per_minute integer check (enterprise_requests_per_minute > 0),
    created_at timestamptz not null default now(),
    changed_at timestamptz not null default now(),
    disabled_at timestamptz,
    -- What was agreed about returns of unused eSIMs; null: as the installation has it.
    returns_allowed boolean,
    return_window_days smallint check (return_window_days between 0 and 365),
    return_fee_bps smallint check (return_fee_bps between 0 and 10000),
    -- What was agreed about replacements of eSIMs; null: as the installation has it.
    replacements_allowed boolean,
    replacement_window_days smallint check (replacement_window_days between 0 and 365),
    replacement_share_bps smallint check (replacement_share_bps between 0 and 10000),
    replacement_max smallint check (replacement_max between 1 and 100),
    constraint enterprise_carries_its_own_number
      check ((plan in (${membersOf(PLANS.filter(hasOwnLimit))})) = (enterprise_requests_per_minute is not null))
  );
  create index accounts_by_change on accounts (changed_at);

  -- Writing last_used_at is no change of the key: changed_at stays and no process reads the key again.
  create table api_keys (
    id text primary key,
    account_id text not null references accounts (id),
    environment text not null ${oneOf('environment', ENVIRONMENTS)},
    key_sha256 bytea not null unique check (length(key_sha256) = 32),
    display_prefix text not null,
    last_four text not null check (length(last_four) = 4),
    scopes text[] not null
      check (cardinality(scopes) between 1 and ${sql.lit(SCOPES.length)} and scopes <@ array[${membersOf(SCOPES)}]),
    allowed_addresses text[] not null check (cardinality(allowed_addresses) between 1 and 10),
    company_name text not null,
    website_url text not null,
    -- What its maker calls it.
    name text check (length(name) between 1 and 100),
    -- Who made it: an e-mail address, or a name given on the command line.
    created_by text not null,
    -- The last role of the member who made it, for after they have left: a key does no more than its maker.
    maker_role text ${oneOf('maker_role', MEMBER_ROLES)},
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    created_at timestamptz not null default now(),
    changed_at timestamptz not null default now()
  );
  create index api_keys_by_account on api_keys (account_id);
  create index api_keys_by_change on api_keys (changed_at);

  grant select, insert, update on accounts, api_keys to simway_accounts;
`;

const records = () => sql`
  create table api_requests (
    id bigint generated always as identity primary key,
    account_id text not null,
    environment text not null ${oneOf('environment', ENVIRONMENTS)},
    request_id text not null,
    at timestamptz not null,
    method text not null,
    path text not null,
    status smallint not null,
    error_code text,
    duration_ms real not null,
    key_id text not null
  );
  create index api_requests_by_account on api_requests (account_id, environment, id);
  create index api_requests_by_time on api_requests (at);
  -- An operator has the id of a request in hand, and nothing else.
  create index api_requests_by_request on api_requests (request_id);

  create table audit_log (
    id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    actor text not null,
    action text not null,
    subject text not null,
    detail jsonb not null default '{}'
  );
  -- Newest first, by each of its filters.
  create index audit_log_by_time on audit_log (at, id);
  create index audit_log_by_actor on audit_log (actor, at, id);
  create index audit_log_by_action on audit_log (action, at, id);
  create index audit_log_by_subject on audit_log (subject, at, id);

  grant select, insert, delete on api_requests to simway_accounts;
  grant select, insert on audit_log to simway_accounts;
`;
