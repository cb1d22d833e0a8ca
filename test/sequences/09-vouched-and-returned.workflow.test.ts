// Money that a person vouched for, and that the gateway later reports as returned: a person is asked, it is
// listed, and the books show it.
import { afterEach, expect, it } from 'vitest';
import { findPurchaseRow, untilClosed } from '../support/people/buyer.ts';
import { fundThroughGateway, movedBy, untilBalance, untilFunding } from '../support/money/fundings.ts';
import { EVIDENCE, newOperator } from '../support/people/operator-actions.ts';
import { atGateway, clearGatewayFaults, gatewayFaults } from '../support/money/payments.ts';
import { newBuyer } from '../support/people/buyer.ts';
import { startWorkflows } from '../support/world/workflow-harness.ts';
import { findStuckRows } from '../../src/operations/store/stuck.ts';
import { stuckLimits } from '../../src/operations/stuck-rules.ts';
import { LONG_ANSWER_TIMINGS } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows();
const operator = newOperator(stack);
afterEach(() => clearGatewayFaults(stack));

async function stuckReasons(transactionId: string): Promise<string[]> {
  const rows = await findStuckRows(stack.world, {
    now: new Date(),
    limits: stuckLimits(LONG_ANSWER_TIMINGS),
    limit: 1_000,
  });
  return rows.filter((row) => row.transaction_id === transactionId).map(({ reason }) => reason);
}

it('a purchase vouched for, delivered, and returned by the gateway is a dispute that a person settles', async () => {
  await gatewayFaults(stack, { webhooks: 'drop' });
  const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD' });
  const vouched = await operator.act(transactionId, 'mark-paid', { evidence: EVIDENCE });
  expect(vouched).toMatchObject({ outcome: 'done' });
  await untilClosed(stack, transactionId);
  await atGateway(stack, transactionId, 'pay');
  await atGateway(stack, transactionId, 'reverse');
  await operator.act(transactionId, 'check-gateway');
  const row = await findPurchaseRow(stack, transactionId);
  expect([row?.status, row?.attention_reason]).toEqual(['SUCCESS', 'PAYMENT_REVERSED']);
  expect(await stuckReasons(transactionId)).toContain('PAYMENT_REVERSED');
  const moved = await movedBy(stack, transactionId);
  expect(moved).not.toHaveProperty('evidence:USD');
  expect(moved).toMatchObject({ 'suspense:USD': -230 });
  const settled = await operator.act(transactionId, 'settle-dispute', {
    evidence: EVIDENCE,
    outcome: 'lost',
  });
  expect(settled).toMatchObject({ outcome: 'done' });
  expect(
    Object.keys(await movedBy(stack, transactionId)).filter((account) => account.endsWith('USD')),
  ).toEqual([]);
});

it('a funding vouched for and returned by the gateway leaves the wallet without it, or owing', async () => {
  await gatewayFaults(stack, { webhooks: 'drop' });
  const payer = await newBuyer(stack, { fundsMinor: 0n });
  const { account } = payer;
  const { transactionId } = await fundThroughGateway(stack, account, { amount: 5, method: 'CARD' });
  expect(await operator.act(transactionId, 'mark-paid', { evidence: EVIDENCE })).toMatchObject({
    outcome: 'done',
  });
  await untilFunding(stack, transactionId, 'SUCCESS');
  expect((await payer.buy('SIM-OK')).body.status).toBe('SUCCESS');
  await atGateway(stack, transactionId, 'pay');
  await atGateway(stack, transactionId, 'reverse');
  await operator.act(transactionId, 'check-gateway');
  await untilBalance(stack, account, 0);
  const { body } = await stack.call('GET', '/api/wallet/balance', { key: account.apiKey });
  expect(body.data).toMatchObject({ balance: 0, owed: 2.3 });
  expect(await stuckReasons(transactionId)).toContain('PAYMENT_REVERSED');
});
