/**
 * Money from outside: charges at the gateway with what came of them, its events as they arrived, refunds, and wallets being funded.
 * Amounts in the gateway's currencies are booked on ledger accounts that are made when they are first needed.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await fundings(db);
  await payments(db);
  await gatewayEvents(db);
  await refunds(db);
  await grants(db);
}

async function fundings(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table fundings (
      transaction_id text primary key check (length(transaction_id) <= 50),
      account_id text not null,
      payment_method text not null check (payment_method in ('CARD', 'BANK_TRANSFER', 'MOBILE_MONEY', 'APPLE_PAY')),
      status text not null check (status in ('PENDING', 'SUCCESS', 'FAILED')),
      reason text,
      amount_minor bigint not null check (amount_minor > 0),
      currency text not null,
      needs_attention_since timestamptz,
      attention_reason text,
      request_id text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null default now(),
      closed_at timestamptz,
      check ((status = 'FAILED') = (reason is not null)),
      check ((status = 'PENDING') = (closed_at is null))
    )`.execute(db);
  await sql`create index fundings_by_account on fundings (account_id, created_at desc)`.execute(db);
}

async function payments(db: Kysely<unknown>): Promise<void> {
  // A row stands before the gateway is asked: whatever happens to the answer, we know which references to ask about.
  await sql`
    create table payments (
      reference text primary key check (reference ~ '^[A-Za-z0-9-]{1,60}$'),
      transaction_id text not null,
      attempt integer not null check (attempt > 0),
      purpose text not null check (purpose in ('purchase', 'funding')),
      account_id text not null,
      method text not null check (method in ('CARD', 'BANK_TRANSFER', 'MOBILE_MONEY', 'APPLE_PAY')),
      status text not null default 'ASKED' check (status in ('ASKED', 'OPEN', 'REFUSED', 'CLOSED')),
      charge_minor bigint not null check (charge_minor > 0),
      charge_currency text not null,
      price_minor bigint not null check (price_minor > 0),
      price_currency text not null,
      instructions jsonb,
      expires_at timestamptz not null,
      booked_minor bigint not null default 0 check (booked_minor >= 0),
      booked_currency text,
      paid_hold boolean not null default false,
      reversed_minor bigint not null default 0 check (reversed_minor >= 0),
      gateway_id text,
      gateway_status text,
      looked_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (transaction_id, attempt)
    )`.execute(db);
  await sql`create unique index payments_one_pays_the_hold on payments (transaction_id) where paid_hold`.execute(
    db,
  );
  await sql`create index payments_watched on payments (expires_at) where status in ('ASKED', 'OPEN')`.execute(
    db,
  );
}

async function gatewayEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table gateway_events (
      id bigint generated always as identity primary key,
      gateway text not null,
      event_key text not null,
      type text not null,
      about text not null,
      reference text,
      email text,
      received_at timestamptz not null default clock_timestamp(),
      applied_at timestamptz,
      note text,
      constraint gateway_event_once unique (gateway, event_key)
    )`.execute(db);
  await sql`create index gateway_events_unapplied on gateway_events (id) where applied_at is null`.execute(
    db,
  );
  await sql`create index gateway_events_by_reference on gateway_events (reference) where reference is not null`.execute(
    db,
  );
}

async function refunds(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table refunds (
      refund_key text primary key,
      reference text not null references payments (reference),
      transaction_id text not null,
      account_id text not null,
      amount_minor bigint not null check (amount_minor > 0),
      currency text not null,
      reason text not null,
      status text not null default 'DUE' check (status in ('DUE', 'ASKED', 'PENDING', 'NEEDS_ATTENTION', 'DONE', 'CREDITED', 'STUCK')),
      gateway_refund_id text,
      gateway_status text,
      asked_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      closed_at timestamptz,
      check ((status in ('DONE', 'CREDITED')) = (closed_at is not null))
    )`.execute(db);
  await sql`create index refunds_by_purchase on refunds (transaction_id)`.execute(db);
  await sql`create index refunds_open on refunds (created_at) where closed_at is null`.execute(db);
}

async function grants(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant select, insert, update on fundings, payments, gateway_events, refunds to ${role}`.execute(
    db,
  );
}
