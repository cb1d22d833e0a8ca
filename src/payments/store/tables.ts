import type { Generated, GeneratedAlways, JSONColumnType, Selectable } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { Metadata } from '../../domain/own-details.ts';
import type { GatewayMethod, PaymentPurpose } from '../../domain/states.ts';
import type { PaymentInstructions } from '../port.ts';
import type { DisputeState } from '../rules.ts';

export interface DisputesTable {
  reference: string;
  /** By its name. */
  gateway: string;
  /** The gateway's own. */
  dispute_id: string;
  transaction_id: string;
  /** What the bank asks for. */
  amount_minor: bigint;
  currency: string;
  /**
   * What of it was still with us when it was opened, by where it was taken from. In the charge's currency.
   */
  free_minor: Generated<bigint>;
  used_minor: Generated<bigint>;
  credited_minor: Generated<bigint>;
  /** The same in the price's currency: taken out of revenue, and frozen of what was in the wallet. */
  revenue_minor: Generated<bigint>;
  frozen_minor: Generated<bigint>;
  /** TAKEN: the gateway says that the bank has it. RELEASED: it is where it was before. */
  money: Generated<'AT_RISK' | 'TAKEN' | 'RELEASED'>;
  /** The gateway's last answer. */
  gateway_state: DisputeState;
  gateway_status: string;
  /** Of the check that gave that answer. */
  check_number: Generated<bigint>;
  checked_at: Date;
  /** What a person stated; null while open. */
  outcome: 'WON' | 'LOST' | null;
  settled_by_action: string | null;
  opened_at: Generated<Date>;
  settled_at: Date | null;
}

export type DisputeRow = Selectable<DisputesTable>;

/** Ten minutes of the gateway's list, by when its charges were opened. */
export interface GatewayWindowsTable {
  starts_at: Date;
  /** When it should be read next. */
  wanted_at: Date;
  /** When it is tried next: later than wanted while a process reads it, or the list is unavailable. */
  due_at: Date;
  /** How many of its charges were paid when all of those were booked; null: never, or not all. */
  settled_total: number | null;
}

export interface GatewayEventsTable {
  id: Generated<bigint>;
  /** By its name. */
  gateway: string;
  event_key: string;
  type: string;
  about: string;
  reference: string | null;
  email: string | null;
  /** Drawn when it arrived: a check with a later number began after it. */
  check_number: Generated<bigint>;
  received_at: Generated<Date>;
  /** Done: a check that began after it is booked, or there was nothing to check. */
  applied_at: Date | null;
  note: string | null;
}

export interface RefundsTable {
  refund_key: string;
  /** By its name. */
  gateway: string;
  reference: string;
  transaction_id: string;
  account_id: string;
  amount_minor: bigint;
  currency: string;
  reason: string;
  /**
   * DUE, then ASKED before it is sent to the gateway, then its state; DONE: sent back. CREDITED: to the
   * wallet instead. TAKEN_BACK: the payment was reversed first. STUCK: none of these works.
   */
  status: Generated<
    'DUE' | 'ASKED' | 'PENDING' | 'NEEDS_ATTENTION' | 'DONE' | 'CREDITED' | 'TAKEN_BACK' | 'STUCK'
  >;
  /** Counts from 1: how often it was to be asked for, each time under a key of its own. */
  attempt: Generated<number>;
  gateway_refund_id: string | null;
  gateway_status: string | null;
  /** When its last attempt was written down to be sent, and when it may no longer be sent. */
  sent_at: Date | null;
  send_before: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  closed_at: Date | null;
}

export interface FundingsTable {
  transaction_id: string;
  account_id: string;
  payment_method: GatewayMethod;
  status: 'PENDING' | 'SUCCESS' | 'FAILED';
  reason: string | null;
  amount_minor: bigint;
  currency: AccountCurrency;
  needs_attention_since: Date | null;
  attention_reason: string | null;
  request_id: string;
  /** The caller's own. */
  reference: string | null;
  metadata: JSONColumnType<Metadata> | null;
  created_at: Date;
  updated_at: Generated<Date>;
  closed_at: Date | null;
}

export interface BuyerDetailsTable {
  transaction_id: string;
  /** Personal data: blanked after 30 days, and in no log and no workflow. */
  customer_email: string | null;
  success_url: string | null;
  cancel_url: string | null;
  created_at: Generated<Date>;
}

export interface PaymentsTable {
  reference: string;
  /** By its name. */
  gateway: string;
  transaction_id: string;
  attempt: number;
  purpose: PaymentPurpose;
  account_id: string;
  method: GatewayMethod;
  /**
   * ASKED: perhaps open at the gateway. OPEN: the buyer can pay. REFUSED: never opened. CLOSED: not checked
   * any more.
   */
  status: Generated<'ASKED' | 'OPEN' | 'REFUSED' | 'CLOSED'>;
  charge_minor: bigint;
  charge_currency: string;
  price_minor: bigint;
  price_currency: AccountCurrency;
  instructions: JSONColumnType<Stored<PaymentInstructions> | null> | null;
  expires_at: Date;
  /** The charge may not be sent to the gateway any more. */
  send_before: Date | null;
  /** All that the gateway says came in the charge's currency, net of fees on top. */
  received_minor: Generated<bigint>;
  /** What a person vouches for and the gateway has not said yet. */
  vouched_minor: Generated<bigint>;
  /** Where it is (account.ts). */
  used_minor: Generated<bigint>;
  credited_minor: Generated<bigint>;
  refunding_minor: Generated<bigint>;
  refunded_minor: Generated<bigint>;
  reversed_minor: Generated<bigint>;
  disputed_minor: Generated<bigint>;
  readonly free_minor: GeneratedAlways<bigint>;
  /** Money came, in whatever currency. */
  readonly has_money: GeneratedAlways<boolean>;
  /** Money came in this currency, which was not agreed. */
  other_currency: string | null;
  paid_hold: Generated<boolean>;
  gateway_id: string | null;
  gateway_status: string | null;
  /** Of the newest booked check, drawn before the gateway was asked. */
  check_number: Generated<bigint>;
  /** The last payment check, with or without an answer. */
  checked_at: Date | null;
  /** When a caller last had it checked after it was closed; written with the first attempt. */
  confirmed_at: Generated<Date | null>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** As JSON keeps it: times are ISO 8601 texts. */
type Stored<T> = T extends Date ? string : T extends object ? { readonly [K in keyof T]: Stored<T[K]> } : T;

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    fundings: FundingsTable;
    buyer_details: BuyerDetailsTable;
    payments: PaymentsTable;
    refunds: RefundsTable;
    disputes: DisputesTable;
    gateway_windows: GatewayWindowsTable;
    gateway_events: GatewayEventsTable;
  }
}
