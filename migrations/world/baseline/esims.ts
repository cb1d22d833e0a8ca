/** eSIMs, the links of their install pages, and the supplier's events about them. */
import { sql } from 'kysely';
import { ESIM_STATUSES } from '../../../src/domain/states.ts';
import { oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

/** An eSIM that the supplier is asked about. In src/esims/store/{due,esims,facts}.ts as well, literally. */
const IN_USE = sql`status in ('CREATED', 'ACTIVE', 'SUSPENDED') and esim_tran_no <> ''`;

export const esims = (world: World) => sql`
  ${orders(world)}
  ${indexes()}
  ${linksAndEvents(world)}
`;

const orders = ({ role }: World) => sql`
  create table esims (
    id text primary key,
    account_id text not null,
    transaction_id text not null unique,
    package_code text not null,
    package_name text not null,
    status text not null ${oneOf('status', ESIM_STATUSES)},
    price_minor bigint not null,
    currency text not null,
    snapshot jsonb not null,
    supplier text not null,
    order_no text not null default '',
    esim_tran_no text not null default '',
    iccid text not null default '',
    imsi text not null default '',
    msisdn text,
    install_sealed bytea,
    eid text not null default '',
    smdp_status text not null default '',
    active_type text not null default '',
    activate_time timestamptz,
    expired_time timestamptz,
    total_volume_bytes bigint not null,
    order_usage_bytes bigint not null default 0,
    total_duration integer not null,
    duration_unit text not null,
    apn text not null default '',
    sms_status integer not null default 0,
    data_type integer not null,
    -- How old the figures are, and when the supplier is asked next.
    checked_at timestamptz,
    usage_asked_at timestamptz,
    usage_as_of timestamptz,
    totals_as_of timestamptz,
    check_asked_at timestamptz,
    next_check_at timestamptz not null default now(),
    next_usage_at timestamptz not null default now(),
    -- What its owner was notified of.
    notified_status text,
    status_changes integer not null default 0,
    notified_usage_percent smallint not null default 0,
    notified_usage_total_bytes bigint,
    notified_expiry_days smallint not null default 0,
    returned_at timestamptz,
    -- The eSIM in whose place this one is, and the one in its place.
    replaces text,
    replaced_by text,
    created_at timestamptz not null,
    updated_at timestamptz not null default now()
  );

  grant insert, update on esims to ${role};
`;

const indexes = () => sql`
  -- Everything that my-esims filters by: a search reads an account's entries, and rows only for its page.
  create index esims_by_account on esims (account_id, created_at desc, id desc)
    include (status, package_name, iccid, transaction_id);
  create index esims_by_time on esims (created_at desc);
  create index esims_by_iccid on esims (iccid) where iccid <> '';
  create index esims_by_tran_no on esims (esim_tran_no) where esim_tran_no <> '';
  create index esims_by_order_no on esims (order_no) where order_no <> '';
  create index esims_by_next_check on esims (next_check_at) where ${IN_USE};
  create index esims_by_next_usage on esims (next_usage_at) where ${IN_USE};
  create index esims_by_expiry on esims (notified_expiry_days, expired_time) where ${IN_USE};
  -- An account's eSIMs that were not asked about for longest, and those with the oldest usage.
  create index esims_by_account_age on esims (account_id, checked_at) where ${IN_USE};
  create index esims_by_account_usage_age on esims (account_id, coalesce(usage_as_of, checked_at))
    where ${IN_USE};
  -- An account's eSIMs that end soon.
  create index esims_by_account_expiry on esims (account_id, expired_time, id) where ${IN_USE};
  -- The expression is in src/esims/store/install-data.ts as well, literally.
  create index esims_by_seal on esims (substring(install_sealed from 1 for 9), id)
    where install_sealed is not null;
`;

const linksAndEvents = ({ role }: World) => sql`
  -- The public link of an eSIM's install page. Its token is in no dump: the row has a random number, from
  -- which it is made with a secret of the installation, and its hash, by which it is found. Revoking deletes
  -- the row.
  create table install_links (
    esim_id text primary key,
    nonce bytea not null check (octet_length(nonce) = 16),
    token_hash bytea not null unique check (octet_length(token_hash) = 32),
    created_at timestamptz not null default now()
  );

  -- The supplier's events as they arrived: unsigned, so each is only a hint to ask the supplier. Of the body
  -- only what finds the eSIM is kept, each text cut, so that a row stays under a kilobyte.
  create table supplier_events (
    id bigint generated always as identity primary key,
    supplier text not null,
    notify_id text not null,
    type text not null,
    about text not null check (about in ('esim', 'order', 'health', 'unknown')),
    esim_tran_no text,
    order_no text,
    transaction_id text,
    supplier_status text,
    sender text not null,
    is_foreign boolean not null,
    generated_at timestamptz,
    received_at timestamptz not null default clock_timestamp(),
    leased_until timestamptz,
    applied_at timestamptz,
    note text,
    -- A stranger who guesses a number must not hold back the supplier's own event.
    unique (supplier, notify_id, is_foreign)
  );
  create index supplier_events_waiting on supplier_events (supplier, id) where applied_at is null;
  create index supplier_events_foreign on supplier_events (received_at) where is_foreign;
  create index supplier_events_applied on supplier_events (applied_at) where applied_at is not null;

  grant insert, delete on install_links to ${role};
  grant insert, update, delete on supplier_events to ${role};
`;
