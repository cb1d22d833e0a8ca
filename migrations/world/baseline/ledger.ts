/**
 * Double entry, append-only. The database itself refuses what must not happen (promises M1, M2): entries that
 * do not net to zero per currency, an entry in another currency than its account's, a zero entry, a wallet
 * below zero, and any change or removal. Wallet balances, and what an account owes, are moved by the entries
 * themselves, so each is the sum of its entries by construction.
 */
import { sql } from 'kysely';
import { ACCOUNT_CURRENCIES } from '../../../src/domain/money.ts';
import { membersOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const ledger = (world: World) => sql`
  ${accounts(world)}
  ${bookings(world)}
  ${budgets(world)}
  ${guards(world)}
`;

const accounts = ({ role }: World) => sql`
  -- USD4 counts US dollars × 10,000, as the supplier does: costs are booked without rounding. A wallet never
  -- goes below zero: what is missing in it is a debit of an account 'owed'.
  create table ledger_accounts (
    id text primary key,
    kind text not null check (kind in ('wallet', 'owed', 'held', 'revenue', 'supplier-cost',
      'supplier-prepaid', 'gateway-clearing', 'suspense', 'exchange', 'funding', 'evidence')),
    currency text not null check (currency ~ '^[A-Z]{3}$' or currency = 'USD4'),
    account_id text,
    unique (id, currency),
    check ((kind in ('wallet', 'owed')) = (account_id is not null))
  );
  -- A gateway and a supplier go by name. Accounts of others, and those in a gateway's other currencies, are
  -- made when they are first needed. What came by a person's word stands on 'evidence' until the gateway says
  -- the same.
  insert into ledger_accounts (id, kind, currency)
  select kind || ':' || currency, kind, currency
    from unnest(array['held', 'revenue', 'suspense', 'exchange', 'funding', 'evidence']) kind,
         unnest(array[${membersOf(ACCOUNT_CURRENCIES)}]) currency
  union all
  select 'gateway-clearing:paystack:' || currency, 'gateway-clearing', currency
    from unnest(array[${membersOf(ACCOUNT_CURRENCIES)}]) currency
  union all
  values ('supplier-cost:USD4', 'supplier-cost', 'USD4'),
         ('supplier-prepaid:esim-access:USD4', 'supplier-prepaid', 'USD4');

  create table wallets (
    account_id text primary key,
    ledger_account_id text not null unique,
    currency text not null,
    balance_minor bigint not null default 0 constraint wallet_never_below_zero check (balance_minor >= 0),
    owed_minor bigint not null default 0
      constraint wallet_never_owes_less_than_nothing check (owed_minor >= 0),
    updated_at timestamptz not null default now(),
    foreign key (ledger_account_id, currency) references ledger_accounts (id, currency)
  );

  -- A balance is changed by entries only: updated_at is there because a row lock needs some column.
  grant insert on ledger_accounts to ${role};
  grant update (updated_at) on wallets to ${role};
`;

const bookings = ({ role }: World) => sql`
  create table ledger_transactions (
    id bigint generated always as identity primary key,
    operation_key text not null constraint ledger_operation_once unique,
    kind text not null,
    transaction_id text,
    reason text,
    created_at timestamptz not null default now()
  );
  create index ledger_transactions_by_purchase on ledger_transactions (transaction_id);
  -- Rows lie in the order of their time, so a summary of each block is enough and costs bookings nothing.
  create index ledger_transactions_by_time on ledger_transactions
    using brin (created_at) with (autosummarize = on);

  create table ledger_entries (
    id bigint generated always as identity primary key,
    ledger_transaction_id bigint not null references ledger_transactions (id),
    ledger_account_id text not null,
    currency text not null,
    amount_minor bigint not null constraint ledger_entry_not_zero check (amount_minor <> 0),
    constraint ledger_entry_in_the_accounts_currency
      foreign key (ledger_account_id, currency) references ledger_accounts (id, currency)
  );
  create index ledger_entries_by_transaction on ledger_entries (ledger_transaction_id);
  create index ledger_entries_by_account on ledger_entries (ledger_account_id, id);

  create table holds (
    id text primary key,
    account_id text not null references wallets (account_id),
    currency text not null,
    -- Zero for a replacement that we pay: the books have only its cost.
    amount_minor bigint not null check (amount_minor >= 0),
    status text not null default 'HELD' check (status in ('HELD', 'POSTED', 'VOIDED')),
    created_at timestamptz not null default now(),
    closed_at timestamptz,
    -- The API key whose purchase it is. Null: a member bought, or a payment placed the hold.
    key_id text,
    check ((status = 'HELD') = (closed_at is null))
  );
  create index holds_by_key on holds (key_id, created_at) where key_id is not null;
  create index holds_open on holds (created_at) where status = 'HELD';
  -- What is on hold of a wallet: few rows.
  create index holds_open_by_account on holds (account_id) where status = 'HELD';

  grant insert on ledger_transactions, ledger_entries to ${role};
  grant insert (id, account_id, currency, amount_minor, key_id), update (status, closed_at) on holds to ${role};
`;

const budgets = ({ role }: World) => sql`
  -- What an API key may spend, in the currency of its account's wallet. Null: no such limit. What is used of
  -- it is read from the key's holds: nothing else counts it.
  create table key_budgets (
    key_id text primary key,
    account_id text not null,
    daily_minor bigint check (daily_minor > 0),
    order_minor bigint check (order_minor > 0),
    max_price_minor bigint check (max_price_minor > 0),
    max_purchases integer check (max_purchases > 0),
    countries text[] check (cardinality(countries) > 0),
    changed_at timestamptz not null default now(),
    changed_by text not null,
    check (num_nonnulls(daily_minor, order_minor, max_price_minor, max_purchases, countries) > 0)
  );
  create index key_budgets_by_account on key_budgets (account_id);

  grant insert, update, delete on key_budgets to ${role};
`;

const guards = ({ ownersRights }: World) => sql`
  -- All entries of a transfer arrive in one statement, which is checked whole: one check a transfer, at once,
  -- not at commit. What is booked on an account's 'owed' is kept beside the balance of its wallet.
  create function check_and_apply_entries() returns trigger language plpgsql ${ownersRights} as $$
    begin
      if exists (
        select 1 from new_entries group by ledger_transaction_id, currency having sum(amount_minor) <> 0
      ) then
        raise exception 'a ledger transaction must net to zero in every currency'
          using errcode = 'check_violation', constraint = 'ledger_nets_to_zero';
      end if;
      update wallets
         set balance_minor = wallets.balance_minor + moved.balance,
             owed_minor = wallets.owed_minor - moved.owed, updated_at = now()
        from (select regexp_replace(ledger_account_id, '^owed:', 'wallet:') as wallet,
              sum(case when ledger_account_id like 'owed:%' then 0 else amount_minor end)::bigint as balance,
              sum(case when ledger_account_id like 'owed:%' then amount_minor else 0 end)::bigint as owed
              from new_entries group by 1) moved
       where wallets.ledger_account_id = moved.wallet;
      return null;
    end $$;
  create trigger entries_net_to_zero after insert on ledger_entries
    referencing new table as new_entries for each statement execute function check_and_apply_entries();

  -- A wallet's ledger account brings its balance row with it: no entry can be booked on a wallet that nothing
  -- keeps above zero.
  create function give_wallet_its_balance() returns trigger language plpgsql ${ownersRights} as $$
    begin
      insert into wallets (account_id, ledger_account_id, currency)
      values (new.account_id, new.id, new.currency);
      return null;
    end $$;
  create trigger wallet_has_a_balance after insert on ledger_accounts
    for each row when (new.kind = 'wallet') execute function give_wallet_its_balance();

  -- No other role may hang these on a table of its own and so feed the balances entries that were never
  -- booked.
  revoke execute on function check_and_apply_entries(), give_wallet_its_balance() from public;

  create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception 'the ledger is append-only'
        using errcode = 'restrict_violation', constraint = 'ledger_append_only';
    end $$;
  create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
    for each statement execute function refuse_change();
  create trigger ledger_transactions_append_only before update or delete or truncate on ledger_transactions
    for each statement execute function refuse_change();

  create function hold_closes_once() returns trigger language plpgsql as $$
    begin
      if old.status <> 'HELD' or (new.id, new.account_id, new.currency, new.amount_minor, new.key_id,
           new.created_at) is distinct from (old.id, old.account_id, old.currency, old.amount_minor, old.key_id,
           old.created_at) then
        raise exception 'a hold is posted or voided exactly once'
          using errcode = 'restrict_violation', constraint = 'hold_closes_once';
      end if;
      return new;
    end $$;
  create trigger hold_closes_once before update on holds
    for each row execute function hold_closes_once();
`;
