/** The table of refunds, as Kysely sees it. Part of `WorldDatabase` in tables.ts. */
import type { Generated } from 'kysely';

export interface RefundsTable {
  refund_key: string;
  reference: string;
  transaction_id: string;
  account_id: string;
  amount_minor: bigint;
  currency: string;
  reason: string;
  /**
   * DUE, then ASKED before the gateway is asked, then its word; DONE: sent back. CREDITED: to the wallet instead. TAKEN_BACK: the payment was
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
