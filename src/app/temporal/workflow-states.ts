/**
 * The state of workflows. Temporal's index may be some seconds behind, so a workflow is reported as gone only
 * when it is described as closed or unknown. One that ended a moment ago may still be listed as open until
 * the next check.
 */
import type { Client, WorkflowExecutionDescription, WorkflowExecutionInfo } from '@temporalio/client';
import { requireConnection, type TemporalClient } from '../../platform/temporal/connect.ts';
import { rethrow, temporalFailure } from '../../platform/temporal/errors.ts';
import { FUND_WALLET_WORKFLOW, PURCHASE_WORKFLOW } from '../../../workflows/contract.ts';
import { NEEDS_ATTENTION, REASON } from '../../../workflows/search-attributes.ts';
import type { WorkflowState, WorkflowStates } from '../../operations/engine.ts';

/** For all calls of one list. */
const ASK_WITHIN_MS = 60_000;
/** A list goes without Temporal rather than wait for it. */
const CONNECT_WITHIN_MS = 3_000;
/** A few are asked one by one; for more it is quicker to read which are open first. */
const FEW = 64;
/** Questions at one time, so that the server is not stormed. */
const AT_ONCE = 16;
const PAGE_SIZE = 1_000;
/** A transaction has a handful of workflows: its own, repairs, late money, messages. */
const MAX_OF_ONE = 100;

export function createWorkflowStates(temporal: TemporalClient): WorkflowStates {
  const { states: client } = temporal;
  return {
    findUncarried: (transactionIds) =>
      withinReach(temporal, async () => {
        const carried = transactionIds.length > FEW ? await findCarried(client) : new Set<string>();
        const unconfirmed = transactionIds.filter((id) => !carried.has(id));
        return new Set(await findClosed(client, unconfirmed));
      }),
    ofTransaction: (transactionId) =>
      withinReach(temporal, async () => {
        const found = new Map<string, WorkflowState>();
        const query = `TransactionId = ${quoted(transactionId)}`;
        for await (const info of client.workflow.list({ query, pageSize: MAX_OF_ONE })) {
          found.set(info.runId, toState(info));
          if (found.size >= MAX_OF_ONE) break;
        }
        // The index may not know it yet, or not know it as it now stands.
        const own = await describe(client, transactionId);
        if (own) found.set(own.runId, toState(own));
        return [...found.values()].toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime());
      }),
  };
}

/** Which workflows the index lists as open. One that has just ended may still be among them. */
async function findCarried(client: Client): Promise<Set<string>> {
  const carried = new Set<string>();
  const query = `ExecutionStatus = 'Running' AND WorkflowType IN ('${PURCHASE_WORKFLOW}', '${FUND_WALLET_WORKFLOW}')`;
  for await (const info of client.workflow.list({ query, pageSize: PAGE_SIZE })) carried.add(info.workflowId);
  return carried;
}

async function findClosed(client: Client, transactionIds: readonly string[]): Promise<string[]> {
  const closed: string[] = [];
  for (let from = 0; from < transactionIds.length; from += AT_ONCE) {
    const batch = transactionIds.slice(from, from + AT_ONCE);
    const infos = await Promise.all(batch.map((id) => describe(client, id)));
    closed.push(...batch.filter((_id, index) => infos[index]?.closeTime !== undefined || !infos[index]));
  }
  return closed;
}

/** The newest run under this id, or undefined where Temporal knows none. */
async function describe(
  client: Client,
  workflowId: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (temporalFailure(error) === 'not-found') return undefined;
    throw error;
  }
}

function toState(info: Omit<WorkflowExecutionInfo, 'raw'>): WorkflowState {
  return {
    workflowId: info.workflowId,
    type: info.type,
    status: info.status.name,
    startedAt: info.startTime,
    closedAt: info.closeTime ?? null,
    historyEvents: info.historyLength,
    needsAttention: info.typedSearchAttributes.get(NEEDS_ATTENTION) ?? false,
    reason: info.typedSearchAttributes.get(REASON) ?? null,
  };
}

/** As the query language writes a text; our ids contain no quotes, but typed texts may. */
const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '')}'`;

async function withinReach<T>(temporal: TemporalClient, ask: () => Promise<T>): Promise<T> {
  await requireConnection(temporal, CONNECT_WITHIN_MS);
  try {
    return await temporal.states.withDeadline(Date.now() + ASK_WITHIN_MS, ask);
  } catch (error) {
    return rethrow(error);
  }
}
