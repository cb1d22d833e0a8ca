// An operator in a test: takes actions as the command line does, and reads their records.
import { createOperatorEngine } from '../../../src/app/temporal/purchase-engine.ts';
import {
  createOperatorActions,
  type ActionInput,
  type OperatorActions,
} from '../../../src/operations/actions.ts';
import { systemClock } from '../../../src/app/composition/context.ts';
import type { ActionOutcome } from '../../../src/operations/rules.ts';
import type { PurchaseTimings } from '../../../src/purchases/purchase.ts';
import type { Stack } from '../world/stack.ts';
import { LONG_ANSWER_TIMINGS } from '../world/workflow-harness.ts';
import type { OperatorAction } from '../../../src/accounts/operators/action-table.ts';

export interface Operator extends OperatorActions {
  /** Takes this action, with the required actor and reason. */
  act(
    transactionId: string,
    action: OperatorAction,
    more?: Partial<Omit<ActionInput, 'transactionId' | 'action'>>,
  ): Promise<ActionOutcome>;
}

export const REASON = 'a test of the actions';
export const EVIDENCE = 'https://tickets.test.example/4711';

export function newOperator(stack: Stack, timings: PurchaseTimings = LONG_ANSWER_TIMINGS): Operator {
  const actions = createOperatorActions({
    db: stack.world,
    engine: createOperatorEngine(stack.temporal, timings),
    clock: systemClock,
    timings,
    limits: stack.context.config.worlds.test.approvalLimits,
  });
  return {
    ...actions,
    act: (transactionId, action, more = {}) =>
      actions.perform({ transactionId, action, by: 'ada', reason: REASON, ...more }),
  };
}
