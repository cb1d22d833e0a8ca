/**
 * Starts the workflow of a batch, or of a batch repair, where it does not run. One that cannot be started now is left to the sweep: its rows say
 * what is to be done.
 */
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import type { WorkflowStartOptions } from '@temporalio/client';
import type { BatchRepairEngine } from '../../operations/engine.ts';
import type { BatchEngine } from '../../purchases/engine.ts';
import {
  BATCH_REPAIR_WORKFLOW,
  BATCH_WORKFLOW,
  OPS_QUEUE,
  type BatchInput,
  type BatchRepairInput,
} from '../../../workflows/contract.ts';
import { ACCOUNT_ID } from '../../../workflows/search-attributes.ts';
import { requireConnection, type TemporalClient } from './connect.ts';

const CONNECT_WITHIN_MS = 500;
/** The caller waits, and the sweep comes soon. */
const START_WITHIN_MS = 2_000;

export function createBatchEngine(
  temporal: TemporalClient,
  onNotBegun: (fields: { batchId: string; detail: string }) => void,
): BatchEngine {
  return {
    begin: async ({ batchId, accountId }) => {
      const input: BatchInput = { batchId };
      const problem = await begin(temporal, BATCH_WORKFLOW, {
        workflowId: batchId,
        args: [input],
        staticSummary: 'A batch of purchases, each bought by a workflow of its own',
        typedSearchAttributes: [{ key: ACCOUNT_ID, value: accountId }],
      });
      if (problem !== undefined) onNotBegun({ batchId, detail: problem });
    },
  };
}

export function createBatchRepairEngine(
  temporal: TemporalClient,
  onNotBegun: (fields: { repairId: string; detail: string }) => void,
): BatchRepairEngine {
  return {
    begin: async (repairId) => {
      const input: BatchRepairInput = { repairId };
      const problem = await begin(temporal, BATCH_REPAIR_WORKFLOW, {
        workflowId: repairId,
        args: [input],
        staticSummary: 'One action on many stuck items, approved by a second person',
      });
      if (problem !== undefined) onNotBegun({ repairId, detail: problem });
    },
  };
}

/** Answers what went wrong. */
async function begin(
  temporal: TemporalClient,
  workflowType: string,
  options: Pick<WorkflowStartOptions, 'workflowId' | 'staticSummary' | 'typedSearchAttributes'> & {
    readonly args: [unknown];
  },
): Promise<string | undefined> {
  try {
    await requireConnection(temporal, CONNECT_WITHIN_MS);
    await temporal.client.withDeadline(Date.now() + START_WITHIN_MS, () =>
      temporal.client.workflow.start(workflowType, {
        ...options,
        taskQueue: OPS_QUEUE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      }),
    );
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
