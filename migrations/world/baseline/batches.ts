/**
 * Batches of purchases. A row holds what the API has signed for its purchase until that is closed; what
 * became of it is read from the purchase. The traveller's address is in its row only, until 30 days after its
 * e-mail is sent or given up.
 */
import { sql } from 'kysely';
import type { World } from './world.ts';

export const batches = ({ role }: World) => sql`
  create table batches (
    id text primary key check (id ~ '^batch-[0-9a-f]{32}$'),
    account_id text not null,
    sender_name text not null,
    row_count integer not null check (row_count between 1 and 500),
    email_count integer not null check (email_count between 0 and row_count),
    total_minor bigint not null check (total_minor > 0),
    currency text not null,
    next_check_at timestamptz,
    all_begun_at timestamptz,
    succeeded integer,
    failed integer,
    created_at timestamptz not null,
    closed_at timestamptz,
    check ((closed_at is null) = (next_check_at is not null)),
    check (closed_at is null or (all_begun_at is not null and succeeded + failed = row_count))
  );
  create index batches_by_account on batches (account_id, created_at desc, id);
  create index batches_beginning on batches (account_id) where all_begun_at is null;
  create index batches_open on batches (next_check_at) where closed_at is null;

  create table batch_rows (
    batch_id text not null references batches (id),
    row_number integer not null check (row_number between 0 and 499),
    reference text not null,
    package_code text not null,
    transaction_id text not null unique,
    terms jsonb,
    refused_reason text,
    closed_at timestamptz,
    email text,
    language text,
    send_at timestamptz,
    email_status text check (email_status in ('WAITING', 'SENT', 'NOT_SENT', 'FAILED')),
    email_due_at timestamptz,
    email_next_at timestamptz,
    email_attempts integer not null default 0,
    email_closed_at timestamptz,
    primary key (batch_id, row_number),
    unique (batch_id, reference),
    check ((closed_at is null) = (terms is not null)),
    check (refused_reason is null or closed_at is not null),
    check (email_next_at is null or (email is not null and email_status = 'WAITING')),
    check ((email_closed_at is not null) = coalesce(email_status <> 'WAITING', false))
  );
  create index batch_rows_open on batch_rows (batch_id, row_number) where closed_at is null;
  create index batch_emails_due on batch_rows (email_next_at) where email_next_at is not null;
  create index batch_emails_kept on batch_rows (email_closed_at)
    where email is not null and email_closed_at is not null;

  grant insert, update (next_check_at, all_begun_at, succeeded, failed, closed_at) on batches to ${role};
  grant insert, update (terms, refused_reason, closed_at, email, email_status, email_due_at, email_next_at,
    email_attempts, email_closed_at) on batch_rows to ${role};
`;
