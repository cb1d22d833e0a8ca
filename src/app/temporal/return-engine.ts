import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import type { ReturnEngine } from '../../purchases/engine.ts';
import {
  ORDERS_QUEUE,
  REPLACE_ESIM_WORKFLOW,
  RETURN_ESIM_WORKFLOW,
  type ReplacementInput,
  type ReturnInput,
} from '../../../workflows/contract.ts';
import { ACCOUNT_ID } from '../../../workflows/search-attributes.ts';
import { requireConnection, type TemporalClient } from '../../platform/temporal/connect.ts';

const CONNECT_WITHIN_MS = 500;
/** The caller waits, and the sweep comes soon. */
const START_WITHIN_MS = 2_000;

const KINDS = {
  return: {
    workflow: RETURN_ESIM_WORKFLOW,
    summary: 'The return of an unused eSIM',
    inputOf: (returnId: string, supplier: string): ReturnInput => ({ returnId, supplier }),
  },
  replacement: {
    workflow: REPLACE_ESIM_WORKFLOW,
    summary: 'The replacement of an eSIM',
    inputOf: (replacementId: string, supplier: string): ReplacementInput => ({ replacementId, supplier }),
  },
} as const;

/** For returns, or for replacements. */
export function createReturnEngine(
  temporal: TemporalClient,
  kind: keyof typeof KINDS,
  onNotBegun: (fields: { what: string; id: string; detail: string }) => void,
): ReturnEngine {
  const { client } = temporal;
  const { workflow, summary, inputOf } = KINDS[kind];
  return {
    begin: async ({ id, supplier, account_id: accountId }) => {
      try {
        await requireConnection(temporal, CONNECT_WITHIN_MS);
        await client.withDeadline(Date.now() + START_WITHIN_MS, () =>
          client.workflow.start(workflow, {
            workflowId: id,
            args: [inputOf(id, supplier)],
            staticSummary: summary,
            typedSearchAttributes: [{ key: ACCOUNT_ID, value: accountId }],
            taskQueue: ORDERS_QUEUE,
            workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
            workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
          }),
        );
      } catch (error) {
        onNotBegun({ what: kind, id, detail: error instanceof Error ? error.message : String(error) });
      }
    },
    // Whatever comes of it, the row says how it stands.
    waitFor: async (id, deadlineMs) => {
      await client
        .withDeadline(Date.now() + deadlineMs, () => client.workflow.getHandle(id).result())
        .catch(() => undefined);
    },
  };
}
