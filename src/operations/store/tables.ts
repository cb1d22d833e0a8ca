/** The table of operator's moves, as Kysely sees it: who did what about a purchase, and why. Part of `WorldDatabase` in tables.ts. */
import type { Generated, Selectable } from 'kysely';
import type { ActionRecordStatus, ActionRefusal } from '../rules.ts';
import type { OperatorAction } from '../../accounts/roles.ts';

/** An operator's move, with what came of it. */
export interface OperatorMovesTable {
  id: string;
  transaction_id: string;
  move: OperatorAction;
  move_key: string;
  /** The wish in one line. */
  asked: string;
  by_person: string;
  reason: string;
  evidence: string | null;
  /** What it moves; null where it moves no money, or nobody knows yet how much. */
  amount_minor: bigint | null;
  currency: string | null;
  package_code: string | null;
  goodwill: boolean;
  status: ActionRecordStatus;
  refusal: ActionRefusal | null;
  detail: string | null;
  approved_by: string | null;
  expires_at: Date | null;
  created_at: Generated<Date>;
  closed_at: Date | null;
}

export type ActionRow = Selectable<OperatorMovesTable>;
