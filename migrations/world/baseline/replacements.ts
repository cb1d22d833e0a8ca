/**
 * Replacements of eSIMs that were deleted from their phone, or do not work. A row stands before the supplier
 * is asked. The new eSIM is a purchase of its own; the old one is retired once that is delivered. Locks go in
 * the order of src/payments/store/lock-order.ts.
 */
import { sql } from 'kysely';
import { REPLACEMENT_REFUSALS, REPLACEMENT_STATES } from '../../../src/domain/states.ts';
import { oneOf } from '../../one-of.ts';
import { MAX_REFUSED_AN_HOUR } from './returns.ts';
import type { World } from './world.ts';

export const replacements = (world: World) => sql`
  ${rows(world)}
  ${guards()}
  ${judging(world)}
  ${requesting(world)}
  ${ordering(world)}
`;

const rows = ({ role }: World) => sql`
  create table replacements (
    id text primary key check (id ~ '^replacement-[0-9a-f]{32}$'),
    account_id text not null,
    esim_id text not null references esims (id),
    -- The eSIM that was bought. Those that came in its place have it as well, so that all of them are counted.
    first_esim_id text not null references esims (id),
    transaction_id text not null references purchases (transaction_id),
    supplier text not null,
    state text not null default 'PENDING' ${oneOf('state', REPLACEMENT_STATES)},
    -- What was paid for the first eSIM, and what the account pays of it for the new one.
    full_price_minor bigint not null,
    price_minor bigint not null check (price_minor between 0 and full_price_minor),
    currency text not null,
    -- Of the new eSIM. Made with the row, so that a step that runs twice orders once.
    new_transaction_id text not null unique,
    new_esim_id text not null unique,
    refusal text ${oneOf('refusal', REPLACEMENT_REFUSALS)},
    -- Why its purchase failed.
    failure text,
    reason text,
    -- An e-mail address, or who made the key; and the key, whose budget pays.
    requested_by text not null,
    key_id text,
    request_id text not null,
    in_flight_grace_ms integer not null,
    -- Of the old eSIM.
    revoke_attempts integer not null default 0,
    delivered_at timestamptz,
    next_check_at timestamptz not null default clock_timestamp() + interval '30 s',
    created_at timestamptz not null default clock_timestamp(),
    closed_at timestamptz,
    check ((state = 'REFUSED') = (refusal is not null)),
    check (failure is null or refusal = 'PURCHASE_FAILED'),
    check ((state in ('REPLACED', 'REFUSED')) = (closed_at is not null)),
    constraint replacement_retires_what_is_replaced
      check ((state in ('RETIRING', 'REPLACED')) = (delivered_at is not null)),
    check (revoke_attempts = 0 or delivered_at is not null)
  );
  -- One open replacement of an eSIM, and one that was done.
  create unique index replacements_once on replacements (esim_id) where state <> 'REFUSED';
  create index replacements_by_first on replacements (first_esim_id) where state <> 'REFUSED';
  create index replacements_by_account on replacements (account_id, created_at desc, id desc);
  create index replacements_by_esim on replacements (esim_id, created_at desc);
  create index replacements_by_purchase on replacements (transaction_id);
  create index replacements_due on replacements (next_check_at) where closed_at is null;

  grant insert, update (state, refusal, failure, revoke_attempts, delivered_at, next_check_at,
    closed_at) on replacements to ${role};
`;

const guards = () => sql`
  create function replacement_ends_once() returns trigger language plpgsql as $$
    begin
      if old.closed_at is not null or (old.delivered_at is not null and new.delivered_at is null) then
        raise exception 'a replacement ends once'
          using errcode = 'restrict_violation', constraint = 'replacement_ends_once';
      end if;
      return new;
    end $$;
  create trigger replacement_ends_once before update on replacements
    for each row execute function replacement_ends_once();
`;

const ordering = ({ ownPath }: World) => sql`
  -- Whether a replacement of it is open or done. Until the end of the transaction, none begins: the later of
  -- a top-up and a replacement sees the other.
  create function is_being_replaced(esim text) returns boolean language plpgsql volatile ${ownPath} as $$
    begin
      perform from esims where id = esim for share;
      return exists (select from replacements where esim_id = esim and state <> 'REFUSED');
    end $$;

  -- Lets the new eSIM be ordered. BEGUN; ENDED: it had ended or begun; TOP_UP_OPEN: a top-up has to end first.
  -- BEYOND_LIMIT: without a person, we would pay more than most_minor on this account within a day. Otherwise
  -- why it is refused. The caller has locked the purchase.
  create function begin_ordering(replacement_id text, by_operator boolean, most_minor bigint) returns text
  language plpgsql ${ownPath} as $$
    declare
      one replacements;
      refusal text;
      ours_minor bigint;
    begin
      select * into one from replacements
       where id = replacement_id and state in ('PENDING', 'NEEDS_REVIEW') for no key update;
      if not found then
        return 'ENDED';
      end if;
      perform from esims where id = one.esim_id for no key update;
      refusal := replacement_money_refusal(one.esim_id, one.first_esim_id);
      if refusal is null and not accounts.may_still_buy(one.account_id, one.key_id, one.requested_by) then
        refusal := 'NOT_ALLOWED';
      end if;
      if refusal is null and has_open_top_up(one.esim_id) then
        refusal := 'TOP_UP_OPEN';
      end if;
      if refusal is not null then
        return refusal;
      end if;
      ours_minor := one.full_price_minor - one.price_minor;
      if not by_operator and ours_minor > 0 and most_minor is not null then
        perform pg_advisory_xact_lock(
          hashtextextended(current_schema() || ' replacements of ' || one.account_id, 0));
        if ours_minor + (select coalesce(sum(full_price_minor - price_minor), 0) from replacements
                          where account_id = one.account_id and currency = one.currency
                            and state in ('ORDERING', 'RETIRING', 'REPLACED')
                            and created_at > clock_timestamp() - interval '1 day') > most_minor then
          return 'BEYOND_LIMIT';
        end if;
      end if;
      update replacements
         set state = 'ORDERING', next_check_at = case when by_operator then '-infinity' else next_check_at end
       where id = one.id;
      return 'BEGUN';
    end $$;
`;

const judging = ({ ownPath }: World) => sql`
  -- The eSIM that was bought, whose place this one has.
  create function first_esim(esim_id text) returns text language sql stable ${ownPath} as $$
    select coalesce((select first_esim_id from replacements where new_esim_id = first_esim.esim_id),
                    first_esim.esim_id)
  $$;

  -- Why nothing more is bought for what was paid at first; null: it is still ours. A lost dispute in another
  -- currency leaves the revenue whole, so the payment is asked as well.
  create function replacement_money_refusal(esim_id text, first text) returns text
  language plpgsql stable ${ownPath} as $$
    #variable_conflict use_column
    declare
      bought esims;
    begin
      select * into bought from esims where id = first;
      return case
        when exists (select from esims e join purchases p on p.transaction_id = e.transaction_id
                      where e.id in (replacement_money_refusal.esim_id, first) and is_contested(p.attention_reason))
          or is_taken_back(bought.transaction_id)
          then 'PAYMENT_DISPUTED'
        when exists (select from esims e where e.id in (replacement_money_refusal.esim_id, first) and e.price_minor > 0
                        and coalesce((select sum(amount_minor) from ledger_transactions t
                                        join ledger_entries on ledger_transaction_id = t.id
                                       where t.transaction_id = e.transaction_id
                                         and ledger_account_id = 'revenue:' || e.currency), 0) <= 0)
          then 'REFUNDED'
      end;
    end $$;

  create function has_open_top_up(esim_id text) returns boolean language sql stable ${ownPath} as $$
    select exists (select from purchases where purchases.esim_id = has_open_top_up.esim_id
                      and package_type = 'TOPUP' and status in ('PENDING', 'PROCESSING'))
  $$;

  -- Why an eSIM cannot be replaced now, by our rows; null: the supplier is to be asked.
  create function replacement_refusal(esim esims, window_days integer, max_count integer) returns text
  language plpgsql stable ${ownPath} as $$
    declare
      purchase purchases;
      earlier text;
      first text := first_esim(esim.id);
    begin
      select * into purchase from purchases where transaction_id = esim.transaction_id;
      select state into earlier from replacements where esim_id = esim.id and state <> 'REFUSED';
      return case
        when earlier = 'REPLACED' then 'ALREADY_REPLACED'
        when earlier is not null then 'IN_PROGRESS'
        when exists (select from returns where esim_id = esim.id and state <> 'REFUSED') then 'RETURNED'
        when purchase.status <> 'SUCCESS' or esim.esim_tran_no = '' then 'NOT_DELIVERED'
        when esim.status in ('CANCELLED', 'EXPIRED') then esim.status
        -- Of other packages the allowance is that of a day.
        when esim.data_type = 1 and esim.order_usage_bytes >= esim.total_volume_bytes then 'USED_UP'
        when replacement_money_refusal(esim.id, first) is not null
          then replacement_money_refusal(esim.id, first)
        when has_open_top_up(esim.id) then 'TOP_UP_OPEN'
        when purchase.closed_at + window_days * interval '1 day' < clock_timestamp() then 'WINDOW_OVER'
        when (select count(*) from replacements where first_esim_id = first and state <> 'REFUSED') >= max_count
          then 'TOO_MANY'
        when (select count(*) from replacements where esim_id = esim.id and state = 'REFUSED'
               and created_at > clock_timestamp() - interval '1 hour') >= ${MAX_REFUSED_AN_HOUR}
          then 'TOO_OFTEN'
      end;
    end $$;

`;

const requesting = ({ ownPath }: World) => sql`
  -- Writes a replacement before the supplier is asked. refusal: it was not written.
  create function request_replacement(replacement_id text, account_id text, esim_id text, window_days integer,
    max_count integer, price_minor bigint, new_transaction_id text, new_esim_id text, reason text,
    requested_by text, key_id text, request_id text, in_flight_grace_ms integer, out refusal text)
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      esim esims;
      first esims;
    begin
      select * into esim from esims
       where id = request_replacement.esim_id and account_id = request_replacement.account_id
         for no key update;
      refusal := replacement_refusal(esim, window_days, max_count);
      if refusal is not null then
        return;
      end if;
      select * into strict first from esims where id = first_esim(esim.id);
      insert into replacements (id, account_id, esim_id, first_esim_id, transaction_id, supplier,
        full_price_minor, price_minor, currency, new_transaction_id, new_esim_id, reason, requested_by, key_id,
        request_id, in_flight_grace_ms)
      values (replacement_id, esim.account_id, esim.id, first.id, esim.transaction_id, esim.supplier,
        first.price_minor, request_replacement.price_minor, first.currency,
        request_replacement.new_transaction_id, request_replacement.new_esim_id, request_replacement.reason,
        request_replacement.requested_by, request_replacement.key_id, request_replacement.request_id,
        request_replacement.in_flight_grace_ms);
      insert into purchase_events (transaction_id, what, detail)
      values (esim.transaction_id, 'replacement-requested', replacement_id);
    end $$;
`;
