import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import type { ReturnEngine } from '../../purchases/engine.ts';
import { ORDERS_QUEUE, RETURN_ESIM_WORKFLOW, type ReturnInput } from '../../../workflows/contract.ts';
import { ACCOUNT_ID } from '../../../workflows/search-attributes.ts';
import { requireConnection, type TemporalClient } from '../../platform/temporal/connect.ts';

const CONNECT_WITHIN_MS = 500;
/** The caller waits, and the sweep comes soon. */
const START_WITHIN_MS = 2_000;

export function createReturnEngine(
  temporal: TemporalClient,
  onNotBegun: (fields: { returnId: string; detail: string }) => void,
): ReturnEngine {
  const { client } = temporal;
  return {
    begin: async ({ id: returnId, supplier, account_id: accountId }) => {
      const input: ReturnInput = { returnId, supplier };
      try {
        await requireConnection(temporal, CONNECT_WITHIN_MS);
        await client.withDeadline(Date.now() + START_WITHIN_MS, () =>
          client.workflow.start(RETURN_ESIM_WORKFLOW, {
            workflowId: returnId,
            args: [input],
            staticSummary: 'The return of an unused eSIM',
            typedSearchAttributes: [{ key: ACCOUNT_ID, value: accountId }],
            taskQueue: ORDERS_QUEUE,
            workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
            workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
          }),
        );
      } catch (error) {
        onNotBegun({ returnId, detail: error instanceof Error ? error.message : String(error) });
      }
    },
    // Whatever comes of it, the row says how the return stands.
    waitFor: async (returnId, deadlineMs) => {
      await client
        .withDeadline(Date.now() + deadlineMs, () => client.workflow.getHandle(returnId).result())
        .catch(() => undefined);
    },
  };
}
