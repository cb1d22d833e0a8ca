import type { Generated, JSONColumnType } from 'kysely';
import type { ChangedField, ChangeKind, DurationUnit, LocationNetwork, RegionType } from '../rules.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import type { PackageType, ShortageReason } from '../../domain/states.ts';
import type { RuleRounding, RuleScope, RuleTarget } from '../../domain/price-rules.ts';
import type { RuleAmount } from '../pricing.ts';

export interface RegionsTable {
  region_code: string;
  region_name: string;
  region_type: RegionType;
  country_code: string | null;
  flag_url: string;
  withdrawn_at: Date | null;
}

export interface PackagesTable {
  package_code: string;
  /** Who sells it to us. */
  supplier: string;
  package_type: PackageType;
  slug: string;
  name: string;
  region_code: string;
  region_type: RegionType;
  cost_usd_e4: bigint;
  volume_bytes: bigint;
  data_type: number;
  duration: number;
  duration_unit: DurationUnit;
  unused_valid_days: number;
  speed: string;
  description: string;
  active_type: number;
  top_up_available: boolean;
  location: string;
  location_code: string;
  networks: JSONColumnType<LocationNetwork[]>;
  withdrawn_at: Date | null;
}

/** A package as it was sold, or withdrawn, from `valid_from` to before `valid_to`. */
export interface PackageVersionsTable extends Omit<PackagesTable, 'supplier' | 'slug' | 'withdrawn_at'> {
  /** Assigned under the catalogue's lock, so in the order of commits. */
  id: Generated<bigint>;
  kind: ChangeKind;
  changed_fields: ChangedField[];
  on_sale: boolean;
  valid_from: Date;
  valid_to: Date | null;
}

export interface PackageTopUpsTable {
  package_code: string;
  top_up_code: string;
  position: number;
}

export interface PackageTopUpChecksTable {
  package_code: string;
  checked_at: Date;
}

export interface SetRatesTable {
  id: Generated<bigint>;
  currency: string;
  /** null: use the configured rate again. */
  rate_micros: bigint | null;
  set_by: string;
  reason: string;
  set_at: Generated<Date>;
}

export interface PricingSettingsTable {
  id: string;
  user_markup_bps: number;
  merchant_markup_bps: number;
  ngn_increment_bps: number;
  set_by: string;
  reason: string;
  /** null: one person's. */
  confirmed_by: Generated<string | null>;
  valid_from: Generated<Date>;
}

/** Settings that wait for a second person. */
export interface ProposedPricesTable {
  id: Generated<bigint>;
  before_id: string;
  user_markup_bps: number;
  merchant_markup_bps: number;
  ngn_increment_bps: number;
  proposed_by: string;
  proposed_reason: string;
  proposed_at: Date;
  /** What they became; null: not confirmed. */
  settings_id: Generated<string | null>;
  /** By another person, or withdrawn. */
  declined_at: Generated<Date | null>;
}

/** A price for some buyers or some packages. */
export interface PriceRulesTable {
  id: Generated<bigint>;
  scope: RuleScope;
  /** An account's id, a plan or a type; empty for all. */
  scope_id: string;
  target: RuleTarget;
  /** A code; empty for all. */
  target_id: string;
  kind: RuleAmount['kind'];
  markup_bps: number | null;
  price_minor: bigint | null;
  currency: AccountCurrency | null;
  rounding: RuleRounding;
  valid_from: Date;
  valid_until: Date | null;
  set_by: string;
  reason: string;
  created_at: Generated<Date>;
  /** For a second person. */
  waits: boolean;
  confirmed_by: Generated<string | null>;
  /** Ended, declined or withdrawn. */
  closed_at: Generated<Date | null>;
  closed_by: Generated<string | null>;
  closed_reason: Generated<string | null>;
}

/** A supplier's price that waits for a person. Another price of the same package is another row. */
export interface HeldCostsTable {
  id: Generated<bigint>;
  package_code: string;
  cost_usd_e4: bigint;
  held_since: Date;
}

export interface ExchangeRatesTable {
  id: Generated<bigint>;
  currency: string;
  rate_micros: bigint;
  source: string;
  observed_at: Date;
  status: 'GOOD' | 'QUARANTINED' | 'DECLINED';
  confirmed_by: string | null;
  confirmed_reason: Generated<string | null>;
  /** A person's rate that waits, or waited, for another person. */
  proposed_by: Generated<string | null>;
  proposed_reason: Generated<string | null>;
  created_at: Generated<Date>;
}

export interface SupplierBalancesTable {
  check_number: bigint;
  supplier: string;
  balance_usd_e4: bigint;
  /** What was ordered by then, and is not surely in the balance. */
  uncharged_usd_e4: bigint;
  booked_until: bigint;
  /** Learnt from a refusal: there is no more than this. */
  is_bound: boolean;
  /** So little that each opening counts what is left. */
  is_tight: boolean;
  asked_at: Date;
  read_at: Generated<Date>;
}

export interface PackageShortagesTable {
  package_code: string;
  supplier: string;
  reason: ShortageReason;
  cost_usd_e4: bigint;
  /** The least balance that was known since the refusal. */
  known_usd_e4: bigint | null;
  since: Generated<Date>;
  refused_at: Generated<Date>;
  refusals: Generated<number>;
  order_id: string;
  probe_at: Date;
  paid_probe_at: Date;
  probe_id: string | null;
}

export interface RevisionsTable {
  name: 'catalogue' | 'pricing' | 'rates' | 'availability';
  revision: bigint;
}

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    regions: RegionsTable;
    packages: PackagesTable;
    package_versions: PackageVersionsTable;
    package_top_ups: PackageTopUpsTable;
    package_top_up_checks: PackageTopUpChecksTable;
    pricing_settings: PricingSettingsTable;
    proposed_prices: ProposedPricesTable;
    price_rules: PriceRulesTable;
    held_costs: HeldCostsTable;
    exchange_rates: ExchangeRatesTable;
    set_rates: SetRatesTable;
    supplier_balances: SupplierBalancesTable;
    package_shortages: PackageShortagesTable;
    revisions: RevisionsTable;
  }
}
