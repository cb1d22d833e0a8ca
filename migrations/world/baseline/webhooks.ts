/**
 * What merchants are told: webhooks to their endpoints, the feed of events that they pull, and notices by
 * e-mail. Each is written in the transaction of the change that it tells of.
 */
import { sql } from 'kysely';
import type { World } from './world.ts';

export const webhooks = (world: World) => sql`
  ${endpoints(world)}
  ${messages(world)}
  ${feed(world)}
  ${notices(world)}
`;

const endpoints = ({ role }: World) => sql`
  -- Secrets are sealed.
  create table webhook_endpoints (
    id text primary key check (id ~ '^ep-[0-9a-f]{32}$'),
    account_id text not null,
    url text not null,
    events text[] not null check (cardinality(events) > 0),
    enabled boolean not null default true,
    disabled_reason text check (disabled_reason in ('BY_OWNER', 'GONE', 'FAILING')),
    disabled_at timestamptz,
    failing_since timestamptz,
    owner_warned_at timestamptz,
    secret_sealed bytea not null,
    previous_secret_sealed bytea,
    previous_until timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    deleted_at timestamptz,
    -- Who made it, or the key that did: an e-mail address, or a name given on the command line.
    created_by text not null default '',
    check (enabled = (disabled_reason is null)),
    check (enabled = (disabled_at is null)),
    check ((previous_secret_sealed is null) = (previous_until is null))
  );
  -- Asked by every change that merchants may be told of: one look in a small index where there is no
  -- endpoint.
  create index webhook_endpoints_by_account on webhook_endpoints (account_id) where deleted_at is null;
  create index webhook_endpoints_failing on webhook_endpoints (failing_since)
    where enabled and deleted_at is null and failing_since is not null;

  -- Secrets that were replaced and still sign, beyond the one that was replaced last, which is in the
  -- endpoint's row.
  create table webhook_older_secrets (
    id bigint generated always as identity primary key,
    endpoint_id text not null references webhook_endpoints (id),
    secret_sealed bytea not null,
    until timestamptz not null
  );
  create index webhook_older_secrets_by_endpoint on webhook_older_secrets (endpoint_id);

  -- The balance below which an account wants to be told.
  create table low_balance_thresholds (
    account_id text primary key,
    threshold_minor bigint not null check (threshold_minor > 0),
    updated_at timestamptz not null
  );

  grant insert, update on webhook_endpoints to ${role};
  grant insert, update (secret_sealed), delete on webhook_older_secrets to ${role};
  grant insert, update, delete on low_balance_thresholds to ${role};
`;

const messages = ({ role }: World) => sql`
  -- One event for one endpoint.
  create table webhook_messages (
    id text primary key check (id ~ '^msg-[0-9a-f]{32}$'),
    endpoint_id text not null references webhook_endpoints (id),
    account_id text not null,
    event_id text,
    event text not null,
    event_key text not null,
    subject text,
    body text not null,
    status text not null check (status in ('PENDING', 'DELIVERED', 'FAILED')),
    attempts integer not null default 0,
    series_from integer not null default 0,
    next_attempt_at timestamptz,
    -- When a workflow was given it to carry. Null: it is sent from its row.
    handed_over_at timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    closed_at timestamptz,
    constraint webhook_message_once unique (endpoint_id, event_key),
    check ((status = 'PENDING') = (next_attempt_at is not null)),
    check ((status = 'PENDING') = (closed_at is null))
  );
  create index webhook_messages_by_account on webhook_messages (account_id, created_at desc, id desc);
  -- An account's messages that were not delivered yet: few.
  create index webhook_messages_undelivered on webhook_messages (account_id, created_at desc, id desc)
    where status <> 'DELIVERED';
  create index webhook_messages_by_endpoint on webhook_messages (endpoint_id, created_at desc, id desc);
  create index webhook_messages_by_subject on webhook_messages (subject) where subject is not null;
  create index webhook_messages_by_event on webhook_messages (event_id) where event_id is not null;
  create index webhook_messages_due on webhook_messages (next_attempt_at) where status = 'PENDING';
  -- What the dispatcher sends, by endpoint, so that each gets its share.
  create index webhook_messages_to_dispatch on webhook_messages (endpoint_id, next_attempt_at)
    where status = 'PENDING' and handed_over_at is null;
  -- What workflows carry: few, since they have failed or wait for a slow endpoint.
  create index webhook_messages_carried on webhook_messages (next_attempt_at)
    where status = 'PENDING' and handed_over_at is not null;
  create index webhook_messages_closed on webhook_messages (closed_at) where closed_at is not null;
  create index webhook_messages_failed on webhook_messages (closed_at) where status = 'FAILED';

  create table webhook_attempts (
    id bigint generated always as identity primary key,
    message_id text not null references webhook_messages (id) on delete cascade,
    attempt integer not null check (attempt > 0),
    at timestamptz not null,
    ms integer not null,
    outcome text not null,
    status integer,
    url text not null,
    request_headers jsonb,
    answer_headers jsonb,
    answer_start text not null,
    constraint webhook_attempt_once unique (message_id, attempt)
  );

  -- Messages are forgotten when nothing can be done with them any more, and their attempts with them.
  grant insert, update, delete on webhook_messages to ${role};
  grant insert on webhook_attempts to ${role};
`;

const feed = ({ role, ownPath }: World) => sql`
  -- cluster: what the transaction ids are from. A server that was restored counts them again
  -- (migrations/event-positions.ts).
  create table event_feed (
    is_only boolean primary key default true check (is_only),
    position_offset bigint not null default 0,
    deleted_to bigint not null default 0,
    cluster text
  );
  insert into event_feed default values;

  -- Events without an account are for all.
  create table events (
    id text primary key check (id ~ '^evt-[0-9a-f]{32}$'),
    -- The id of its transaction, or the position of an event that was committed before it, of its account or,
    -- without one, of all: so causes come before what follows from them, and no position is below one that
    -- readers have passed.
    position bigint not null,
    seq bigint not null generated always as identity,
    account_id text,
    event text not null,
    event_key text not null,
    subject text,
    body text not null,
    created_at timestamptz not null default now(),
    constraint event_once unique (event_key)
  );
  create index events_by_account on events (account_id, position, seq);
  create index events_by_age on events (created_at);
  -- The life of an eSIM.
  create index events_by_subject on events (subject) where subject is not null;

  -- A transaction may have its id long before it writes an event, as where it waits for locks of many eSIMs.
  -- A position that is given is one of a restore. Each branch reads the end of its part of the index, which
  -- one query over both would not.
  create function position_event() returns trigger language plpgsql ${ownPath} as $$
    declare
      last bigint;
    begin
      if new.position is not null then
        return new;
      end if;
      if new.account_id is null then
        select max(position) into last from events where account_id is null;
      else
        select max(position) into last from events where account_id = new.account_id;
      end if;
      select greatest(pg_current_xact_id()::text::bigint + position_offset, last) into new.position
        from event_feed;
      return new;
    end $$;
  create trigger position_event before insert on events for each row execute function position_event();

  grant insert (id, account_id, event, event_key, subject, body), delete on events to ${role};
  grant update (deleted_to) on event_feed to ${role};
`;

const notices = ({ role }: World) => sql`
  -- What an account's owner is told by e-mail, kept until it is sent. The address is read where it is sent,
  -- from the account.
  create table notices (
    id text primary key check (id ~ '^notice-[0-9a-f]{32}$'),
    account_id text not null,
    kind text not null check (kind ~ '^[a-z-]{3,50}$'),
    facts jsonb not null,
    attempts integer not null default 0,
    next_attempt_at timestamptz,
    sent_at timestamptz,
    created_at timestamptz not null default now(),
    check ((sent_at is null) = (next_attempt_at is not null))
  );
  create index notices_due on notices (next_attempt_at) where sent_at is null;
  create index notices_by_age on notices (created_at);

  grant insert, update (attempts, next_attempt_at, sent_at), delete on notices to ${role};
`;
