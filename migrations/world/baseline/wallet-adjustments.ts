/**
 * Wallets that people fund, credit and debit by hand. Guarantee: each is booked once, by two people, and by
 * the function here alone.
 */
import { sql } from 'kysely';
import { ADJUSTMENT_KINDS, ADJUSTMENT_STATUSES } from '../../../src/domain/wallet-adjustments.ts';
import { oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const walletAdjustments = (world: World) => sql`
  ${rows(world)}
  ${booking(world)}
`;

const rows = ({ role }: World) => sql`
  -- reference: what it is about outside, such as that of a bank transfer. It counts once for each kind.
  create table wallet_adjustments (
    id text primary key check (id ~ '^adjust-[0-9a-f]{32}$'),
    account_id text not null,
    kind text not null ${oneOf('kind', ADJUSTMENT_KINDS)},
    amount_minor bigint not null check (amount_minor > 0),
    currency text not null,
    reference text not null check (length(reference) between 1 and 100),
    reason text not null,
    status text not null default 'WAITS' ${oneOf('status', ADJUSTMENT_STATUSES)},
    asked_by text not null,
    asked_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null,
    decided_by text,
    decided_at timestamptz,
    decision_reason text,
    ledger_transaction_id bigint unique references ledger_transactions (id),
    check ((status = 'WAITS') = (decided_at is null)),
    check ((status in ('BOOKED', 'DECLINED')) = (decided_by is not null)),
    check ((status = 'BOOKED') = (ledger_transaction_id is not null)),
    constraint wallet_adjusted_by_two_people
      check (status <> 'BOOKED' or lower(trim(decided_by)) <> lower(trim(asked_by)))
  );
  create unique index wallet_adjustment_once on wallet_adjustments (kind, lower(reference))
    where status in ('WAITS', 'BOOKED');
  create index wallet_adjustments_by_account on wallet_adjustments (account_id, asked_at desc, id desc);
  create index wallet_adjustments_by_time on wallet_adjustments (asked_at desc, id desc);
  create index wallet_adjustments_waiting on wallet_adjustments (asked_at desc, id desc) where status = 'WAITS';

  grant insert (id, account_id, kind, amount_minor, currency, reference, reason, asked_by, expires_at),
    update (status, decided_by, decided_at, decision_reason) on wallet_adjustments to ${role};

  create function wallet_adjustment_keeps_its_word() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'UPDATE' or old.status <> 'WAITS'
         or (new.id, new.account_id, new.kind, new.amount_minor, new.currency, new.reference, new.reason,
             new.asked_by, new.asked_at, new.expires_at)
            is distinct from
            (old.id, old.account_id, old.kind, old.amount_minor, old.currency, old.reference, old.reason,
             old.asked_by, old.asked_at, old.expires_at) then
        raise exception 'what was asked for and decided cannot change'
          using errcode = 'restrict_violation', constraint = 'wallet_adjustment_keeps_its_word';
      end if;
      return new;
    end $$;
  create trigger wallet_adjustment_keeps_its_word before update or delete on wallet_adjustments
    for each row execute function wallet_adjustment_keeps_its_word();
`;

const booking = ({ role, ownersRights }: World) => sql`
  -- Books what was asked for, for the second person. What an account owes is paid first. Answers BOOKED, or
  -- why not: ABSENT, a status it has, REFERENCE_USED, WALLET_TOO_LOW.
  create function book_wallet_adjustment(adjustment_id text, by_whom text, why text, out outcome text)
  language plpgsql ${ownersRights} as $$
    declare
      asked wallet_adjustments;
      wallet wallets;
      pays_in boolean;
      other_side text;
      pays_owed bigint := 0;
      booked_id bigint;
    begin
      select * into asked from wallet_adjustments where id = adjustment_id for update;
      if not found then outcome := 'ABSENT'; return; end if;
      if asked.status <> 'WAITS' then outcome := asked.status; return; end if;
      if asked.expires_at <= clock_timestamp() then outcome := 'EXPIRED'; return; end if;
      insert into ledger_accounts (id, kind, currency, account_id)
      values ('wallet:' || asked.account_id, 'wallet', asked.currency, asked.account_id)
      on conflict do nothing;
      select * into wallet from wallets where account_id = asked.account_id for no key update;
      pays_in := asked.kind in ('FUNDING', 'CREDIT');
      if not pays_in and wallet.balance_minor < asked.amount_minor then
        outcome := 'WALLET_TOO_LOW'; return;
      end if;
      if pays_in then pays_owed := least(wallet.owed_minor, asked.amount_minor); end if;
      insert into ledger_transactions (operation_key, kind, reason)
      -- A bank transfer that the command line has funded is not funded again.
      values (case asked.kind when 'FUNDING' then 'fund:' || asked.reference
                              else 'adjust:' || asked.kind || ':' || asked.reference end,
              case asked.kind when 'FUNDING' then 'funded-by-hand' when 'CREDIT' then 'credited-by-hand'
                when 'FUNDING_CORRECTION' then 'funding-corrected' else 'credit-corrected' end,
              asked.reason)
      on conflict (operation_key) do nothing returning id into booked_id;
      if not found then outcome := 'REFERENCE_USED'; return; end if;
      other_side := case when asked.kind in ('FUNDING', 'FUNDING_CORRECTION') then 'funding:' else 'revenue:' end
        || asked.currency;
      insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
      select booked_id, entry.account, asked.currency, entry.minor
        from (values
          (other_side, case when pays_in then -asked.amount_minor else asked.amount_minor end),
          ('owed:' || asked.account_id, pays_owed),
          (wallet.ledger_account_id,
           case when pays_in then asked.amount_minor - pays_owed else -asked.amount_minor end)
        ) entry (account, minor) where entry.minor <> 0;
      update wallet_adjustments
         set status = 'BOOKED', decided_by = by_whom, decided_at = clock_timestamp(), decision_reason = why,
             ledger_transaction_id = booked_id
       where id = adjustment_id;
      outcome := 'BOOKED';
    end $$;
  revoke execute on function book_wallet_adjustment from public;
  grant execute on function book_wallet_adjustment to ${role};
`;
