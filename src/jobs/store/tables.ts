import type { Generated } from 'kysely';
import type { JobKind, JobRowStatus, JobStatus } from '../rules.ts';

/** What jobs of all kinds have. The columns that each kind adds in its own noun are null in other kinds. */
export interface JobsTable {
  id: string;
  kind: JobKind;
  status: JobStatus;
  row_count: number;
  /** How many rows ended in each way; null until it is closed. */
  done: number | null;
  refused: number | null;
  unknown: number | null;
  skipped: number | null;
  /** While it runs: when the sweep makes sure that it has a workflow. */
  next_check_at: Date | null;
  /** Rows that are not begun are then skipped. */
  stop_asked_at: Date | null;
  created_at: Date;
  closed_at: Date | null;
}

export interface JobRowsTable {
  job_id: string;
  kind: JobKind;
  row_number: number;
  transaction_id: string;
  status: Generated<JobRowStatus>;
  detail: string | null;
  attempts: Generated<number>;
  /** Not tried again before this. */
  next_at: Date | null;
  closed_at: Date | null;
}

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    jobs: JobsTable;
    job_rows: JobRowsTable;
  }
}
