// How a purchase begins, and outside events at that time: no worker, the same id again, a cancel request, a
// refusal after the answer.
import { WorkflowNotFoundError } from '@temporalio/client';
import { sql } from 'kysely';
import { afterEach, expect, it } from 'vitest';
import type { Lifecycle } from '../../src/app/processes/lifecycle.ts';
import { runWorker } from '../../src/app/processes/worker.ts';
import { supplierQueue } from '../../workflows/contract.ts';
import { findPurchaseRow, holdOf, newBuyer, timelineOf, untilClosed } from '../support/people/buyer.ts';
import { eventTypes, fetchHistory } from '../support/world/history.ts';
import { startWorkflows, SHORT_ANSWER_TIMINGS, untilListed } from '../support/world/workflow-harness.ts';

const ANSWER_WITHIN_MS = 1_500;
/** What a busy machine may add to a deadline. With it the answer still comes before the 8 s of production. */
const SLACK_MS = 6_000;

const { stack, harness, buyer } = await startWorkflows({
  timings: { ...SHORT_ANSWER_TIMINGS, answerWithinMs: ANSWER_WITHIN_MS },
  // A statement that waits for a lock ends before its step does, as in production.
  env: { SIMWAY_DATABASE_STATEMENT_TIMEOUT_MS: '2000' },
});
afterEach(() => stack.clearFaults());

async function withoutWorker(what: () => Promise<void>): Promise<void> {
  await stack.stopWorker();
  try {
    await what();
  } finally {
    await stack.startWorker();
  }
}

it('without a worker the API answers PROCESSING by its deadline, and the purchase completes when one comes', async () => {
  let transactionId = '';
  await withoutWorker(async () => {
    const startedAtMs = performance.now();
    const answer = await buyer.buy('SIM-OK');
    expect(performance.now() - startedAtMs).toBeLessThan(ANSWER_WITHIN_MS + SLACK_MS);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      status: 'PROCESSING',
      package: { packageCode: 'SIM-OK', price: 2.3 },
    });
    expect(answer.body).not.toHaveProperty('esimDetails');
    ({ transactionId } = answer.body);
    expect(await findPurchaseRow(stack, transactionId)).toBeUndefined();
  });
  expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
  const read = await buyer.read(`/api/esim/transactions/${transactionId}`);
  expect(read.body).toMatchObject({ transactionId, status: 'SUCCESS' });
  expect(read.body.esimDetails.activationCode).toMatch(/^LPA:1\$/);
});

it('a refusal after the answer PROCESSING is stored, so that reads show how the purchase ended', async () => {
  const poor = await newBuyer(stack, { fundsMinor: 1n });
  let transactionId = '';
  await withoutWorker(async () => {
    const answer = await poor.buy('SIM-OK', { idempotencyKey: 'late-refusal' });
    expect(answer.body.status).toBe('PROCESSING');
    ({ transactionId } = answer.body);
  });
  const row = await untilClosed(stack, transactionId);
  expect(row).toMatchObject({ status: 'FAILED', reason: 'INSUFFICIENT_BALANCE' });
  expect(await holdOf(stack, transactionId)).toBeUndefined();
  expect(await timelineOf(stack, transactionId)).toEqual(['refused']);
  const read = await poor.read(`/api/esim/transactions/${transactionId}`);
  expect(read.body).toMatchObject({ status: 'FAILED', reason: 'INSUFFICIENT_BALANCE' });
  const mine = await poor.read('/api/esim/my-esims');
  expect(mine.body).toMatchObject({ total: 1, esims: [{ transactionId, esimStatus: 'FAILED', iccid: '' }] });
  expect(await stack.supplierOrders(transactionId)).toEqual([]);
});

it('a refusal that Postgres delayed until after the answer is stored, too', async () => {
  const poor = await newBuyer(stack, { fundsMinor: 1n });
  // The purchase's first step reads this table; the API does not while it waits.
  const lock = await stack.owner.startTransaction().execute();
  await sql`lock table esims in access exclusive mode`.execute(lock);
  const { body } = await poor.buy('SIM-OK');
  await lock.rollback().execute();
  expect(body.status).toBe('PROCESSING');
  await untilClosed(stack, body.transactionId);
  const read = await poor.read(`/api/esim/transactions/${body.transactionId}`);
  expect(read.body).toMatchObject({ status: 'FAILED', reason: 'INSUFFICIENT_BALANCE' });
  expect(await poor.balanceMinor()).toBe(1n);
});

it('the same purchase requested many times at once and again later is one purchase with one answer', async () => {
  const input = harness.inputFor();
  const balance = await buyer.balanceMinor();
  const answers = await Promise.all(Array.from({ length: 8 }, () => harness.ask(input)));
  expect(answers).toEqual(answers.map(() => ({ status: 'SUCCESS' })));
  expect(await harness.result(input.transactionId)).toEqual({ status: 'SUCCESS' });
  expect(await harness.ask(input)).toEqual({ status: 'SUCCESS' });
  expect(await buyer.balanceMinor()).toBe(balance - 230n);
  expect(await stack.supplierOrders(input.transactionId)).toHaveLength(1);
  await untilListed(stack, `TransactionId = '${input.transactionId}'`, (ids) => ids.length === 1);
  const history = await fetchHistory(stack, input.transactionId);
  const updates = eventTypes(history).filter((event) => event === 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED');
  expect(updates).toHaveLength(1);
});

it('a cancel request before the first step changes nothing either', async () => {
  let transactionId = '';
  await withoutWorker(async () => {
    ({ transactionId } = (await buyer.buy('SIM-OK')).body);
    await stack.temporal.workflow.getHandle(transactionId).cancel();
  });
  expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
  expect(await harness.result(transactionId)).toEqual({ status: 'SUCCESS' });
});

it('an update with an unknown name is refused', async () => {
  const { transactionId } = await harness.purchase();
  const handle = stack.temporal.workflow.getHandle(transactionId);
  await expect(handle.executeUpdate('refund', { args: ['everything'] })).rejects.toThrow();
  await expect(handle.signal('markPaid')).rejects.toThrow(WorkflowNotFoundError);
  expect((await findPurchaseRow(stack, transactionId))?.status).toBe('SUCCESS');
});

it('a delivery whose task never reached its worker is retried long before its time limit', async () => {
  const workerOfOrders = async (): Promise<Lifecycle> =>
    runWorker({ ...stack.context, processName: 'worker' }, ['orders']);
  await stack.stopWorker();
  const orders = await workerOfOrders();
  // The inline attempt inside the purchase's own task must leave something to do.
  await stack.faults({ busy: { next: 1 } });
  const input = harness.inputFor();
  const answer = harness.ask(input);
  const lost = await stack.temporal.withDeadline(Date.now() + 30_000, () =>
    stack.temporal.workflowService.pollActivityTaskQueue({
      namespace: stack.namespace,
      taskQueue: { name: supplierQueue('esim-access') },
      identity: 'a worker that has died',
    }),
  );
  expect(lost.workflowExecution?.workflowId).toBe(input.transactionId);
  await orders.stop();
  await stack.startWorker();
  expect(await answer).toEqual({ status: 'SUCCESS' });
  expect(await stack.supplierOrders(input.transactionId)).toHaveLength(1);
});
