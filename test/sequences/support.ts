// What the tests of sequences share: a stack whose checkouts stay open for ten minutes, so that a purchase
// that falls asleep until then is seen, and the ways in which a workflow is renewed, lost or reset.
import { randomUUID } from 'node:crypto';
import proto from '@temporalio/proto';
import { afterAll, afterEach, expect } from 'vitest';
import type { PurchaseTimings } from '../../src/purchases/purchase.ts';
import {
  findPurchaseRow,
  newBuyer,
  untilClosed,
  type Buyer,
  type PurchaseRow,
} from '../support/people/buyer.ts';
import { eventTypes, fetchHistory } from '../support/world/history.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { newOperator, type Operator } from '../support/people/operator-actions.ts';
import { atGateway, buyThroughGateway, clearGatewayFaults, untilStatus } from '../support/money/payments.ts';
import { FRESH_HISTORY_AFTER_EVENTS } from '../support/world/services.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { LONG_ANSWER_TIMINGS } from '../support/world/workflow-harness.ts';

const { ResetReapplyExcludeType } = proto.temporal.api.enums.v1;

/**
 * Everything is quick, except for the time to pay and the checks: who waits for those is asleep, longer than
 * `until` waits.
 */
export const LONG_CHECKOUT: PurchaseTimings = {
  ...LONG_ANSWER_TIMINGS,
  answerWithinMs: 3_000,
  checkoutMs: 600_000,
  transferMs: 900_000,
  pollFirstMs: 300_000,
  pollMaxMs: 300_000,
};
/** Longer than any step of these purchases takes. */
const LONG_ENOUGH_MS = 3_000;

export interface Sequences {
  readonly stack: Stack;
  readonly buyer: Buyer;
  readonly operator: Operator;
}

/** A stack, a buyer and an operator for a test file. At its end the books must be sound. */
export async function startSequences(timings: PurchaseTimings = LONG_CHECKOUT): Promise<Sequences> {
  const stack = await startStack({ supplier: { activateAfterMs: null }, timings });
  afterEach(async () => {
    await stack.clearFaults();
    await clearGatewayFaults(stack);
  });
  afterAll(async () => {
    try {
      await expectSoundBooks(stack);
    } finally {
      await stack.close();
    }
  });
  return { stack, buyer: await newBuyer(stack), operator: newOperator(stack, timings) };
}

/** Bought through a gateway and paid there: PROCESSING. The supplier decides how far it comes. */
export async function paidPurchase(
  { stack, buyer }: Pick<Sequences, 'stack' | 'buyer'>,
  options: Parameters<typeof buyThroughGateway>[2] = {},
): Promise<string> {
  const { transactionId, answer } = await buyThroughGateway(stack, buyer.account, options);
  expect(answer.status, answer.text).toBe(201);
  await atGateway(stack, transactionId, 'pay');
  await untilStatus(stack, transactionId, 'PROCESSING');
  return transactionId;
}

/** The supplier has the order and does not allocate it. */
export const untilOrdered = (stack: Stack, transactionId: string) =>
  until(
    () => stack.supplierOrders(transactionId),
    (orders) => orders.length === 1,
    { what: `${transactionId} ordered` },
  );

export async function runIdOf(stack: Stack, workflowId: string): Promise<string> {
  return (await stack.temporal.workflow.getHandle(workflowId).describe()).runId;
}

/** Fills a workflow's history with meaningless signals until it has continued as new by itself. */
export async function untilContinuedAsNew(stack: Stack, workflowId: string): Promise<void> {
  const handle = stack.temporal.workflow.getHandle(workflowId);
  const firstRunId = await runIdOf(stack, workflowId);
  let sent = 0;
  await until(
    async () => {
      const { runId, historyLength, status } = await handle.describe();
      if (runId === firstRunId && status.name === 'RUNNING' && sent < 2 * FRESH_HISTORY_AFTER_EVENTS) {
        // It may end meanwhile.
        await Promise.allSettled(Array.from({ length: 64 }, () => handle.signal('nothing-that-is-known')));
        sent += 64;
      }
      return { runId, historyLength, status: status.name };
    },
    // On a busy machine it may have ended first.
    ({ runId, status }) => runId !== firstRunId || status === 'COMPLETED',
    { what: `${workflowId} continues as new` },
  );
}

/** Takes a workflow away, as "Terminate" in the Temporal UI does. */
export const loseWorkflow = (stack: Stack, workflowId: string) =>
  stack.temporal.workflow.getHandle(workflowId).terminate('a test');

/** Resets a workflow to the end of its first task, as in the Temporal UI. Drops later signals and updates. */
export async function resetWorkflow(stack: Stack, workflowId: string): Promise<void> {
  const { events } = await fetchHistory(stack, workflowId);
  const firstTask = events.find(({ eventType }) => eventType.endsWith('WORKFLOW_TASK_COMPLETED'));
  await stack.temporal.workflowService.resetWorkflowExecution({
    namespace: stack.namespace,
    workflowExecution: { workflowId, runId: await runIdOf(stack, workflowId) },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: firstTask?.eventId as unknown as Long,
    resetReapplyExcludeTypes: [
      ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
      ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE,
    ],
  });
}
type Long = NonNullable<
  Parameters<Stack['temporal']['workflowService']['resetWorkflowExecution']>[0]['workflowTaskFinishEventId']
>;

/** Failures of workflow tasks in a history: a workflow that cannot go on for its own fault. */
export async function failedTasks(stack: Stack, workflowId: string): Promise<number> {
  const types = eventTypes(await fetchHistory(stack, workflowId));
  return types.filter((type) => type === 'WORKFLOW_TASK_FAILED').length;
}

/** Closed as `status` long before the next check and the end of the time to pay; ordered and settled once. */
export async function expectEndsSoon(
  stack: Stack,
  transactionId: string,
  status: 'SUCCESS' | 'FAILED',
): Promise<PurchaseRow> {
  const row = await untilClosed(stack, transactionId);
  expect(row).toMatchObject({ status });
  const orders = await stack.supplierOrders(transactionId);
  const served = orders.filter(({ esims }) => esims.some(({ esimStatus }) => esimStatus !== 'CANCEL'));
  expect(served).toHaveLength(status === 'SUCCESS' ? 1 : 0);
  return row;
}

/** For three seconds the purchase stays as it is. */
export async function expectStays(
  stack: Stack,
  transactionId: string,
  status: PurchaseRow['status'],
): Promise<void> {
  const endsAtMs = performance.now() + LONG_ENOUGH_MS;
  const seen = new Set<string | undefined>();
  await until(
    async () => {
      seen.add((await findPurchaseRow(stack, transactionId))?.status);
      return performance.now();
    },
    (nowMs) => nowMs > endsAtMs || seen.size > 1,
    { what: 'three seconds', everyMs: 200 },
  );
  expect([...seen]).toEqual([status]);
}
