/**
 * Automatic top-ups that were agreed to in advance. Guarantee: what a mandate's top-ups cost is never more
 * than its limit. The transaction that opens a top-up reserves its price; the statement that fails it gives
 * the price back.
 */
import { sql } from 'kysely';
import {
  MANDATE_AGREED_BY,
  MANDATE_END_REASONS,
  MANDATE_ENDS_BY_ITSELF,
  MANDATE_STATES,
} from '../../../src/domain/mandates.ts';
import { MOVING_ESIM_STATUSES } from '../../../src/domain/states.ts';
import { membersOf, oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const mandates = (world: World) => sql`
  ${rows(world)}
  ${ends(world)}
  ${changes(world)}
`;

const rows = ({ role }: World) => sql`
  -- spent_minor: of top-ups that are open or delivered. sequence: of the newest try; an older one opens
  -- nothing any more. due_at: when to look whether data is low, or whether it has expired. caller: the key or
  -- the member that agreed for the traveller, and must still be allowed to buy. refusal: why the last try
  -- bought nothing, an error code or the reason of a purchase.
  create table top_up_mandates (
    id text primary key,
    account_id text not null,
    esim_id text not null,
    package_code text not null,
    state text not null default 'ACTIVE' ${oneOf('state', MANDATE_STATES)},
    end_reason text ${oneOf('end_reason', MANDATE_END_REASONS)},
    agreed_by text not null ${oneOf('agreed_by', MANDATE_AGREED_BY)},
    caller text,
    limit_minor bigint not null check (limit_minor > 0),
    spent_minor bigint not null default 0 check (spent_minor >= 0),
    currency text not null,
    max_top_ups integer check (max_top_ups > 0),
    top_ups integer not null default 0 check (top_ups >= 0),
    threshold_bytes bigint not null check (threshold_bytes > 0),
    expires_at timestamptz not null,
    sequence integer not null default 0,
    open_transaction_id text,
    due_at timestamptz,
    tried_at timestamptz,
    refusal text,
    created_at timestamptz not null default clock_timestamp(),
    ended_at timestamptz,
    constraint mandate_is_not_overspent check (spent_minor <= limit_minor),
    constraint mandate_counts_its_top_ups check (top_ups <= max_top_ups),
    check ((state = 'ENDED') = (ended_at is not null) and (state = 'ENDED') = (end_reason is not null)),
    check ((agreed_by = 'MERCHANT') = (caller is not null))
  );
  create unique index mandates_one_active on top_up_mandates (esim_id) where state = 'ACTIVE';
  create index mandates_by_esim on top_up_mandates (esim_id, created_at);
  create unique index mandates_one_open on top_up_mandates (esim_id) where open_transaction_id is not null;
  create index mandates_due on top_up_mandates (due_at)
    where state = 'ACTIVE' and due_at is not null and open_transaction_id is null;

  grant insert, update (state, end_reason, ended_at, due_at, sequence, spent_minor, top_ups, open_transaction_id,
    tried_at, refusal) on top_up_mandates to ${role};
`;

const ends = ({ ownPath }: World) => sql`
  create function mandate_ends_with_its_esim() returns trigger language plpgsql ${ownPath} as $$
    begin
      update top_up_mandates set state = 'ENDED', end_reason = 'ESIM_ENDED', ended_at = clock_timestamp()
       where esim_id = new.id and state = 'ACTIVE';
      return null;
    end $$;
  create trigger mandate_ends_with_its_esim after update of status, replaced_by on esims
    for each row when (new.status <> old.status and new.status not in ('PENDING', ${membersOf(MOVING_ESIM_STATUSES)})
                       or new.replaced_by is distinct from old.replaced_by)
    execute function mandate_ends_with_its_esim();

  -- Tells of every mandate that ends by itself.
  create function mandate_tells_its_end() returns trigger language plpgsql ${ownPath} as $$
    declare
      esim record;
    begin
      select transaction_id, iccid into esim from esims where id = new.esim_id;
      perform write_event(new.account_id, 'mandate.ended', 'mandate.ended:' || new.id, esim.transaction_id,
        (select row_to_json(message)::text from (
           select 'mandate.ended' as event, data,
                  to_char(new.ended_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp"
             from (select new.id as "mandateId", new.esim_id as "esimId", esim.transaction_id as "transactionId",
                          esim.iccid, new.end_reason as "endReason") data) message),
        new.ended_at, subscribers(new.account_id, 'mandate.ended'));
      return null;
    end $$;
  create trigger mandate_tells_its_end after update of state on top_up_mandates
    for each row when (old.state = 'ACTIVE' and new.end_reason in (${membersOf(MANDATE_ENDS_BY_ITSELF)}))
    execute function mandate_tells_its_end();
`;

const changes = ({ ownPath }: World) => sql`
  -- Every new figure of an eSIM comes by here: from a check, from the supplier's events, or from a top-up. It
  -- writes also where a mandate is due already: so it waits for a try that is just beginning, which would
  -- otherwise read the figure before and put the mandate off.
  create function mandate_falls_due() returns trigger language plpgsql ${ownPath} as $$
    begin
      update top_up_mandates set due_at = least(due_at, now())
       where esim_id = new.id and state = 'ACTIVE'
         and new.total_volume_bytes - new.order_usage_bytes < threshold_bytes;
      return null;
    end $$;
  create trigger mandate_falls_due after update of order_usage_bytes, total_volume_bytes on esims
    for each row when (new.order_usage_bytes <> old.order_usage_bytes
                       or new.total_volume_bytes <> old.total_volume_bytes)
    execute function mandate_falls_due();

  -- Whether this top-up is the newest try of its mandate, and within it. Locks the mandate until the end of
  -- the transaction, so of two that come together the second sees the first.
  create function mandate_allows(terms purchase_terms) returns boolean language plpgsql volatile ${ownPath} as $$
    begin
      perform from top_up_mandates
        where id = terms.mandate_id and state = 'ACTIVE' and expires_at > now()
          and account_id = terms.account_id and esim_id = terms.esim_id and currency = terms.currency
          and sequence = terms.mandate_sequence and open_transaction_id is null
          and spent_minor + terms.price_minor <= limit_minor
          and (max_top_ups is null or top_ups < max_top_ups)
          for no key update;
      return found and not exists (select from top_up_mandates
        where esim_id = terms.esim_id and open_transaction_id is not null);
    end $$;

  create function reserve_mandate(terms purchase_terms) returns void language plpgsql ${ownPath} as $$
    begin
      update top_up_mandates
         set spent_minor = spent_minor + terms.price_minor, top_ups = top_ups + 1,
             open_transaction_id = terms.transaction_id, due_at = null, tried_at = now(), refusal = null
       where id = terms.mandate_id;
    end $$;

  -- A top-up that fails gives its price back, and the next try waits. After a delivery the figures decide
  -- again at once. At the end of its transaction, since a figure locks the eSIM before the mandate: a delivery
  -- must not lock the mandate first.
  create function mandate_goes_on() returns trigger language plpgsql ${ownPath} as $$
    begin
      update top_up_mandates
         set open_transaction_id = null, refusal = case when new.status = 'FAILED' then new.reason end,
             spent_minor = spent_minor - case when new.status = 'FAILED' then new.price_minor else 0 end,
             top_ups = top_ups - case when new.status = 'FAILED' then 1 else 0 end,
             due_at = now() + case when new.status = 'FAILED' then interval '1 hour' else interval '0' end
       where id = new.mandate_id and open_transaction_id = new.transaction_id;
      return null;
    end $$;
  create constraint trigger mandate_goes_on after update of status on purchases
    deferrable initially deferred for each row when (new.mandate_id is not null and new.status in ('SUCCESS', 'FAILED')
                       and old.status <> new.status)
    execute function mandate_goes_on();
`;
