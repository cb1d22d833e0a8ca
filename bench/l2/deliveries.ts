/**
 * Deliveries that are still open on Temporal, the service's own and the floor's alike: counted and ended
 * between slices.
 */
import { WorkflowNotFoundError } from '@temporalio/client';
import { connectClient } from '../../src/platform/temporal/connect.ts';
import { DELIVER_WEBHOOK_WORKFLOW } from '../../workflows/contract.ts';

export type Deliveries = ReturnType<typeof deliveriesIn>;

const OPEN = `WorkflowType = '${DELIVER_WEBHOOK_WORKFLOW}' AND ExecutionStatus = 'Running'`;

export function deliveriesIn(namespace: Parameters<typeof connectClient>[0]) {
  const temporal = connectClient(namespace);
  const { workflow } = temporal.states;
  return {
    /** By the server's list, which may be a moment behind. */
    count: async () => (await workflow.count(OPEN)).count,
    /** Ends all open workflows, also those that wait for a retry. */
    terminate: async () => {
      for await (const { workflowId } of workflow.list({ query: OPEN })) {
        await workflow
          .getHandle(workflowId)
          .terminate()
          .catch((error: unknown) => {
            if (!(error instanceof WorkflowNotFoundError)) throw error;
          });
      }
    },
    close: () => temporal.close(),
  };
}
