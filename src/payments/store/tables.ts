import type { Generated, Selectable } from 'kysely';
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
