/** Batches: each row is bought as any purchase is, by what the API has signed for it. Only the id of a batch comes from Temporal. */
import { Context } from '@temporalio/activity';
import { nextBatchCheckMs, type BatchCounts } from '../../src/purchases/batches/rules.ts';
import { EngineUnavailable } from '../../src/domain/outcome.ts';
import type { Refusal } from '../../src/domain/refusals.ts';
import {
  leaseOverdue,
  closeRefused,
  listUnbegun,
  settleBatch,
  type BatchProgress,
  type UnbegunRow,
} from '../../src/purchases/store/batches.ts';
import { leaseOverdueRepairs } from '../../src/operations/store/batch-repairs.ts';
import { newPendingMessages } from '../../src/webhooks/store/messages.ts';
import type { BatchStep, OpsActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';
import { createEmailActivities } from './install-emails.ts';

/** Of one batch: they share a wallet, whose row they lock one after the other, and other purchases of it must get their turn. */
const ROWS_AT_ONCE = 4;
const ROWS_READ_AT_ONCE = 20;
/** Short, so that a few workers serve many batches in turn. */
const RUNS_FOR_MS = 10_000;
/** A purchase continues without this step, and the next check finds its row. Other batches need this queue. */
const ANSWER_WITHIN_MS = 3_000;
/** As long as the next row may wait for its turn among all batches; then this one lets others go first. */
const TURN_WITHIN_MS = 1_000;
/** When the next check is so late, the sweep makes sure that a workflow runs. */
const OVERDUE_MS = 60_000;
/** A few dozen starts a second; the next sweep takes the rest. */
const MAX_BEGUN_PER_SWEEP = 100;

export function createBatchActivities(
  deps: ActivityDeps,
): Pick<OpsActivities, 'carryOutBatch' | 'beginOverdueBatches' | 'sendInstallEmails'> {
  return {
    carryOutBatch: (batchId) => carryOutBatch(deps, batchId, Context.current().cancellationSignal),
    beginOverdueBatches: () => beginOverdue(deps),
    ...createEmailActivities(deps),
  };
}

/** Begins rows while there is time, then brings the batch up to what its purchases say. */
export async function carryOutBatch(
  deps: ActivityDeps,
  batchId: string,
  signal: AbortSignal,
): Promise<BatchStep> {
  const { db, clock, events, webhooks } = deps;
  const endsAtMs = clock.now().getTime() + RUNS_FOR_MS;
  const mayGoOn = (): boolean => !signal.aborted && clock.now().getTime() < endsAtMs;
  for (let areAllAnswered = true; areAllAnswered && mayGoOn();) {
    const rows = await listUnbegun(db, batchId, ROWS_READ_AT_ONCE);
    if (rows.length === 0) break;
    areAllAnswered = await buyRows(deps, batchId, rows, mayGoOn);
  }
  const pending = newPendingMessages();
  const now = clock.now();
  const waitMs = ({ counts, createdAt }: BatchProgress): number =>
    nextBatchCheckMs(now.getTime() - createdAt.getTime(), counts.queued > 0);
  const progress = await settleBatch(
    db,
    batchId,
    { now, nextCheckMs: (found) => waitMs(found) + OVERDUE_MS },
    pending,
  );
  if (!progress) {
    const line = 'No such batch.';
    events.unverifiedRequest({ what: 'batch', batchId, detail: line });
    return { line, waitMs: null, hasEmailsDue: false };
  }
  if (pending.ids.length > 0) await webhooks.sweeper.handOver(pending.ids);
  if (progress.isClosed) events.batchCompleted({ batchId, ...progress.counts });
  return {
    line: lineOf(progress.counts),
    waitMs: progress.isClosed ? null : waitMs(progress),
    hasEmailsDue: progress.hasEmailsDue,
  };
}

function lineOf({ rows, queued, processing, succeeded, failed }: BatchCounts): string {
  return `${rows} rows: ${queued} not begun, ${processing} processing, ${succeeded} succeeded, ${failed} failed`;
}

/** Answers false where a row has no outcome yet: it is asked about again, under the same id. */
async function buyRows(
  deps: ActivityDeps,
  batchId: string,
  rows: readonly UnbegunRow[],
  mayGoOn: () => boolean,
): Promise<boolean> {
  const left = [...rows];
  let areAllAnswered = true;
  // What an empty wallet refuses never reaches the supplier, so it needs no turn.
  let isWalletEmpty = false;
  const buyNext = async (): Promise<void> => {
    for (let row = left.shift(); row && areAllAnswered && mayGoOn(); row = left.shift()) {
      const mayBuy = isWalletEmpty || (await deps.batchPacer.takeSlot(TURN_WITHIN_MS));
      const answer = mayBuy ? await buyRow(deps, batchId, row) : 'later';
      isWalletEmpty = answer === 'INSUFFICIENT_BALANCE';
      if (answer === 'later') areAllAnswered = false;
    }
  };
  await Promise.all(Array.from({ length: ROWS_AT_ONCE }, buyNext));
  return areAllAnswered;
}

async function buyRow(
  { db, clock, engine }: ActivityDeps,
  batchId: string,
  { row_number: rowNumber, terms }: UnbegunRow,
): Promise<'opened' | 'later' | Refusal['reason']> {
  try {
    const answer = await engine.purchase(terms, ANSWER_WITHIN_MS, `eSIM ${terms.packageCode} of a batch`);
    if (answer === 'unknown' || answer.status === 'UNANSWERED') return 'later';
    if (answer.status !== 'REFUSED') return 'opened';
    const { reason } = answer.refusal;
    await closeRefused(db, batchId, rowNumber, { reason, now: clock.now() });
    return reason;
  } catch (error) {
    if (error instanceof EngineUnavailable) return 'later';
    throw error;
  }
}

async function beginOverdue({ db, clock, batchEngine, batchRepairEngine }: ActivityDeps): Promise<string> {
  const now = clock.now();
  const overdue = await leaseOverdue(db, { now, againAfterMs: OVERDUE_MS, limit: MAX_BEGUN_PER_SWEEP });
  for (const { id: batchId, accountId } of overdue) await batchEngine.begin({ batchId, accountId });
  const repairs = await leaseOverdueRepairs(db, {
    now,
    againAfterMs: OVERDUE_MS,
    limit: MAX_BEGUN_PER_SWEEP,
  });
  for (const repairId of repairs) await batchRepairEngine.begin(repairId);
  return `${overdue.length} batches and ${repairs.length} batch repairs started again`;
}
