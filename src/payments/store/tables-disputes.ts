/** The table of disputes, as Kysely sees it. Part of `WorldDatabase` in tables.ts. */
import type { Generated, Selectable } from 'kysely';
import type { DisputeState } from '../dispute-rules.ts';

export interface DisputesTable {
  reference: string;
  /** The gateway's; "" until a look has told it. */
  dispute_id: string;
  transaction_id: string;
  /** Of the transfer that put money at risk; null where nothing was left to be put at risk. */
  operation_key: string | null;
  /** As last told by the gateway; null: not looked at yet. */
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
