/** The tables of reconciliation as Kysely sees them. */
import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { DifferenceKind, Facts } from '../payment-rules.ts';

/** A stretch of time that a run reads the other sides for: [from, to), ISO 8601. */
export interface StoredSlice {
  readonly from: string;
  readonly to: string;
}

export interface ReconciliationRunsTable {
  id: Generated<bigint>;
  run_key: string;
  asked_by: string;
  /** Begins where the last one ended. */
  is_regular: boolean;
  from_at: Date;
  to_at: Date;
  /** What is asked about one by one is asked about once, from here on. */
  new_from_at: Date;
  settled_before: Date;
  slices: JSONColumnType<StoredSlice[]>;
  slices_read: Generated<number>;
  status: Generated<'RUNNING' | 'DONE' | 'ABANDONED'>;
  compared: ColumnType<Record<string, number>, string | undefined, string>;
  supplier_balance_usd_e4: bigint | null;
  /** Balance and use together, as agreed on after this run: somewhere from here to there, since purchases go on meanwhile. */
  supplier_sum_from_usd_e4: bigint | null;
  supplier_sum_to_usd_e4: bigint | null;
  differences_opened: Generated<number>;
  differences_closed: Generated<number>;
  started_at: Generated<Date>;
  touched_at: Generated<Date>;
  finished_at: Date | null;
}

/** What the gateway's statement and the supplier's list say, while a run compares. */
export interface ReconciliationLinesTable {
  run_id: bigint;
  part: 'charge' | 'reversal' | 'refund' | 'order';
  reference: string;
  line_id: string;
  currency: Generated<string>;
  amount_minor: Generated<bigint>;
  fees_minor: Generated<bigint>;
  fees_on_top_minor: Generated<bigint>;
  refund_key: Generated<string>;
  package_code: Generated<string>;
  is_refunded: Generated<boolean>;
  opened_at: Date;
  at: Date | null;
}

export interface ReconciliationDifferencesTable {
  id: Generated<bigint>;
  kind: DifferenceKind;
  subject: string;
  transaction_id: string | null;
  currency: string;
  amount_minor: bigint;
  ours: JSONColumnType<Facts> | null;
  theirs: JSONColumnType<Facts> | null;
  /** Where on the other side's time it is found again. */
  dated_from: Date;
  dated_to: Date;
  first_run_id: bigint;
  last_run_id: bigint;
  first_seen_at: Date;
  last_seen_at: Date;
  closed_at: Date | null;
  closed_how: 'GONE' | 'BY_PERSON' | null;
  closed_by: string | null;
  close_reason: string | null;
}

export interface ReconciliationTables {
  reconciliation_runs: ReconciliationRunsTable;
  reconciliation_lines: ReconciliationLinesTable;
  reconciliation_differences: ReconciliationDifferencesTable;
}
