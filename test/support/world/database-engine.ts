// An operator engine for tests without Temporal: performs actions that are on record at once, by the real
// statements. Checks change nothing.
import { actionSpec } from '../../../src/accounts/operators/action-table.ts';
import { createOperatorActions } from '../../../src/operations/actions.ts';
import type { OperatorEngine } from '../../../src/operations/engine.ts';
import {
  carryOutAction,
  closeAction,
  findBegunAction,
  nextAction,
} from '../../../src/operations/store/actions.ts';
import type { WorldDb } from '../../../src/platform/database/tables.ts';
import { NO_LIMITS, purchaseInput } from '../money/facts.ts';

const neverGone = () => Promise.reject(new Error('every workflow runs here'));

/** `before`: runs before each wake-up; it may throw. */
export function databaseEngine(db: WorldDb, clock: { now(): Date }, before = () => {}): OperatorEngine {
  const performAll = async (transactionId: string): Promise<boolean> => {
    before();
    for (let next; (next = await nextAction(db, transactionId));) {
      const { actionId } = next;
      const row = await findBegunAction(db, actionId);
      if (row && actionSpec(row.action).isCheck)
        await closeAction(db, actionId, { did: 'checked, and nothing changed' });
      else await carryOutAction(db, actionId, clock.now());
    }
    return true;
  };
  return { perform: performAll, restartAndPerform: neverGone, performAfterClose: neverGone };
}

/** Operator actions without Temporal and without limits: performed as soon as they are on record. */
export const databaseActions = (db: WorldDb, now: Date) =>
  createOperatorActions({
    db,
    engine: databaseEngine(db, { now: () => now }),
    clock: { now: () => now },
    timings: purchaseInput({ transactionId: 'txn-1' }).timings,
    limits: NO_LIMITS,
  });
