/** The table of notices to the owners of accounts. */
import type { Generated } from 'kysely';
import type { NoticeKind } from '../notice-rules.ts';

export interface NoticesTable {
  id: string;
  account_id: string;
  kind: NoticeKind;
  /** JSON of the kind's facts. */
  facts: string;
  attempts: Generated<number>;
  /** Null once it was sent. */
  next_attempt_at: Date | null;
  sent_at: Date | null;
  created_at: Generated<Date>;
}
