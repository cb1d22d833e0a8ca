// What `reversed` means beside refunds of our own: only what is not our refund was taken back.
import { afterEach, expect, it } from 'vitest';
import { findPurchaseRow, timelineOf, untilClosed } from '../support/people/buyer.ts';
import { movedBy } from '../support/money/fundings.ts';
import { newOperator } from '../support/people/operator-actions.ts';
import { atGateway, chargeAt, clearGatewayFaults, gatewayFaults } from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import { startWorkflows } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: null } });
const operator = newOperator(stack);
afterEach(async () => {
  await stack.clearFaults();
  await clearGatewayFaults(stack);
});

async function refundedInPart(): Promise<string> {
  const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD' });
  await atGateway(stack, transactionId, 'pay');
  await harness.result(transactionId);
  const asked = { goodwill: true, amount: { amountMinor: 100n, currency: 'USD' } };
  expect(await operator.act(transactionId, 'refund-to-source', asked)).toMatchObject({ outcome: 'done' });
  await until(
    async () => (await chargeAt(stack, transactionId)).refunds[0]?.status,
    (status) => status === 'processed',
    { what: 'the part is sent back' },
  );
  await until(
    () => timelineOf(stack, transactionId),
    (timeline) => timeline.includes('refunded'),
    { what: 'the part is booked as sent back' },
  );
  return transactionId;
}

const attentionOf = async (transactionId: string) =>
  (await findPurchaseRow(stack, transactionId))?.attention_reason;

it.each(['reversed', 'reversal-pending'] as const)(
  'a charge that is called %s after a part went back at our request keeps the rest',
  async (word) => {
    const transactionId = await refundedInPart();
    const before = await movedBy(stack, transactionId);
    await gatewayFaults(stack, { refundShows: word });
    const checked = await operator.act(transactionId, 'check-gateway');
    expect(await movedBy(stack, transactionId)).toEqual(before);
    expect(await attentionOf(transactionId)).toBeNull();
    expect(checked).toMatchObject({ outcome: 'done' });
    expect(JSON.stringify(checked)).not.toMatch(/does not|unknown/);
  },
);

it('a full refund of ours that the gateway shows as reversed is a refund, with its line', async () => {
  const order = { account: buyer.account, paidBy: 'CARD', packageCode: 'SIM-OUT-OF-STOCK' } as const;
  const { transactionId } = await harness.purchase(order);
  // The request is carried out, and its answer is lost.
  await gatewayFaults(stack, {
    refundDelayMs: 0,
    network: { kind: 'timeout-after', operation: 'refund', next: 1 },
  });
  await atGateway(stack, transactionId, 'pay');
  await untilClosed(stack, transactionId);
  await until(
    () => timelineOf(stack, transactionId),
    (timeline) => timeline.some((what) => what === 'refunded' || what === 'payment-reversed'),
    { what: 'the refund has ended' },
  );
  expect(await timelineOf(stack, transactionId)).toContain('refunded');
  expect(await timelineOf(stack, transactionId)).not.toContain('payment-reversed');
});
