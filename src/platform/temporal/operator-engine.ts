import { WithStartWorkflowOperation, WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { ACTION_REFUSALS, type ActionRequest } from '../../operations/rules.ts';
import type { RefundTimings, FundingInput } from '../../payments/rules.ts';
import type { PurchaseInput } from '../../purchases/purchase.ts';
import type { WorkflowStart, EngineOutcome, OperatorEngine } from '../../operations/engine.ts';
import { rethrow, temporalFailure } from './errors.ts';
import { createAfterClosing } from './payment-engine.ts';
import { attributesOf } from './purchase-engine.ts';
import { WORKFLOW_TASK_TIMEOUT_MS } from './task-timeout.ts';
import {
  FUND_WALLET_WORKFLOW,
  MOVE_UPDATE,
  ORDERS_QUEUE,
  PURCHASE_WORKFLOW,
} from '../../../workflows/contract.ts';

/** Temporal's word for an update whose workflow ended before it came to it. */
const ENDED_MEANWHILE = 'AcceptedUpdateCompletedWorkflow';

/**
 * Operator actions over Temporal: an update on the workflow that carries the purchase or, where that has ended, on the one for what comes after
 * closing. A deadline that passes is no failure: the action may still be carried out.
 */
export function createOperatorEngine(client: Client, timings: RefundTimings): OperatorEngine {
  const afterClosing = createAfterClosing(client, timings);
  return {
    move: (wish, deadlineMs) =>
      withinReach(client, deadlineMs, () =>
        client.workflow
          .getHandle(wish.transactionId)
          .executeUpdate<EngineOutcome, [ActionRequest]>(MOVE_UPDATE, {
            updateId: wish.moveId,
            args: [wish],
          }),
      ),
    carryOn: (carried, wish, deadlineMs) =>
      withinReach(client, deadlineMs, () =>
        client.workflow.executeUpdateWithStart<Carrier, EngineOutcome, [ActionRequest]>(MOVE_UPDATE, {
          updateId: wish.moveId,
          args: [wish],
          startWorkflowOperation: carrierOf(carried),
        }),
      ),
    repair: async (wish, { purpose, isFromOutside }, deadlineMs) => {
      const closed = { transactionId: wish.transactionId, purpose, isFromOutside };
      const hand = (): Promise<EngineOutcome> =>
        withinReach(client, deadlineMs, () =>
          afterClosing.update<EngineOutcome>(closed, MOVE_UPDATE, {
            updateId: wish.moveId,
            args: [wish],
          }),
        );
      const made = await hand();
      // It was just ending: the next call starts another.
      return made.outcome === 'nobody' ? hand() : made;
    },
  };
}

type Carrier = (input: PurchaseInput | FundingInput) => Promise<unknown>;

/** To one that runs; one that has ended does not keep another from starting. */
const ATTACHED = {
  taskQueue: ORDERS_QUEUE,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
} as const;

function carrierOf({ purpose, input }: WorkflowStart): WithStartWorkflowOperation<Carrier> {
  return new WithStartWorkflowOperation<Carrier>(
    purpose === 'purchase' ? PURCHASE_WORKFLOW : FUND_WALLET_WORKFLOW,
    {
      ...ATTACHED,
      workflowId: input.transactionId,
      args: [input],
      staticSummary: `Carried on by an operator: ${purpose} of ${input.paymentMethod}`,
      memo: { requestId: input.requestId },
      typedSearchAttributes: attributesOf(input, input.paymentMethod === 'WALLET' ? 'PROCESSING' : 'PENDING'),
    },
  );
}

async function withinReach(
  client: Client,
  deadlineMs: number,
  ask: () => Promise<EngineOutcome>,
): Promise<EngineOutcome> {
  try {
    return await client.withDeadline(Date.now() + deadlineMs, ask);
  } catch (error) {
    const failure = failureIn(error);
    const failed = temporalFailure(error);
    if (failed === 'not-found' || failure === ENDED_MEANWHILE) return { outcome: 'nobody' };
    const refusal = ACTION_REFUSALS.find((code) => code === failure);
    if (refusal !== undefined) return { outcome: 'rejected', code: refusal };
    if (failed === 'no-answer')
      return { outcome: 'unknown', detail: 'nobody answered in time; the same move again tells' };
    return rethrow(error);
  }
}

/** What the workflow said of an update that it did not make. */
function failureIn(error: unknown): string | null | undefined {
  return error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure
    ? error.cause.type
    : undefined;
}
