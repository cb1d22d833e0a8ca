// A refund that the gateway lists as failed: an operator requests it again, each time under a new key, and no
// money is sent twice.
import { afterEach, expect, it } from 'vitest';
import { newOperator } from '../support/people/operator-actions.ts';
import { atGateway, chargeAt, clearGatewayFaults, gatewayFaults } from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import { LONG_ANSWER_TIMINGS, startWorkflows } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows();
const operator = newOperator(stack);
afterEach(async () => {
  await clearGatewayFaults(stack);
});

/**
 * Paid in a currency without a locked rate, after the end, so that it cannot be credited when the refund
 * fails.
 */
async function failedRefund(): Promise<string> {
  await gatewayFaults(stack, { webhooks: 'drop', refund: 'fail', refundDelayMs: 10 });
  const { transactionId } = await harness.purchase({
    account: buyer.account,
    paidBy: 'CARD',
    timings: { ...LONG_ANSWER_TIMINGS, checkoutMs: 300 },
  });
  await harness.result(transactionId);
  await atGateway(stack, transactionId, 'pay', { currency: 'NGN' });
  await operator.act(transactionId, 'check-gateway');
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
