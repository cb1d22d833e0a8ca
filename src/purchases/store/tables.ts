import type { Generated, JSONColumnType } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { PackageType, PaymentMethod, PurchaseStatus } from '../../domain/states.ts';
import type { ChargeQuote } from '../../payments/rules.ts';
import type { EmailStatus } from '../batches/rules.ts';

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
  /** Its order is being withdrawn. Until that ends, nothing is ordered and the purchase is not settled. */
  withdrawing_since: Generated<Date | null>;
  /** `withdrawing_since` of the withdrawal after which nothing of it is left at the supplier. */
  withdrawn_since: Generated<Date | null>;
  /** When the supplier was last asked to cancel the order. */
  cancel_asked_at: Generated<Date | null>;
  /** The supplier's final refusal, and `supplier_asks` at that time. If more orders were sent since, it is no longer final. */
  refused_asks: Generated<number | null>;
  refused_reason: Generated<string | null>;
  refused_detail: Generated<string | null>;
  /** How long an order without an answer may still be accepted and listed; null: opened by an earlier build. */
  in_flight_grace_ms: Generated<number | null>;
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

/** A price that was frozen before its purchase. */
export interface QuotesTable {
  id: string;
  account_id: string;
  package_type: PackageType;
  package_code: string;
  package_name: string;
  /** Of a TOPUP. */
  esim_id: string | null;
  /** null: any, what is charged outside of the wallet is not frozen. */
  payment_method: PaymentMethod | null;
  price_minor: bigint;
  currency: AccountCurrency;
  price_usd_minor: bigint;
  /** When it was made. */
  cost_usd_e4: bigint;
  settings_id: string;
  rate_id: string | null;
  charge: JSONColumnType<ChargeQuote | null>;
  created_at: Date;
  expires_at: Date;
  /** The transactionId of the purchase that was opened with it. */
  used_by: string | null;
  used_at: Date | null;
}

export interface PurchaseEventsTable {
  id: Generated<bigint>;
  transaction_id: string;
  at: Generated<Date>;
  what: string;
  detail: string | null;
}

export interface BatchesTable {
  id: string;
  account_id: string;
  /** The account's name when it asked: e-mails to travellers say who sends them. */
  sender_name: string;
  row_count: number;
  email_count: number;
  total_minor: bigint;
  currency: AccountCurrency;
  /** When the sweep makes sure that its workflow runs; null once it is closed. */
  next_check_at: Date | null;
  /** Every row has its purchase, or was refused. */
  all_begun_at: Date | null;
  /** Null until it is closed. */
  succeeded: number | null;
  failed: number | null;
  created_at: Date;
  closed_at: Date | null;
}

export interface BatchRowsTable {
  batch_id: string;
  /** In the order of the request, from 0. */
  row_number: number;
  reference: string;
  package_code: string;
  transaction_id: string;
  /** The PurchaseInput that the API has signed; null once the row is closed. */
  terms: string | null;
  /** Of a refusal that left no purchase. */
  refused_reason: string | null;
  closed_at: Date | null;
  /** Personal data: blanked some time after `email_closed_at`, and in no log and no workflow. */
  email: string | null;
  language: string | null;
  send_at: Date | null;
  /** Null: no e-mail was asked for. */
  email_status: EmailStatus | null;
  email_due_at: Date | null;
  email_next_at: Date | null;
  email_attempts: Generated<number>;
  email_closed_at: Date | null;
}

export interface PurchaseTables {
  batches: BatchesTable;
  batch_rows: BatchRowsTable;
  purchases: PurchasesTable;
  purchase_events: PurchaseEventsTable;
  quotes: QuotesTable;
}
