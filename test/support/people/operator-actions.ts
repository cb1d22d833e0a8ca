// An operator in a test: takes actions as the command line does, and reads their records.
import { createOperatorEngine } from '../../../src/app/temporal/purchase-engine.ts';
import { createOperatorActions, type ActionInput } from '../../../src/operations/actions.ts';
import { systemClock } from '../../../src/app/composition/context.ts';
import type { PurchaseTimings } from '../../../src/purchases/purchase.ts';
import type { Stack } from '../world/stack.ts';
import { LONG_ANSWER_TIMINGS } from '../world/workflow-harness.ts';
import type { OperatorAction } from '../../../src/accounts/operators/action-table.ts';

export type Operator = ReturnType<typeof newOperator>;

export const REASON = 'a test of the actions';
export const EVIDENCE = 'https://tickets.test.example/4711';

export function newOperator(stack: Stack, timings: PurchaseTimings = LONG_ANSWER_TIMINGS) {
  const actions = createOperatorActions({
    db: stack.world,
    engine: createOperatorEngine(stack.temporal, timings),
    clock: systemClock,
    timings,
    limits: stack.context.config.worlds.test.approvalLimits,
  });
  return {
    ...actions,
    /** Takes this action, with the required actor and reason. */
    act: (
      transactionId: string,
      action: OperatorAction,
      more: Partial<Omit<ActionInput, 'transactionId' | 'action'>> = {},
    ) => actions.perform({ transactionId, action, by: 'ada', reason: REASON, ...more }),
  };
}
