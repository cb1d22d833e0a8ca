/**
 * Papers and closed months. Guarantee: nothing is booked into a closed month, by any client and any clock;
 * invoices and credit notes are numbered without gaps in each series and year, and are never changed.
 */
import { sql } from 'kysely';
import { INVOICE_KINDS } from '../../../src/domain/papers.ts';
import { oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const billing = (world: World) => sql`
  ${parties(world)}
  ${months(world)}
  ${closing(world)}
  ${invoices()}
  ${numbering(world)}
`;

const parties = ({ role }: World) => sql`
  -- Who sells here, as papers name it; the newest row applies. Prices include the tax.
  create table company_details (
    id bigint generated always as identity primary key,
    legal_name text not null,
    address_lines text[] not null check (cardinality(address_lines) between 1 and 6),
    country text not null check (country ~ '^[A-Z]{2}$'),
    tax_number text,
    tax_name text not null,
    tax_rate_bps integer not null check (tax_rate_bps between 0 and 10000),
    set_by text not null,
    reason text not null,
    set_at timestamptz not null default clock_timestamp()
  );

  -- Who buys, as the account says itself.
  create table billing_details (
    account_id text primary key,
    legal_name text not null,
    address_lines text[] not null check (cardinality(address_lines) between 1 and 6),
    country text not null check (country ~ '^[A-Z]{2}$'),
    tax_number text,
    papers_by_mail boolean not null,
    changed_by text not null,
    changed_at timestamptz not null default clock_timestamp()
  );

  -- The rate of one account in place of the company's, such as none for a buyer abroad.
  create table account_taxes (
    account_id text primary key,
    tax_rate_bps integer not null check (tax_rate_bps between 0 and 10000),
    set_by text not null,
    reason text not null,
    set_at timestamptz not null default clock_timestamp()
  );

  grant insert on company_details to ${role};
  grant insert, update on billing_details to ${role};
  grant insert, update, delete on account_taxes to ${role};
`;

const months = ({ role }: World) => sql`
  -- Asked for by one person, closed by another. invoiced_at: all of its invoices are written.
  create table month_closings (
    month text primary key check (month ~ '^20[0-9]{2}-(0[1-9]|1[0-2])$'),
    ends_at timestamptz not null generated always as
      ((make_date(left(month, 4)::integer, right(month, 2)::integer, 1) + interval '1 month') at time zone 'UTC') stored,
    asked_by text not null,
    asked_at timestamptz not null default clock_timestamp(),
    closed_by text,
    closed_at timestamptz,
    invoiced_at timestamptz,
    constraint month_has_ended check (asked_at >= ends_at),
    check ((closed_by is null) = (closed_at is null)),
    check (invoiced_at is null or closed_at is not null),
    constraint month_closed_by_two_people check (lower(trim(closed_by)) <> lower(trim(asked_by)))
  );
  grant insert (month, asked_by), update (invoiced_at), delete on month_closings to ${role};

  create function closed_month_stays() returns trigger language plpgsql as $$
    begin
      if old.closed_at is not null and (tg_op = 'DELETE' or old.invoiced_at is not null
         or (new.month, new.asked_by, new.closed_by, new.closed_at)
            is distinct from (old.month, old.asked_by, old.closed_by, old.closed_at)) then
        raise exception 'a closed month stays closed'
          using errcode = 'restrict_violation', constraint = 'closed_month_stays';
      end if;
      return case tg_op when 'DELETE' then old else new end;
    end $$;
  create trigger closed_month_stays before update or delete on month_closings
    for each row execute function closed_month_stays();
`;

const closing = ({ role, ownPath, ownersRights }: World) => sql`
  -- Shared by all that book, for the time of their transaction; whoever closes a month has it alone.
  create function month_lock() returns bigint language sql stable ${ownPath} as $$
    select hashtextextended(current_schema() || ' closing of a month', 0)
  $$;

  -- Closes the month that was asked for. Never queues for the lock: those that book would queue behind it.
  create function close_month(which text, by_whom text) returns text language plpgsql ${ownersRights} as $$
    declare
      closing month_closings;
    begin
      for attempt in 1..500 loop
        exit when pg_try_advisory_xact_lock(month_lock());
        if attempt = 500 then return 'busy'; end if;
        perform pg_sleep(0.02);
      end loop;
      select * into closing from month_closings where month = which for update;
      if not found then return 'not-asked'; end if;
      if closing.closed_at is not null then return 'already-closed'; end if;
      update month_closings set closed_by = by_whom, closed_at = clock_timestamp() where month = which;
      return 'closed';
    end $$;
  revoke execute on function close_month from public;
  grant execute on function close_month to ${role};

  -- What is booked now falls into the present month, also where the clock went back, or the transaction began
  -- before the month was closed. A time that somebody chose is refused.
  create function book_in_open_month() returns trigger language plpgsql ${ownersRights} as $$
    declare
      open_from timestamptz;
    begin
      perform pg_advisory_xact_lock_shared(month_lock());
      select max(ends_at) into open_from from month_closings where closed_at is not null;
      if new.created_at < open_from then
        if new.created_at <> now() then
          raise exception 'the month is closed'
            using errcode = 'restrict_violation', constraint = 'month_is_closed';
        end if;
        new.created_at := open_from;
      end if;
      return new;
    end $$;
  create trigger booked_in_open_month before insert on ledger_transactions
    for each row execute function book_in_open_month();
  revoke execute on function book_in_open_month() from public;
`;

const invoices = () => sql`
  -- The last number of each series and year. Its row is locked until the paper is committed: an aborted
  -- transaction leaves no gap, as a sequence would.
  create table paper_series (
    kind text not null ${oneOf('kind', INVOICE_KINDS)},
    year integer not null,
    last_number integer not null,
    primary key (kind, year)
  );

  -- Everything that the paper shows is frozen here. corrects: a credit note that takes back that invoice.
  create table invoices (
    number text primary key,
    kind text not null ${oneOf('kind', INVOICE_KINDS)},
    account_id text not null,
    month text not null references month_closings (month),
    -- That of the ledger: a loss of a reversal is booked in the currency of its payment.
    currency text not null check (currency ~ '^[A-Z]{3}$'),
    -- 0: of the month's close. Then in pairs: a credit note, and the invoice in place of the one before.
    revision integer not null check (revision >= 0),
    corrects text unique references invoices (number),
    reason text,
    issued_by text,
    issued_at timestamptz not null default clock_timestamp(),
    gross_minor bigint not null,
    tax_minor bigint not null,
    net_minor bigint not null,
    tax_name text not null,
    tax_rate_bps integer not null,
    seller jsonb not null,
    buyer jsonb not null,
    lines jsonb not null,
    constraint invoice_adds_up check (net_minor + tax_minor = gross_minor),
    constraint invoice_once unique (account_id, month, currency, revision)
  );
  create index invoices_by_account on invoices (account_id, issued_at desc, number desc);
  create index invoices_by_month on invoices (month);
`;

const numbering = ({ role, ownersRights }: World) => sql`
  -- Writes one paper with the next number of its series; null: it is written already.
  create function issue_invoice(paper jsonb) returns text language plpgsql ${ownersRights} as $$
    declare
      draft invoices := jsonb_populate_record(null::invoices, paper);
      counter paper_series;
    begin
      draft.issued_at := clock_timestamp();
      insert into paper_series as series (kind, year, last_number)
      values (draft.kind, extract(year from draft.issued_at at time zone 'UTC'), 1)
      on conflict (kind, year) do update set last_number = series.last_number + 1
      returning series.* into counter;
      draft.number := case draft.kind when 'CREDIT_NOTE' then 'CN-' else '' end
        || counter.year || '-' || lpad(counter.last_number::text, greatest(6, length(counter.last_number::text)), '0');
      if exists (select from invoices where (account_id, month, currency, revision)
                 = (draft.account_id, draft.month, draft.currency, draft.revision)) then
        update paper_series set last_number = last_number - 1
         where kind = counter.kind and year = counter.year;
        return null;
      end if;
      if draft.gross_minor is distinct from
         (select coalesce(sum((line ->> 'grossMinor')::bigint), 0) from jsonb_array_elements(draft.lines) line) then
        raise exception 'the lines of an invoice are its sum'
          using errcode = 'check_violation', constraint = 'invoice_lines_are_its_sum';
      end if;
      insert into invoices select draft.*;
      return draft.number;
    end $$;
  revoke execute on function issue_invoice from public;
  grant execute on function issue_invoice to ${role};

  create function refuse_invoice_change() returns trigger language plpgsql as $$
    begin
      raise exception 'an invoice never changes: a credit note corrects it'
        using errcode = 'restrict_violation', constraint = 'invoice_never_changes';
    end $$;
  create trigger invoices_never_change before update or delete or truncate on invoices
    for each statement execute function refuse_invoice_change();
`;
