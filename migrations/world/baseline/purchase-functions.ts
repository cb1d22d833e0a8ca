/**
 * How a purchase goes on or ends without a delivery. Each function writes the event of the new status with
 * it. Rows are locked in the order of src/payments/store/lock-order.ts.
 */
import { sql } from 'kysely';
import type { World } from './world.ts';

export const purchaseFunctions = (world: World) => sql`
  ${paid(world)}
  ${closing(world)}
  ${failing(world)}
`;

const paid = ({ ownPath }: World) => sql`
  -- The money that a purchase waited for is held.
  create function mark_paid(transaction_id text) returns void language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      purchase purchases;
    begin
      update purchases set status = 'PROCESSING', updated_at = now()
       where transaction_id = mark_paid.transaction_id and status = 'PENDING' returning * into purchase;
      if found then
        perform write_status(purchase);
      end if;
    end $$;

  -- Writes the event of a status, if the purchase has it now.
  create function write_present_status(transaction_id text, status text) returns void language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      purchase purchases;
    begin
      select * into purchase from purchases
       where transaction_id = write_present_status.transaction_id and status = write_present_status.status;
      if found then
        perform write_status(purchase);
      end if;
    end $$;
`;

const closing = ({ ownPath }: World) => sql`
  -- Closes a purchase as FAILED with its eSIM order, if it has one of these statuses. Attention ends, except
  -- for money that a bank has or asks for. Null: it has another status.
  create function close_failed(transaction_id text, reason text, detail text, from_statuses text[],
    esim_status text) returns purchases
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      purchase purchases;
    begin
      update purchases
         set status = 'FAILED', reason = close_failed.reason, updated_at = now(), closed_at = now(),
             needs_attention_since = case when is_contested(attention_reason) then needs_attention_since end,
             attention_reason = case when is_contested(attention_reason) then attention_reason end
       where transaction_id = close_failed.transaction_id and status = any(from_statuses)
      returning * into purchase;
      if found then
        update supplier_orders set state = 'withdrawn', closed_at = clock_timestamp()
         where transaction_id = purchase.transaction_id and state = 'planned';
        update esims set status = esim_status, updated_at = now()
         where transaction_id = purchase.transaction_id and status = 'PENDING';
        insert into purchase_events (transaction_id, what, detail)
        values (purchase.transaction_id, 'failed', close_failed.detail);
      end if;
      return purchase;
    end $$;

  -- Closes an unpaid purchase. status: the one that it has then; the update may have waited for a payment.
  create function close_unpaid(transaction_id text, reason text, out status text)
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      purchase purchases := close_failed(close_unpaid.transaction_id, reason, reason, '{PENDING}', 'CANCELLED');
    begin
      if purchase.transaction_id is not null then
        perform write_status(purchase);
      end if;
      select p.status into strict status from purchases p
       where p.transaction_id = close_unpaid.transaction_id;
    end $$;
`;

const failing = ({ ownPath }: World) => sql`
  -- Closes an open purchase and takes its money off hold: to the wallet, or to suspense where a gateway's
  -- payment placed the hold. paid_reference, left_minor: that payment, and how much of it goes back. What a
  -- bank has, or disputes, is not given back a second time: what was taken back is missing in suspense, and
  -- this settles it; what is disputed stays there until the dispute ends. hold_outcome: as of void_hold.
  create function fail_purchase(transaction_id text, reason text, detail text,
    out hold_outcome text, out paid_reference text, out left_minor bigint)
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      paid payments;
      purchase purchases;
    begin
      perform from payments where transaction_id = fail_purchase.transaction_id order by attempt
        for no key update;
      select * into paid from payments where transaction_id = fail_purchase.transaction_id and paid_hold;
      paid_reference := paid.reference;
      left_minor := least(paid.free_minor, paid.charge_minor);
      if paid.disputed_minor + left_minor = 0 and paid.reversed_minor > 0 then
        reason := 'PAYMENT_REVERSED';
      end if;
      purchase := close_failed(fail_purchase.transaction_id, reason, detail, '{PENDING,PROCESSING}', 'FAILED');
      hold_outcome := case when paid_reference is null then void_hold(fail_purchase.transaction_id)
        else void_hold_to_suspense(fail_purchase.transaction_id, paid.charge_minor, paid.charge_currency) end;
      if purchase.transaction_id is not null then
        if paid_reference is null and hold_outcome = 'done' and purchase.price_minor > 0 then
          insert into purchase_events (transaction_id, what) values (purchase.transaction_id, 'hold-released');
        end if;
        perform write_status(purchase);
      end if;
    end $$;
`;
