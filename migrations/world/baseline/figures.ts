/**
 * Figures that are kept, so that reading them costs the same at a million orders: purchases, spend and eSIMs
 * of an account by day, eSIMs by package name, packages sold by day; and esim_search, the ids that eSIMs are
 * found by, in rows that usage does not change. Guarantee: sums and deltas together equal the recount views
 * in every snapshot, since triggers write the deltas. A delta is a row of its own, so purchases of one
 * account do not wait for each other; fold_figures adds deltas to the sums later.
 */
import { sql } from 'kysely';
import { figureFunctions } from './figure-functions.ts';
import type { World } from './world.ts';

export const figures = (world: World) => sql`
  ${purchaseFigures(world)}
  ${esimFigures(world)}
  ${idSearch()}
  ${views()}
  ${purchaseTriggers(world)}
  ${esimTriggers(world)}
  ${figureFunctions()}
`;

/** Rows of deltas live for seconds: what is left of them must not slow reads down. */
const SHORT_LIVED = sql`autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000`;

const purchaseFigures = ({ role }: World) => sql`
  -- day, here and below: the UTC day on which the purchase or the eSIM was created. Later changes move
  -- figures between statuses, not between days.
  create table purchase_deltas (
    account_id text not null,
    day date not null,
    payment_method text not null,
    status text not null,
    package_code text not null,
    purchases bigint not null,
    volume_bytes bigint not null
  ) with (${SHORT_LIVED});
  create index purchase_deltas_by_account on purchase_deltas (account_id);

  create table purchase_sums (
    account_id text not null,
    day date not null,
    payment_method text not null,
    status text not null,
    purchases bigint not null,
    volume_bytes bigint not null,
    primary key (account_id, day, payment_method, status)
  );

  create table package_sums (
    day date not null,
    package_code text not null,
    purchases bigint not null,
    primary key (day, package_code)
  );

  create table spend_deltas (
    account_id text not null,
    day date not null,
    currency text not null,
    amount_minor bigint not null
  ) with (${SHORT_LIVED});
  create index spend_deltas_by_account on spend_deltas (account_id);

  create table spend_sums (
    account_id text not null,
    day date not null,
    currency text not null,
    amount_minor bigint not null,
    primary key (account_id, day, currency)
  );

  grant insert, delete on purchase_deltas, spend_deltas to ${role};
  grant insert, update, delete on purchase_sums, package_sums, spend_sums to ${role};
`;

const esimFigures = ({ role }: World) => sql`
  -- is_found_anew: what it is searched by is new or has changed.
  create table esim_deltas (
    esim_id text not null,
    account_id text not null,
    day date not null,
    package_name text not null,
    status text not null,
    esims bigint not null,
    used_bytes bigint not null,
    is_found_anew boolean not null
  ) with (${SHORT_LIVED});
  create index esim_deltas_by_account on esim_deltas (account_id);

  create table esim_sums (
    account_id text not null,
    day date not null,
    status text not null,
    esims bigint not null,
    used_bytes bigint not null,
    primary key (account_id, day, status)
  );

  create table esim_name_sums (
    account_id text not null,
    package_name text not null,
    status text not null,
    esims bigint not null,
    primary key (account_id, package_name, status)
  );

  create table esim_search (
    esim_id text primary key,
    account_id text not null,
    created_at timestamptz not null,
    ids text not null
  );

  grant insert, delete on esim_deltas to ${role};
  grant insert, update, delete on esim_sums, esim_name_sums, esim_search to ${role};
`;

/**
 * The index of searches has grams of four characters of ids, not trigrams: among a million eSIMs some 20,000
 * have any three digits, and a search for six digits would cross four such lists. Four characters are in one
 * list of some 3,000.
 */
const idSearch = () => sql`
  -- A quarter of the accounts share their lists: what others have in common with a search is mostly left out,
  -- and the grams are still so few (some 260,000) that they fit into the memory in which Postgres builds the
  -- index. The space ends the last id, so that its last three characters begin a gram, too. Dear to compute:
  -- no plan may do it row by row, nor start workers for some thousand rows because of it.
  create function id_grams(account_id text, ids text) returns text[]
    language sql immutable strict parallel unsafe cost 1000 as $$
      select array(
        select quarter || substr(ended, i, 4)
          from (select (ascii(right(account_id, 1)) % 4)::text as quarter,
                       lower(ids) || ' ' as ended offset 0) text,
            generate_series(1, length(ids) - 2) i
      )
    $$;
  -- Without a list of pending entries, which every search would read: only fold_figures writes here, in
  -- batches.
  create index esim_search_by_gram on esim_search
    using gin (id_grams(account_id, ids)) with (fastupdate = off);
`;

const views = () => sql`
  create view purchase_figures as
  select account_id, day, payment_method, status, purchases, volume_bytes from purchase_sums
  union all
  select account_id, day, payment_method, status, purchases, volume_bytes from purchase_deltas;

  create view package_figures as
  select day, package_code, purchases from package_sums
  union all
  select day, package_code, purchases from purchase_deltas where status = 'SUCCESS';

  create view spend_figures as
  select account_id, day, currency, amount_minor from spend_sums
  union all
  select account_id, day, currency, amount_minor from spend_deltas;

  create view esim_figures as
  select account_id, day, status, esims, used_bytes from esim_sums
  union all
  select account_id, day, status, esims, used_bytes from esim_deltas;

  create view esim_name_figures as
  select account_id, package_name, status, esims from esim_name_sums
  union all
  select account_id, package_name, status, esims from esim_deltas;

  create view purchase_recount as
  select account_id, (created_at at time zone 'UTC')::date as day, payment_method, status,
         count(*) as purchases, sum(volume_bytes)::bigint as volume_bytes
    from purchases group by 1, 2, 3, 4;

  create view package_recount as
  select (created_at at time zone 'UTC')::date as day, package_code, count(*) as purchases
    from purchases where status = 'SUCCESS' group by 1, 2;

  -- Revenue is what was charged and kept: what is given back, or is at risk in a dispute, has left it.
  create view spend_recount as
  select p.account_id, (p.created_at at time zone 'UTC')::date as day, e.currency,
         sum(e.amount_minor)::bigint as amount_minor
    from ledger_accounts a
    join ledger_entries e on e.ledger_account_id = a.id
    join ledger_transactions t on t.id = e.ledger_transaction_id
    join purchases p on p.transaction_id = t.transaction_id
   where a.kind = 'revenue' group by 1, 2, 3;

  create view esim_recount as
  select account_id, (created_at at time zone 'UTC')::date as day, status, count(*) as esims,
         sum(order_usage_bytes)::bigint as used_bytes
    from esims group by 1, 2, 3;

  create view esim_name_recount as
  select account_id, package_name, status, count(*) as esims from esims group by 1, 2, 3;

  create view esim_search_recount as
  select id as esim_id, account_id, created_at, iccid || ' ' || transaction_id as ids from esims;
`;

/**
 * A trigger for each row that is skipped where nothing counted changes: most updates of a purchase or an eSIM
 * cost nothing. Functions name tables in full: who writes may have another search path.
 */
const purchaseTriggers = ({ schema }: World) => sql`
  create function count_purchases() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        insert into ${schema}.purchase_deltas values
          (new.account_id, (new.created_at at time zone 'UTC')::date, new.payment_method, new.status,
           new.package_code, +1, +new.volume_bytes);
      elsif tg_op = 'UPDATE' then
        insert into ${schema}.purchase_deltas values
          (old.account_id, (old.created_at at time zone 'UTC')::date, old.payment_method, old.status,
           old.package_code, -1, -old.volume_bytes),
          (new.account_id, (new.created_at at time zone 'UTC')::date, new.payment_method, new.status,
           new.package_code, +1, +new.volume_bytes);
      else
        insert into ${schema}.purchase_deltas values
          (old.account_id, (old.created_at at time zone 'UTC')::date, old.payment_method, old.status,
           old.package_code, -1, -old.volume_bytes);
      end if;
      return null;
    end $$;
  create trigger purchases_are_counted after insert or delete on purchases
    for each row execute function count_purchases();
  create trigger purchases_are_counted_again after update on purchases
    for each row when (
      (old.account_id, old.created_at, old.payment_method, old.status, old.package_code, old.volume_bytes)
      is distinct from
      (new.account_id, new.created_at, new.payment_method, new.status, new.package_code, new.volume_bytes)
    ) execute function count_purchases();

  create function forget_purchases() returns trigger language plpgsql as $$
    begin
      truncate ${schema}.purchase_deltas, ${schema}.purchase_sums, ${schema}.package_sums,
        ${schema}.spend_deltas, ${schema}.spend_sums;
      return null;
    end $$;
  create trigger purchases_are_forgotten after truncate on purchases
    for each statement execute function forget_purchases();

  -- The ledger's own purchase is opened long before its money is earned, so its row is there.
  create function count_spend() returns trigger language plpgsql as $$
    begin
      insert into ${schema}.spend_deltas (account_id, day, currency, amount_minor)
      select p.account_id, (p.created_at at time zone 'UTC')::date, new.currency, new.amount_minor
        from ${schema}.ledger_transactions t
        join ${schema}.purchases p on p.transaction_id = t.transaction_id
       where t.id = new.ledger_transaction_id;
      return null;
    end $$;
  create trigger spend_is_counted after insert on ledger_entries
    for each row when (new.ledger_account_id like 'revenue:%') execute function count_spend();
`;

const esimTriggers = ({ schema }: World) => sql`
  create function count_esims() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        insert into ${schema}.esim_deltas values
          (new.id, new.account_id, (new.created_at at time zone 'UTC')::date, new.package_name, new.status,
           +1, +new.order_usage_bytes, true);
      elsif tg_op = 'UPDATE' then
        insert into ${schema}.esim_deltas values
          (old.id, old.account_id, (old.created_at at time zone 'UTC')::date, old.package_name, old.status,
           -1, -old.order_usage_bytes, false),
          (new.id, new.account_id, (new.created_at at time zone 'UTC')::date, new.package_name, new.status,
           +1, +new.order_usage_bytes,
           (old.account_id, old.iccid, old.transaction_id)
             is distinct from (new.account_id, new.iccid, new.transaction_id));
      else
        insert into ${schema}.esim_deltas values
          (old.id, old.account_id, (old.created_at at time zone 'UTC')::date, old.package_name, old.status,
           -1, -old.order_usage_bytes, false);
      end if;
      return null;
    end $$;
  create trigger esims_are_counted after insert or delete on esims
    for each row execute function count_esims();
  create trigger esims_are_counted_again after update on esims
    for each row when (
      (old.account_id, old.created_at, old.package_name, old.status, old.order_usage_bytes, old.iccid,
       old.transaction_id)
      is distinct from
      (new.account_id, new.created_at, new.package_name, new.status, new.order_usage_bytes, new.iccid,
       new.transaction_id)
    ) execute function count_esims();

  create function forget_esims() returns trigger language plpgsql as $$
    begin
      truncate ${schema}.esim_deltas, ${schema}.esim_sums, ${schema}.esim_name_sums, ${schema}.esim_search;
      return null;
    end $$;
  create trigger esims_are_forgotten after truncate on esims
    for each statement execute function forget_esims();
`;
