/**
 * Reconciliation by a workflow of the ops queue, whose workers know the vendors. Each request is a run of its
 * own, and is on record before its workflow starts: the run believes the record alone.
 */
import { WorkflowFailedError } from '@temporalio/client';
import type { ReconcileEngine } from '../../reconciliation/engine.ts';
import { OPS_QUEUE, RECONCILE_WORKFLOW, type ReconcileInput } from '../../../workflows/contract.ts';
import type { ReconcileSummary } from '../../reconciliation/payment-rules.ts';
import { rethrow } from '../../platform/temporal/errors.ts';
import { requireConnection, type TemporalClient } from '../../platform/temporal/connect.ts';

type KeepRequest = (
  request: Parameters<ReconcileEngine['reconcile']>[0] & { readonly runKey: string },
) => Promise<void>;

const CONNECT_WITHIN_MS = 5_000;

/** `keep` puts a request on record under the id of its workflow. */
export function createReconcileEngine(temporal: TemporalClient, keep: KeepRequest): ReconcileEngine {
  return {
    reconcile: async ({ askedBy, range }) => {
      await requireConnection(temporal, CONNECT_WITHIN_MS);
      const workflowId = `${RECONCILE_WORKFLOW}-${crypto.randomUUID()}`;
      await keep({ runKey: workflowId, askedBy, range });
      const input: ReconcileInput = {
        askedBy,
        range: range && { from: range.from.toISOString(), to: range.to.toISOString() },
      };
      try {
        return await temporal.client.workflow.execute<
          (given: ReconcileInput) => Promise<ReconcileSummary | null>
        >(RECONCILE_WORKFLOW, {
          workflowId,
          taskQueue: OPS_QUEUE,
          args: [input],
          staticSummary: `Reconciliation asked for by ${askedBy.slice(0, 100)}`,
        });
      } catch (error) {
        // Its own message is only that the workflow failed.
        if (error instanceof WorkflowFailedError) throw new Error(rootOf(error).message, { cause: error });
        return rethrow(error);
      }
    },
  };
}

function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}
