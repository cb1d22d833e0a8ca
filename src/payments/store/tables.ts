import type { Generated, JSONColumnType, Selectable } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { OutsideMethod, PaymentPurpose } from '../../domain/states.ts';
import type { PaymentInstructions } from '../port.ts';
import type { DisputeState } from '../rules.ts';

export interface DisputesTable {
  reference: string;
  /** The gateway's; "" until a check has found it. */
  dispute_id: string;
  transaction_id: string;
  /** Of the transfer that put money at risk; null where nothing was left to be put at risk. */
  operation_key: string | null;
  /** The gateway's last answer; null: not checked yet. */
  gateway_state: DisputeState | null;
  gateway_status: string | null;
  looked_at: Date | null;
  /** What a person stated; null while open, and for those settled before outcomes were kept. */
  outcome: 'WON' | 'LOST' | null;
  settled_by_move: string | null;
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
  gateway: string;
  event_key: string;
  type: string;
  about: string;
  reference: string | null;
  email: string | null;
  received_at: Generated<Date>;
  applied_at: Date | null;
  note: string | null;
}

export interface RefundsTable {
  refund_key: string;
  reference: string;
  transaction_id: string;
  account_id: string;
  amount_minor: bigint;
  currency: string;
  reason: string;
  /**
   * DUE, then ASKED before the gateway is asked, then its state; DONE: sent back. CREDITED: to the wallet instead. TAKEN_BACK: the payment was
   * reversed first. STUCK: none of these works.
   */
  status: Generated<
    'DUE' | 'ASKED' | 'PENDING' | 'NEEDS_ATTENTION' | 'DONE' | 'CREDITED' | 'TAKEN_BACK' | 'STUCK'
  >;
  /** Counts from 1: how often it was to be asked for, each time under a key of its own. */
  attempt: Generated<number>;
  gateway_refund_id: string | null;
  gateway_status: string | null;
  asked_at: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  closed_at: Date | null;
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
  /** ASKED: perhaps open at the gateway. OPEN: the buyer can pay. REFUSED: never opened. CLOSED: not checked any more. */
  status: Generated<'ASKED' | 'OPEN' | 'REFUSED' | 'CLOSED'>;
  charge_minor: bigint;
  charge_currency: string;
  price_minor: bigint;
  price_currency: AccountCurrency;
  instructions: JSONColumnType<Stored<PaymentInstructions> | null> | null;
  expires_at: Date;
  /** Net of fees on top; includes money that went back later. */
  booked_minor: Generated<bigint>;
  booked_currency: string | null;
  paid_hold: Generated<boolean>;
  reversed_minor: Generated<bigint>;
  /** The part of `booked_minor` that a person vouches for and the gateway has not said yet. */
  evidence_minor: Generated<bigint>;
  gateway_id: string | null;
  gateway_status: string | null;
  /** The last payment check, with or without an answer. */
  looked_at: Date | null;
  /** When the request for the newest booked answer was sent to the gateway. */
  seen_at: Generated<Date | null>;
  /** When a caller last had it checked after it was closed; written with the first attempt. */
  confirmed_at: Generated<Date | null>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

/** As JSON keeps it: times are ISO 8601 texts. */
type Stored<T> = T extends Date ? string : T extends object ? { readonly [K in keyof T]: Stored<T[K]> } : T;

export interface PaymentTables {
  fundings: FundingsTable;
  payments: PaymentsTable;
  refunds: RefundsTable;
  disputes: DisputesTable;
  gateway_windows: GatewayWindowsTable;
  gateway_events: GatewayEventsTable;
}
