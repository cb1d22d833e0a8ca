/**
 * What changed each wallet's balance, in the order in which it changed, with the balance after it. Guarantee:
 * the entries of a wallet are exactly its entries in the ledger, and each balance is the one that the wallet
 * had. A trigger writes them under the wallet's lock, which the ledger's own trigger has taken just before.
 * Numbers of the ledger's rows are no such order: they are drawn before the lock is.
 */
import { sql } from 'kysely';
import type { World } from './world.ts';

export const walletEntries = ({ ownersRights }: World) => sql`
  create table wallet_entries (
    account_id text not null,
    entry_number bigint not null,
    at timestamptz not null,
    -- When the ledger booked it, which says the month that it belongs to. May be earlier than that of the entry
    -- before.
    booked_at timestamptz not null,
    kind text not null check (kind in
      ('HOLD', 'RELEASE', 'FUNDING', 'REFUND', 'RETURN', 'CREDIT', 'WITHDRAWAL', 'DISPUTE', 'ADJUSTMENT')),
    ledger_kind text not null,
    transaction_id text,
    amount_minor bigint not null,
    balance_after_minor bigint not null,
    primary key (account_id, entry_number)
  );
  create index wallet_entries_by_time on wallet_entries (account_id, at, entry_number);
  -- For statements: the sum of a month is read from the index alone.
  create index wallet_entries_by_booking on wallet_entries (account_id, booked_at) include (amount_minor);
  create index wallet_entries_by_kind on wallet_entries (account_id, kind, entry_number);

  -- By the kind of the ledger's transfer. One that is not named here is an adjustment until a migration names
  -- it.
  create function wallet_entry_kind(ledger_kind text) returns text language sql immutable as $$
    select case
      when ledger_kind = 'hold' then 'HOLD'
      when ledger_kind = 'void' then 'RELEASE'
      when ledger_kind in ('disputed', 'dispute-settled', 'payment-reversed') then 'DISPUTE'
      when ledger_kind in ('fund', 'funded-by-hand', 'marked-paid', 'payment') or ledger_kind like 'payment-%' then 'FUNDING'
      when ledger_kind = 'refund-credited' then 'REFUND'
      when ledger_kind = 'return' then 'RETURN'
      when ledger_kind in ('credit-wallet', 'credited-by-hand') then 'CREDIT'
      when ledger_kind = 'refund-to-source' then 'WITHDRAWAL'
      else 'ADJUSTMENT'
    end
  $$;

  create function list_new_wallet_entries() returns trigger language plpgsql ${ownersRights} as $$
    declare
      wallet record;
      last_number bigint;
      last_at timestamptz;
    begin
      for wallet in
        select account_id, balance_minor, ledger_account_id from wallets
         where ledger_account_id in
           (select ledger_account_id from new_entries where ledger_account_id like 'wallet:%')
      loop
        select entry_number, at into last_number, last_at from wallet_entries
         where account_id = wallet.account_id order by entry_number desc limit 1;
        insert into wallet_entries (account_id, entry_number, at, booked_at, kind, ledger_kind, transaction_id,
          amount_minor, balance_after_minor)
        select wallet.account_id, coalesce(last_number, 0) + row_number() over by_id,
               greatest(last_at, clock_timestamp()), t.created_at, wallet_entry_kind(t.kind), t.kind,
               t.transaction_id, e.amount_minor,
               wallet.balance_minor - sum(e.amount_minor) over () + sum(e.amount_minor) over by_id
          from new_entries e join ledger_transactions t on t.id = e.ledger_transaction_id
         where e.ledger_account_id = wallet.ledger_account_id
        window by_id as (order by e.id rows unbounded preceding);
      end loop;
      return null;
    end $$;
  -- Called after the ledger's own trigger, by its name: that one has changed the balances and so locked the
  -- wallets.
  create trigger wallet_entries_are_listed after insert on ledger_entries
    referencing new table as new_entries for each statement execute function list_new_wallet_entries();

  revoke execute on function list_new_wallet_entries() from public;
`;
