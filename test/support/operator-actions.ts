// An operator in a test: takes actions as the command line does, and reads their records.
import { createOperatorEngine } from '../../src/platform/temporal/purchase-engine.ts';
import {
  createOperatorActions,
  type ActionInput,
  type OperatorActions,
} from '../../src/operations/actions.ts';
import { systemClock } from '../../src/platform/composition/context.ts';
import type { ActionOutcome } from '../../src/operations/rules.ts';
import type { PurchaseTimings } from '../../src/purchases/purchase.ts';
import type { Stack } from './stack.ts';
import { PATIENT } from './workflow-harness.ts';
import type { OperatorAction } from '../../src/accounts/operators/action-table.ts';

export interface Operator extends OperatorActions {
  /** Takes this action, with the required actor and reason. */
  act(
    transactionId: string,
    move: OperatorAction,
    more?: Partial<Omit<ActionInput, 'transactionId' | 'move'>>,
  ): Promise<ActionOutcome>;
}

export const REASON = 'a test of the moves';
export const EVIDENCE = 'https://tickets.test.example/4711';

export function newOperator(stack: Stack, timings: PurchaseTimings = PATIENT): Operator {
  const actions = createOperatorActions({
    db: stack.world,
    engine: createOperatorEngine(stack.temporal, timings),
    clock: systemClock,
    timings,
    limits: stack.context.config.worlds.test.approvalLimits,
  });
  return {
    ...actions,
    act: (transactionId, move, more = {}) =>
      actions.perform({ transactionId, move, by: 'ada', reason: REASON, ...more }),
  };
}
