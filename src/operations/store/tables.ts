import type { ColumnType, Generated, Selectable } from 'kysely';
import type { ActionRecordStatus, ActionRefusal } from '../rules.ts';
import type { BatchRepairAction, BatchRepairFilter } from '../batch-repair-rules.ts';
import type { StuckClass } from '../stuck-rules.ts';
import type { OperatorAction } from '../../accounts/operators/action-table.ts';

export interface OperatorActionsTable {
  id: string;
  transaction_id: string;
  action: OperatorAction;
  action_key: string;
  /** The request as JSON text. */
  asked: string;
  by_person: string;
  reason: string;
  evidence: string | null;
  /** null where it moves no money, or the amount is not known yet. */
  amount_minor: bigint | null;
  currency: string | null;
  package_code: string | null;
  goodwill: boolean;
  status: ActionRecordStatus;
  refusal: ActionRefusal | null;
  detail: string | null;
  /** Who approved or declined it, and why. */
  approved_by: string | null;
  decision_reason: string | null;
  expires_at: Date | null;
  created_at: Generated<Date>;
  closed_at: Date | null;
  /** Whose action it is, as names are compared. These four are null where no money moves. */
  person_key: string | null;
  account_id: string | null;
  /** What it moves, in the wallet's currency. */
  worth_minor: bigint | null;
  worth_currency: string | null;
}

export type ActionRow = Selectable<OperatorActionsTable>;

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    operator_actions: OperatorActionsTable;
  }
}

declare module '../../jobs/store/tables.ts' {
  /** Columns of `jobs` for batch repairs. `filter` and `reason` are what was asked for. */
  interface JobsTable {
    repair_key: Generated<string>;
    action: Generated<BatchRepairAction>;
    filter: ColumnType<BatchRepairFilter, string | undefined, never>;
    reason: Generated<string>;
    evidence: string | null;
    by_person: Generated<string>;
    /** It cannot be approved after that. */
    expires_at: Generated<Date>;
    decided_by: string | null;
    decided_at: Date | null;
  }

  /** Columns of `job_rows` for batch repairs. `row_number`: from 1. */
  interface JobRowsTable {
    class: Generated<StuckClass>;
    /** What the action moves, as the second person saw it; null where no money moves. */
    amount_minor: bigint | null;
    currency: string | null;
    /** What the action would do, in words. */
    preview: Generated<string>;
  }
}
