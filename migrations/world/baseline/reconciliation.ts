/**
 * Reconciliation: who asked for a run, its runs, what they read of the other side while they compare, and the
 * differences found. A difference is never removed and, once closed, never changed: what comes back is a new
 * one.
 */
import { sql } from 'kysely';
import type { World } from './world.ts';

export const reconciliation = (world: World) => sql`
  ${runs(world)}
  ${differences(world)}
`;

const runs = ({ role }: World) => sql`
  -- Who asked for a run, and for which time, written before Temporal is asked: a run believes this row, not
  -- its workflow's input.
  create table reconciliation_requests (
    run_key text primary key,
    asked_by text not null,
    from_at timestamptz,
    to_at timestamptz,
    asked_at timestamptz not null default now(),
    check ((from_at is null) = (to_at is null))
  );

  -- A regular run begins where the last one ended; one for a range asked for by hand leaves that alone.
  create table reconciliation_runs (
    id bigint generated always as identity primary key,
    run_key text not null constraint reconciliation_run_once unique,
    asked_by text not null,
    is_regular boolean not null,
    from_at timestamptz not null,
    to_at timestamptz not null,
    new_from_at timestamptz not null,
    settled_before timestamptz not null,
    slices jsonb not null,
    slices_read integer not null default 0,
    status text not null default 'RUNNING' check (status in ('RUNNING', 'DONE', 'ABANDONED')),
    compared jsonb not null default '{}',
    supplier_balance_usd_e4 bigint,
    supplier_sum_from_usd_e4 bigint,
    supplier_sum_to_usd_e4 bigint,
    differences_opened integer not null default 0,
    differences_closed integer not null default 0,
    started_at timestamptz not null default clock_timestamp(),
    touched_at timestamptz not null default clock_timestamp(),
    finished_at timestamptz,
    check (from_at <= to_at),
    check (supplier_sum_from_usd_e4 <= supplier_sum_to_usd_e4),
    check ((status = 'DONE') = (finished_at is not null))
  );
  create index reconciliation_runs_regular on reconciliation_runs (to_at desc)
    where is_regular and status = 'DONE';
  create index reconciliation_runs_with_balance on reconciliation_runs (id desc)
    where supplier_sum_from_usd_e4 is not null;
  create index reconciliation_runs_open on reconciliation_runs (touched_at) where status = 'RUNNING';

  create table reconciliation_lines (
    run_id bigint not null references reconciliation_runs (id),
    part text not null check (part in ('charge', 'reversal', 'refund', 'order')),
    reference text not null,
    line_id text not null,
    currency text not null default '',
    amount_minor bigint not null default 0,
    fees_minor bigint not null default 0,
    fees_on_top_minor bigint not null default 0,
    refund_key text not null default '',
    package_code text not null default '',
    is_refunded boolean not null default false,
    opened_at timestamptz not null,
    at timestamptz,
    primary key (run_id, reference, part, line_id)
  );

  grant insert on reconciliation_requests to ${role};
  grant insert, update on reconciliation_runs to ${role};
  grant insert, update, delete on reconciliation_lines to ${role};
`;

const differences = ({ role }: World) => sql`
  create table reconciliation_differences (
    id bigint generated always as identity primary key,
    kind text not null check (kind ~ '^[a-z-]{3,50}$'),
    subject text not null,
    transaction_id text,
    currency text not null,
    amount_minor bigint not null,
    ours jsonb,
    theirs jsonb,
    dated_from timestamptz not null,
    dated_to timestamptz not null,
    first_run_id bigint not null references reconciliation_runs (id),
    last_run_id bigint not null references reconciliation_runs (id),
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    closed_at timestamptz,
    closed_how text check (closed_how in ('GONE', 'BY_PERSON')),
    closed_by text,
    close_reason text,
    check ((closed_at is null) = (closed_how is null)),
    check ((closed_how is not distinct from 'BY_PERSON') = (closed_by is not null)),
    check ((closed_by is null) = (close_reason is null))
  );
  create unique index reconciliation_difference_open_once on reconciliation_differences (subject, kind)
    where closed_at is null;
  create index reconciliation_differences_by_subject on reconciliation_differences (subject, kind, id);

  create function difference_closes_once() returns trigger language plpgsql as $$
    begin
      if old.closed_at is not null or (new.kind, new.subject, new.first_run_id, new.first_seen_at)
         is distinct from (old.kind, old.subject, old.first_run_id, old.first_seen_at) then
        raise exception 'a closed difference stays as it was'
          using errcode = 'restrict_violation', constraint = 'difference_closes_once';
      end if;
      return new;
    end $$;
  create trigger difference_closes_once before update on reconciliation_differences
    for each row execute function difference_closes_once();

  grant insert, update (transaction_id, currency, amount_minor, ours, theirs, dated_from, dated_to,
    last_run_id, last_seen_at, closed_at, closed_how, closed_by, close_reason)
    on reconciliation_differences to ${role};
`;
