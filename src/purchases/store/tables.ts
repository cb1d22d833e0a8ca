import type { Generated } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { PackageType, PaymentMethod, PurchaseStatus } from '../../domain/states.ts';

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

export interface PurchaseEventsTable {
  id: Generated<bigint>;
  transaction_id: string;
  at: Generated<Date>;
  what: string;
  detail: string | null;
}

export interface PurchaseTables {
  purchases: PurchasesTable;
  purchase_events: PurchaseEventsTable;
}
