import { sql, type RawBuilder } from 'kysely';
import type { Refusal } from '../../domain/refusals.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { DEFAULT_UNPAID_LIMITS, type UnpaidLimits } from '../rules.ts';

export const TOO_MANY_UNPAID: Refusal = {
  reason: 'TOO_MANY_UNPAID_PAYMENTS',
  detail: 'as many as the plan allows are open and unpaid',
};

/** Counts open unpaid purchases and fundings; each count stops at `limit`. */
export async function countUnpaid(db: WorldDb, accountId: string, limit: number): Promise<number> {
  const { rows } = await sql<{
    open: number;
  }>`select unpaid_payments(${accountId}, ${limit}) as open`.execute(db);
  return rows[0]?.open ?? 0;
}

/** Whether one more may be opened. Holds the account's lock until the transaction ends, so the new row is counted before the next check. */
export function mayOpenUnpaid(
  accountId: string,
  limits: UnpaidLimits = DEFAULT_UNPAID_LIMITS,
): RawBuilder<boolean> {
  return sql<boolean>`may_open_unpaid(${accountId}, ${JSON.stringify(limits)}::jsonb)`;
}
