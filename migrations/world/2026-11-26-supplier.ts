/**
 * Orders at suppliers, one row each: what may have been sent, until when it may still take effect, and how it
 * ended. A purchase has at most one order that may be delivered, and its money goes back only when it has
 * none: the database says both. Suppliers go by name.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`alter table packages add column supplier text not null default 'esim-access'`.execute(db);
  await sql`alter table packages alter column supplier drop default`.execute(db);
  await supplierOrders(db);
  await sql`grant select, insert on supplier_orders to ${role}`.execute(db);
  await sql`
    grant update (state, order_no, attempts, first_sent_at, last_sent_at, send_before, settles_after,
      earlier_settles_after, searched_until, withdrawing_since, cancel_send_before, cancel_settles_after,
      refused_reason, refused_detail, delivered_package_code, delivered_volume_bytes, closed_at) on supplier_orders to ${role}`.execute(
    db,
  );
  await purchases(db);
  await sql`
    insert into ledger_accounts (id, kind, currency)
    values ('supplier-prepaid:esim-access:USD4', 'supplier-prepaid', 'USD4')`.execute(db);
}

async function supplierOrders(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table supplier_orders (
      id text primary key check (length(id) <= 50),
      transaction_id text not null references purchases (transaction_id),
      kind text not null check (kind in ('BASE', 'TOPUP')),
      supplier text not null,
      package_code text not null,
      volume_bytes bigint not null,
      cost_usd_e4 bigint not null,
      in_flight_grace_ms integer not null,
      planned_at timestamptz not null default clock_timestamp(),
      state text not null default 'planned'
        check (state in ('planned', 'sent', 'accepted', 'delivered', 'refused', 'withdrawn')),
      is_live boolean not null generated always as (state not in ('refused', 'withdrawn')) stored,
      order_no text,
      attempts integer not null default 0,
      first_sent_at timestamptz,
      last_sent_at timestamptz,
      send_before timestamptz,
      settles_after timestamptz,
      earlier_settles_after timestamptz,
      searched_until timestamptz,
      withdrawing_since timestamptz,
      cancel_send_before timestamptz,
      cancel_settles_after timestamptz,
      refused_reason text,
      refused_detail text,
      delivered_package_code text,
      delivered_volume_bytes bigint,
      closed_at timestamptz,
      check ((attempts = 0) = (last_sent_at is null)),
      check (state <> 'planned' or attempts = 0),
      check ((state = 'refused') = (refused_reason is not null)),
      check ((state in ('delivered', 'refused', 'withdrawn')) = (closed_at is not null))
    ) with (fillfactor = 80)`.execute(db);
  // A purchase has a new order only once every earlier one is refused or withdrawn, and so at most one that
  // is delivered.
  await sql`create unique index supplier_orders_live on supplier_orders (transaction_id) where is_live`.execute(
    db,
  );
  await sql`create index supplier_orders_by_purchase on supplier_orders (transaction_id)`.execute(db);
  await sql`create index supplier_orders_by_order_no on supplier_orders (order_no) where order_no is not null`.execute(
    db,
  );
  await sql`
    create function supplier_order_ends_once() returns trigger language plpgsql as $$
    begin
      raise exception 'an order that has ended stays so, and is not sent again'
        using errcode = 'restrict_violation', constraint = 'supplier_order_ends_once';
    end $$`.execute(db);
  await sql`
    create trigger supplier_order_ends_once before update on supplier_orders for each row
      when (old.closed_at is not null and (new.state, new.attempts) is distinct from (old.state,
        old.attempts))
      execute function supplier_order_ends_once()`.execute(db);
}

async function purchases(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function purchase_ends_once() returns trigger language plpgsql as $$
    begin
      if old.status in ('SUCCESS', 'FAILED')
         and (new.status, new.top_up_total_volume_bytes) is distinct from (old.status,
           old.top_up_total_volume_bytes) then
        raise exception 'a closed purchase keeps its status'
          using errcode = 'restrict_violation', constraint = 'purchase_ends_once';
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    alter table purchases
      add column supplier text,
      drop column order_attempts, drop column first_order_attempt_at, drop column previous_order_attempt_at,
      drop column last_order_attempt_at, drop column supplier_searched_until, drop column supplier_order_no,
      drop column supplier_transaction_id, drop column withdrawing_since, drop column withdrawn_since,
      drop column cancel_asked_at, drop column refused_attempts, drop column refused_reason,
        drop column refused_detail,
      drop column in_flight_grace_ms`.execute(db);
  // After the statement, so that it sees what the statement that gives the money back has done to the order.
  await sql`
    create function money_returns_without_order() returns trigger language plpgsql as $$
    begin
      if exists (select from supplier_orders
                  where transaction_id = new.transaction_id and state in ('sent', 'accepted',
                    'delivered')) then
        raise exception 'the supplier may deliver, or has delivered'
          using errcode = 'restrict_violation', constraint = 'money_returns_without_order';
      end if;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger money_returns_without_order after update on purchases for each row
      when (new.status = 'FAILED' and old.status <> 'FAILED')
      execute function money_returns_without_order()`.execute(db);
}
