/** Events and messages for merchants. The transaction that makes a change calls these functions. */
import { sql } from 'kysely';
import type { World } from './world.ts';

export const eventFunctions = (world: World) => sql`
  ${anyEvent(world)}
  ${statusEvent(world)}
`;

const anyEvent = ({ ownPath }: World) => sql`
  -- The request that opened a purchase or a funding.
  create function request_of(transaction_id text) returns text language sql stable ${ownPath} as $$
    select coalesce(
      (select request_id from purchases where purchases.transaction_id = request_of.transaction_id),
      (select request_id from fundings where fundings.transaction_id = request_of.transaction_id))
  $$;

  -- The endpoints of an account that ask for an event; null for none. Without an account, those of all
  -- accounts. Includes endpoints that we disabled for failing: their messages can be recovered.
  create function subscribers(account_id text, event text) returns text[] language plpgsql stable ${ownPath} as $$
    #variable_conflict use_column
    begin
      if subscribers.account_id is null then
        return (select array_agg(id) from webhook_endpoints
                 where deleted_at is null and (enabled or disabled_reason = 'FAILING')
                   and subscribers.event = any(events));
      end if;
      return (select array_agg(id) from webhook_endpoints
               where account_id = subscribers.account_id and deleted_at is null
                 and (enabled or disabled_reason = 'FAILING') and subscribers.event = any(events));
    end $$;

  -- Writes an event for the feed, unless it was written before, and a message for each of these endpoints.
  create function write_event(account_id text, event text, event_key text, subject text, body text,
    at timestamptz, endpoint_ids text[])
  returns void language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      new_event_id text;
    begin
      insert into events (id, account_id, event, event_key, subject, body)
      values ('evt-' || replace(gen_random_uuid()::text, '-', ''), write_event.account_id, write_event.event,
              write_event.event_key, write_event.subject, write_event.body)
      on conflict (event_key) do nothing
      returning id into new_event_id;
      if not found or endpoint_ids is null then
        return;
      end if;
      insert into webhook_messages (id, event_id, endpoint_id, account_id, event, event_key, subject, body,
          status, next_attempt_at, closed_at, created_at)
        select 'msg-' || replace(gen_random_uuid()::text, '-', ''), new_event_id, endpoint.id,
               endpoint.account_id, write_event.event, write_event.event_key, write_event.subject,
               write_event.body, case when endpoint.enabled then 'PENDING' else 'FAILED' end,
               case when endpoint.enabled then now() end, case when endpoint.enabled then null else now() end,
               write_event.at
          from webhook_endpoints endpoint where endpoint.id = any(endpoint_ids)
      on conflict (endpoint_id, event_key) do nothing;
    end $$;
`;

const statusEvent = ({ ownPath }: World) => sql`
  -- The body of esim.purchased, byte for byte as src/webhooks/event-rules.ts writes it, with its placeholder
  -- for the address of the QR code.
  create function status_body(transaction_id text, status text, esim_id text, iccid text, reference text,
    metadata json, happened_at timestamptz)
  returns text language plpgsql stable ${ownPath} as $$
    begin
      return (
        select row_to_json(message) from (
          select 'esim.purchased' as event, data,
                 to_char(happened_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "timestamp"
            from (select transaction_id as "transactionId", status, coalesce(esim_id, '') as "esimId",
                         coalesce(iccid, '') as iccid,
                         coalesce(chr(1) || 'qr-code-url-of:' || esim_id || chr(1), '') as "qrCodeUrl",
                         coalesce(reference, '') as reference, coalesce(metadata, '{}') as metadata) data
        ) message
      );
    end $$;

  -- Writes that the purchase now has this status, once per status. The eSIM is named once there is one: a
  -- top-up has one from the beginning.
  create function write_status(purchase purchases) returns void language plpgsql ${ownPath} as $$
    declare
      esim record;
    begin
      select id, iccid into esim from esims
       where id = purchase.esim_id and (purchase.status = 'SUCCESS' or purchase.package_type = 'TOPUP');
      perform write_event(purchase.account_id, 'esim.purchased',
          'esim.purchased:' || purchase.transaction_id || ':' || purchase.status, purchase.transaction_id,
          status_body(purchase.transaction_id, purchase.status, esim.id, esim.iccid,
            purchase.reference, purchase.metadata, now()), now(),
          subscribers(purchase.account_id, 'esim.purchased'));
    end $$;
`;
