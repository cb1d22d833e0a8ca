/**
 * Webhooks to merchants: their endpoints, the messages with what became of each attempt, and the balance below which an account wants to
 * be told. A message is one event for one endpoint, written in the transaction of the change that it tells of. Secrets are sealed.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await endpoints(db);
  await messages(db);
  await attempts(db);
  await sql`
    create table low_balance_thresholds (
      account_id text primary key,
      threshold_minor bigint not null check (threshold_minor > 0),
      updated_at timestamptz not null
    )`.execute(db);
  await grants(db);
}

async function endpoints(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook_endpoints (
      id text primary key check (id ~ '^ep-[0-9a-f]{32}$'),
      account_id text not null,
      url text not null,
      events text[] not null check (cardinality(events) > 0),
      enabled boolean not null default true,
      disabled_reason text check (disabled_reason in ('BY_OWNER', 'GONE', 'FAILING')),
      disabled_at timestamptz,
      failing_since timestamptz,
      secret_sealed bytea not null,
      previous_secret_sealed bytea,
      previous_until timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      deleted_at timestamptz,
      check (enabled = (disabled_reason is null)),
      check (enabled = (disabled_at is null)),
      check ((previous_secret_sealed is null) = (previous_until is null))
    )`.execute(db);
  // Asked by every change that merchants may be told of: one look in a small index where there is no endpoint.
  await sql`create index webhook_endpoints_by_account on webhook_endpoints (account_id) where deleted_at is null`.execute(
    db,
  );
}

async function messages(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook_messages (
      id text primary key check (id ~ '^msg-[0-9a-f]{32}$'),
      endpoint_id text not null references webhook_endpoints (id),
      account_id text not null,
      event text not null,
      event_key text not null,
      subject text,
      body text not null,
      status text not null check (status in ('PENDING', 'DELIVERED', 'FAILED')),
      attempts integer not null default 0,
      series_from integer not null default 0,
      next_attempt_at timestamptz,
      swept_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      closed_at timestamptz,
      constraint webhook_message_once unique (endpoint_id, event_key),
      check ((status = 'PENDING') = (next_attempt_at is not null)),
      check ((status = 'PENDING') = (closed_at is null))
    )`.execute(db);
  await sql`create index webhook_messages_by_account on webhook_messages (account_id, created_at desc, id desc)`.execute(
    db,
  );
  await sql`create index webhook_messages_by_endpoint on webhook_messages (endpoint_id, created_at desc, id desc)`.execute(
    db,
  );
  await sql`create index webhook_messages_by_subject on webhook_messages (subject) where subject is not null`.execute(
    db,
  );
  await sql`create index webhook_messages_due on webhook_messages (next_attempt_at) where status = 'PENDING'`.execute(
    db,
  );
  await sql`create index webhook_messages_closed on webhook_messages (closed_at) where closed_at is not null`.execute(
    db,
  );
}

async function attempts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook_attempts (
      id bigint generated always as identity primary key,
      message_id text not null references webhook_messages (id) on delete cascade,
      attempt integer not null check (attempt > 0),
      at timestamptz not null,
      ms integer not null,
      outcome text not null,
      status integer,
      answer_start text not null,
      constraint webhook_attempt_once unique (message_id, attempt)
    )`.execute(db);
}

async function grants(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant select, insert, update on webhook_endpoints, webhook_messages, low_balance_thresholds to ${role}`.execute(
    db,
  );
  await sql`grant select, insert on webhook_attempts to ${role}`.execute(db);
  // Messages are forgotten when nothing can be done with them any more, and their attempts with them.
  await sql`grant delete on webhook_messages, low_balance_thresholds to ${role}`.execute(db);
}
