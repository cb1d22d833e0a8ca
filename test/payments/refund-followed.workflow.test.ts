// Refunds and disputes: what operations see of them in Temporal, and what monitoring them costs.
import { afterEach, expect, it } from 'vitest';
import { fetchHistory, summariesOf } from '../support/world/history.ts';
import { EVIDENCE, newOperator } from '../support/people/operator-actions.ts';
import { atGateway, clearGatewayFaults, gatewayFaults, untilStatus } from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import { startWorkflows, LONG_ANSWER_TIMINGS, untilListed } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows();
const operator = newOperator(stack);
afterEach(async () => {
  await stack.clearFaults();
  await clearGatewayFaults(stack);
});

/** Paid and not deliverable, so its money is refunded. */
async function refunded(): Promise<string> {
  await stack.faults({ outOfStock: 1 });
  const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD' });
  await atGateway(stack, transactionId, 'pay');
  await stack.temporal.workflow.getHandle(transactionId).signal('checkPaymentSoon');
  await untilStatus(stack, transactionId, 'FAILED');
  return transactionId;
}

const listed = (query: string): Promise<string[]> => untilListed(stack, query, (ids) => ids.length === 1);

it('a purchase with a refund in progress is FAILED in Temporal too', async () => {
  await gatewayFaults(stack, { refundDelayMs: 3_600_000 });
  const transactionId = await refunded();
  const found = await listed(
    `TransactionId = '${transactionId}' AND ExecutionStatus = 'Running' AND PurchaseStatus = 'FAILED' AND Reason = 'OUT_OF_STOCK'`,
  );
  expect(found).toEqual([transactionId]);
});

it('a blocked refund is checked rarely once it needs attention, and at once when the gateway has news', async () => {
  // No events: one about the refund would be news, and may come before or after attention is raised.
  await gatewayFaults(stack, { webhooks: 'drop', refund: 'needs-attention', refundDelayMs: 10 });
  const transactionId = await refunded();
  await listed(
    `TransactionId = '${transactionId}' AND NeedsAttention = true AND Reason = 'REFUND_NEEDS_ATTENTION'`,
  );
  const asked = async (): Promise<number> =>
    summariesOf(await fetchHistory(stack, transactionId)).filter((summary) => summary.startsWith('Money:'))
      .length;
  const before = await asked();
  // Long enough for fifteen checks at the earlier pace.
  const endsAtMs = Date.now() + 6_000;
  await until(
    () => Date.now(),
    (nowMs) => nowMs > endsAtMs,
    { what: 'six seconds' },
  );
  expect(await asked()).toBe(before);
  expect((await fetchHistory(stack, transactionId)).events.length).toBeLessThan(100);
  await stack.temporal.workflow.getHandle(transactionId).signal('checkPaymentSoon');
  await until(asked, (count) => count > before, { what: 'asked again' });
});

it('a dispute of a delivered purchase can be found until a person has settled it', async () => {
  const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD' });
  await atGateway(stack, transactionId, 'pay');
  await untilStatus(stack, transactionId, 'SUCCESS');
  await harness.result(transactionId);
  await atGateway(stack, transactionId, 'dispute');
  const query = `TransactionId = '${transactionId}' AND ExecutionStatus = 'Running' AND NeedsAttention = true`;
  expect(await listed(`${query} AND Reason = 'PAYMENT_DISPUTED'`)).toEqual([`after-${transactionId}`]);
  await atGateway(stack, transactionId, 'dispute', { action: 'resolve', resolution: 'declined' });
  const settled = await operator.act(transactionId, 'settle-dispute', { evidence: EVIDENCE, outcome: 'won' });
  expect(settled).toMatchObject({ outcome: 'done' });
  await stack.temporal.workflow.getHandle(`after-${transactionId}`).result();
  await listed(`WorkflowId = 'after-${transactionId}' AND NeedsAttention = false`);
});

it('a closed purchase that needed attention no longer does when it has ended', async () => {
  await gatewayFaults(stack, { webhooks: 'drop', refund: 'needs-attention', refundDelayMs: 10 });
  const { transactionId } = await harness.purchase({
    account: buyer.account,
    paidBy: 'CARD',
    timings: { ...LONG_ANSWER_TIMINGS, checkoutMs: 300 },
  });
  await harness.result(transactionId);
  await atGateway(stack, transactionId, 'pay', { currency: 'NGN' });
  await operator.act(transactionId, 'check-gateway');
  const id = `after-${transactionId}`;
  await listed(`WorkflowId = '${id}' AND NeedsAttention = true`);
  const credited = { evidence: EVIDENCE, amount: { amountMinor: 230n, currency: 'USD' } };
  expect(await operator.act(transactionId, 'credit-wallet', credited)).toMatchObject({ outcome: 'done' });
  await stack.temporal.workflow.getHandle(id).result();
  await listed(`WorkflowId = '${id}' AND NeedsAttention = false`);
});
