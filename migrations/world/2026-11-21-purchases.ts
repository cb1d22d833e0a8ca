/** Purchases, the eSIM orders they make, what happened to them when, and the answers kept for Idempotency-Keys. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await purchases(db);
  await esims(db);
  await sql`
    create table purchase_events (
      id bigint generated always as identity primary key,
      transaction_id text not null references purchases (transaction_id),
      at timestamptz not null default clock_timestamp(),
      what text not null,
      detail text
    )`.execute(db);
  await sql`create index purchase_events_by_purchase on purchase_events (transaction_id, id)`.execute(db);
  await sql`
    create table idempotency_keys (
      account_id text not null,
      key text not null check (length(key) between 1 and 255),
      path text not null,
      fingerprint text not null,
      transaction_id text not null,
      refusal_reason text,
      refusal_detail text,
      answer_status integer,
      answer_body text,
      created_at timestamptz not null default now(),
      primary key (account_id, key),
      check ((answer_status is null) = (answer_body is null))
    )`.execute(db);
  await sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`.execute(db);
}

async function purchases(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table purchases (
      transaction_id text primary key check (length(transaction_id) <= 50),
      account_id text not null,
      package_type text not null check (package_type in ('BASE', 'TOPUP')),
      payment_method text not null check (payment_method in ('WALLET', 'CARD', 'BANK_TRANSFER', 'MOBILE_MONEY', 'APPLE_PAY')),
      status text not null check (status in ('PENDING', 'PROCESSING', 'SUCCESS', 'FAILED')),
      reason text,
      package_code text not null,
      package_name text not null,
      volume_bytes bigint not null,
      duration integer not null,
      esim_id text not null,
      price_minor bigint not null check (price_minor > 0),
      currency text not null,
      price_usd_minor bigint not null,
      cost_usd_e4 bigint not null,
      settings_id text not null,
      rate_id text,
      supplier_asks integer not null default 0,
      supplier_order_no text,
      top_up_iccid text,
      top_up_total_volume_bytes bigint,
      top_up_remaining_bytes bigint,
      needs_attention_since timestamptz,
      attention_reason text,
      request_id text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null default now(),
      closed_at timestamptz,
      check ((status = 'FAILED') = (reason is not null)),
      check ((status in ('SUCCESS', 'FAILED')) = (closed_at is not null))
    )`.execute(db);
  await sql`create index purchases_by_account on purchases (account_id, created_at desc)`.execute(db);
  await sql`create index purchases_open on purchases (created_at) where status in ('PENDING', 'PROCESSING')`.execute(
    db,
  );
  await sql`
    create function purchase_ends_once() returns trigger language plpgsql as $$
    begin
      if old.status in ('SUCCESS', 'FAILED') and new.status <> old.status then
        raise exception 'a closed purchase keeps its status' using errcode = 'restrict_violation', constraint = 'purchase_ends_once';
      end if;
      return new;
    end $$`.execute(db);
  await sql`create trigger purchase_ends_once before update on purchases for each row execute function purchase_ends_once()`.execute(
    db,
  );
}

async function esims(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table esims (
      id text primary key,
      account_id text not null,
      transaction_id text not null unique,
      package_code text not null,
      package_name text not null,
      status text not null check (status in ('PENDING', 'CREATED', 'ACTIVE', 'EXPIRED', 'FAILED', 'CANCELLED', 'SUSPENDED')),
      price_minor bigint not null,
      currency text not null,
      snapshot jsonb not null,
      supplier text not null,
      order_no text not null default '',
      esim_tran_no text not null default '',
      iccid text not null default '',
      imsi text not null default '',
      msisdn text,
      ac text not null default '',
      qr_code_url text not null default '',
      short_url text not null default '',
      smdp_address text not null default '',
      matching_id text not null default '',
      pin text,
      puk text,
      eid text not null default '',
      smdp_status text not null default '',
      active_type text not null default '',
      activate_time timestamptz,
      expired_time timestamptz,
      total_volume_bytes bigint not null,
      order_usage_bytes bigint not null default 0,
      total_duration integer not null,
      duration_unit text not null,
      apn text not null default '',
      sms_status integer not null default 0,
      data_type integer not null,
      looked_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index esims_by_account on esims (account_id, created_at desc, id desc)`.execute(db);
  await sql`create index esims_by_account_status on esims (account_id, status, created_at desc, id desc)`.execute(
    db,
  );
  await sql`create index esims_by_iccid on esims (iccid) where iccid <> ''`.execute(db);
  await sql`create index esims_by_tran_no on esims (esim_tran_no) where esim_tran_no <> ''`.execute(db);
}
