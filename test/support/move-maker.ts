// An operator in a test: makes moves as the command line does, and looks at what is on record of them. Timings of workflows that are carried on
// are those of patient tests.
import { createOperatorEngine } from '../../src/platform/temporal/purchase-engine.ts';
import {
  createOperatorActions,
  type ActionInput,
  type OperatorActions,
} from '../../src/operations/actions.ts';
import { systemClock } from '../../src/platform/composition/compose.ts';
import type { ActionOutcome } from '../../src/operations/rules.ts';
import type { PurchaseTimings } from '../../src/purchases/purchase.ts';
import type { Stack } from './stack.ts';
import { PATIENT } from './workflow-harness.ts';
import type { OperatorAction } from '../../src/accounts/roles.ts';

export interface Operator extends OperatorActions {
  /** A move with all that one needs: who, why, and where it can be seen. */
  move(
    transactionId: string,
    move: OperatorAction,
    more?: Partial<Omit<ActionInput, 'transactionId' | 'move'>>,
  ): Promise<ActionOutcome>;
}

const BY = 'ada';
export const REASON = 'a test of the moves';
export const EVIDENCE = 'https://tickets.test.example/4711';

export function newOperator(stack: Stack, timings: PurchaseTimings = PATIENT): Operator {
  const moves = createOperatorActions({
    db: stack.world,
    engine: createOperatorEngine(stack.temporal, timings),
    clock: systemClock,
    timings,
  });
  return {
    ...moves,
    move: (transactionId, move, more = {}) =>
      moves.perform({ transactionId, move, by: BY, reason: REASON, ...more }),
  };
}
