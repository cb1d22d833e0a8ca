/** Batches of orders: each row is bought as any purchase is, by what the API has signed for it. */
import { EngineUnavailable } from '../../src/domain/outcome.ts';
import type { Refusal } from '../../src/domain/refusals.ts';
import type { JobWork } from '../../src/jobs/run.ts';
import type { Job, JobRow } from '../../src/jobs/store/jobs.ts';
import { nextBatchCheckMs } from '../../src/purchases/batches/rules.ts';
import {
  closeRefused,
  enqueueCompleted,
  hasDueEmails,
  IS_UNBEGUN,
  settleBatchRows,
} from '../../src/purchases/store/batches.ts';
import { newPendingMessages } from '../../src/webhooks/store/messages.ts';
import type { ActivityDeps } from '../deps.ts';

const ROWS_READ_AT_ONCE = 20;
/** A purchase continues without this step, and the next check finds its row. Other jobs need this queue. */
const ANSWER_WITHIN_MS = 3_000;
/** As long as the next row may wait for its turn among all batches; then this one lets others go first. */
const TURN_WITHIN_MS = 1_000;

export function orderWork(deps: ActivityDeps, { id, email_count: emails }: Job): JobWork {
  const { db, batchPacer, webhooks } = deps;
  const pending = newPendingMessages();
  // What an empty wallet refuses never reaches the supplier, so it needs no turn.
  let isWalletEmpty = false;
  return {
    readAtOnce: ROWS_READ_AT_ONCE,
    isDue: IS_UNBEGUN,
    tryRow: async (row) => {
      const mayBuy = isWalletEmpty || (await batchPacer.takeSlot(TURN_WITHIN_MS));
      const answer = mayBuy ? await buyRow(deps, row) : 'later';
      isWalletEmpty = answer === 'INSUFFICIENT_BALANCE';
      return answer !== 'later';
    },
    settleRows: (trx, now) => settleBatchRows(trx, id, now),
    waitMs: ({ created_at, all_begun_at }, now) =>
      nextBatchCheckMs(now.getTime() - created_at.getTime(), all_begun_at === null),
    onCompleted: (trx, job, now) => enqueueCompleted(trx, job, now, pending),
    afterCheck: async (now) => {
      if (pending.ids.length > 0) await webhooks.sweeper.handOver(pending.ids);
      return emails > 0 && hasDueEmails(db, id, now);
    },
  };
}

/** `later`: no outcome yet. It is asked about again, under the same id. */
async function buyRow(
  { db, clock, engine }: ActivityDeps,
  row: JobRow,
): Promise<'opened' | 'later' | Refusal['reason']> {
  const { terms } = row;
  if (!terms) throw new Error(`row ${row.row_number} of ${row.job_id} is open and has no terms`);
  try {
    const answer = await engine.purchase(terms, ANSWER_WITHIN_MS, `eSIM ${terms.packageCode} of a batch`);
    if (answer === 'unknown' || answer.status === 'UNANSWERED') return 'later';
    if (answer.status !== 'REFUSED') return 'opened';
    const { reason } = answer.refusal;
    await closeRefused(db, row, { reason, now: clock.now() });
    return reason;
  } catch (error) {
    if (error instanceof EngineUnavailable) return 'later';
    throw error;
  }
}
