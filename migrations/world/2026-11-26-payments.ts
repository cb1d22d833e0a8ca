/**
 * One account of each payment: where its money is. The database refuses to give the same money twice. Checks
 * of a payment are numbered, effects carry a time after which they are not sent, and what a bank took from a
 * wallet that could not pay is owed by its account.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const schema = rows[0]?.schema ?? '';
  await sql`create sequence payment_checks`.execute(db);
  await sql`grant usage on sequence payment_checks to ${sql.id(`simway_${schema}`)}`.execute(db);
  await payments(db);
  await refunds(db);
  await disputes(db);
  await gatewayEvents(db);
  await owed(db, schema);
}

async function payments(db: Kysely<unknown>): Promise<void> {
  await sql`drop index payments_unpaid`.execute(db);
  await sql`alter table payments rename column booked_minor to received_minor`.execute(db);
  await sql`alter table payments rename column evidence_minor to vouched_minor`.execute(db);
  await sql`alter table payments rename column booked_currency to other_currency`.execute(db);
  await sql`
    alter table payments
      drop constraint payments_check,
      drop column seen_at,
      add column gateway text not null default 'paystack',
      add column send_before timestamptz,
      add column check_number bigint not null default 0,
      add column used_minor bigint not null default 0 check (used_minor >= 0),
      add column credited_minor bigint not null default 0 check (credited_minor >= 0),
      add column refunding_minor bigint not null default 0 check (refunding_minor >= 0),
      add column refunded_minor bigint not null default 0 check (refunded_minor >= 0),
      add column disputed_minor bigint not null default 0 check (disputed_minor >= 0),
      add column free_minor bigint not null generated always as (received_minor + vouched_minor - used_minor - credited_minor
        - refunding_minor - refunded_minor - reversed_minor - disputed_minor) stored,
      add column has_money boolean not null generated always as
        (received_minor > 0 or vouched_minor > 0 or other_currency is not null) stored`.execute(db);
  await sql`
    alter table payments
      alter column gateway drop default,
      add constraint payment_gives_what_it_has check (free_minor >= 0),
      add constraint payment_returns_what_came check (refunded_minor + reversed_minor <= received_minor)`.execute(
    db,
  );
  await sql`
    create index payments_unpaid on payments (created_at) where status in ('ASKED', 'OPEN') and not has_money`.execute(
    db,
  );
}

async function refunds(db: Kysely<unknown>): Promise<void> {
  await sql`alter table refunds rename column asked_at to sent_at`.execute(db);
  await sql`
    alter table refunds
      add column gateway text not null default 'paystack',
      add column send_before timestamptz,
      add constraint refund_sent_in_time check ((sent_at is null) = (send_before is null))`.execute(db);
  await sql`alter table refunds alter column gateway drop default`.execute(db);
}

async function disputes(db: Kysely<unknown>): Promise<void> {
  await sql`drop trigger dispute_ends_once on disputes`.execute(db);
  await sql`
    alter table disputes
      drop column operation_key,
      add constraint dispute_has_an_id check (dispute_id <> ''),
      add column gateway text not null default 'paystack',
      add column check_number bigint not null default 0,
      add column amount_minor bigint not null default 0 check (amount_minor >= 0),
      add column currency text not null default '',
      add column free_minor bigint not null default 0 check (free_minor >= 0),
      add column used_minor bigint not null default 0 check (used_minor >= 0),
      add column credited_minor bigint not null default 0 check (credited_minor >= 0),
      add column revenue_minor bigint not null default 0 check (revenue_minor >= 0),
      add column frozen_minor bigint not null default 0 check (frozen_minor >= 0),
      add column money text not null default 'AT_RISK' check (money in ('AT_RISK', 'TAKEN', 'RELEASED'))`.execute(
    db,
  );
  for (const column of ['gateway', 'amount_minor', 'currency'])
    await sql`alter table disputes alter column ${sql.id(column)} drop default`.execute(db);
  await sql`
    create or replace function dispute_ends_once() returns trigger language plpgsql as $$
    begin
      if old.settled_at is not null
         and (new.outcome, new.settled_at, new.settled_by_action)
             is distinct from (old.outcome, old.settled_at, old.settled_by_action)
      or old.money <> 'AT_RISK' and new.money <> old.money then
        raise exception 'a settled dispute keeps its outcome' using errcode = 'restrict_violation', constraint = 'dispute_ends_once';
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger dispute_ends_once before update on disputes for each row execute function dispute_ends_once()`.execute(
    db,
  );
}

async function gatewayEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table gateway_events add column check_number bigint not null default nextval('payment_checks')`.execute(
    db,
  );
  await sql`drop index gateway_events_by_reference`.execute(db);
  await sql`
    create index gateway_events_by_reference on gateway_events (gateway, reference) where reference is not null`.execute(
    db,
  );
}

/**
 * A wallet never goes below zero. What is missing is an account of its own, a debit, and its sum is kept
 * beside the balance.
 */
async function owed(db: Kysely<unknown>, schema: string): Promise<void> {
  await sql`
    alter table ledger_accounts
      drop constraint ledger_accounts_kind_check,
      drop constraint ledger_accounts_check,
      add constraint ledger_accounts_kind_check check (kind in
        ('wallet', 'owed', 'held', 'revenue', 'supplier-cost', 'supplier-prepaid', 'gateway-clearing', 'suspense', 'exchange', 'funding', 'evidence')),
      add constraint ledger_accounts_check check ((kind in ('wallet', 'owed')) = (account_id is not null))`.execute(
    db,
  );
  await sql`
    delete from ledger_accounts a where kind = 'gateway-clearing' and id = 'gateway-clearing:' || currency
       and not exists (select from ledger_entries where ledger_account_id = a.id)`.execute(db);
  await sql`
    insert into ledger_accounts (id, kind, currency)
    select 'gateway-clearing:paystack:' || currency, 'gateway-clearing', currency from unnest(array['NGN', 'USD']) currency`.execute(
    db,
  );
  await sql`
    alter table wallets add column owed_minor bigint not null default 0
      constraint wallet_never_owes_less_than_nothing check (owed_minor >= 0)`.execute(db);
  await sql`
    create or replace function check_and_apply_entries() returns trigger language plpgsql
      security definer set search_path = ${sql.id(schema)}, pg_temp as $$
    begin
      if exists (
        select 1 from new_entries group by ledger_transaction_id, currency having sum(amount_minor) <> 0
      ) then
        raise exception 'a ledger transaction must net to zero in every currency'
          using errcode = 'check_violation', constraint = 'ledger_nets_to_zero';
      end if;
      update wallets
         set balance_minor = wallets.balance_minor + moved.balance, owed_minor = wallets.owed_minor - moved.owed,
             updated_at = now()
        from (select regexp_replace(ledger_account_id, '^owed:', 'wallet:') as wallet,
                     sum(case when ledger_account_id like 'owed:%' then 0 else amount_minor end)::bigint as balance,
                     sum(case when ledger_account_id like 'owed:%' then amount_minor else 0 end)::bigint as owed
                from new_entries group by 1) moved
       where wallets.ledger_account_id = moved.wallet;
      return null;
    end $$`.execute(db);
}
