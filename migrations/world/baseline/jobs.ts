/**
 * Jobs of many rows: batches of purchases (`order`) and batch repairs (`repair`). A row of an order holds
 * what the API has signed for its purchase until that is closed; what became of it is read from the purchase.
 * The traveller's address is in its row only, until 30 days after its e-mail is sent or given up. A repair is
 * asked for by one person and approved by another, who has seen its rows.
 */
import { sql } from 'kysely';
import type { World } from './world.ts';

const jobsTable = sql`
  create table jobs (
    id text primary key check (id ~ case kind when 'order' then '^batch-[0-9a-f]{32}$' else '^repair-[0-9a-f]{32}$' end),
    kind text not null check (kind in ('order', 'repair')),
    status text not null check (status in
      ('SCHEDULED', 'WAITS_FOR_APPROVAL', 'RUNNING', 'COMPLETED', 'STOPPED', 'DECLINED', 'EXPIRED')),
    row_count integer not null check (row_count between 1 and 500),
    done integer,
    refused integer,
    unknown integer,
    skipped integer,
    next_check_at timestamptz,
    created_at timestamptz not null,
    closed_at timestamptz,
    -- Of an order.
    account_id text,
    sender_name text,
    email_count integer check (email_count between 0 and row_count),
    total_minor bigint check (total_minor > 0),
    currency text,
    all_begun_at timestamptz,
    start_at timestamptz,
    -- Who ordered what starts later, and the most that it may cost then: both are judged at the start.
    caller text,
    max_total_minor bigint check (max_total_minor > 0),
    started_total_minor bigint check (started_total_minor > 0),
    cancel_reason text,
    -- Of a repair.
    repair_key text unique check (length(repair_key) between 1 and 200),
    action text,
    filter jsonb,
    reason text,
    evidence text,
    by_person text,
    expires_at timestamptz,
    decided_by text,
    decided_at timestamptz,
    stop_asked_at timestamptz,
    unique (id, kind),
    constraint job_is_of_its_kind check (case kind
      when 'order' then status in ('SCHEDULED', 'RUNNING', 'COMPLETED', 'STOPPED')
        and num_nulls(account_id, sender_name, email_count, total_minor, currency) = 0
        and (status <> 'COMPLETED' or all_begun_at is not null)
        and (status <> 'SCHEDULED' or num_nulls(start_at, caller) = 0)
        and (status = 'STOPPED') = (cancel_reason is not null)
        and num_nonnulls(repair_key, action, filter, reason, evidence, by_person, expires_at, decided_by,
          decided_at, stop_asked_at) = 0
      else num_nulls(repair_key, action, filter, reason, by_person, expires_at) = 0
        and (status not in ('RUNNING', 'COMPLETED', 'STOPPED') or decided_by is not null)
        and num_nonnulls(account_id, sender_name, email_count, total_minor, currency, all_begun_at, start_at, caller,
          max_total_minor, started_total_minor, cancel_reason) = 0 end),
    constraint job_by_two_people
      check (status = 'DECLINED' or lower(trim(decided_by)) <> lower(trim(by_person))),
    check ((decided_by is null) = (decided_at is null)),
    check ((status in ('SCHEDULED', 'WAITS_FOR_APPROVAL', 'RUNNING')) = (closed_at is null)),
    check ((status = 'RUNNING') = (next_check_at is not null)),
    constraint job_ends_with_all_rows
      check ((closed_at is not null) = coalesce(done + refused + unknown + skipped = row_count, false))
  );
  create index jobs_by_account on jobs (account_id, created_at desc, id) where kind = 'order';
  create index jobs_beginning on jobs (account_id) where kind = 'order' and all_begun_at is null;
  create index jobs_scheduled on jobs (start_at) where status = 'SCHEDULED';
  create index jobs_repairs on jobs (created_at desc, id) where kind = 'repair';
  create index jobs_repairs_open on jobs (created_at) where kind = 'repair' and closed_at is null;
  create index jobs_open on jobs (next_check_at) where closed_at is null;
`;

const jobRowsTable = sql`
  create table job_rows (
    job_id text not null,
    kind text not null,
    row_number integer not null,
    transaction_id text not null,
    status text not null default 'WAITING'
      check (status in ('WAITING', 'DONE', 'REFUSED', 'UNKNOWN', 'SKIPPED')),
    detail text,
    attempts integer not null default 0,
    next_at timestamptz,
    closed_at timestamptz,
    -- Of an order.
    reference text,
    package_code text,
    terms jsonb,
    email text,
    language text,
    send_at timestamptz,
    email_status text check (email_status in ('WAITING', 'SENT', 'NOT_SENT', 'FAILED')),
    email_due_at timestamptz,
    email_next_at timestamptz,
    email_attempts integer not null default 0,
    email_closed_at timestamptz,
    -- Of a repair.
    class text,
    amount_minor bigint check (amount_minor > 0),
    currency text,
    preview text,
    primary key (job_id, row_number),
    foreign key (job_id, kind) references jobs (id, kind),
    unique (job_id, reference),
    constraint job_row_is_of_its_kind check (case kind
      when 'order' then row_number between 0 and 499 and num_nulls(reference, package_code) = 0
        and (closed_at is null) = (terms is not null)
        and num_nonnulls(class, amount_minor, currency, preview) = 0
      else row_number between 1 and 500 and num_nulls(class, preview) = 0
        and num_nonnulls(reference, package_code, terms, email, language, send_at, email_status) = 0 end),
    check ((status = 'WAITING') = (closed_at is null)),
    check (email_next_at is null or (email is not null and email_status = 'WAITING')),
    check ((email_closed_at is not null) = coalesce(email_status <> 'WAITING', false)),
    check ((amount_minor is null) = (currency is null))
  );
  -- A purchase belongs to one row, and one open repair at most works on a transaction.
  create unique index job_rows_bought_once on job_rows (transaction_id) where kind = 'order';
  create unique index job_rows_repaired_by_one on job_rows (transaction_id) where kind = 'repair' and closed_at is null;
  create index job_rows_open on job_rows (job_id, row_number) where closed_at is null;
  create index job_emails_due on job_rows (email_next_at) where email_next_at is not null;
  create index job_emails_kept on job_rows (email_closed_at) where email is not null and email_closed_at is not null;
`;

export const jobs = ({ role }: World) => sql`
  ${jobsTable}
  ${jobRowsTable}
  grant insert, update (status, done, refused, unknown, skipped, next_check_at, closed_at, all_begun_at, decided_by,
    decided_at, stop_asked_at, started_total_minor, cancel_reason) on jobs to ${role};
  grant insert, update (status, detail, attempts, next_at, closed_at, terms, email, email_status, email_due_at,
    email_next_at, email_attempts, email_closed_at) on job_rows to ${role};
`;
