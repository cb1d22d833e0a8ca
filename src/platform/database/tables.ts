/** The tables as Kysely sees them, one interface each; migrations/ is where they are made. */
import type { Generated, Kysely } from 'kysely';
import type { Environment, Plan, Scope, AccountType } from '../../domain/account.ts';
import type { PackageSnapshot } from '../../catalogue/rules.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import type {
  EsimStatus,
  PackageType,
  PaymentMethod,
  PurchaseStatus,
  OutsideMethod,
  PaymentPurpose,
} from '../../domain/states.ts';
import type {
  Json,
  PackagePricesTable,
  PackageTopUpLooksTable,
  PackageTopUpsTable,
  PackagesTable,
  RegionsTable,
  SetRatesTable,
} from '../../catalogue/store/tables.ts';
import type { OperatorMovesTable } from '../../operations/store/tables.ts';
import type {
  NoticesTable,
  LowBalanceThresholdsTable,
  WebhookAttemptsTable,
  WebhookEndpointsTable,
  WebhookMessagesTable,
  WebhookOlderSecretsTable,
} from '../../webhooks/store/tables.ts';
import type {
  DisputesTable,
  GatewayEventsTable,
  GatewayWindowsTable,
  RefundsTable,
} from '../../payments/store/tables.ts';
import type { PeopleTable, SessionsTable } from '../../accounts/store/tables.ts';
import type {
  ReconciliationDifferencesTable,
  ReconciliationLinesTable,
  ReconciliationRunsTable,
} from '../../reconciliation/store/tables.ts';

export interface AccountsTable {
  id: string;
  type: AccountType;
  name: string;
  email: string;
  currency: AccountCurrency;
  plan: Plan;
  enterprise_requests_per_minute: number | null;
  created_at: Generated<Date>;
  changed_at: Generated<Date>;
}

export interface ApiKeysTable {
  id: string;
  account_id: string;
  environment: Environment;
  key_sha256: Buffer;
  display_prefix: string;
  last_four: string;
  scopes: Scope[];
  allowed_addresses: string[];
  company_name: string;
  website_url: string;
  expires_at: Date | null;
  revoked_at: Date | null;
  created_at: Generated<Date>;
  changed_at: Generated<Date>;
}

export interface AuditLogTable {
  id: Generated<bigint>;
  at: Generated<Date>;
  actor: string;
  action: string;
  subject: string;
  detail: Json<unknown>;
}

export interface AccountsDatabase {
  accounts: AccountsTable;
  api_keys: ApiKeysTable;
  audit_log: AuditLogTable;
  people: PeopleTable;
  sessions: SessionsTable;
}

export interface PricingSettingsTable {
  id: string;
  user_markup_bps: number;
  merchant_markup_bps: number;
  ngn_increment_bps: number;
  set_by: string;
  reason: string;
  valid_from: Generated<Date>;
}

export interface ExchangeRatesTable {
  id: Generated<bigint>;
  currency: string;
  rate_micros: bigint;
  source: string;
  observed_at: Date;
  status: 'GOOD' | 'QUARANTINED';
  confirmed_by: string | null;
  confirmed_reason: Generated<string | null>;
  created_at: Generated<Date>;
}

export interface RevisionsTable {
  name: 'catalogue' | 'pricing' | 'rates';
  revision: bigint;
}

export interface WorldTable {
  environment: Environment;
}

export interface LedgerAccountsTable {
  id: string;
  kind: string;
  currency: string;
  account_id: string | null;
}

export interface WalletsTable {
  account_id: string;
  ledger_account_id: string;
  currency: AccountCurrency;
  balance_minor: Generated<bigint>;
  updated_at: Generated<Date>;
}

export interface LedgerTransactionsTable {
  id: Generated<bigint>;
  operation_key: string;
  kind: string;
  transaction_id: string | null;
  reason: string | null;
  created_at: Generated<Date>;
}

export interface LedgerEntriesTable {
  id: Generated<bigint>;
  ledger_transaction_id: bigint;
  ledger_account_id: string;
  currency: string;
  amount_minor: bigint;
}

export interface HoldsTable {
  id: string;
  account_id: string;
  currency: string;
  amount_minor: bigint;
  status: Generated<'HELD' | 'POSTED' | 'VOIDED'>;
  created_at: Generated<Date>;
  closed_at: Date | null;
}

export interface PurchasesTable {
  transaction_id: string;
  account_id: string;
  package_type: PackageType;
  payment_method: PaymentMethod;
  status: PurchaseStatus;
  reason: string | null;
  package_code: string;
  package_name: string;
  volume_bytes: bigint;
  duration: number;
  esim_id: string;
  price_minor: bigint;
  currency: AccountCurrency;
  price_usd_minor: bigint;
  cost_usd_e4: bigint;
  settings_id: string;
  rate_id: string | null;
  /** Orders and top-ups that may have been sent, each counted before it is. */
  supplier_asks: Generated<number>;
  /** When the first, the last but one and the last of them were counted. */
  supplier_first_asked_at: Generated<Date | null>;
  supplier_previous_asked_at: Generated<Date | null>;
  supplier_asked_at: Generated<Date | null>;
  /** Orders listed before this were searched, and ours is not among them. */
  supplier_searched_until: Generated<Date | null>;
  /** Its order is being withdrawn: until that has ended it is neither asked for nor settled. */
  withdrawing_since: Generated<Date | null>;
  /** When the supplier was last asked to cancel the order. */
  cancel_asked_at: Generated<Date | null>;
  supplier_order_no: string | null;
  /** What the order has at the supplier where that is not `transaction_id`: a replacement. */
  supplier_transaction_id: Generated<string | null>;
  top_up_iccid: string | null;
  top_up_total_volume_bytes: bigint | null;
  top_up_remaining_bytes: bigint | null;
  needs_attention_since: Date | null;
  attention_reason: string | null;
  request_id: string;
  created_at: Date;
  updated_at: Generated<Date>;
  closed_at: Date | null;
}

export interface EsimsTable {
  id: string;
  account_id: string;
  transaction_id: string;
  package_code: string;
  package_name: string;
  status: EsimStatus;
  price_minor: bigint;
  currency: AccountCurrency;
  snapshot: Json<PackageSnapshot>;
  supplier: string;
  order_no: Generated<string>;
  esim_tran_no: Generated<string>;
  iccid: Generated<string>;
  imsi: Generated<string>;
  msisdn: string | null;
  ac: Generated<string>;
  qr_code_url: Generated<string>;
  short_url: Generated<string>;
  smdp_address: Generated<string>;
  matching_id: Generated<string>;
  pin: string | null;
  puk: string | null;
  eid: Generated<string>;
  smdp_status: Generated<string>;
  active_type: Generated<string>;
  activate_time: Date | null;
  expired_time: Date | null;
  total_volume_bytes: bigint;
  order_usage_bytes: Generated<bigint>;
  total_duration: number;
  duration_unit: string;
  apn: Generated<string>;
  sms_status: Generated<number>;
  data_type: number;
  looked_at: Date | null;
  /** When the supplier was last asked for the usage alone, whether it answered or not. */
  usage_asked_at: Date | null;
  created_at: Date;
  updated_at: Generated<Date>;
}

export interface PurchaseEventsTable {
  id: Generated<bigint>;
  transaction_id: string;
  at: Generated<Date>;
  what: string;
  detail: string | null;
}

/** Ids that were refused before a purchase was written, and whose key is forgotten: never used again. */
export interface RetiredTransactionIdsTable {
  transaction_id: string;
  retired_at: Generated<Date>;
}

export interface IdempotencyKeysTable {
  account_id: string;
  key: string;
  path: string;
  fingerprint: string;
  transaction_id: string;
  refusal_reason: string | null;
  refusal_detail: string | null;
  answer_status: number | null;
  answer_body: string | null;
  /** Written by whoever answered before the first step had written anything; that step takes it over. */
  begun: Generated<boolean>;
  created_at: Generated<Date>;
}

export interface FundingsTable {
  transaction_id: string;
  account_id: string;
  payment_method: OutsideMethod;
  status: 'PENDING' | 'SUCCESS' | 'FAILED';
  reason: string | null;
  amount_minor: bigint;
  currency: AccountCurrency;
  needs_attention_since: Date | null;
  attention_reason: string | null;
  request_id: string;
  created_at: Date;
  updated_at: Generated<Date>;
  closed_at: Date | null;
}

export interface PaymentsTable {
  reference: string;
  transaction_id: string;
  attempt: number;
  purpose: PaymentPurpose;
  account_id: string;
  method: OutsideMethod;
  /** ASKED: perhaps open at the gateway. OPEN: the buyer can pay. REFUSED: never opened. CLOSED: watched no more. */
  status: Generated<'ASKED' | 'OPEN' | 'REFUSED' | 'CLOSED'>;
  charge_minor: bigint;
  charge_currency: string;
  price_minor: bigint;
  price_currency: AccountCurrency;
  instructions: Json<StoredInstructions | null> | null;
  expires_at: Date;
  /** Net of fees on top, whatever became of it. */
  booked_minor: Generated<bigint>;
  booked_currency: string | null;
  paid_hold: Generated<boolean>;
  reversed_minor: Generated<bigint>;
  /** The part of `booked_minor` that a person vouches for and the gateway has not said yet. */
  evidence_minor: Generated<bigint>;
  gateway_id: string | null;
  gateway_status: string | null;
  /** When somebody last looked, with or without an answer. */
  looked_at: Date | null;
  /** When the gateway was asked for the newest answer that is booked. */
  seen_at: Generated<Date | null>;
  /** When a caller last had it looked at after it was closed; kept on the first try. */
  confirmed_at: Generated<Date | null>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** What the buyer needs in order to pay, as it is kept. */
export type StoredInstructions =
  | { readonly kind: 'redirect'; readonly paymentUrl: string }
  | {
      readonly kind: 'bank-transfer';
      readonly bankName: string;
      readonly accountNumber: string;
      readonly accountName: string;
      readonly expiresAt: string;
    };

export interface WorldDatabase {
  disputes: DisputesTable;
  world: WorldTable;
  regions: RegionsTable;
  packages: PackagesTable;
  package_prices: PackagePricesTable;
  package_top_ups: PackageTopUpsTable;
  package_top_up_looks: PackageTopUpLooksTable;
  pricing_settings: PricingSettingsTable;
  exchange_rates: ExchangeRatesTable;
  set_rates: SetRatesTable;
  revisions: RevisionsTable;
  ledger_accounts: LedgerAccountsTable;
  wallets: WalletsTable;
  ledger_transactions: LedgerTransactionsTable;
  ledger_entries: LedgerEntriesTable;
  holds: HoldsTable;
  purchases: PurchasesTable;
  esims: EsimsTable;
  purchase_events: PurchaseEventsTable;
  idempotency_keys: IdempotencyKeysTable;
  retired_transaction_ids: RetiredTransactionIdsTable;
  fundings: FundingsTable;
  payments: PaymentsTable;
  gateway_windows: GatewayWindowsTable;
  gateway_events: GatewayEventsTable;
  refunds: RefundsTable;
  operator_moves: OperatorMovesTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_older_secrets: WebhookOlderSecretsTable;
  webhook_messages: WebhookMessagesTable;
  webhook_attempts: WebhookAttemptsTable;
  low_balance_thresholds: LowBalanceThresholdsTable;
  notices: NoticesTable;
  reconciliation_runs: ReconciliationRunsTable;
  reconciliation_lines: ReconciliationLinesTable;
  reconciliation_differences: ReconciliationDifferencesTable;
}

export type AccountsDb = Kysely<AccountsDatabase>;
export type WorldDb = Kysely<WorldDatabase>;
