/** What adds deltas to the sums, and what counts all figures anew. */
import { sql } from 'kysely';

export const figureFunctions = () => sql`
  ${foldFigures()}
  ${rebuildFigures()}
`;

const foldFigures = () => sql`
  -- Adds at most so many deltas of each kind to the sums. Returns how many; the caller holds the lock.
  create function fold_figures(most integer) returns bigint language plpgsql as $$
    declare
      folded bigint := 0;
      batch bigint;
    begin
      with taken as (
        delete from purchase_deltas
         where ctid = any (array(select ctid from purchase_deltas limit most)) returning *
      ), counted as (
        insert into purchase_sums as kept (account_id, day, payment_method, status, purchases, volume_bytes)
        select account_id, day, payment_method, status, sum(purchases), sum(volume_bytes)
          from taken group by 1, 2, 3, 4 having sum(purchases) <> 0 or sum(volume_bytes) <> 0
        on conflict (account_id, day, payment_method, status) do update
          set purchases = kept.purchases + excluded.purchases,
              volume_bytes = kept.volume_bytes + excluded.volume_bytes
      ), sold as (
        insert into package_sums as kept (day, package_code, purchases)
        select day, package_code, sum(purchases)
          from taken where status = 'SUCCESS' group by 1, 2 having sum(purchases) <> 0
        on conflict (day, package_code) do update set purchases = kept.purchases + excluded.purchases
      )
      select count(*) into batch from taken;
      folded := folded + batch;

      with taken as (
        delete from spend_deltas
         where ctid = any (array(select ctid from spend_deltas limit most)) returning *
      ), counted as (
        insert into spend_sums as kept (account_id, day, currency, amount_minor)
        select account_id, day, currency, sum(amount_minor)
          from taken group by 1, 2, 3 having sum(amount_minor) <> 0
        on conflict (account_id, day, currency) do update
          set amount_minor = kept.amount_minor + excluded.amount_minor
      )
      select count(*) into batch from taken;
      folded := folded + batch;

      with taken as (
        delete from esim_deltas
         where ctid = any (array(select ctid from esim_deltas limit most)) returning *
      ), counted as (
        insert into esim_sums as kept (account_id, day, status, esims, used_bytes)
        select account_id, day, status, sum(esims), sum(used_bytes)
          from taken group by 1, 2, 3 having sum(esims) <> 0 or sum(used_bytes) <> 0
        on conflict (account_id, day, status) do update
          set esims = kept.esims + excluded.esims, used_bytes = kept.used_bytes + excluded.used_bytes
      ), named as (
        insert into esim_name_sums as kept (account_id, package_name, status, esims)
        select account_id, package_name, status, sum(esims)
          from taken group by 1, 2, 3 having sum(esims) <> 0
        on conflict (account_id, package_name, status) do update set esims = kept.esims + excluded.esims
      ), found as (
        insert into esim_search select esim_id, account_id, created_at, ids from esim_search_recount
         where esim_id in (select esim_id from taken where is_found_anew)
        on conflict (esim_id) do update
          set account_id = excluded.account_id, created_at = excluded.created_at, ids = excluded.ids
      )
      select count(*) into batch from taken;
      return folded + batch;
    end $$;
`;

const rebuildFigures = () => sql`
  -- Run in one repeatable-read transaction under the lock that folding takes: what it deletes and what it
  -- counts are of one snapshot.
  create function rebuild_figures() returns void language plpgsql as $$
    begin
      delete from purchase_deltas;
      delete from spend_deltas;
      delete from esim_deltas;
      delete from purchase_sums;
      delete from package_sums;
      delete from spend_sums;
      delete from esim_sums;
      delete from esim_name_sums;
      insert into purchase_sums
      select account_id, day, payment_method, status, purchases, volume_bytes from purchase_recount;
      insert into package_sums select day, package_code, purchases from package_recount;
      insert into spend_sums select account_id, day, currency, amount_minor from spend_recount;
      insert into esim_sums select account_id, day, status, esims, used_bytes from esim_recount;
      insert into esim_name_sums select account_id, package_name, status, esims from esim_name_recount;
      delete from esim_search where not exists (select from esims where id = esim_id);
      insert into esim_search as kept select esim_id, account_id, created_at, ids from esim_search_recount
      on conflict (esim_id) do update
        set account_id = excluded.account_id, created_at = excluded.created_at, ids = excluded.ids
       where (kept.account_id, kept.created_at, kept.ids)
             is distinct from (excluded.account_id, excluded.created_at, excluded.ids);
    end $$;
`;
