import type { ReturnEngine } from '../../src/purchases/engine.ts';
import { leaseOverdue } from '../../src/purchases/store/followed-rows.ts';
import type { ActivityDeps } from '../deps.ts';

/** Rows whose workflow is gone are begun again once their check is overdue for so long. */
const OVERDUE_MS = 60_000;
/** A few dozen starts a second; the next sweep takes the rest. */
const MAX_BEGUN_PER_SWEEP = 100;

/** Open returns or replacements. Most runs find none: one statement each. */
export async function beginOverdue(
  { db }: Pick<ActivityDeps, 'db'>,
  table: 'returns' | 'replacements',
  engine: Pick<ReturnEngine, 'begin'>,
): Promise<number> {
  const overdue = await leaseOverdue(db, table, { forMs: OVERDUE_MS, limit: MAX_BEGUN_PER_SWEEP });
  for (const row of overdue) await engine.begin(row);
  return overdue.length;
}
