/**
 * The workflow for what comes after closing, started where it does not run yet and asked in the same call, so that many callers share one. Its memo
 * names the request that asked first.
 */
import { WithStartWorkflowOperation, type Client } from '@temporalio/client';
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { refundTimingsOf, type RefundTimings } from '../../payments/rules.ts';
import { currentRequestId } from '../telemetry/subject.ts';
import { AFTER_CLOSING_WORKFLOW, ORDERS_QUEUE, type AfterClosingInput } from '../../../workflows/contract.ts';
import { NEEDS_ATTENTION, TRANSACTION_ID } from '../../../workflows/search-attributes.ts';
import { WORKFLOW_TASK_TIMEOUT_MS } from './task-timeout.ts';
import type { PaymentSubject } from '../../payments/engine.ts';

type AfterClosing = (input: AfterClosingInput) => Promise<unknown>;

export interface ClosedPayment extends PaymentSubject {
  readonly isFromOutside: boolean;
}

export function createAfterClosing(client: Client, timings: RefundTimings) {
  const optionsFor = ({ transactionId, purpose, isFromOutside }: ClosedPayment) => {
    const requestId = currentRequestId();
    return {
      ...(requestId === undefined ? {} : { memo: { requestId } }),
      workflowId: `after-${transactionId}`,
      taskQueue: ORDERS_QUEUE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      // One that has ended does not keep another from starting.
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
    /** With the start, since one that is running may have done what is asked for a moment too early. */
    signal: async (closed: ClosedPayment, signal: string): Promise<void> => {
      await client.workflow.signalWithStart<AfterClosing>(AFTER_CLOSING_WORKFLOW, {
        ...optionsFor(closed),
        signal,
      });
    },
  };
}
