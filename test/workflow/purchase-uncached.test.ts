// Every path again on a worker that keeps no workflow in memory: each task replays the whole history, so anything that is not
// deterministic shows here as a purchase that does not end.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { newBuyer, untilClosed, type Buyer } from '../support/buyer.ts';
import { eventTypes, fetchHistory } from '../support/history.ts';
import { expectSoundBooks } from '../support/invariants.ts';
import { startStack, type Stack } from '../support/stack.ts';
import {
  ANXIOUS,
  createWorkflowHarness,
  HURRIED,
  untilRow,
  type WorkflowHarness,
} from '../support/workflow-harness.ts';

let stack: Stack;
let harness: WorkflowHarness;
let buyer: Buyer;
beforeAll(async () => {
  stack = await startStack({ env: { SIMWAY_WORKER_CACHED_WORKFLOWS: '0' } });
  harness = await createWorkflowHarness(stack);
  buyer = await newBuyer(stack);
});
afterEach(() => stack.clearFaults());
afterAll(async () => {
  await harness.close();
  await stack.close();
});
afterAll(() => expectSoundBooks(stack));

async function expectNoFailedTask(transactionId: string): Promise<void> {
  const types = eventTypes(await fetchHistory(stack, transactionId));
  expect(
    types.filter((type) => type.startsWith('WORKFLOW_TASK_FAILED') || type.endsWith('TIMED_OUT')),
  ).toEqual([]);
  // Without a cache there is no sticky queue either.
  expect(types.at(-1)).toBe('WORKFLOW_EXECUTION_COMPLETED');
}

it('delivers a BASE purchase and a top-up', async () => {
  const target = await harness.topUpTarget(buyer);
  const topUp = await harness.purchase({ account: buyer.account, esimId: target.esimId });
  expect(topUp.answer).toEqual({ status: 'SUCCESS' });
  await harness.result(topUp.transactionId);
  const [base] = await buyer.purchases();
  await harness.result(base!.transaction_id);
  await expectNoFailedTask(base!.transaction_id);
  await expectNoFailedTask(topUp.transactionId);
});

it('gives back what is refused, and syncs the catalogue that caused it', async () => {
  await stack.faults({ priceChanged: 1 });
  const { transactionId, answer } = await harness.purchase({ account: buyer.account });
  expect(answer).toMatchObject({ status: 'REFUSED', refusal: { reason: 'PRICE_CHANGED' } });
  await harness.result(transactionId);
  await expectNoFailedTask(transactionId);
});

it('goes from PROCESSING over a called person to delivered', async () => {
  await stack.faults({ neverAllocate: 1 });
  const { transactionId, answer } = await harness.purchase({ account: buyer.account, timings: ANXIOUS });
  expect(answer).toEqual({ status: 'PROCESSING' });
  await untilRow(stack, transactionId, (row) => row.needs_attention_since !== null, 'flagged');
  await stack.clearFaults();
  expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
  await harness.result(transactionId);
  await expectNoFailedTask(transactionId);
});

it('believes a refusal after doubt only later', async () => {
  await stack.faults({ busy: 1 });
  const { transactionId } = await harness.purchase({ account: buyer.account, timings: HURRIED });
  await stack.faults({ busy: 0, outOfStock: 1 });
  expect((await untilClosed(stack, transactionId)).status).toBe('FAILED');
  await harness.result(transactionId);
  await expectNoFailedTask(transactionId);
});
