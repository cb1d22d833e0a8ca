/**
 * What can be delivered: the balance at each supplier as it was read, and packages that it has just refused.
 * Judged where a purchase is opened (opening-functions.ts), so that nothing is sold that will be refused.
 */
import { sql } from 'kysely';
import { SHORTAGE_REASONS } from '../../../src/domain/states.ts';
import { oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const availability = (world: World) => sql`
  ${tables(world)}
  ${balances(world)}
  ${shortages(world)}
  ${judging(world)}
`;

const tables = ({ role }: World) => sql`
  -- Numbers are taken before the supplier is asked: of two checks the later one counts, whichever answers
  -- first.
  create sequence supplier_balance_checks;

  -- Every time is Postgres's. booked_until: the newest entry of what was used at the supplier; an order that
  -- was booked before the check began is in the balance. is_bound: not read, but learnt from a refusal, which
  -- says that there is no more than this. is_tight: so little that each opening counts what is left.
  create table supplier_balances (
    check_number bigint primary key,
    supplier text not null,
    balance_usd_e4 bigint not null,
    uncharged_usd_e4 bigint not null,
    booked_until bigint not null,
    is_bound boolean not null,
    is_tight boolean not null,
    asked_at timestamptz not null,
    read_at timestamptz not null default clock_timestamp()
  );
  -- So that whoever owns the table owns it too.
  alter sequence supplier_balance_checks owned by supplier_balances.check_number;
  create index supplier_balances_newest on supplier_balances (supplier, check_number);
  create index supplier_balances_by_age on supplier_balances (read_at);

  -- Not sold until a check says otherwise. probe_at: from then on one purchase from a wallet may try, since
  -- it fails free of charge; paid_probe_at: also one that is paid at a gateway. known_usd_e4: the least
  -- balance that was known since the refusal.
  create table package_shortages (
    package_code text primary key,
    supplier text not null,
    reason text not null ${oneOf('reason', SHORTAGE_REASONS)},
    cost_usd_e4 bigint not null,
    known_usd_e4 bigint,
    since timestamptz not null default clock_timestamp(),
    refused_at timestamptz not null default clock_timestamp(),
    refusals integer not null default 1,
    order_id text not null,
    probe_at timestamptz not null,
    paid_probe_at timestamptz not null,
    probe_id text
  );

  insert into revisions (name) values ('availability');

  grant insert, delete on supplier_balances to ${role};
  grant insert, update, delete on package_shortages to ${role};
  grant usage on sequence supplier_balance_checks to ${role};
`;

const balances = ({ ownPath }: World) => sql`
  -- Before the supplier is asked.
  create function begin_balance_check(supplier text, out check_number bigint, out booked_until bigint,
    out asked_at timestamptz)
  language plpgsql ${ownPath} as $$
    begin
      check_number := nextval('supplier_balance_checks');
      select coalesce(max(id), 0) into booked_until from ledger_entries
       where ledger_account_id = 'supplier-prepaid:' || begin_balance_check.supplier || ':USD4';
      asked_at := clock_timestamp();
    end $$;

  -- What is ordered, or may be once it is paid, and is not surely in a balance that was read then. Volatile,
  -- so that it sees what is committed by the time of its call. An order may be under way for 15 s after its
  -- row was written: 6 s until it is sent, and 5 s until its answer. For an account, what another has
  -- not paid yet counts up to most_of_another, or its dearest checkout: unpaid ones must not end the sales
  -- of all.
  create function supplier_uncharged(supplier text, booked_until bigint, asked_at timestamptz,
    for_account text default null, most_of_another bigint default null) returns bigint
  language plpgsql volatile ${ownPath} as $$
    begin
      return (
        select coalesce(sum(case when status = 'PENDING' and account_id <> for_account
                                 then least(cost, greatest(most_of_another, largest)) else cost end), 0)
          from (select p.account_id, p.status, sum(o.cost_usd_e4) as cost, max(o.cost_usd_e4) as largest
                  from purchases p join supplier_orders o on o.transaction_id = p.transaction_id and o.is_live
                 where p.status in ('PENDING', 'PROCESSING') and o.supplier = supplier_uncharged.supplier
                   and (o.state in ('planned', 'sent')
                        or o.last_sent_at > supplier_uncharged.asked_at - interval '15 s')
                 group by p.account_id, p.status) ordered
      ) + (
        select coalesce(-sum(amount_minor), 0) from ledger_entries
         where ledger_account_id = 'supplier-prepaid:' || supplier_uncharged.supplier || ':USD4'
           and id > supplier_uncharged.booked_until and amount_minor < 0
      );
    end $$;

  -- Keeps a balance. What is less than tight_below_usd_e4 is watched at each opening. A shortage of balance
  -- ends where the balance has risen, and covers the package. is_new: no later check was kept before.
  create function keep_supplier_balance(check_number bigint, supplier text, balance_usd_e4 bigint,
    booked_until bigint, asked_at timestamptz, tight_below_usd_e4 bigint, out is_new boolean,
    out available_usd_e4 bigint)
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      uncharged bigint := supplier_uncharged(keep_supplier_balance.supplier, keep_supplier_balance.booked_until,
        keep_supplier_balance.asked_at);
    begin
      available_usd_e4 := keep_supplier_balance.balance_usd_e4 - uncharged;
      is_new := not exists (select from supplier_balances b where b.supplier = keep_supplier_balance.supplier
        and b.check_number >= keep_supplier_balance.check_number);
      insert into supplier_balances (check_number, supplier, balance_usd_e4, uncharged_usd_e4, booked_until,
        is_bound, is_tight, asked_at)
      values (keep_supplier_balance.check_number, keep_supplier_balance.supplier,
        keep_supplier_balance.balance_usd_e4, uncharged, keep_supplier_balance.booked_until, false,
        available_usd_e4 < tight_below_usd_e4, keep_supplier_balance.asked_at)
      on conflict (check_number) do nothing;
      if is_new then
        delete from package_shortages s
         where s.supplier = keep_supplier_balance.supplier and reason = 'BALANCE_TOO_LOW'
           and keep_supplier_balance.asked_at > refused_at and cost_usd_e4 <= available_usd_e4
           and coalesce(keep_supplier_balance.balance_usd_e4 > known_usd_e4, true);
        update package_shortages s
           set known_usd_e4 = least(known_usd_e4, keep_supplier_balance.balance_usd_e4)
         where s.supplier = keep_supplier_balance.supplier and reason = 'BALANCE_TOO_LOW';
        update revisions set revision = revision + 1 where name = 'availability';
      end if;
    end $$;
`;

const shortages = ({ ownPath }: World) => sql`
  create function probe_wait(refusals integer) returns interval language sql immutable as $$
    select least(interval '15 min' * power(2, greatest(refusals - 1, 0)), interval '6 h')
  $$;

  -- The supplier has refused this order for stock or balance. The same order counts once. A refusal for
  -- balance also says that there is less than the package costs.
  create function keep_shortage(order_id text, reason text) returns void
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    declare
      refused supplier_orders;
      latest supplier_balances;
      bound supplier_balances;
      charged bigint;
    begin
      select * into strict refused from supplier_orders where id = keep_shortage.order_id;
      select * into latest from supplier_balances where supplier = refused.supplier
       order by check_number desc limit 1;
      insert into package_shortages as kept (package_code, supplier, reason, cost_usd_e4, known_usd_e4, order_id,
        probe_at, paid_probe_at)
      values (refused.package_code, refused.supplier, keep_shortage.reason, refused.cost_usd_e4,
        latest.balance_usd_e4, refused.id, clock_timestamp() + probe_wait(1),
        clock_timestamp() + interval '24 h')
      on conflict (package_code) do update
         set reason = excluded.reason, cost_usd_e4 = excluded.cost_usd_e4, known_usd_e4 = excluded.known_usd_e4,
             refused_at = excluded.refused_at, refusals = kept.refusals + 1, order_id = excluded.order_id,
             probe_at = clock_timestamp() + probe_wait(kept.refusals + 1),
             paid_probe_at = excluded.paid_probe_at, probe_id = null
       where kept.order_id <> excluded.order_id;
      if keep_shortage.reason = 'BALANCE_TOO_LOW' then
        -- As of the last read, so that what was ordered since counts as before.
        select begun.check_number, coalesce(latest.booked_until, begun.booked_until),
               coalesce(latest.asked_at, begun.asked_at)
          into bound.check_number, bound.booked_until, bound.asked_at
          from begin_balance_check(refused.supplier) begun;
        select coalesce(-sum(amount_minor), 0) into charged from ledger_entries
         where ledger_account_id = 'supplier-prepaid:' || refused.supplier || ':USD4'
           and id > bound.booked_until and amount_minor < 0;
        insert into supplier_balances (check_number, supplier, balance_usd_e4, uncharged_usd_e4, booked_until,
          is_bound, is_tight, asked_at)
        values (bound.check_number, refused.supplier,
          least(latest.balance_usd_e4, refused.cost_usd_e4 - 1 + charged),
          supplier_uncharged(refused.supplier, bound.booked_until, bound.asked_at),
          bound.booked_until, true, true, bound.asked_at);
      end if;
      update revisions set revision = revision + 1 where name = 'availability';
    end $$;

  -- Ends shortages whose probe the supplier has taken. Their number.
  create function end_probed_shortages() returns integer language plpgsql ${ownPath} as $$
    declare
      ended integer;
    begin
      delete from package_shortages s using supplier_orders o
       where o.transaction_id = s.probe_id and o.state in ('accepted', 'delivered') and o.last_sent_at > s.refused_at;
      get diagnostics ended = row_count;
      if ended > 0 then
        update revisions set revision = revision + 1 where name = 'availability';
      end if;
      return ended;
    end $$;
`;

const judging = ({ ownPath }: World) => sql`
  -- Whether the supplier can deliver the package, as far as we know. While the balance is tight, one opening
  -- at a time counts what is left, until its transaction ends; the count sees those before it. For a package
  -- in shortage, the caller becomes the probe: begin_probe, in the same transaction.
  create function may_sell(account_id text, package_code text, supplier text, cost_usd_e4 bigint,
    payment_method text, out is_sellable boolean, out is_probe boolean)
  language plpgsql volatile ${ownPath} as $$
    #variable_conflict use_column
    declare
      short package_shortages;
      latest supplier_balances;
    begin
      select * into short from package_shortages where package_code = may_sell.package_code;
      is_probe := found;
      if is_probe then
        -- Waits for a probe that is being opened, and then sees its time.
        select * into short from package_shortages where package_code = may_sell.package_code for update;
        is_probe := found;
        if is_probe and clock_timestamp() <
           (case when payment_method = 'WALLET' then short.probe_at else short.paid_probe_at end) then
          is_sellable := false;
          return;
        end if;
      end if;
      select * into latest from supplier_balances where supplier = may_sell.supplier
       order by check_number desc limit 1;
      is_sellable := true;
      if found and latest.is_tight then
        perform pg_advisory_xact_lock(hashtextextended(current_schema() || ' balance at ' || may_sell.supplier, 0));
        select * into latest from supplier_balances where supplier = may_sell.supplier
         order by check_number desc limit 1;
        is_sellable := latest.balance_usd_e4
          - supplier_uncharged(latest.supplier, latest.booked_until, latest.asked_at, may_sell.account_id,
              latest.balance_usd_e4 / 4) >= may_sell.cost_usd_e4;
      end if;
    end $$;

  -- The next one may try later.
  create function begin_probe(package_code text, transaction_id text) returns void
  language plpgsql ${ownPath} as $$
    #variable_conflict use_column
    begin
      update package_shortages
         set probe_id = begin_probe.transaction_id, probe_at = clock_timestamp() + probe_wait(refusals + 1),
             paid_probe_at = greatest(paid_probe_at, clock_timestamp() + interval '24 h')
       where package_code = begin_probe.package_code;
    end $$;
`;
