import { WithStartWorkflowOperation, type Client } from '@temporalio/client';
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import type { PaymentEngine, PaymentSubject } from '../../payments/engine.ts';
import { refundTimingsOf, type PaymentTimings, type RefundTimings } from '../../payments/rules.ts';
import {
  AFTER_CLOSING_WORKFLOW,
  LOOK_SIGNAL,
  LOOK_UPDATE,
  ORDERS_QUEUE,
  type AfterClosingInput,
  type PaymentStand,
} from '../../../workflows/contract.ts';
import { NEEDS_ATTENTION, TRANSACTION_ID } from '../../../workflows/search-attributes.ts';
import { currentRequestId } from '../telemetry/subject.ts';
import { rethrow, temporalFailure } from './errors.ts';
import { WORKFLOW_TASK_TIMEOUT_MS } from './task-timeout.ts';

type AfterClosing = (input: AfterClosingInput) => Promise<unknown>;

export interface ClosedPayment extends PaymentSubject {
  readonly isFromOutside: boolean;
}

/** The workflow for what comes after closing: started where it does not run, and asked in the same call, so that many callers share one. */
export function createAfterClosing(client: Client, timings: RefundTimings) {
  const optionsFor = ({ transactionId, purpose, isFromOutside }: ClosedPayment) => {
    const requestId = currentRequestId();
    return {
      ...(requestId === undefined ? {} : { memo: { requestId } }),
      workflowId: `after-${transactionId}`,
      taskQueue: ORDERS_QUEUE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      staticSummary: 'After closing: late money, refunds and claims',
      typedSearchAttributes: new TypedSearchAttributes([
        { key: TRANSACTION_ID, value: transactionId },
        { key: NEEDS_ATTENTION, value: false },
      ]),
      args: [{ transactionId, purpose, isFromOutside, timings: refundTimingsOf(timings) }] as [
        AfterClosingInput,
      ],
    };
  };
  return {
    update: <Answer>(
      closed: ClosedPayment,
      name: string,
      options: { readonly args: unknown[]; readonly updateId?: string },
    ): Promise<Answer> =>
      client.workflow.executeUpdateWithStart<AfterClosing, Answer, unknown[]>(name, {
        ...options,
        startWorkflowOperation: new WithStartWorkflowOperation<AfterClosing>(
          AFTER_CLOSING_WORKFLOW,
          optionsFor(closed),
        ),
      }),
    /** Signal-with-start: a workflow that runs may have done the work a moment before the request. */
    signal: async (closed: ClosedPayment, signal: string): Promise<void> => {
      await client.workflow.signalWithStart<AfterClosing>(AFTER_CLOSING_WORKFLOW, {
        ...optionsFor(closed),
        signal,
      });
    },
  };
}

/** How long a request that nobody waits for may take to reach Temporal. */
const REQUEST_WITHIN_MS = 3_000;

/** Payment checks, by the workflow that waits for the money or, once it has ended, by the one for what comes after closing. */
export function createPaymentChecks(
  client: Client,
  timings: PaymentTimings,
): Pick<PaymentEngine, 'check' | 'checkSoon'> {
  const afterClosing = createAfterClosing(client, timings);
  return {
    check: (payment, deadlineMs) =>
      orClosed(
        client,
        deadlineMs,
        () =>
          client.workflow
            .getHandle(payment.transactionId)
            .executeUpdate<PaymentStand, []>(LOOK_UPDATE, { args: [] }),
        () => afterClosing.update({ ...payment, isFromOutside: true }, LOOK_UPDATE, { args: [] }),
      ),
    checkSoon: (payment) =>
      orClosed(
        client,
        REQUEST_WITHIN_MS,
        () => client.workflow.getHandle(payment.transactionId).signal(LOOK_SIGNAL),
        () => afterClosing.signal({ ...payment, isFromOutside: true }, LOOK_SIGNAL),
      ),
  };
}

/** A deadline that passes is no failure: the request was accepted, and its result will be in the rows. */
async function orClosed(
  client: Client,
  deadlineMs: number,
  ask: () => Promise<unknown>,
  askClosed: () => Promise<unknown>,
): Promise<void> {
  const orAskClosed = (error: unknown): Promise<unknown> => {
    if (temporalFailure(error) === 'not-found') return askClosed();
    throw error;
  };
  try {
    await client.withDeadline(Date.now() + deadlineMs, () => ask().catch(orAskClosed));
  } catch (error) {
    if (temporalFailure(error) !== 'no-answer') rethrow(error);
  }
}
