/**
 * Figures that are kept, so that reading them costs the same at a million orders: purchases, spend and eSIMs of an account by day, eSIMs by package name,
 * packages sold by day; and `esim_search`, the ids that eSIMs are found by, in rows that usage does not change. Guarantee: sums and deltas together equal
 * the recount views in every snapshot, whichever release writes, since triggers write the deltas. A delta is a row of its own, so purchases of one account
 * do not wait for each other; `fold_figures` adds deltas to the sums later.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const schema = rows[0]?.schema ?? '';
  await purchaseTables(db);
  await esimTables(db);
  await deltaSettings(db);
  await views(db);
  await purchaseTriggers(db, schema);
  await esimTriggers(db, schema);
  await functions(db);
  const role = sql.id(`simway_${schema}`);
  await sql`
    grant select, insert, delete on purchase_deltas, spend_deltas, esim_deltas to ${role}`.execute(db);
  await sql`
    grant select, insert, update, delete on purchase_sums, package_sums, spend_sums, esim_sums, esim_name_sums, esim_search to ${role}`.execute(
    db,
  );
  await sql`
    grant select on purchase_figures, package_figures, spend_figures, esim_figures, esim_name_figures, purchase_recount, package_recount,
      spend_recount, esim_recount, esim_name_recount, esim_search_recount, figures_filled to ${role}`.execute(
    db,
  );
}

/** `day` is the UTC day on which the purchase or the eSIM was created: later changes move figures between statuses, not between days. */
async function purchaseTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table purchase_deltas (
      account_id text not null,
      day date not null,
      payment_method text not null,
      status text not null,
      package_code text not null,
      purchases bigint not null,
      volume_bytes bigint not null
    )`.execute(db);
  await sql`
    create table purchase_sums (
      account_id text not null,
      day date not null,
      payment_method text not null,
      status text not null,
      purchases bigint not null,
      volume_bytes bigint not null,
      primary key (account_id, day, payment_method, status)
    )`.execute(db);
  await sql`
    create table package_sums (
      day date not null,
      package_code text not null,
      purchases bigint not null,
      primary key (day, package_code)
    )`.execute(db);
  await sql`
    create table spend_deltas (
      account_id text not null,
      day date not null,
      currency text not null,
      amount_minor bigint not null
    )`.execute(db);
  await sql`
    create table spend_sums (
      account_id text not null,
      day date not null,
      currency text not null,
      amount_minor bigint not null,
      primary key (account_id, day, currency)
    )`.execute(db);
}

async function esimTables(db: Kysely<unknown>): Promise<void> {
  // `is_found_anew`: what it is searched by is new or has changed.
  await sql`
    create table esim_deltas (
      esim_id text not null,
      account_id text not null,
      day date not null,
      package_name text not null,
      status text not null,
      esims bigint not null,
      used_bytes bigint not null,
      is_found_anew boolean not null
    )`.execute(db);
  await sql`
    create table esim_sums (
      account_id text not null,
      day date not null,
      status text not null,
      esims bigint not null,
      used_bytes bigint not null,
      primary key (account_id, day, status)
    )`.execute(db);
  await sql`
    create table esim_name_sums (
      account_id text not null,
      package_name text not null,
      status text not null,
      esims bigint not null,
      primary key (account_id, package_name, status)
    )`.execute(db);
  await sql`
    create table esim_search (
      esim_id text primary key,
      account_id text not null,
      created_at timestamptz not null,
      ids text not null
    )`.execute(db);
}

async function deltaSettings(db: Kysely<unknown>): Promise<void> {
  for (const table of ['purchase_deltas', 'spend_deltas', 'esim_deltas']) {
    await sql`create index ${sql.id(`${table}_by_account`)} on ${sql.table(table)} (account_id)`.execute(db);
    // Rows live for seconds: what is left of them must not slow reads down.
    await sql`
      alter table ${sql.table(table)} set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`.execute(
      db,
    );
  }
  // One row once the figures include what was there before their triggers.
  await sql`create table figures_filled (at timestamptz not null default now())`.execute(db);
}

const dayOf = (column: string) => sql`(${sql.ref(column)} at time zone 'UTC')::date`;

async function views(db: Kysely<unknown>): Promise<void> {
  await sql`
    create view purchase_figures as
    select account_id, day, payment_method, status, purchases, volume_bytes from purchase_sums
    union all select account_id, day, payment_method, status, purchases, volume_bytes from purchase_deltas`.execute(
    db,
  );
  await sql`
    create view package_figures as
    select day, package_code, purchases from package_sums
    union all select day, package_code, purchases from purchase_deltas where status = 'SUCCESS'`.execute(db);
  await sql`
    create view spend_figures as
    select account_id, day, currency, amount_minor from spend_sums
    union all select account_id, day, currency, amount_minor from spend_deltas`.execute(db);
  await sql`
    create view esim_figures as
    select account_id, day, status, esims, used_bytes from esim_sums
    union all select account_id, day, status, esims, used_bytes from esim_deltas`.execute(db);
  await sql`
    create view esim_name_figures as
    select account_id, package_name, status, esims from esim_name_sums
    union all select account_id, package_name, status, esims from esim_deltas`.execute(db);
  await sql`
    create view purchase_recount as
    select account_id, ${dayOf('created_at')} as day, payment_method, status, count(*) as purchases, sum(volume_bytes)::bigint as volume_bytes
      from purchases group by 1, 2, 3, 4`.execute(db);
  await sql`
    create view package_recount as
    select ${dayOf('created_at')} as day, package_code, count(*) as purchases
      from purchases where status = 'SUCCESS' group by 1, 2`.execute(db);
  // Revenue is what was charged and kept: what is given back, or is at risk in a dispute, has left it.
  await sql`
    create view spend_recount as
    select p.account_id, ${dayOf('p.created_at')} as day, e.currency, sum(e.amount_minor)::bigint as amount_minor
      from ledger_accounts a
      join ledger_entries e on e.ledger_account_id = a.id
      join ledger_transactions t on t.id = e.ledger_transaction_id
      join purchases p on p.transaction_id = t.transaction_id
     where a.kind = 'revenue' group by 1, 2, 3`.execute(db);
  await sql`
    create view esim_recount as
    select account_id, ${dayOf('created_at')} as day, status, count(*) as esims, sum(order_usage_bytes)::bigint as used_bytes
      from esims group by 1, 2, 3`.execute(db);
  await sql`
    create view esim_name_recount as
    select account_id, package_name, status, count(*) as esims from esims group by 1, 2, 3`.execute(db);
  await sql`
    create view esim_search_recount as
    select id as esim_id, account_id, created_at, iccid || ' ' || transaction_id as ids from esims`.execute(
    db,
  );
}

/** A trigger for each row that is skipped where nothing counted changes: most updates of a purchase or an eSIM cost nothing. */
async function purchaseTriggers(db: Kysely<unknown>, schema: string): Promise<void> {
  const row = (of: 'old' | 'new', sign: '+' | '-') => sql`
    (${sql.raw(of)}.account_id, ${dayOf(`${of}.created_at`)}, ${sql.raw(of)}.payment_method, ${sql.raw(of)}.status,
     ${sql.raw(of)}.package_code, ${sql.raw(sign)}1, ${sql.raw(sign)}${sql.raw(of)}.volume_bytes)`;
  await countingTriggers(db, schema, {
    table: 'purchases',
    deltas: 'purchase_deltas',
    counted: ['account_id', 'created_at', 'payment_method', 'status', 'package_code', 'volume_bytes'],
    added: row('new', '+'),
    removed: row('old', '-'),
    emptied: ['purchase_deltas', 'purchase_sums', 'package_sums', 'spend_deltas', 'spend_sums'],
  });
  // The ledger's own purchase is opened long before its money is earned, so its row is there.
  await sql`
    create function count_spend() returns trigger language plpgsql as $$
    begin
      insert into ${sql.table(`${schema}.spend_deltas`)} (account_id, day, currency, amount_minor)
      select p.account_id, ${dayOf('p.created_at')}, new.currency, new.amount_minor
        from ${sql.table(`${schema}.ledger_transactions`)} t
        join ${sql.table(`${schema}.purchases`)} p on p.transaction_id = t.transaction_id
       where t.id = new.ledger_transaction_id;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger spend_is_counted after insert on ledger_entries
    for each row when (new.ledger_account_id like 'revenue:%') execute function count_spend()`.execute(db);
}

async function esimTriggers(db: Kysely<unknown>, schema: string): Promise<void> {
  const row = (of: 'old' | 'new', sign: '+' | '-', isFoundAnew: string) => sql`
    (${sql.raw(of)}.id, ${sql.raw(of)}.account_id, ${dayOf(`${of}.created_at`)}, ${sql.raw(of)}.package_name, ${sql.raw(of)}.status,
     ${sql.raw(sign)}1, ${sql.raw(sign)}${sql.raw(of)}.order_usage_bytes, ${sql.raw(isFoundAnew)})`;
  await countingTriggers(db, schema, {
    table: 'esims',
    deltas: 'esim_deltas',
    counted: [
      'account_id',
      'created_at',
      'package_name',
      'status',
      'order_usage_bytes',
      'iccid',
      'transaction_id',
    ],
    added: row(
      'new',
      '+',
      `tg_op = 'INSERT' or (old.account_id, old.iccid, old.transaction_id) is distinct from (new.account_id, new.iccid, new.transaction_id)`,
    ),
    removed: row('old', '-', 'false'),
    emptied: ['esim_deltas', 'esim_sums', 'esim_name_sums', 'esim_search'],
  });
}

async function countingTriggers(
  db: Kysely<unknown>,
  schema: string,
  given: {
    readonly table: string;
    readonly deltas: string;
    readonly counted: readonly string[];
    readonly added: ReturnType<typeof sql>;
    readonly removed: ReturnType<typeof sql>;
    readonly emptied: readonly string[];
  },
): Promise<void> {
  const { table, counted, added, removed } = given;
  // Named in full: who writes may have another search path.
  const deltas = sql.table(`${schema}.${given.deltas}`);
  const count = sql.id(`count_${table}`);
  await sql`
    create function ${count}() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        insert into ${deltas} values ${added};
      elsif tg_op = 'UPDATE' then
        insert into ${deltas} values ${removed}, ${added};
      else
        insert into ${deltas} values ${removed};
      end if;
      return null;
    end $$`.execute(db);
  const both = (of: string) => sql.join(counted.map((column) => sql.ref(`${of}.${column}`)));
  await sql`
    create trigger ${sql.id(`${table}_are_counted`)} after insert or delete on ${sql.table(table)}
    for each row execute function ${count}()`.execute(db);
  await sql`
    create trigger ${sql.id(`${table}_are_counted_again`)} after update on ${sql.table(table)}
    for each row when ((${both('old')}) is distinct from (${both('new')})) execute function ${count}()`.execute(
    db,
  );
  await sql`
    create function ${sql.id(`forget_${table}`)}() returns trigger language plpgsql as $$
    begin
      truncate ${sql.join(given.emptied.map((name) => sql.table(`${schema}.${name}`)))};
      return null;
    end $$`.execute(db);
  await sql`
    create trigger ${sql.id(`${table}_are_forgotten`)} after truncate on ${sql.table(table)}
    for each statement execute function ${sql.id(`forget_${table}`)}()`.execute(db);
}

async function functions(db: Kysely<unknown>): Promise<void> {
  await fold(db);
  // Run in one repeatable-read transaction under the lock that folding takes: what it deletes and what it counts are of one snapshot.
  await sql`
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
      insert into purchase_sums select account_id, day, payment_method, status, purchases, volume_bytes from purchase_recount;
      insert into package_sums select day, package_code, purchases from package_recount;
      insert into spend_sums select account_id, day, currency, amount_minor from spend_recount;
      insert into esim_sums select account_id, day, status, esims, used_bytes from esim_recount;
      insert into esim_name_sums select account_id, package_name, status, esims from esim_name_recount;
      delete from esim_search where not exists (select from esims where id = esim_id);
      insert into esim_search as kept select esim_id, account_id, created_at, ids from esim_search_recount
      on conflict (esim_id) do update set account_id = excluded.account_id, created_at = excluded.created_at, ids = excluded.ids
       where (kept.account_id, kept.created_at, kept.ids) is distinct from (excluded.account_id, excluded.created_at, excluded.ids);
    end $$`.execute(db);
}

/** Adds at most so many deltas of each kind to the sums. Returns how many; the caller holds the lock. */
async function fold(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function fold_figures(most integer) returns bigint language plpgsql as $$
    declare
      folded bigint := 0;
      batch bigint;
    begin
      with taken as (
        delete from purchase_deltas where ctid = any (array(select ctid from purchase_deltas limit most)) returning *
      ), counted as (
        insert into purchase_sums as kept (account_id, day, payment_method, status, purchases, volume_bytes)
        select account_id, day, payment_method, status, sum(purchases), sum(volume_bytes) from taken group by 1, 2, 3, 4
        having sum(purchases) <> 0 or sum(volume_bytes) <> 0
        on conflict (account_id, day, payment_method, status) do update
          set purchases = kept.purchases + excluded.purchases, volume_bytes = kept.volume_bytes + excluded.volume_bytes
      ), sold as (
        insert into package_sums as kept (day, package_code, purchases)
        select day, package_code, sum(purchases) from taken where status = 'SUCCESS' group by 1, 2 having sum(purchases) <> 0
        on conflict (day, package_code) do update set purchases = kept.purchases + excluded.purchases
      )
      select count(*) into batch from taken;
      folded := folded + batch;
      with taken as (
        delete from spend_deltas where ctid = any (array(select ctid from spend_deltas limit most)) returning *
      ), counted as (
        insert into spend_sums as kept (account_id, day, currency, amount_minor)
        select account_id, day, currency, sum(amount_minor) from taken group by 1, 2, 3 having sum(amount_minor) <> 0
        on conflict (account_id, day, currency) do update set amount_minor = kept.amount_minor + excluded.amount_minor
      )
      select count(*) into batch from taken;
      folded := folded + batch;
      with taken as (
        delete from esim_deltas where ctid = any (array(select ctid from esim_deltas limit most)) returning *
      ), counted as (
        insert into esim_sums as kept (account_id, day, status, esims, used_bytes)
        select account_id, day, status, sum(esims), sum(used_bytes) from taken group by 1, 2, 3
        having sum(esims) <> 0 or sum(used_bytes) <> 0
        on conflict (account_id, day, status) do update
          set esims = kept.esims + excluded.esims, used_bytes = kept.used_bytes + excluded.used_bytes
      ), named as (
        insert into esim_name_sums as kept (account_id, package_name, status, esims)
        select account_id, package_name, status, sum(esims) from taken group by 1, 2, 3 having sum(esims) <> 0
        on conflict (account_id, package_name, status) do update set esims = kept.esims + excluded.esims
      ), found as (
        insert into esim_search select esim_id, account_id, created_at, ids from esim_search_recount
         where esim_id in (select esim_id from taken where is_found_anew)
        on conflict (esim_id) do update set account_id = excluded.account_id, created_at = excluded.created_at, ids = excluded.ids
      )
      select count(*) into batch from taken;
      return folded + batch;
    end $$`.execute(db);
}
