import type { Generated, Selectable } from 'kysely';
import type { ActionRecordStatus, ActionRefusal } from '../rules.ts';
import type { OperatorAction } from '../../accounts/roles.ts';

/** An operator action, with its outcome. */
export interface OperatorMovesTable {
  id: string;
  transaction_id: string;
  move: OperatorAction;
  move_key: string;
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
  approved_by: string | null;
  expires_at: Date | null;
  created_at: Generated<Date>;
  closed_at: Date | null;
}

export type ActionRow = Selectable<OperatorMovesTable>;
