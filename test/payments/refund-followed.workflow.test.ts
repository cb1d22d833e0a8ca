// Refunds and disputes: what operations see of them in Temporal, what monitoring them costs, and a failed
// refund that an operator requests again, each time under a new key: no money is sent twice.
import { afterEach, expect, it } from 'vitest';
import { fetchHistory, summariesOf } from '../support/world/history.ts';
import { EVIDENCE, newOperator } from '../support/people/operator-actions.ts';
import {
  atGateway,
  chargeAt,
  clearGatewayFaults,
  gatewayFaults,
  untilStatus,
} from '../support/money/payments.ts';
import { disputing } from '../support/money/disputing.ts';
import { until } from '../support/time/until.ts';
import { startWorkflows, LONG_ANSWER_TIMINGS, untilListed } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows();
const operator = newOperator(stack);
const { dispute, resolve, settle } = disputing(stack, operator);
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

/** Paid after its end, in a currency without a locked rate, so that its refund cannot be credited. */
async function paidLateInNaira(faults: object): Promise<string> {
  await gatewayFaults(stack, { webhooks: 'drop', refundDelayMs: 10, ...faults });
  const { transactionId } = await harness.purchase({
    account: buyer.account,
    paidBy: 'CARD',
    timings: { ...LONG_ANSWER_TIMINGS, checkoutMs: 300 },
  });
  await harness.result(transactionId);
  await atGateway(stack, transactionId, 'pay', { currency: 'NGN' });
  await operator.act(transactionId, 'check-gateway');
  return transactionId;
}

const listed = (query: string): Promise<string[]> => untilListed(stack, query, (ids) => ids.length === 1);

it('a purchase with a refund in progress is FAILED in Temporal too', async () => {
  await gatewayFaults(stack, { refundDelayMs: 3_600_000 });
  const transactionId = await refunded();
  const found = await listed(
    `TransactionId = '${transactionId}' AND ExecutionStatus = 'Running' AND PurchaseStatus = 'FAILED' AND Reason = 'PACKAGE_UNAVAILABLE'`,
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
  await dispute(transactionId);
  const query = `TransactionId = '${transactionId}' AND ExecutionStatus = 'Running' AND NeedsAttention = true`;
  expect(await listed(`${query} AND Reason = 'PAYMENT_DISPUTED'`)).toEqual([`after-${transactionId}`]);
  await resolve(transactionId, 'declined');
  expect(await settle(transactionId, 'won')).toMatchObject({ outcome: 'done' });
  await stack.temporal.workflow.getHandle(`after-${transactionId}`).result();
  await listed(`WorkflowId = 'after-${transactionId}' AND NeedsAttention = false`);
});

it('a closed purchase that needed attention no longer does when it has ended', async () => {
  const transactionId = await paidLateInNaira({ refund: 'needs-attention' });
  const id = `after-${transactionId}`;
  await listed(`WorkflowId = '${id}' AND NeedsAttention = true`);
  const credited = { evidence: EVIDENCE, amount: { amountMinor: 230n, currency: 'USD' } };
  expect(await operator.act(transactionId, 'credit-wallet', credited)).toMatchObject({ outcome: 'done' });
  await stack.temporal.workflow.getHandle(id).result();
  await listed(`WorkflowId = '${id}' AND NeedsAttention = false`);
});

async function failedRefund(): Promise<string> {
  const transactionId = await paidLateInNaira({ refund: 'fail' });
  await untilRefund(transactionId, { status: 'STUCK', attempt: 1 });
  return transactionId;
}

/** Once it needs attention the workflow checks rarely, so the test asks for a check. */
const untilRefund = (transactionId: string, wanted: { readonly status: string; readonly attempt: number }) =>
  until(
    async () => {
      const refund = await stack.owner
        .selectFrom('refunds')
        .selectAll()
        .where('transaction_id', '=', transactionId)
        .executeTakeFirst();
      if (refund?.status === 'PENDING') await operator.act(transactionId, 'check-gateway');
      return refund;
    },
    (refund) => refund?.status === wanted.status && refund.attempt === wanted.attempt,
    { what: `the refund is ${wanted.status}, attempt ${wanted.attempt}` },
  );

const statusesAtGateway = async (transactionId: string) =>
  (await chargeAt(stack, transactionId)).refunds.map(({ status }) => status).toSorted();

it('a failed refund is requested again whenever an operator asks for it, and sent once', async () => {
  const transactionId = await failedRefund();
  expect(await statusesAtGateway(transactionId)).toEqual(['failed']);
  // It fails once more: a second request by the same person is a separate action.
  expect(await operator.act(transactionId, 'refund-to-source')).toMatchObject({
    outcome: 'done',
    did: 'the gateway is asked again',
  });
  await untilRefund(transactionId, { status: 'STUCK', attempt: 2 });
  expect(await statusesAtGateway(transactionId)).toEqual(['failed', 'failed']);
  await gatewayFaults(stack, { refund: 'process', refundDelayMs: 10 });
  const again = await operator.act(transactionId, 'refund-to-source');
  expect(again).toMatchObject({ outcome: 'done', did: 'the gateway is asked again' });
  expect(again).not.toHaveProperty('again');
  await untilRefund(transactionId, { status: 'DONE', attempt: 3 });
  expect(await statusesAtGateway(transactionId)).toEqual(['failed', 'failed', 'processed']);
  expect(await operator.act(transactionId, 'refund-to-source')).toMatchObject({ code: 'NOTHING_TO_RETURN' });
});

it('a failed refund is requested once when several operators ask at one time', async () => {
  const transactionId = await failedRefund();
  await gatewayFaults(stack, { refund: 'process', refundDelayMs: 10 });
  const made = await Promise.all([1, 2, 3].map(() => operator.act(transactionId, 'refund-to-source')));
  expect(made.every(({ outcome }) => outcome === 'done' || outcome === 'refused')).toBe(true);
  await untilRefund(transactionId, { status: 'DONE', attempt: 2 });
  expect(await statusesAtGateway(transactionId)).toEqual(['failed', 'processed']);
});
