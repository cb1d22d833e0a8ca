import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import type { JobEngine } from '../../jobs/engine.ts';
import type { JobKind } from '../../jobs/rules.ts';
import { OPS_QUEUE, RUN_JOB_WORKFLOW, type JobInput } from '../../../workflows/contract.ts';
import { ACCOUNT_ID } from '../../../workflows/search-attributes.ts';
import { requireConnection, type TemporalClient } from '../../platform/temporal/connect.ts';

const CONNECT_WITHIN_MS = 500;
/** The caller waits, and the sweep comes soon. */
const START_WITHIN_MS = 2_000;

const SUMMARIES: Readonly<Record<JobKind, string>> = {
  order: 'A batch of purchases, each bought by a workflow of its own',
  repair: 'One action on many stuck items, approved by a second person',
};

export function createJobEngine(
  temporal: TemporalClient,
  onNotBegun: (fields: { jobId: string; detail: string }) => void,
): JobEngine {
  return {
    begin: async ({ id: jobId, kind, accountId }) => {
      const input: JobInput = { jobId };
      try {
        await requireConnection(temporal, CONNECT_WITHIN_MS);
        await temporal.client.withDeadline(Date.now() + START_WITHIN_MS, () =>
          temporal.client.workflow.start(RUN_JOB_WORKFLOW, {
            workflowId: jobId,
            args: [input],
            staticSummary: SUMMARIES[kind],
            typedSearchAttributes: accountId === null ? [] : [{ key: ACCOUNT_ID, value: accountId }],
            taskQueue: OPS_QUEUE,
            workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
            workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
          }),
        );
      } catch (error) {
        onNotBegun({ jobId, detail: error instanceof Error ? error.message : String(error) });
      }
    },
  };
}
