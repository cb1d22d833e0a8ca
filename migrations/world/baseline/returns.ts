/**
 * Returns of unused eSIMs. A row stands before the supplier is asked to cancel; the money goes back in the
 * transaction that records its cancellation. Locks go in the order of src/payments/store/lock-order.ts.
 */
import { sql } from 'kysely';
import { REFUND_TARGETS, RETURN_REFUSALS, RETURN_STATES } from '../../../src/domain/states.ts';
import { oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const returns = (world: World) => sql`
  ${rows(world)}
  ${guards()}
  ${requesting(world)}
`;

const rows = ({ role }: World) => sql`
  create table returns (
    id text primary key check (id ~ '^return-[0-9a-f]{32}$'),
    account_id text not null,
    esim_id text not null references esims (id),
    transaction_id text not null references purchases (transaction_id),
    supplier text not null,
    state text not null default 'PENDING' ${oneOf('state', RETURN_STATES)},
    -- What was paid, what is kept of it, and what goes back. Less goes back where a bank has some of it.
    price_minor bigint not null,
    fee_minor bigint not null check (fee_minor between 0 and price_minor),
    amount_minor bigint not null check (amount_minor between 0 and price_minor - fee_minor),
    currency text not null,
    refunded_to text ${oneOf('refunded_to', REFUND_TARGETS)},
    refund_key text references refunds (refund_key),
    refusal text ${oneOf('refusal', RETURN_REFUSALS)},
    reason text,
    -- An e-mail address, or who made the key.
    requested_by text not null,
    -- The request that asked for several.
    batch_id text,
    in_flight_grace_ms integer not null,
    -- A cancellation is not sent after cancel_send_before. Until cancel_settles_after it may still take effect.
    cancel_attempts integer not null default 0,
    cancel_send_before timestamptz,
    cancel_settles_after timestamptz,
    cancelled_at timestamptz,
    next_check_at timestamptz not null default clock_timestamp() + interval '30 s',
    created_at timestamptz not null default clock_timestamp(),
    closed_at timestamptz,
    check ((state = 'REFUSED') = (refusal is not null)),
    check ((state in ('RETURNED', 'REFUSED')) = (closed_at is not null)),
    constraint return_pays_what_is_cancelled
      check ((state in ('REFUNDING', 'RETURNED')) = (cancelled_at is not null)),
    check ((cancel_attempts = 0) = (cancel_settles_after is null)),
    check (state <> 'REFUNDING' or refund_key is not null)
  );
  -- One open return of an eSIM, and one that paid.
  create unique index returns_once on returns (esim_id) where state <> 'REFUSED';
  create unique index returns_by_refund on returns (refund_key) where refund_key is not null;
  create index returns_by_account on returns (account_id, created_at desc, id desc);
  create index returns_by_esim on returns (esim_id, created_at desc);
  create index returns_by_purchase on returns (transaction_id);
  create index returns_by_batch on returns (batch_id) where batch_id is not null;
  create index returns_due on returns (next_check_at) where state in ('PENDING', 'NEEDS_REVIEW');
  create index returns_cancelled on returns (cancelled_at) where cancelled_at is not null;

  grant insert, update (state, amount_minor, refunded_to, refund_key, refusal, cancel_attempts, cancel_send_before,
    cancel_settles_after, cancelled_at, next_check_at, closed_at) on returns to ${role};
`;

const guards = () => sql`
  create function return_ends_once() returns trigger language plpgsql as $$
    begin
      if old.closed_at is not null or (old.cancelled_at is not null and new.state not in ('REFUNDING', 'RETURNED')) then
        raise exception 'a return ends once'
          using errcode = 'restrict_violation', constraint = 'return_ends_once';
      end if;
      return new;
    end $$;
  create trigger return_ends_once before update on returns for each row execute function return_ends_once();
`;

/** Of one eSIM, of returns and of replacements. */
export const MAX_REFUSED_AN_HOUR = sql.lit(5);

const requesting = ({ ownPath }: World) => sql`
  -- A bank or the gateway has taken all that was paid for it.
  create function is_taken_back(transaction text) returns boolean language sql stable ${ownPath} as $$
    select exists (select from payments
                    where transaction_id = transaction and reversed_minor > 0 and used_minor = 0)
  $$;

  -- Why an eSIM cannot be returned now, by our rows; null: the supplier is to be asked. Only an eSIM in use is
  -- topped up, and none of these is: HAS_TOP_UPS is for what the supplier takes back.
  create function return_refusal(esim esims, window_days integer) returns text
  language plpgsql stable ${ownPath} as $$
    declare
      purchase purchases;
      earlier text;
    begin
      select * into purchase from purchases where transaction_id = esim.transaction_id;
      select state into earlier from returns where esim_id = esim.id and state <> 'REFUSED';
      return case
        when earlier in ('PENDING', 'NEEDS_REVIEW') then 'IN_PROGRESS'
        when earlier is not null then 'ALREADY_RETURNED'
        when exists (select from replacements where esim_id = esim.id and state <> 'REFUSED') then 'REPLACED'
        when purchase.status <> 'SUCCESS' or esim.esim_tran_no = '' then 'NOT_DELIVERED'
        when esim.status in ('CANCELLED', 'EXPIRED') then esim.status
        when esim.status <> 'CREATED' then 'NOT_UNUSED'
        when exists (select from purchases where esim_id = esim.id and package_type = 'TOPUP' and status <> 'FAILED')
          then 'HAS_TOP_UPS'
        when is_contested(purchase.attention_reason) or is_taken_back(esim.transaction_id) then 'PAYMENT_DISPUTED'
        when purchase.closed_at + window_days * interval '1 day' < clock_timestamp() then 'WINDOW_OVER'
        -- Each costs a look at the supplier.
        when (select count(*) from returns where esim_id = esim.id and state = 'REFUSED'
               and created_at > clock_timestamp() - interval '1 hour') >= ${MAX_REFUSED_AN_HOUR}
          then 'TOO_OFTEN'
      end;
    end $$;

  -- Writes a return before the supplier is asked. refusal: it was not written.
  create function request_return(return_id text, account_id text, esim_id text, window_days integer,
    fee_minor bigint, reason text, requested_by text, batch_id text, out refusal text)
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      esim esims;
    begin
      select * into esim from esims
       where id = request_return.esim_id and account_id = request_return.account_id for no key update;
      refusal := return_refusal(esim, window_days);
      if refusal is not null then
        return;
      end if;
      insert into returns (id, account_id, esim_id, transaction_id, supplier, price_minor, fee_minor, amount_minor,
        currency, reason, requested_by, batch_id, in_flight_grace_ms)
      select return_id, esim.account_id, esim.id, esim.transaction_id, esim.supplier, esim.price_minor,
             request_return.fee_minor, esim.price_minor - request_return.fee_minor, esim.currency,
             request_return.reason, request_return.requested_by, request_return.batch_id, ordered.grace
        from (select max(in_flight_grace_ms) as grace from supplier_orders
               where transaction_id = esim.transaction_id) ordered;
      insert into purchase_events (transaction_id, what, detail)
      values (esim.transaction_id, 'return-requested', return_id);
    end $$;
`;
