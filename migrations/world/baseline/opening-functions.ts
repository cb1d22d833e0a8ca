/**
 * Opening a purchase: all of its rows are written, or none. Its money is held in the same step, or its
 * payment is on record before the gateway is asked.
 */
import { sql } from 'kysely';
import type { World } from './world.ts';

export const openingFunctions = (world: World) => sql`
  ${budgets(world)}
  ${holding(world)}
  ${keys(world)}
  ${writing(world)}
  ${opening(world)}
`;

/** What these functions are called with. */
export const openingTerms = () => sql`
  -- What was agreed. Of the package: as it was when the purchase was opened; supplier is null where there was
  -- none. Of the buyer: what they said for themselves; metadata is JSON, byte for byte.
  create type purchase_terms as (transaction_id text, account_id text, package_type text, payment_method text,
    package_code text, supplier text, package_name text, volume_bytes bigint, duration integer,
    duration_unit text, data_type integer, snapshot jsonb, esim_id text, price_minor bigint, currency text,
    price_usd_minor bigint, cost_usd_e4 bigint, settings_id text, rate_id text, request_id text,
    in_flight_grace_ms integer, created_at timestamptz, key_id text, countries text[], reference text,
    is_reference_unique boolean, metadata text, customer_email text, success_url text, cancel_url text,
    replaces text, mandate_id text, mandate_sequence integer);

  -- What is asked of the buyer at a gateway.
  create type charge_terms as (reference text, gateway text, amount_minor bigint, currency text,
    window_ms bigint);
`;

const budgets = ({ ownPath }: World) => sql`
  -- What of a key's budget is used: its holds that are not voided. A day is a calendar day in UTC, by the
  -- clock of the database. A purchase that waited over midnight counts for the day in which it began.
  create function key_spent_today(key_id text) returns bigint language sql stable ${ownPath} as $$
    select coalesce(sum(amount_minor), 0)::bigint
      from holds, (select date_trunc('day', now(), 'UTC') as began) today
     where holds.key_id = key_spent_today.key_id and status <> 'VOIDED'
       and created_at >= began and created_at < began + interval '1 day'
  $$;

  create function key_purchases(key_id text) returns bigint language sql stable ${ownPath} as $$
    select count(*) from holds where holds.key_id = key_purchases.key_id and status <> 'VOIDED'
  $$;

  -- Which limit of a key's budget an order breaks, how much the limit is and what is left of it; null: none,
  -- or the key has no budget. Without purchases, as for a quote, nothing that is used up counts.
  create function key_budget_breach(key_id text, total_minor bigint, dearest_minor bigint, countries text[],
    purchases integer) returns jsonb
  language plpgsql stable ${ownPath} as $$
    #variable_conflict use_column
    declare
      budget key_budgets;
      left_over bigint;
    begin
      select * into budget from key_budgets where key_id = key_budget_breach.key_id;
      if not found then
        return null;
      end if;
      -- Of a package whose countries are unknown, none is in the list.
      if budget.countries is not null and (coalesce(cardinality(key_budget_breach.countries), 0) = 0
          or not key_budget_breach.countries <@ budget.countries) then
        return jsonb_build_object('limit', 'countries', 'of', array_to_string(budget.countries, ', '));
      elsif dearest_minor > budget.max_price_minor then
        return jsonb_build_object('limit', 'maxPrice', 'of', budget.max_price_minor::text);
      elsif total_minor > budget.order_minor then
        return jsonb_build_object('limit', 'orderAmount', 'of', budget.order_minor::text);
      elsif purchases = 0 then
        return null;
      end if;
      if budget.daily_minor is not null then
        left_over := budget.daily_minor - key_spent_today(budget.key_id);
        if total_minor > left_over then
          return jsonb_build_object('limit', 'dailyAmount', 'of', budget.daily_minor::text,
            'left', greatest(left_over, 0)::text);
        end if;
      end if;
      if budget.max_purchases is not null then
        left_over := budget.max_purchases - key_purchases(budget.key_id);
        if purchases > left_over then
          return jsonb_build_object('limit', 'maxPurchases', 'of', budget.max_purchases::text,
            'left', greatest(left_over, 0)::text);
        end if;
      end if;
      return null;
    end $$;
`;

const holding = ({ ownPath }: World) => sql`
  -- Whether a debit takes the wallet below the balance at which its account wants to be told: then what is
  -- left, and who is told. Called under the wallet's lock, so there is no state to reset.
  create function low_balance_crossing(account_id text, balance_minor bigint, debit_minor bigint,
    out threshold_minor bigint, out left_minor bigint, out subscribers text[])
  language plpgsql stable ${ownPath} as $$
    #variable_conflict use_column
    begin
      select threshold_minor into threshold_minor from low_balance_thresholds
       where account_id = low_balance_crossing.account_id
         and low_balance_crossing.balance_minor >= threshold_minor
         and low_balance_crossing.balance_minor - debit_minor < threshold_minor;
      if found then
        left_minor := low_balance_crossing.balance_minor - debit_minor;
        subscribers := subscribers(low_balance_crossing.account_id, 'wallet.low_balance');
      end if;
    end $$;

  -- Reserves money of a wallet, once, within the budget of the key that asks. With unless_low, none that
  -- takes the balance below its threshold.
  create function place_hold(hold_id text, account_id text, currency text, amount_minor bigint,
    unless_low boolean, key_id text, countries text[], out is_placed boolean, out threshold_minor bigint,
    out left_minor bigint, out subscribers text[], out breach jsonb)
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      wallet wallets;
      booked bigint;
    begin
      is_placed := false;
      select * into wallet from wallets
       where account_id = place_hold.account_id and currency = place_hold.currency
         and balance_minor >= place_hold.amount_minor for update;
      if not found then
        return;
      end if;
      -- Under the wallet's lock, in a statement that began after it was given: it sees every hold of the key,
      -- since all of them are of this wallet.
      breach := key_budget_breach(place_hold.key_id, place_hold.amount_minor, place_hold.amount_minor,
        place_hold.countries, 1);
      if breach is not null then
        return;
      end if;
      select low.* into threshold_minor, left_minor, subscribers
        from low_balance_crossing(wallet.account_id, wallet.balance_minor, place_hold.amount_minor) low;
      if unless_low and threshold_minor is not null then
        return;
      end if;
      insert into holds (id, account_id, currency, amount_minor, key_id)
      values (hold_id, wallet.account_id, wallet.currency, place_hold.amount_minor, place_hold.key_id)
      on conflict (id) do nothing;
      if not found then
        return;
      end if;
      is_placed := true;
      if place_hold.amount_minor = 0 then
        return;
      end if;
      insert into ledger_transactions (operation_key, kind, transaction_id)
      values (hold_id || ':hold', 'hold', hold_id) returning id into booked;
      insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
      values (booked, wallet.ledger_account_id, wallet.currency, -place_hold.amount_minor),
             (booked, 'held:' || wallet.currency, wallet.currency, place_hold.amount_minor);
    end $$;
`;

const keys = ({ ownPath }: World) => sql`
  -- Writes the row of an Idempotency-Key in the transaction of its request. A row that a caller began is
  -- completed and keeps its answer. A key whose last request was refused without effect is free for the
  -- request that follows that one.
  create function take_key(transaction_id text, account_id text, key text, path text, fingerprint text,
    follows text) returns void
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    begin
      update idempotency_keys
         set transaction_id = take_key.transaction_id, path = take_key.path,
             fingerprint = take_key.fingerprint, begun = false, refusal_reason = null, refusal_detail = null,
             created_at = case when begun then created_at else now() end
       where account_id = take_key.account_id and key = take_key.key
         and (transaction_id = take_key.transaction_id and begun
              or refusal_reason is not null and transaction_id = follows);
      if not found then
        insert into idempotency_keys (account_id, key, path, fingerprint, transaction_id)
        values (take_key.account_id, take_key.key, take_key.path, take_key.fingerprint,
                take_key.transaction_id);
      end if;
    end $$;
`;

const writing = ({ ownPath }: World) => sql`
  -- Writes a purchase, and the order of its eSIM. With a refusal, it is closed at once.
  create function write_purchase(terms purchase_terms, refusal text) returns void
  language plpgsql ${ownPath} as $$
    declare
      first_status text := case when refusal is not null then 'FAILED'
                                when terms.payment_method = 'WALLET' then 'PROCESSING' else 'PENDING' end;
    begin
      insert into purchases (transaction_id, account_id, package_type, payment_method, status, reason,
        package_code, supplier, package_name, volume_bytes, duration, esim_id, price_minor, currency,
        price_usd_minor, cost_usd_e4, settings_id, rate_id, request_id, reference, metadata, replaces, mandate_id,
        created_at, closed_at)
      values (terms.transaction_id, terms.account_id, terms.package_type, terms.payment_method, first_status,
        refusal, terms.package_code, terms.supplier, terms.package_name, terms.volume_bytes, terms.duration,
        terms.esim_id, terms.price_minor, terms.currency, terms.price_usd_minor, terms.cost_usd_e4,
        terms.settings_id, terms.rate_id, terms.request_id, terms.reference, terms.metadata::json, terms.replaces,
        terms.mandate_id, terms.created_at, case when refusal is not null then terms.created_at end);
      if terms.package_type = 'BASE' and terms.supplier is not null then
        insert into esims (id, account_id, transaction_id, package_code, package_name, status, price_minor,
          currency, snapshot, supplier, total_volume_bytes, total_duration, duration_unit, data_type, replaces,
          created_at)
        values (terms.esim_id, terms.account_id, terms.transaction_id, terms.package_code, terms.package_name,
          case when refusal is null then 'PENDING' else 'FAILED' end, terms.price_minor, terms.currency,
          terms.snapshot, terms.supplier, terms.volume_bytes, terms.duration, terms.duration_unit,
          terms.data_type, terms.replaces, terms.created_at);
      end if;
      if coalesce(terms.customer_email, terms.success_url, terms.cancel_url) is not null then
        insert into buyer_details (transaction_id, customer_email, success_url, cancel_url)
        values (terms.transaction_id, terms.customer_email, terms.success_url, terms.cancel_url);
      end if;
      if refusal is null and terms.mandate_id is not null then
        perform reserve_mandate(terms);
      end if;
      insert into purchase_events (transaction_id, what, detail)
      values (terms.transaction_id, case when first_status = 'FAILED' then 'refused'
                when terms.replaces is not null then 'replacement-opened'
                when first_status = 'PROCESSING' then 'wallet-held' else 'opened' end, refusal);
    end $$;
`;

const opening = ({ ownPath }: World) => sql`
  -- Opens a purchase: its hold or its payment, the row of its Idempotency-Key, and the order that is agreed
  -- with the supplier and not sent yet. is_opened is false, and nothing is written, where the wallet has too
  -- little, its hold was placed before, too many payments are unpaid, the key's budget does not allow it,
  -- its reference was to be unique and is not, or with unless_low the balance would fall below its threshold.
  -- A key with a budget pays from the wallet alone: no other money is on hold before it is spent.
  -- is_unavailable: the supplier could not deliver it. is_beyond_mandate: it is a top-up that its mandate
  -- does not allow.
  create function open_purchase(terms purchase_terms, charge charge_terms, idempotency_key text,
    idempotency_path text, fingerprint text, follows text, unpaid_limits jsonb, unless_low boolean,
    out is_opened boolean, out threshold_minor bigint, out left_minor bigint, out subscribers text[],
    out breach jsonb, out reference_used_by text, out at timestamptz, out is_unavailable boolean,
    out is_beyond_mandate boolean, out is_being_replaced boolean)
  language plpgsql ${ownPath} as $$
    declare judged record;
    begin
      at := now();
      if terms.is_reference_unique then
        reference_used_by := reference_holder(terms.account_id, terms.reference, terms.transaction_id);
      end if;
      if reference_used_by is not null then
        is_opened := false;
        return;
      end if;
      is_being_replaced := terms.package_type = 'TOPUP' and is_being_replaced(terms.esim_id);
      select * into judged
        from may_sell(terms.account_id, terms.package_code, terms.supplier, terms.cost_usd_e4, terms.payment_method);
      is_unavailable := not judged.is_sellable;
      is_beyond_mandate := terms.mandate_id is not null and not mandate_allows(terms);
      if is_being_replaced or is_unavailable or is_beyond_mandate then
        is_opened := false;
        return;
      end if;
      if terms.payment_method = 'WALLET' then
        select hold.is_placed, hold.threshold_minor, hold.left_minor, hold.subscribers, hold.breach
          into is_opened, threshold_minor, left_minor, subscribers, breach
          from place_hold(terms.transaction_id, terms.account_id, terms.currency, terms.price_minor,
                 unless_low, terms.key_id, terms.countries) hold;
      elsif exists (select from key_budgets where key_id = terms.key_id) then
        is_opened := false;
        breach := jsonb_build_object('limit', 'paymentMethod', 'of', 'WALLET');
      else
        is_opened := may_open_unpaid(terms.account_id, unpaid_limits);
      end if;
      if not is_opened then
        return;
      end if;
      if idempotency_key is not null then
        perform take_key(terms.transaction_id, terms.account_id, idempotency_key, idempotency_path, fingerprint,
          follows);
      end if;
      perform write_purchase(terms, null);
      -- From here on only this row says how much is to be paid.
      if terms.payment_method <> 'WALLET' and charge.gateway is not null then
        insert into payments (reference, transaction_id, attempt, gateway, purpose, account_id, method,
          charge_minor, charge_currency, price_minor, price_currency, expires_at)
        values (charge.reference, terms.transaction_id, 1, charge.gateway, 'purchase', terms.account_id,
          terms.payment_method, charge.amount_minor, charge.currency, terms.price_minor, terms.currency,
          clock_timestamp() + charge.window_ms * interval '1 ms');
      end if;
      insert into supplier_orders (id, transaction_id, kind, supplier, package_code, volume_bytes, cost_usd_e4,
        in_flight_grace_ms)
      values (terms.transaction_id, terms.transaction_id, terms.package_type, terms.supplier,
        terms.package_code, terms.volume_bytes, terms.cost_usd_e4, terms.in_flight_grace_ms);
      if judged.is_probe then
        perform begin_probe(terms.package_code, terms.transaction_id);
      end if;
    end $$;
`;
