import type { Generated, JSONColumnType } from 'kysely';
import type { PackageSnapshot } from '../../catalogue/rules.ts';
import type { MandateAgreedBy, MandateEndReason, MandateState } from '../../domain/mandates.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import type { EsimStatus } from '../../domain/states.ts';
import type { SupplierEventSubject } from '../rules.ts';

export interface EsimsTable {
  id: string;
  account_id: string;
  transaction_id: string;
  package_code: string;
  package_name: string;
  status: EsimStatus;
  price_minor: bigint;
  currency: AccountCurrency;
  snapshot: JSONColumnType<PackageSnapshot>;
  supplier: string;
  order_no: Generated<string>;
  esim_tran_no: Generated<string>;
  iccid: Generated<string>;
  imsi: Generated<string>;
  msisdn: string | null;
  /** Install data, sealed about the eSIM. */
  install_sealed: Buffer | null;
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
  checked_at: Date | null;
  /** When the schedule asked for the usage, and for the whole eSIM. Null once the supplier has answered. */
  usage_asked_at: Date | null;
  check_asked_at: Date | null;
  /** When `order_usage_bytes` was true at the supplier. Null: as old as `checked_at`. */
  usage_as_of: Date | null;
  /** When a top-up was answered: a check that was requested earlier has older totals. */
  totals_as_of: Date | null;
  /** When the schedule asks for the whole eSIM, and for its usage alone. */
  next_check_at: Generated<Date>;
  next_usage_at: Generated<Date>;
  /** What merchants were notified of last. Null: nothing yet. */
  notified_status: EsimStatus | null;
  /** Tells apart changes between the same two states. */
  status_changes: Generated<number>;
  /** The highest threshold notified for the allowance `notified_usage_total_bytes`. */
  notified_usage_percent: Generated<number>;
  notified_usage_total_bytes: bigint | null;
  /** 0: not notified of this `expired_time`, then 3, then 1. */
  notified_expiry_days: Generated<number>;
  returned_at: Date | null;
  /** The eSIM in whose place this one is, and the one in its place. */
  replaces: string | null;
  replaced_by: string | null;
  created_at: Date;
  updated_at: Generated<Date>;
}

export interface SupplierEventsTable {
  id: Generated<bigint>;
  supplier: string;
  notify_id: string;
  /** The supplier's own word. */
  type: string;
  about: SupplierEventSubject;
  esim_tran_no: string | null;
  order_no: string | null;
  transaction_id: string | null;
  supplier_status: string | null;
  sender: string;
  /** Not from one of the supplier's addresses: kept for people to see, and never acted on. */
  is_foreign: boolean;
  generated_at: Date | null;
  received_at: Generated<Date>;
  /** Another process works on it until then. */
  leased_until: Date | null;
  applied_at: Date | null;
  note: string | null;
}

export interface InstallLinksTable {
  esim_id: string;
  /** Random. With a secret of the installation it makes the token. */
  nonce: Buffer;
  /** SHA-256 of the token. */
  token_hash: Buffer;
  created_at: Generated<Date>;
}

/** All times are Postgres's. */
export interface TopUpMandatesTable {
  id: string;
  account_id: string;
  esim_id: string;
  package_code: string;
  state: Generated<MandateState>;
  end_reason: MandateEndReason | null;
  agreed_by: MandateAgreedBy;
  caller: string | null;
  limit_minor: bigint;
  spent_minor: Generated<bigint>;
  currency: AccountCurrency;
  max_top_ups: number | null;
  top_ups: Generated<number>;
  threshold_bytes: bigint;
  expires_at: Date;
  sequence: Generated<number>;
  open_transaction_id: string | null;
  due_at: Date | null;
  tried_at: Date | null;
  refusal: string | null;
  created_at: Generated<Date>;
  ended_at: Date | null;
}

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    top_up_mandates: TopUpMandatesTable;
    esims: EsimsTable;
    supplier_events: SupplierEventsTable;
    install_links: InstallLinksTable;
  }
}
