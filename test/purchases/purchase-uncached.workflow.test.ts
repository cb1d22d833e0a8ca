// Every path again on a worker that keeps no workflow in memory: each task replays the whole history, so code
// that is not deterministic shows here as a purchase that does not end.
import { afterEach, expect, it } from 'vitest';
import { untilClosed } from '../support/people/buyer.ts';
import { eventTypes, fetchHistory } from '../support/world/history.ts';
import { atGateway, confirm } from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import { startWorkflows, LONG_ANSWER_TIMINGS } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows({ env: { SIMWAY_WORKER_CACHED_WORKFLOWS: '0' } });
afterEach(() => stack.clearFaults());

/** Failures of the workflow's own tasks: a step may take too long on a busy machine, and is then retried. */
async function expectNoFailedTask(transactionId: string): Promise<void> {
  const types = eventTypes(await fetchHistory(stack, transactionId));
  expect(types.filter((type) => /^WORKFLOW_TASK_(FAILED|TIMED_OUT)/.test(type))).toEqual([]);
  // Without a cache there is no sticky queue either.
  expect(types.at(-1)).toBe('WORKFLOW_EXECUTION_COMPLETED');
}

it('a worker without a cache waits for money while many callers check it, and delivers', async () => {
  const { transactionId } = await harness.purchase({ paidBy: 'BANK_TRANSFER' });
  await Promise.all([1, 2, 3].map(() => confirm(stack, buyer.account, transactionId)));
  await atGateway(stack, transactionId, 'pay', { times: 2 });
  await Promise.all([1, 2, 3].map(() => confirm(stack, buyer.account, transactionId)));
  expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
  await harness.result(transactionId);
  await expectNoFailedTask(transactionId);
});

it('a worker without a cache ends an unpaid purchase, and books later money', async () => {
  const timings = { ...LONG_ANSWER_TIMINGS, checkoutMs: 500 };
  const { transactionId } = await harness.purchase({ paidBy: 'CARD', timings });
  expect((await untilClosed(stack, transactionId)).reason).toBe('PAYMENT_EXPIRED');
  await harness.result(transactionId);
  await expectNoFailedTask(transactionId);
  const before = await buyer.balanceMinor();
  await atGateway(stack, transactionId, 'pay');
  await until(
    () => buyer.balanceMinor(),
    (balance) => balance === before + 230n,
    { what: 'the money in the wallet' },
  );
  await harness.result(`after-${transactionId}`);
  await expectNoFailedTask(`after-${transactionId}`);
});
