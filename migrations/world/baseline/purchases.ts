/** Purchases, what happened to them when, and the answers kept for Idempotency-Keys. */
import { sql } from 'kysely';
import { PACKAGE_TYPES, PAYMENT_METHODS, PURCHASE_STATUSES } from '../../../src/domain/states.ts';
import { oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const purchases = (world: World) => sql`
  ${rows(world)}
  ${indexes()}
  ${history(world)}
`;

const rows = ({ role }: World) => sql`
  create table purchases (
    transaction_id text primary key check (length(transaction_id) <= 50),
    account_id text not null,
    package_type text not null ${oneOf('package_type', PACKAGE_TYPES)},
    payment_method text not null ${oneOf('payment_method', PAYMENT_METHODS)},
    status text not null ${oneOf('status', PURCHASE_STATUSES)},
    reason text,
    package_code text not null,
    -- Whose package it is, by name; null where no package was found for it.
    supplier text,
    package_name text not null,
    volume_bytes bigint not null,
    duration integer not null,
    esim_id text not null,
    -- Zero only in place of another eSIM, where we pay all of it.
    price_minor bigint not null check (price_minor >= 0),
    currency text not null,
    price_usd_minor bigint not null,
    cost_usd_e4 bigint not null,
    settings_id text not null,
    rate_id text,
    top_up_iccid text,
    top_up_total_volume_bytes bigint,
    top_up_remaining_bytes bigint,
    needs_attention_since timestamptz,
    attention_reason text,
    request_id text not null,
    -- The buyer's own. Kept as text, so that webhooks show the keys of metadata in the order they were sent.
    reference text check (length(reference) between 1 and 100),
    metadata json,
    -- The eSIM in whose place this one is delivered.
    replaces text,
    -- Of an automatic top-up: what was agreed in advance.
    mandate_id text,
    created_at timestamptz not null,
    updated_at timestamptz not null default now(),
    closed_at timestamptz,
    constraint purchase_has_a_price check (price_minor > 0 or replaces is not null),
    check ((status = 'FAILED') = (reason is not null)),
    check ((status in ('SUCCESS', 'FAILED')) = (closed_at is not null))
  );

  grant insert, update on purchases to ${role};
`;

const indexes = () => sql`
  create index purchases_by_account on purchases (account_id, created_at desc);
  -- For lists of all accounts.
  create index purchases_by_time on purchases (created_at desc);
  -- For top destinations, which count all accounts.
  create index purchases_delivered on purchases (created_at) include (package_code) where status = 'SUCCESS';
  create index purchases_open on purchases (created_at) where status in ('PENDING', 'PROCESSING');
  create index purchases_unpaid on purchases (account_id) where status = 'PENDING';
  -- For the stuck list, so that its cost does not grow with the purchases.
  create index purchases_flagged on purchases (needs_attention_since)
    where needs_attention_since is not null;
  create index purchases_by_topped_up_esim on purchases (esim_id) where package_type = 'TOPUP';
  create index purchases_by_mandate on purchases (mandate_id) where mandate_id is not null;
  create index purchases_by_rate on purchases (rate_id) where rate_id is not null;
  -- An operator has the id of a request in hand, and nothing else.
  create index purchases_by_request on purchases (request_id);
  create index purchases_by_reference on purchases (reference, account_id) where reference is not null;
`;

const history = ({ role }: World) => sql`
  -- How a purchase ended is final, and so is the total that its top-up was settled with.
  create function purchase_ends_once() returns trigger language plpgsql as $$
    begin
      if old.status in ('SUCCESS', 'FAILED')
         and (new.status, new.top_up_total_volume_bytes)
             is distinct from (old.status, old.top_up_total_volume_bytes) then
        raise exception 'a closed purchase keeps its status'
          using errcode = 'restrict_violation', constraint = 'purchase_ends_once';
      end if;
      return new;
    end $$;
  create trigger purchase_ends_once before update on purchases
    for each row execute function purchase_ends_once();

  create table purchase_events (
    id bigint generated always as identity primary key,
    transaction_id text not null references purchases (transaction_id),
    at timestamptz not null default clock_timestamp(),
    what text not null,
    detail text
  );
  create index purchase_events_by_purchase on purchase_events (transaction_id, id);

  grant insert on purchase_events to ${role};
`;

export const idempotency = ({ role }: World) => sql`
  -- A key's row may stand before the purchase's first step has written anything (not begun): so the answer of
  -- a caller who could not wait for that is kept as well. The step takes the row over.
  create table idempotency_keys (
    account_id text not null,
    key text not null check (length(key) between 1 and 255),
    path text not null,
    fingerprint text not null,
    transaction_id text not null,
    begun boolean not null default false,
    refusal_reason text,
    refusal_detail text,
    answer_status integer,
    answer_body text,
    created_at timestamptz not null default now(),
    primary key (account_id, key),
    check ((answer_status is null) = (answer_body is null))
  );
  create index idempotency_keys_by_age on idempotency_keys (created_at);

  -- Ids of requests that were refused before a purchase was written, kept when their Idempotency-Key is
  -- forgotten. A key that is used again must not get such an id: its workflow may still be in Temporal, with
  -- the old answer.
  create table retired_transaction_ids (
    transaction_id text primary key,
    retired_at timestamptz not null default now()
  );

  -- Requests that were refused and left no other row. Without this the same signed request, started again in
  -- Temporal, would open what its caller was told is refused. Deleted once the signature is too old to open
  -- anything.
  create table refused_transaction_ids (
    transaction_id text primary key,
    reason text not null,
    detail text not null,
    refused_at timestamptz not null default now()
  );
  create index refused_transaction_ids_refused_at on refused_transaction_ids (refused_at);

  grant insert, update, delete on idempotency_keys to ${role};
  grant insert on retired_transaction_ids to ${role};
  grant insert, delete on refused_transaction_ids to ${role};
`;
