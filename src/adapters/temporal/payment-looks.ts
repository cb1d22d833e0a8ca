/**
 * "Look at the gateway now", handed to the workflow that waits for the money; where that has ended, to one for late money under an id of its
 * own, so that many wishes are one workflow.
 */
import {
  isGrpcServiceError,
  ServiceError,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import type { PaymentTimings } from '../../domain/payment.ts';
import { currentRequestId } from '../../observe/subject.ts';
import { EngineUnavailable, type PurchaseEngine, type WhosePayment } from '../../ports/purchase-engine.ts';
import {
  LATE_PAYMENT_WORKFLOW,
  LOOK_SIGNAL,
  LOOK_UPDATE,
  ORDERS_QUEUE,
  type LatePaymentInput,
  type PaymentStand,
} from '../../../workflows/contract.ts';
import { NEEDS_ATTENTION, TRANSACTION_ID } from '../../../workflows/search-attributes.ts';

/** How long handing over a wish may take where nobody waits for it. */
const HAND_OVER_MS = 3_000;

export function createPaymentLooks(
  client: Client,
  timings: PaymentTimings,
): Pick<PurchaseEngine, 'look' | 'lookSoon'> {
  return {
    look: (payment, deadlineMs) =>
      withinReach(client, deadlineMs, async () => {
        try {
          await client.workflow
            .getHandle(payment.transactionId)
            .executeUpdate<PaymentStand, []>(LOOK_UPDATE, { args: [] });
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
          await client.workflow.executeUpdateWithStart<LateWorkflow, PaymentStand, []>(LOOK_UPDATE, {
            startWorkflowOperation: late(payment, timings),
          });
        }
      }),
    lookSoon: (payment) =>
      withinReach(client, HAND_OVER_MS, async () => {
        try {
          await client.workflow.getHandle(payment.transactionId).signal(LOOK_SIGNAL);
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
          // With the signal, since one that is running for the same payment may have looked too early for this wish.
          await client.workflow.signalWithStart<LateWorkflow>(LATE_PAYMENT_WORKFLOW, {
            ...lateOptions(payment),
            args: [lateInput(payment, timings)],
            signal: LOOK_SIGNAL,
          });
        }
      }),
  };
}

type LateWorkflow = (input: LatePaymentInput) => Promise<PaymentStand>;

function late(payment: WhosePayment, timings: PaymentTimings) {
  return new WithStartWorkflowOperation<LateWorkflow>(LATE_PAYMENT_WORKFLOW, {
    ...lateOptions(payment),
    args: [lateInput(payment, timings)],
  });
}

function lateInput({ transactionId, purpose }: WhosePayment, timings: PaymentTimings): LatePaymentInput {
  const { refundLookFirstMs, refundLookMaxMs } = timings;
  return { transactionId, purpose, timings: { refundLookFirstMs, refundLookMaxMs } };
}

/** Its memo names the request that asked: a confirmation's, or that of the gateway's event. */
function lateOptions({ transactionId }: WhosePayment) {
  const requestId = currentRequestId();
  return {
    ...(requestId === undefined ? {} : { memo: { requestId } }),
    workflowId: `late-${transactionId}`,
    taskQueue: ORDERS_QUEUE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    staticSummary: 'Money for what is closed: to the wallet, or back',
    typedSearchAttributes: [
      { key: TRANSACTION_ID, value: transactionId },
      { key: NEEDS_ATTENTION, value: false },
    ],
  };
}

/** A deadline that passes is no failure: the wish was taken, and what it leads to is in the rows. */
async function withinReach(client: Client, deadlineMs: number, ask: () => Promise<void>): Promise<void> {
  try {
    await client.withDeadline(Date.now() + deadlineMs, ask);
  } catch (error) {
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return;
    if (error instanceof ServiceError || isGrpcServiceError(error)) {
      throw new EngineUnavailable('Temporal could not be asked', { cause: error });
    }
    throw error;
  }
}
