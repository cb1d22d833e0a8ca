/**
 * At what price: markups, rules, exchange rates, and quotes, which freeze a price before the purchase.
 */
import { sql } from 'kysely';
import { ACCOUNT_CURRENCIES } from '../../../src/domain/money.ts';
import { RULE_KINDS, RULE_ROUNDINGS, RULE_SCOPES, RULE_TARGETS } from '../../../src/domain/price-rules.ts';
import { PACKAGE_TYPES } from '../../../src/domain/states.ts';
import { oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const prices = (world: World) => sql`
  ${settingsAndRates(world)}
  ${proposals(world)}
  ${rules(world)}
  ${quotes(world)}
  ${checkoutSessions(world)}
`;

const settingsAndRates = ({ role }: World) => sql`
  create table pricing_settings (
    id text primary key,
    user_markup_bps integer not null check (user_markup_bps between 0 and 100000),
    merchant_markup_bps integer not null check (merchant_markup_bps between 0 and 100000),
    ngn_increment_bps integer not null check (ngn_increment_bps between 0 and 100000),
    set_by text not null,
    reason text not null,
    -- The second of two people. Settings of one person are judged against the last ones of two.
    confirmed_by text,
    valid_from timestamptz not null default now()
  );
  insert into pricing_settings (id, user_markup_bps, merchant_markup_bps, ngn_increment_bps, set_by, reason)
  values ('initial', 2500, 1500, 300, 'migrate', 'starting values');

  -- A rate that a person proposed and that is far from the current one waits in quarantine for another
  -- person.
  create table exchange_rates (
    id bigint generated always as identity primary key,
    currency text not null check (currency ~ '^[A-Z]{3}$'),
    rate_micros bigint not null check (rate_micros > 0),
    source text not null,
    observed_at timestamptz not null,
    status text not null check (status in ('GOOD', 'QUARANTINED', 'DECLINED')),
    proposed_by text,
    proposed_reason text,
    confirmed_by text,
    confirmed_reason text,
    created_at timestamptz not null default now(),
    constraint proposed_rates_by_two_people check (lower(trim(confirmed_by)) <> lower(trim(proposed_by)))
  );
  create index exchange_rates_latest on exchange_rates (currency, observed_at desc) where status = 'GOOD';
  create index exchange_rates_quarantined on exchange_rates (observed_at) where status = 'QUARANTINED';
  create index exchange_rates_by_age on exchange_rates (created_at);

  -- A rate that a person set is observed in place of the configuration's. Without a rate, the
  -- configuration's counts again.
  create table set_rates (
    id bigint generated always as identity primary key,
    currency text not null check (currency ~ '^[A-Z]{3}$'),
    rate_micros bigint check (rate_micros > 0),
    set_by text not null,
    reason text not null,
    set_at timestamptz not null default clock_timestamp()
  );
  create index set_rates_latest on set_rates (currency, id desc);

  grant insert on pricing_settings, set_rates to ${role};
  grant insert, update, delete on exchange_rates to ${role};
`;

const proposals = ({ role }: World) => sql`
  -- Settings that wait for a second person. Once confirmed, they are the row \`settings_id\`.
  create table proposed_prices (
    id bigint generated always as identity primary key,
    before_id text not null references pricing_settings (id),
    user_markup_bps integer not null check (user_markup_bps between 0 and 100000),
    merchant_markup_bps integer not null check (merchant_markup_bps between 0 and 100000),
    ngn_increment_bps integer not null check (ngn_increment_bps between 0 and 100000),
    proposed_by text not null,
    proposed_reason text not null,
    proposed_at timestamptz not null,
    settings_id text references pricing_settings (id),
    -- Declined by another person, or withdrawn.
    declined_at timestamptz,
    check (settings_id is null or declined_at is null)
  );

  grant insert, update (settings_id, declined_at) on proposed_prices to ${role};
`;

const rules = ({ role }: World) => sql`
  -- Prices for some buyers or some packages. Terms are never changed: another rule takes their place.
  create table price_rules (
    id bigint generated always as identity primary key,
    scope text not null ${oneOf('scope', RULE_SCOPES)},
    scope_id text not null check ((scope = 'ALL') = (scope_id = '')),
    target text not null ${oneOf('target', RULE_TARGETS)},
    target_id text not null check ((target = 'ALL') = (target_id = '')),
    kind text not null ${oneOf('kind', RULE_KINDS)},
    markup_bps integer check (markup_bps between 0 and 100000),
    price_minor bigint check (price_minor > 0),
    currency text ${oneOf('currency', ACCOUNT_CURRENCIES)},
    rounding text not null ${oneOf('rounding', RULE_ROUNDINGS)},
    valid_from timestamptz not null,
    valid_until timestamptz check (valid_until > valid_from),
    set_by text not null,
    reason text not null,
    created_at timestamptz not null default clock_timestamp(),
    -- It applies only without a second person to wait for.
    waits boolean not null,
    confirmed_by text,
    -- Ended, declined or withdrawn.
    closed_at timestamptz,
    closed_by text,
    closed_reason text,
    check ((kind = 'MARKUP') = (markup_bps is not null)),
    check ((kind = 'PRICE') = (price_minor is not null) and (kind = 'PRICE') = (currency is not null)),
    check (kind = 'MARKUP' or (target = 'PACKAGE' and rounding = 'NONE')),
    check ((closed_at is null) = (closed_by is null) and (closed_at is null) = (closed_reason is null)),
    check (not waits or confirmed_by is null),
    constraint price_rules_by_two_people check (lower(trim(confirmed_by)) <> lower(trim(set_by)))
  );
  -- Those of one place, to find what overlaps, and those of one account.
  create index price_rules_by_place on price_rules (scope, scope_id, target, target_id, id);

  -- The home page of operators counts them again and again.
  create index price_rules_waiting on price_rules (created_at) where waits and closed_at is null;

  grant insert, update (valid_from, waits, confirmed_by, closed_at, closed_by, closed_reason) on price_rules to ${role};
`;

const quotes = ({ role }: World) => sql`
  create table quotes (
    id text primary key,
    account_id text not null,
    package_type text not null ${oneOf('package_type', PACKAGE_TYPES)},
    package_code text not null references packages (package_code),
    package_name text not null,
    esim_id text check ((esim_id is not null) = (package_type = 'TOPUP')),
    payment_method text,
    price_minor bigint not null check (price_minor >= 0),
    currency text not null,
    price_usd_minor bigint not null check (price_usd_minor >= 0),
    cost_usd_e4 bigint not null,
    settings_id text not null references pricing_settings (id),
    rate_id text,
    charge jsonb,
    -- What its purchase takes over. An address of a buyer in it goes with the quote, after a week.
    own_details json,
    created_at timestamptz not null,
    expires_at timestamptz not null check (expires_at > created_at),
    used_by text,
    used_at timestamptz,
    check ((used_by is null) = (used_at is null))
  );
  create index quotes_unused on quotes (account_id, expires_at) where used_by is null;
  create index quotes_by_age on quotes (expires_at);

  grant insert, update, delete on quotes to ${role};
`;

const checkoutSessions = ({ role }: World) => sql`
  -- How one stands is what its quote, its purchase and the key of that say.
  create table checkout_sessions (
    id text primary key,
    account_id text not null,
    -- It goes with its quote.
    quote_id text not null unique references quotes (id) on delete cascade,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    canceled_at timestamptz
  );

  grant insert, update (quote_id, updated_at, canceled_at) on checkout_sessions to ${role};
`;
