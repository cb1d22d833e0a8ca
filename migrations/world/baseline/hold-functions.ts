/**
 * Holds: money that waits for a delivery. Each function is one step of a hold, safe to repeat. `outcome` is
 * `done` where this call did it; otherwise it is the status that the hold has, or `absent`.
 */
import { sql } from 'kysely';
import type { World } from './world.ts';

export const holdFunctions = (world: World) => sql`
  ${posting(world)}
  ${voiding(world)}
`;

const posting = ({ ownPath }: World) => sql`
  create function hold_status(hold_id text) returns text language sql stable ${ownPath} as $$
    select coalesce((select status from holds where id = hold_id), 'absent')
  $$;

  -- Marks a hold that is on hold as POSTED or VOIDED. Null: it is not on hold.
  create function close_hold(hold_id text, closed_as text) returns holds language plpgsql ${ownPath} as $$
    declare
      hold holds;
    begin
      update holds set status = closed_as, closed_at = now() where id = hold_id and status = 'HELD'
      returning * into hold;
      return hold;
    end $$;

  -- Turns a hold into revenue and books the supplier's cost.
  create function post_hold(hold_id text, supplier text, cost_usd_e4 bigint, out outcome text)
  language plpgsql ${ownPath} as $$
    declare
      hold holds := close_hold(hold_id, 'POSTED');
      booked bigint;
    begin
      if hold.id is null then
        outcome := hold_status(hold_id);
        return;
      end if;
      insert into ledger_transactions (operation_key, kind, transaction_id)
      values (hold_id || ':post', 'post', hold_id) returning id into booked;
      insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
      select booked, entry.account, entry.currency, entry.amount_minor
        from (values
          ('held:' || hold.currency, hold.currency, -hold.amount_minor),
          ('revenue:' || hold.currency, hold.currency, hold.amount_minor),
          ('supplier-cost:USD4', 'USD4', cost_usd_e4),
          ('supplier-prepaid:' || supplier || ':USD4', 'USD4', -cost_usd_e4)
        ) entry (account, currency, amount_minor)
       where entry.amount_minor <> 0;
      outcome := 'done';
    end $$;
`;

const voiding = ({ ownPath }: World) => sql`
  -- Returns a hold to its wallet.
  create function void_hold(hold_id text, out outcome text) language plpgsql ${ownPath} as $$
    declare
      hold holds := close_hold(hold_id, 'VOIDED');
      booked bigint;
    begin
      if hold.id is null then
        outcome := hold_status(hold_id);
        return;
      end if;
      outcome := 'done';
      if hold.amount_minor = 0 then
        return;
      end if;
      insert into ledger_transactions (operation_key, kind, transaction_id)
      values (hold_id || ':void', 'void', hold_id) returning id into booked;
      insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
      values (booked, 'held:' || hold.currency, hold.currency, -hold.amount_minor),
             (booked, 'wallet:' || hold.account_id, hold.currency, hold.amount_minor);
    end $$;

  -- Moves a hold that a gateway's payment placed to suspense, in the currency that was paid, to be refunded
  -- from there.
  create function void_hold_to_suspense(hold_id text, paid_minor bigint, paid_currency text, out outcome text)
  language plpgsql ${ownPath} as $$
    declare
      hold holds := close_hold(hold_id, 'VOIDED');
      booked bigint;
    begin
      if hold.id is null then
        outcome := hold_status(hold_id);
        return;
      end if;
      insert into ledger_transactions (operation_key, kind, transaction_id)
      values (hold_id || ':void', 'void', hold_id) returning id into booked;
      insert into ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
      select booked, entry.account, entry.currency, entry.amount_minor
        from (values
          ('held:' || hold.currency, hold.currency, -hold.amount_minor),
          ('exchange:' || hold.currency, hold.currency, hold.amount_minor),
          ('exchange:' || paid_currency, paid_currency, -paid_minor),
          ('suspense:' || paid_currency, paid_currency, paid_minor)
        ) entry (account, currency, amount_minor)
       where hold.currency <> paid_currency or entry.account not like 'exchange:%';
      outcome := 'done';
    end $$;
`;
