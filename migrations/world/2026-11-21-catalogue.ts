/** What is for sale and at what price: regions, packages, the history of their costs, markups and exchange rates. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table regions (
      region_code text primary key,
      region_name text not null,
      region_type text not null check (region_type in ('LC', 'RG', 'GL')),
      country_code text,
      flag_url text not null,
      withdrawn_at timestamptz
    )`.execute(db);
  await sql`
    create table packages (
      package_code text primary key,
      package_type text not null check (package_type in ('BASE', 'TOPUP')),
      slug text not null,
      name text not null,
      region_code text not null,
      region_type text not null check (region_type in ('LC', 'RG', 'GL')),
      cost_usd_e4 bigint not null check (cost_usd_e4 >= 0),
      volume_bytes bigint not null,
      data_type integer not null,
      duration integer not null,
      duration_unit text not null check (duration_unit in ('DAY', 'HOUR', 'MONTH')),
      unused_valid_days integer not null,
      speed text not null,
      description text not null,
      active_type integer not null,
      top_up_available boolean not null,
      location text not null,
      location_code text not null,
      networks jsonb not null,
      withdrawn_at timestamptz
    )`.execute(db);
  await sql`
    create table package_prices (
      package_code text not null references packages (package_code),
      cost_usd_e4 bigint not null,
      valid_from timestamptz not null,
      valid_to timestamptz,
      primary key (package_code, valid_from)
    )`.execute(db);
  await sql`
    create table package_top_ups (
      package_code text not null references packages (package_code),
      top_up_code text not null references packages (package_code),
      position integer not null,
      primary key (package_code, top_up_code)
    )`.execute(db);
  await sql`
    create table package_top_up_looks (
      package_code text primary key references packages (package_code),
      looked_at timestamptz not null
    )`.execute(db);
  await prices(db);
}

async function prices(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pricing_settings (
      id text primary key,
      user_markup_bps integer not null check (user_markup_bps between 0 and 100000),
      merchant_markup_bps integer not null check (merchant_markup_bps between 0 and 100000),
      ngn_increment_bps integer not null check (ngn_increment_bps between 0 and 100000),
      set_by text not null,
      reason text not null,
      valid_from timestamptz not null default now()
    )`.execute(db);
  await sql`
    insert into pricing_settings (id, user_markup_bps, merchant_markup_bps, ngn_increment_bps, set_by, reason)
    values ('initial', 2500, 1500, 300, 'migrate', 'starting values')`.execute(db);
  await sql`
    create table exchange_rates (
      id bigint generated always as identity primary key,
      currency text not null check (currency ~ '^[A-Z]{3}$'),
      rate_micros bigint not null check (rate_micros > 0),
      source text not null,
      observed_at timestamptz not null,
      status text not null check (status in ('GOOD', 'QUARANTINED')),
      confirmed_by text,
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index exchange_rates_latest on exchange_rates (currency, observed_at desc) where status = 'GOOD'`.execute(
    db,
  );
  await sql`
    create table revisions (
      name text primary key,
      revision bigint not null default 0
    )`.execute(db);
  await sql`insert into revisions (name) values ('catalogue'), ('pricing'), ('rates')`.execute(db);
  await sql`create table world (environment text primary key check (environment in ('live', 'test')))`.execute(
    db,
  );
}
