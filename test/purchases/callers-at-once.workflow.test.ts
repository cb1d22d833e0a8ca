// Callers that repeat their requests do not delay a purchase, however many they are.
import { expect, it } from 'vitest';
import { findPurchaseRow } from '../support/people/buyer.ts';
import { atGateway, confirm, gatewayFaults, untilStatus } from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import { startWorkflows, SHORT_ANSWER_TIMINGS } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows(
  {},
  { plan: 'ENTERPRISE', requestsPerMinute: 100_000 },
);

it('overlapping calls of confirm-payment do not delay a delivery that is paid for', async () => {
  // Every check at the gateway takes so long that the next caller arrives before it has ended.
  await gatewayFaults(stack, { latencyMs: 500 });
  await stack.faults({ neverAllocate: 1 });
  const { transactionId } = await harness.purchase({
    account: buyer.account,
    paidBy: 'CARD',
    timings: { ...SHORT_ANSWER_TIMINGS, answerWithinMs: 3_000 },
  });
  await atGateway(stack, transactionId, 'pay');
  await untilStatus(stack, transactionId, 'PROCESSING');
  let asked = 0;
  let isOver = false;
  const ask = async (delayMs: number): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    while (!isOver) {
      await confirm(stack, buyer.account, transactionId);
      asked += 1;
    }
  };
  const callers = [0, 120, 240, 360].map((delayMs) => ask(delayMs));
  try {
    await until(
      () => Promise.resolve(asked),
      (count) => count > 8,
      { what: 'callers that overlap' },
    );
    await stack.clearFaults();
    await until(
      () => findPurchaseRow(stack, transactionId),
      (row) => row?.status === 'SUCCESS',
      { what: 'delivered during further calls' },
    );
  } finally {
    isOver = true;
    await Promise.all(callers);
  }
  expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
});
