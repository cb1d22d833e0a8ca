/**
 * A delivery: what the supplier delivered is kept, the purchase is closed and its money earned, all or
 * nothing. Rows are locked in the order of src/payments/store/lock-order.ts.
 */
import { sql } from 'kysely';
import { DISPUTE_REASONS } from '../../../src/domain/states.ts';
import { membersOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const deliveryFunctions = (world: World) => sql`
  ${itself()}
  ${keeping(world)}
  ${esimOfItem(world)}
  ${settling(world)}
`;

const itself = () => sql`
  -- A top-up's new totals, as the supplier answered them. Without a new end of validity, the old one stays.
  create type top_up_totals as (iccid text, total_volume_bytes bigint, order_usage_bytes bigint,
    total_duration integer, expired_time timestamptz, answered_at timestamptz);

  -- order_id: the supplier's order; one that was replaced meanwhile delivers nothing. Null: the one that may
  -- be delivered. other_package_code, other_volume_bytes: where it is not what was ordered. profile: columns
  -- of esims, for a new eSIM; with its install data, sealed. Without profile and totals, both are kept
  -- already.
  create type delivered_item as (order_id text, other_package_code text, other_volume_bytes bigint,
    profile jsonb, install_sealed bytea, top_up top_up_totals);

  -- A bank has its money back, or asks for it.
  create function is_contested(attention_reason text) returns boolean language sql immutable as $$
    select coalesce(attention_reason in (${membersOf(DISPUTE_REASONS)}), false)
  $$;

  -- Money is held, and its payment is neither disputed nor reversed.
  create function may_deliver(status text, attention_reason text) returns boolean language sql immutable as $$
    select status = 'PROCESSING' and not is_contested(attention_reason)
  $$;
`;

const keeping = ({ ownPath }: World) => sql`
  -- Marks the purchase's order as delivered, unless it is being withdrawn, was replaced, or has ended
  -- otherwise. Null: nothing was marked.
  create function deliver_order(transaction_id text, item delivered_item) returns supplier_orders
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      delivered supplier_orders;
    begin
      update supplier_orders
         set state = 'delivered', closed_at = coalesce(closed_at, clock_timestamp()),
             delivered_package_code = coalesce(item.other_package_code, delivered_package_code),
             delivered_volume_bytes = coalesce(item.other_volume_bytes, delivered_volume_bytes)
       where transaction_id = deliver_order.transaction_id and is_live and withdrawing_since is null
         and id = coalesce(item.order_id, id)
      returning * into delivered;
      return delivered;
    end $$;

  -- Keeps the delivery of an open purchase that cannot be settled. The first delivery stays. The next check
  -- notifies of what a top-up changes.
  create function keep_delivery(transaction_id text, item delivered_item) returns void
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      purchase purchases;
      top_up top_up_totals := item.top_up;
    begin
      select * into purchase from purchases
       where transaction_id = keep_delivery.transaction_id and may_deliver(status, attention_reason)
         for no key update;
      if exists (select from supplier_orders
                  where transaction_id = keep_delivery.transaction_id and state = 'delivered')
         or (deliver_order(purchase.transaction_id, item)).id is null then
        return;
      end if;
      update purchases
         set top_up_iccid = coalesce(top_up.iccid, top_up_iccid), updated_at = now(),
             top_up_total_volume_bytes = coalesce(top_up.total_volume_bytes, top_up_total_volume_bytes),
             top_up_remaining_bytes = coalesce(
               greatest(top_up.total_volume_bytes - top_up.order_usage_bytes, 0), top_up_remaining_bytes)
       where transaction_id = purchase.transaction_id;
      perform keep_item(purchase, item);
    end $$;
`;

const esimOfItem = ({ ownPath }: World) => sql`
  -- Writes a delivery into its eSIM, which its owner sees once the purchase is a success. A top-up only adds:
  -- where another one was settled first, its larger totals stay.
  create function keep_item(purchase purchases, item delivered_item) returns void
  language plpgsql ${ownPath} as $$
    declare
      top_up top_up_totals := item.top_up;
      is_shown boolean := purchase.status = 'SUCCESS';
    begin
      if top_up.iccid is null then
        update esims
           set status = case when is_shown and status = 'PENDING' then 'CREATED' else status end,
               updated_at = now(), install_sealed = coalesce(item.install_sealed, install_sealed),
               (order_no, esim_tran_no, iccid, imsi, msisdn, eid, smdp_status, active_type, activate_time,
                expired_time, total_volume_bytes, order_usage_bytes, total_duration, duration_unit, apn,
                sms_status, data_type, checked_at, usage_as_of, next_check_at, next_usage_at) = (
                 select order_no, esim_tran_no, iccid, imsi, msisdn, eid, smdp_status, active_type, activate_time,
                        expired_time, total_volume_bytes, order_usage_bytes, total_duration, duration_unit, apn,
                        sms_status, data_type, checked_at, usage_as_of, next_check_at, next_usage_at
                   from jsonb_populate_record(esims, coalesce(item.profile, '{}')))
         where id = purchase.esim_id and (is_shown or status = 'PENDING');
        return;
      end if;
      update esims
         set total_volume_bytes = greatest(total_volume_bytes, top_up.total_volume_bytes),
             order_usage_bytes = greatest(order_usage_bytes, top_up.order_usage_bytes),
             usage_as_of = case when order_usage_bytes > top_up.order_usage_bytes then usage_as_of
                                else top_up.answered_at end,
             total_duration = greatest(total_duration, top_up.total_duration),
             expired_time = greatest(expired_time, top_up.expired_time),
             -- A new end gets a new notice.
             notified_expiry_days = case when top_up.expired_time > expired_time + interval '1 hour' then 0
                                         else notified_expiry_days end,
             -- The next check reads from the supplier what the top-up changed.
             totals_as_of = top_up.answered_at, next_check_at = top_up.answered_at, updated_at = now()
       where id = purchase.esim_id;
    end $$;
`;

const settling = ({ ownPath }: World) => sql`
  -- Settles a delivery, once. outcome: \`done\`; otherwise nothing was changed, since the purchase may not be
  -- delivered, its order is under withdrawal or has ended, or a bank has, or disputes, what paid for it: then
  -- it is the status of its hold, or \`absent\`.
  create function settle_purchase(transaction_id text, item delivered_item, out outcome text,
    out is_money_open boolean, out esim_id text, out at timestamptz)
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      paying payments;
      purchase purchases;
      hold holds;
      supplied supplier_orders;
      top_up top_up_totals := item.top_up;
    begin
      perform from payments where transaction_id = settle_purchase.transaction_id order by attempt
        for no key update;
      select * into purchase from purchases
       where transaction_id = settle_purchase.transaction_id and may_deliver(status, attention_reason)
         for no key update;
      select * into hold from holds where id = settle_purchase.transaction_id for no key update;
      -- Read under the purchase's lock, so that no payment can become the one that pays meanwhile.
      select * into paying from payments where transaction_id = settle_purchase.transaction_id and paid_hold;
      outcome := coalesce(hold.status, 'absent');
      -- A bank may have what paid for it. A purchase from the wallet has no payment.
      if purchase.transaction_id is null or outcome not in ('HELD', 'POSTED')
         or (outcome = 'HELD' and paying.free_minor < paying.charge_minor) then
        return;
      end if;
      supplied := deliver_order(purchase.transaction_id, item);
      if supplied.id is null then
        return;
      end if;
      update purchases
         set status = 'SUCCESS', closed_at = now(), updated_at = now(),
             top_up_iccid = coalesce(top_up.iccid, top_up_iccid),
             top_up_total_volume_bytes = coalesce(top_up.total_volume_bytes, top_up_total_volume_bytes),
             top_up_remaining_bytes = coalesce(
               greatest(top_up.total_volume_bytes - top_up.order_usage_bytes, 0), top_up_remaining_bytes),
             -- Another package than the one that was ordered is delivered too, and needs attention.
             needs_attention_since = case when supplied.delivered_package_code is not null then now() end,
             attention_reason = case when supplied.delivered_package_code is not null
                                     then 'OTHER_PACKAGE_DELIVERED' end
       where transaction_id = purchase.transaction_id
      returning * into purchase;
      update payments set used_minor = used_minor + charge_minor, updated_at = clock_timestamp()
       where reference = paying.reference;
      perform keep_item(purchase, item);
      insert into purchase_events (transaction_id, what, detail)
      select purchase.transaction_id, event.what, event.detail
        from (values ('delivered', null), ('other-package-delivered', supplied.delivered_package_code))
             event (what, detail)
       where event.what = 'delivered' or event.detail is not null;
      perform post_hold(purchase.transaction_id, supplied.supplier, supplied.cost_usd_e4);
      perform write_status(purchase);
      outcome := 'done';
      is_money_open := exists (
        select from refunds where transaction_id = purchase.transaction_id and closed_at is null);
      esim_id := purchase.esim_id;
      at := now();
    end $$;
`;
