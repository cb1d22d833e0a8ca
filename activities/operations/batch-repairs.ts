/** Batch repairs: only the id of one comes from Temporal. What is done, on what, and who approved it is read from its rows. */
import { Context } from '@temporalio/activity';
import { repairRow } from '../../src/operations/batch-repairs.ts';
import {
  findDueRows,
  settleBatchRepair,
  type BatchRepair,
} from '../../src/operations/store/batch-repairs.ts';
import type { BatchRepairStep, OpsActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';

/** Each is an update of a workflow, and perhaps calls to a vendor: buyers' purchases go first. */
const ROWS_AT_ONCE = 4;
/** Short, so that a stop or a shutdown comes soon. */
const RUNS_FOR_MS = 10_000;
const MIN_WAIT_MS = 500;
const MAX_WAIT_MS = 5_000;
/** After that the sweep makes sure that there is a workflow. Longer than the rows in flight may take. */
const OVERDUE_MS = 5 * 60_000;

export function createBatchRepairActivities(deps: ActivityDeps): Pick<OpsActivities, 'carryOutBatchRepair'> {
  return {
    carryOutBatchRepair: (repairId) =>
      carryOutBatchRepair(deps, repairId, Context.current().cancellationSignal),
  };
}

/** Takes rows while there is time, then says how it stands. */
export async function carryOutBatchRepair(
  { db, clock, events, repairs }: Pick<ActivityDeps, 'db' | 'clock' | 'events' | 'repairs'>,
  repairId: string,
  signal: AbortSignal,
): Promise<BatchRepairStep> {
  const startedAtMs = clock.now().getTime();
  const mayGoOn = (): boolean => !signal.aborted && clock.now().getTime() < startedAtMs + RUNS_FOR_MS;
  while (mayGoOn()) {
    const due = await findDueRows(db, repairId, clock.now(), ROWS_AT_ONCE);
    if (!due || due.rows.length === 0) break;
    await Promise.all(due.rows.map((row) => repairRow({ db, clock, ...repairs }, due.repair, row)));
  }
  const now = clock.now();
  const nextCheckAt = new Date(now.getTime() + OVERDUE_MS);
  const settled = await settleBatchRepair(db, repairId, { now, nextCheckAt });
  if (!settled) {
    events.unverifiedRequest({
      what: 'action',
      transactionId: repairId,
      detail: 'this batch repair is not approved',
    });
    return { line: 'Not approved; nothing done.', waitMs: null };
  }
  const { repair, nextRowAt } = settled;
  const line = lineOf(repair);
  if (repair.closed_at === null) {
    const waitMs = nextRowAt === null ? MIN_WAIT_MS : nextRowAt.getTime() - now.getTime();
    return { line, waitMs: Math.min(Math.max(waitMs, MIN_WAIT_MS), MAX_WAIT_MS) };
  }
  events.batchRepairEnded({ repairId, status: repair.status, line });
  return { line, waitMs: null };
}

function lineOf({ action, counts: { waiting, done, refused, unknown, skipped } }: BatchRepair): string {
  return `${action}: ${done} done, ${refused} refused, ${unknown} unknown, ${skipped} skipped, ${waiting} waiting`;
}
