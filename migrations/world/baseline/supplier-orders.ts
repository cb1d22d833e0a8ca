/**
 * Orders at suppliers, one row each: what may have been sent, until when it may still take effect, and how it
 * ended. A purchase has at most one order that may be delivered, and its money goes back only when it has
 * none: the database says both. Suppliers go by name.
 */
import { sql } from 'kysely';
import { PACKAGE_TYPES, SUPPLIER_ORDER_STATES } from '../../../src/domain/states.ts';
import { oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const supplierOrders = (world: World) => sql`
  ${orders(world)}
  ${guards()}
`;

const orders = ({ role }: World) => sql`
  -- A row stands before its order is sent. Every time is Postgres's, since the clocks of workers differ.
  create table supplier_orders (
    -- Ours, at the supplier. Never used again.
    id text primary key check (length(id) <= 50),
    transaction_id text not null references purchases (transaction_id),
    -- What was agreed, frozen.
    kind text not null ${oneOf('kind', PACKAGE_TYPES)},
    supplier text not null,
    package_code text not null,
    volume_bytes bigint not null,
    cost_usd_e4 bigint not null,
    in_flight_grace_ms integer not null,
    planned_at timestamptz not null default clock_timestamp(),
    state text not null default 'planned' ${oneOf('state', SUPPLIER_ORDER_STATES)},
    is_live boolean not null generated always as (state not in ('refused', 'withdrawn')) stored,
    order_no text,
    attempts integer not null default 0,
    first_sent_at timestamptz,
    last_sent_at timestamptz,
    -- The last attempt is not sent after send_before. Until settles_after it may still take effect, those
    -- before it until earlier_settles_after: a refusal or an empty search proves nothing before.
    send_before timestamptz,
    settles_after timestamptz,
    earlier_settles_after timestamptz,
    -- Orders listed before this were searched, and ours is not among them.
    searched_until timestamptz,
    -- An order that is being withdrawn is neither sent nor settled.
    withdrawing_since timestamptz,
    cancel_send_before timestamptz,
    cancel_settles_after timestamptz,
    refused_reason text,
    refused_detail text,
    -- What came, where it is not what was ordered.
    delivered_package_code text,
    delivered_volume_bytes bigint,
    closed_at timestamptz,
    check ((attempts = 0) = (last_sent_at is null)),
    check (state <> 'planned' or attempts = 0),
    check ((state = 'refused') = (refused_reason is not null)),
    check ((state in ('delivered', 'refused', 'withdrawn')) = (closed_at is not null))
  ) with (fillfactor = 80);
  -- A purchase has a new order only once every earlier one is refused or withdrawn, and so at most one that
  -- is delivered.
  create unique index supplier_orders_live on supplier_orders (transaction_id) where is_live;
  create index supplier_orders_by_purchase on supplier_orders (transaction_id);
  create index supplier_orders_by_order_no on supplier_orders (order_no) where order_no is not null;

  -- What was agreed is not changed.
  grant insert, update (state, order_no, attempts, first_sent_at, last_sent_at, send_before, settles_after,
    earlier_settles_after, searched_until, withdrawing_since, cancel_send_before, cancel_settles_after,
    refused_reason, refused_detail, delivered_package_code, delivered_volume_bytes, closed_at)
    on supplier_orders to ${role};
`;

const guards = () => sql`
  create function supplier_order_ends_once() returns trigger language plpgsql as $$
    begin
      raise exception 'a closed order cannot change'
        using errcode = 'restrict_violation', constraint = 'supplier_order_ends_once';
    end $$;
  create trigger supplier_order_ends_once before update on supplier_orders for each row
    when (old.closed_at is not null and (new.state, new.attempts) is distinct from (old.state, old.attempts))
    execute function supplier_order_ends_once();

  -- After the statement, so that it sees what the statement that gives the money back has done to the order.
  create function money_returns_without_order() returns trigger language plpgsql as $$
    begin
      if exists (
        select from supplier_orders
         where transaction_id = new.transaction_id and state in ('sent', 'accepted', 'delivered')
      ) then
        raise exception 'the supplier may deliver, or has delivered'
          using errcode = 'restrict_violation', constraint = 'money_returns_without_order';
      end if;
      return null;
    end $$;
  create trigger money_returns_without_order after update on purchases for each row
    when (new.status = 'FAILED' and old.status <> 'FAILED') execute function money_returns_without_order();
`;
