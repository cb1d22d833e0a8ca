import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { DifferenceKind, Facts } from '../payment-rules.ts';

export interface ReconciliationRunsTable {
  id: Generated<bigint>;
  run_key: string;
  asked_by: string;
  /** Begins where the last one ended. */
  is_regular: boolean;
  from_at: Date;
  to_at: Date;
  /** No earlier run has compared the time from here on: single lookups are made only for it. */
  new_from_at: Date;
  settled_before: Date;
  /** The time that vendors' lists are read for: [from, to), ISO 8601. */
  slices: JSONColumnType<{ from: string; to: string }[]>;
  slices_read: Generated<number>;
  status: Generated<'RUNNING' | 'DONE' | 'ABANDONED'>;
  compared: ColumnType<Record<string, number>, string | undefined, string>;
  supplier_balance_usd_e4: bigint | null;
  /** Balance and use together, as agreed on after this run: a range, since purchases continue meanwhile. */
  supplier_sum_from_usd_e4: bigint | null;
  supplier_sum_to_usd_e4: bigint | null;
  differences_opened: Generated<number>;
  differences_closed: Generated<number>;
  started_at: Generated<Date>;
  touched_at: Generated<Date>;
  finished_at: Date | null;
}

/** A person's request, written before its workflow starts. Without a range: since the last run. */
interface ReconciliationRequestsTable {
  /** The id of the workflow. */
  run_key: string;
  asked_by: string;
  from_at: Date | null;
  to_at: Date | null;
  asked_at: Generated<Date>;
}

/** What vendors listed, kept while a run compares. */
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
  /** The stretch of the vendor's time in which it is listed. */
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

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    reconciliation_requests: ReconciliationRequestsTable;
    reconciliation_runs: ReconciliationRunsTable;
    reconciliation_lines: ReconciliationLinesTable;
    reconciliation_differences: ReconciliationDifferencesTable;
  }
}
