import type { PurchaseEvent } from '../../domain/states.ts';
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { Metadata, OwnDetails } from '../../domain/own-details.ts';
import type { FailureReason } from '../../domain/refusals.ts';
import type {
  PackageType,
  PaymentMethod,
  PurchaseStatus,
  RefundTarget,
  ReplacementRefusal,
  ReplacementState,
  ReturnRefusal,
  ReturnState,
  SupplierOrderState,
} from '../../domain/states.ts';
import type { ChargeQuote } from '../../payments/rules.ts';
import type { CancelReason, EmailStatus } from '../batches/rules.ts';
import type { PurchaseInput } from '../purchase.ts';

export interface PurchasesTable {
  transaction_id: string;
  account_id: string;
  package_type: PackageType;
  payment_method: PaymentMethod;
  status: PurchaseStatus;
  reason: string | null;
  package_code: string;
  /** Whose package it is; null where no package was found for it. */
  supplier: string | null;
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
  top_up_iccid: string | null;
  top_up_total_volume_bytes: bigint | null;
  top_up_remaining_bytes: bigint | null;
  needs_attention_since: Date | null;
  attention_reason: string | null;
  request_id: string;
  /** The buyer's own. */
  reference: string | null;
  metadata: JSONColumnType<Metadata> | null;
  /** The eSIM in whose place this one is delivered. */
  replaces: string | null;
  /** Of an automatic top-up: what was agreed in advance. */
  mandate_id: string | null;
  created_at: Date;
  updated_at: Generated<Date>;
  closed_at: Date | null;
}

/** The return of an unused eSIM. All times are Postgres's. */
export interface ReturnsTable {
  id: string;
  account_id: string;
  esim_id: string;
  transaction_id: string;
  supplier: string;
  state: Generated<ReturnState>;
  price_minor: bigint;
  fee_minor: bigint;
  /** What goes back, or is to. */
  amount_minor: bigint;
  currency: AccountCurrency;
  refunded_to: RefundTarget | null;
  /** The refund at the gateway that carries it. */
  refund_key: string | null;
  refusal: ReturnRefusal | null;
  reason: string | null;
  requested_by: string;
  /** The request that asked for several. */
  batch_id: string | null;
  in_flight_grace_ms: number;
  cancel_attempts: Generated<number>;
  cancel_send_before: Date | null;
  /** Until then a cancellation that was sent may still take effect. */
  cancel_settles_after: Date | null;
  cancelled_at: Date | null;
  next_check_at: Generated<Date>;
  created_at: Generated<Date>;
  closed_at: Date | null;
}

/** The replacement of an eSIM. All times are Postgres's. */
export interface ReplacementsTable {
  id: string;
  account_id: string;
  esim_id: string;
  /** The eSIM that was bought, where this one came in its place. */
  first_esim_id: string;
  transaction_id: string;
  supplier: string;
  state: Generated<ReplacementState>;
  /** What was paid for the first eSIM. */
  full_price_minor: bigint;
  /** What the account pays of it. */
  price_minor: bigint;
  currency: AccountCurrency;
  new_transaction_id: string;
  new_esim_id: string;
  refusal: ReplacementRefusal | null;
  /** Why its purchase failed. */
  failure: FailureReason | null;
  reason: string | null;
  requested_by: string;
  key_id: string | null;
  request_id: string;
  in_flight_grace_ms: number;
  revoke_attempts: Generated<number>;
  delivered_at: Date | null;
  next_check_at: Generated<Date>;
  created_at: Generated<Date>;
  closed_at: Date | null;
}

/** One order or top-up that was sent to a supplier, or may have been. All times are Postgres's. */
export interface SupplierOrdersTable {
  /** Ours, at the supplier. Never used again. */
  id: string;
  transaction_id: string;
  kind: PackageType;
  /** What was agreed, frozen. */
  supplier: string;
  package_code: string;
  volume_bytes: bigint;
  cost_usd_e4: bigint;
  /** How long what was sent may still take effect after its answer did not come, and be listed. */
  in_flight_grace_ms: number;
  planned_at: Generated<Date>;
  state: Generated<SupplierOrderState>;
  /** Not refused and not withdrawn: a purchase has at most one. */
  is_live: GeneratedAlways<boolean>;
  order_no: string | null;
  attempts: Generated<number>;
  first_sent_at: Date | null;
  last_sent_at: Date | null;
  /** The last attempt is not sent after this. */
  send_before: Date | null;
  /** Before this a refusal or an empty search proves nothing. Null: nothing is in doubt. */
  settles_after: Date | null;
  /** The same for the attempts before the last. */
  earlier_settles_after: Date | null;
  /** Orders listed before this were searched, and ours is not among them. */
  searched_until: Date | null;
  /** It is being withdrawn: until that ends, it is neither sent nor settled. */
  withdrawing_since: Date | null;
  /** The last cancellation is not sent after the first time, and takes no effect after the second. */
  cancel_send_before: Date | null;
  cancel_settles_after: Date | null;
  refused_reason: string | null;
  refused_detail: string | null;
  /** What came, where it is not what was ordered. */
  delivered_package_code: string | null;
  delivered_volume_bytes: bigint | null;
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
  /** What its purchase takes over. */
  own_details: JSONColumnType<OwnDetails | null>;
  created_at: Date;
  expires_at: Date;
  /** The transactionId of the purchase that was opened with it, or the checkout session that withdrew it. */
  used_by: string | null;
  used_at: Date | null;
}

/** What its quote, the key of its purchase and the purchase do not say. */
export interface CheckoutSessionsTable {
  id: string;
  account_id: string;
  /** The price that the agent sees now. */
  quote_id: string;
  created_at: Date;
  updated_at: Date;
  canceled_at: Date | null;
}

export interface PurchaseEventsTable {
  id: Generated<bigint>;
  transaction_id: string;
  at: Generated<Date>;
  what: PurchaseEvent;
  detail: string | null;
}

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    purchases: PurchasesTable;
    supplier_orders: SupplierOrdersTable;
    purchase_events: PurchaseEventsTable;
    quotes: QuotesTable;
    returns: ReturnsTable;
    replacements: ReplacementsTable;
    checkout_sessions: CheckoutSessionsTable;
  }
}

declare module '../../jobs/store/tables.ts' {
  /** Columns for batches of purchases. */
  interface JobsTable {
    account_id: Generated<string>;
    /** The account's name when it asked: e-mails to travellers say who sends them. */
    sender_name: Generated<string>;
    email_count: Generated<number>;
    total_minor: Generated<bigint>;
    currency: Generated<AccountCurrency>;
    /** Every row has its purchase, or was refused. */
    all_begun_at: Date | null;
    /** Of a batch that was ordered for later. */
    start_at: Date | null;
    /** The id of the key or of the member that ordered it. */
    caller: string | null;
    max_total_minor: bigint | null;
    /** By the prices at its start; `total_minor`: when it was ordered. */
    started_total_minor: bigint | null;
    cancel_reason: CancelReason | null;
  }

  /**
   * Columns for purchases of a batch. `row_number`: in the order of the request, from 0. `detail`: of a
   * refusal that left no purchase.
   */
  interface JobRowsTable {
    reference: Generated<string>;
    package_code: Generated<string>;
    /** The PurchaseInput that the API has signed; null once the row is closed. */
    terms: ColumnType<PurchaseInput | null, string | undefined, string | null>;
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
}
