/**
 * Money through gateways: wallets being funded, charges with where the money of each is, events as they
 * arrived, refunds and disputes. A gateway goes by name. Guarantee: no payment gives the same money twice.
 */
import { sql } from 'kysely';
import { GATEWAY_METHODS, PAYMENT_PURPOSES } from '../../../src/domain/states.ts';
import { oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const payments = (world: World) => sql`
  ${fundings(world)}
  ${buyers(world)}
  ${checks(world)}
  ${charges(world)}
  ${gatewayEvents(world)}
  ${refunds(world)}
  ${disputes(world)}
  ${unpaidBound()}
`;

const fundings = ({ role }: World) => sql`
  create table fundings (
    transaction_id text primary key check (length(transaction_id) <= 50),
    account_id text not null,
    payment_method text not null ${oneOf('payment_method', GATEWAY_METHODS)},
    status text not null check (status in ('PENDING', 'SUCCESS', 'FAILED')),
    reason text,
    amount_minor bigint not null check (amount_minor > 0),
    currency text not null,
    needs_attention_since timestamptz,
    attention_reason text,
    request_id text not null,
    reference text check (length(reference) between 1 and 100),
    metadata json,
    created_at timestamptz not null,
    updated_at timestamptz not null default now(),
    closed_at timestamptz,
    check ((status = 'FAILED') = (reason is not null)),
    check ((status = 'PENDING') = (closed_at is null))
  );
  create index fundings_by_account on fundings (account_id, created_at desc);
  create index fundings_by_time on fundings (created_at desc);
  create index fundings_open on fundings (created_at) where status = 'PENDING';
  create index fundings_unpaid on fundings (account_id) where status = 'PENDING';
  create index fundings_flagged on fundings (needs_attention_since) where needs_attention_since is not null;
  -- An operator has the id of a request in hand, and nothing else.
  create index fundings_by_request on fundings (request_id);
  create index fundings_by_reference on fundings (reference, account_id) where reference is not null;

  grant insert, update on fundings to ${role};
`;

const buyers = ({ role, ownPath }: World) => sql`
  -- Who pays at a gateway for a purchase or a funding, and where they go back to. The address is personal
  -- data: it is blanked after 30 days.
  create table buyer_details (
    transaction_id text primary key,
    customer_email text,
    success_url text,
    cancel_url text,
    created_at timestamptz not null default now()
  );
  create index buyer_emails_kept on buyer_details (created_at) where customer_email is not null;
  -- The gateway names a returned transfer by the buyer's address alone.
  create index buyer_details_by_email on buyer_details (lower(customer_email))
    where customer_email is not null;

  -- The hosts of a shop that its buyers may be sent back to.
  create table return_hosts (
    account_id text primary key,
    hosts text[] not null check (cardinality(hosts) between 1 and 20),
    changed_at timestamptz not null,
    changed_by text not null
  );

  -- Which purchase or funding of the account carries this reference, beside this one; null: none. One that
  -- failed does not count: nothing was sold. Holds the reference until the end of the transaction, so of two
  -- that ask together the second sees the first. Volatile, so that its query sees what is committed by then.
  create function reference_holder(buyer text, wanted text, own_id text) returns text
  language plpgsql volatile ${ownPath} as $$
    begin
      perform pg_advisory_xact_lock(hashtextextended(
        current_schema() || ' reference of ' || buyer || ' ' || wanted, 0));
      return (
        select transaction_id from (
          select transaction_id from purchases
           where reference = wanted and account_id = buyer and status <> 'FAILED'
          union all
          select transaction_id from fundings
           where reference = wanted and account_id = buyer and status <> 'FAILED'
        ) carrying where transaction_id <> own_id limit 1
      );
    end $$;

  grant insert, update (customer_email) on buyer_details to ${role};
  grant insert, update, delete on return_hosts to ${role};
`;

const checks = ({ role }: World) => sql`
  -- Numbers of checks at the gateway, each drawn before it is asked. The answer to an earlier check than the
  -- booked one is not used. An event draws a number when it arrives: a check with a later one began after it.
  create sequence payment_checks;

  grant usage on sequence payment_checks to ${role};
`;

const charges = ({ role }: World) => sql`
  -- A row stands before the gateway is asked: whatever happens to the answer, we know which references to ask
  -- about. send_before: after it the charge is not sent any more. confirmed_at: when a caller last had a
  -- closed payment looked at.
  create table payments (
    reference text primary key check (reference ~ '^[A-Za-z0-9-]{1,60}$'),
    gateway text not null,
    transaction_id text not null,
    attempt integer not null check (attempt > 0),
    purpose text not null ${oneOf('purpose', PAYMENT_PURPOSES)},
    account_id text not null,
    method text not null ${oneOf('method', GATEWAY_METHODS)},
    status text not null default 'ASKED' check (status in ('ASKED', 'OPEN', 'REFUSED', 'CLOSED')),
    charge_minor bigint not null check (charge_minor > 0),
    charge_currency text not null,
    price_minor bigint not null check (price_minor > 0),
    price_currency text not null,
    instructions jsonb,
    expires_at timestamptz not null,
    send_before timestamptz,
    -- The payment's account, in the charge's currency. What came, by the gateway's word and by a person's:
    received_minor bigint not null default 0 check (received_minor >= 0),
    vouched_minor bigint not null default 0,
    -- and where it is. What is free may be given out: the same money is never given twice.
    used_minor bigint not null default 0 check (used_minor >= 0),
    credited_minor bigint not null default 0 check (credited_minor >= 0),
    refunding_minor bigint not null default 0 check (refunding_minor >= 0),
    refunded_minor bigint not null default 0 check (refunded_minor >= 0),
    reversed_minor bigint not null default 0 check (reversed_minor >= 0),
    disputed_minor bigint not null default 0 check (disputed_minor >= 0),
    free_minor bigint not null generated always as
      (received_minor + vouched_minor - used_minor - credited_minor - refunding_minor - refunded_minor
        - reversed_minor - disputed_minor) stored,
    -- Money came in this currency, which was not agreed: it is sent back.
    other_currency text,
    has_money boolean not null generated always as
      (received_minor > 0 or vouched_minor > 0 or other_currency is not null) stored,
    paid_hold boolean not null default false,
    gateway_id text,
    gateway_status text,
    -- Of the newest check that is booked.
    check_number bigint not null default 0,
    checked_at timestamptz,
    confirmed_at timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (transaction_id, attempt),
    constraint payment_gives_what_it_has check (free_minor >= 0),
    constraint payment_returns_what_came check (refunded_minor + reversed_minor <= received_minor)
  );
  create unique index payments_one_pays_the_hold on payments (transaction_id) where paid_hold;
  create index payments_watched on payments (expires_at) where status in ('ASKED', 'OPEN');
  create index payments_unpaid on payments (created_at) where status in ('ASKED', 'OPEN') and not has_money;
  create index payments_by_time on payments (created_at, reference);
  -- The condition is in src/operations/store/search.ts as well.
  create index payments_by_gateway_id on payments (gateway_id) where gateway_id is not null;

  grant insert, update on payments to ${role};
`;

const gatewayEvents = ({ role }: World) => sql`
  create table gateway_events (
    id bigint generated always as identity primary key,
    gateway text not null,
    event_key text not null,
    type text not null,
    about text not null,
    reference text,
    email text,
    check_number bigint not null default nextval('payment_checks'),
    received_at timestamptz not null default clock_timestamp(),
    applied_at timestamptz,
    note text,
    constraint gateway_event_once unique (gateway, event_key)
  );
  -- Whoever owns the table owns its numbers.
  alter sequence payment_checks owned by gateway_events.check_number;
  create index gateway_events_unapplied on gateway_events (id) where applied_at is null;
  create index gateway_events_applied on gateway_events (applied_at) where applied_at is not null;
  create index gateway_events_by_reference on gateway_events (gateway, reference) where reference is not null;
  create index gateway_events_about_nobody on gateway_events (received_at)
    where note = 'unmatched' and about in ('charge', 'refund', 'dispute');

  -- The windows of the gateway's list that are read for money, each with when it is to be read next.
  create table gateway_windows (
    starts_at timestamptz primary key,
    wanted_at timestamptz not null,
    due_at timestamptz not null,
    settled_total integer
  );
  create index gateway_windows_due on gateway_windows (due_at);

  grant insert, update, delete on gateway_events, gateway_windows to ${role};
`;

const refunds = ({ role }: World) => sql`
  -- A person may have a failed refund asked for again: each attempt goes by a key of its own at the gateway.
  -- TAKEN_BACK: the payment was reversed before the refund was sent. sent_at: when the last attempt was
  -- written down to be sent; after send_before it is not sent any more.
  create table refunds (
    refund_key text primary key,
    gateway text not null,
    reference text not null references payments (reference),
    transaction_id text not null,
    account_id text not null,
    amount_minor bigint not null check (amount_minor > 0),
    currency text not null,
    reason text not null,
    status text not null default 'DUE' check (status in
      ('DUE', 'ASKED', 'PENDING', 'NEEDS_ATTENTION', 'STUCK', 'DONE', 'CREDITED', 'TAKEN_BACK')),
    attempt integer not null default 1 check (attempt >= 1),
    gateway_refund_id text,
    gateway_status text,
    sent_at timestamptz,
    send_before timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    closed_at timestamptz,
    check ((status in ('DONE', 'CREDITED', 'TAKEN_BACK')) = (closed_at is not null)),
    constraint refund_sent_in_time check ((sent_at is null) = (send_before is null))
  );
  create index refunds_by_purchase on refunds (transaction_id);
  create index refunds_open on refunds (created_at) where closed_at is null;
  create index refunds_asked on refunds (sent_at, refund_key) where sent_at is not null;
  -- The conditions of this and of disputes_by_gateway_id are in src/operations/store/search.ts as well.
  create index refunds_by_gateway_id on refunds (gateway_refund_id) where gateway_refund_id is not null;

  grant insert, update on refunds to ${role};
`;

const disputes = ({ role }: World) => sql`
  -- Disputes, each by the gateway's id: what the bank asks for, what of it was put at risk and where it was
  -- taken from, how it stands at the gateway, and the outcome that a person stated.
  create table disputes (
    reference text not null references payments (reference),
    gateway text not null,
    dispute_id text not null constraint dispute_has_an_id check (dispute_id <> ''),
    transaction_id text not null,
    amount_minor bigint not null check (amount_minor >= 0),
    currency text not null,
    -- What of it was still with us when it was opened, in the charge's currency.
    free_minor bigint not null default 0 check (free_minor >= 0),
    used_minor bigint not null default 0 check (used_minor >= 0),
    credited_minor bigint not null default 0 check (credited_minor >= 0),
    -- The same in the price's currency: taken out of revenue, and frozen of what was in the wallet.
    revenue_minor bigint not null default 0 check (revenue_minor >= 0),
    frozen_minor bigint not null default 0 check (frozen_minor >= 0),
    -- TAKEN: the bank has it. RELEASED: it is where it was before.
    money text not null default 'AT_RISK' check (money in ('AT_RISK', 'TAKEN', 'RELEASED')),
    -- Of the newest check that is booked.
    check_number bigint not null default 0,
    gateway_state text check (gateway_state in ('open', 'won', 'lost', 'unknown')),
    gateway_status text,
    checked_at timestamptz,
    outcome text check (outcome in ('WON', 'LOST')),
    settled_by_action text,
    opened_at timestamptz not null default now(),
    settled_at timestamptz,
    primary key (reference, dispute_id),
    check (outcome is null or settled_at is not null)
  );
  create index disputes_by_purchase on disputes (transaction_id);
  create index disputes_open on disputes (opened_at) where settled_at is null;
  create index disputes_by_gateway_id on disputes (dispute_id);

  -- What became of its money is final as well.
  create function dispute_ends_once() returns trigger language plpgsql as $$
    begin
      if old.settled_at is not null
         and (new.outcome, new.settled_at, new.settled_by_action)
             is distinct from (old.outcome, old.settled_at, old.settled_by_action)
         or old.money <> 'AT_RISK' and new.money <> old.money then
        raise exception 'a settled dispute keeps its outcome'
          using errcode = 'restrict_violation', constraint = 'dispute_ends_once';
      end if;
      return new;
    end $$;
  create trigger dispute_ends_once before update on disputes
    for each row execute function dispute_ends_once();

  grant insert, update on disputes to ${role};
`;

/** A bound on the payments that an account has open and unpaid. */
const unpaidBound = () => sql`
  -- Stops counting at the bound, so its cost is bounded.
  create function unpaid_payments(buyer text, bound integer) returns integer language sql as $$
    select count(*)::integer from (
      (select from purchases where account_id = buyer and status = 'PENDING' limit bound)
      union all
      (select from fundings where account_id = buyer and status = 'PENDING' limit bound)
    ) unpaid
  $$;

  -- Counts again under a lock that is held until the end of the transaction, so requests that come together
  -- cannot pass the bound together. Volatile, so that each of its queries sees what is committed by then.
  create function may_open_unpaid(buyer text, bounds jsonb) returns boolean language plpgsql volatile as $$
    declare
      bound integer := (select (bounds ->> plan)::integer from accounts.accounts where id = buyer);
    begin
      bound := coalesce(bound, (bounds ->> 'STANDARD')::integer);
      -- Without a lock, so that a flood of refused requests does not queue.
      if unpaid_payments(buyer, bound) >= bound then
        return false;
      end if;
      perform pg_advisory_xact_lock(hashtextextended(current_schema() || ' unpaid payments of ' || buyer, 0));
      return unpaid_payments(buyer, bound) < bound;
    end $$;
`;
