// Disputes: each is handled separately, and ends with the outcome that a person enters and the gateway
// confirms. Another dispute may follow.
import { afterEach, expect, it } from 'vitest';
import { reconcileNow } from '../support/money/payers.ts';
import { listOpenDifferences } from '../../src/reconciliation/store/reconciliation.ts';
import { findPurchaseRow } from '../support/people/buyer.ts';
import { disputing } from '../support/money/disputing.ts';
import { movedBy } from '../support/money/fundings.ts';
import { EVIDENCE, newOperator } from '../support/people/operator-actions.ts';
import { atGateway, clearGatewayFaults, gatewayFaults } from '../support/money/payments.ts';
import { startWorkflows } from '../support/world/workflow-harness.ts';

// Nothing changes any more when a run begins.
const env = { SIMWAY_TEST_RECONCILE_SETTLE_MS: '1' };
const { stack, harness, buyer } = await startWorkflows({ env });
const operator = newOperator(stack);
const { dispute, resolve, settle } = disputing(stack, operator);
afterEach(async () => {
  await clearGatewayFaults(stack);
});

async function disputed(): Promise<string> {
  const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD' });
  await atGateway(stack, transactionId, 'pay');
  await harness.result(transactionId);
  await dispute(transactionId);
  return transactionId;
}

const disputesOf = (transactionId: string) =>
  stack.owner
    .selectFrom('disputes')
    .select(['gateway_state', 'outcome'])
    .where('transaction_id', '=', transactionId)
    .orderBy('dispute_id')
    .execute();

/** Runs a reconciliation, and lists its findings about a purchase. */
async function differencesOf(transactionId: string): Promise<string[]> {
  await reconcileNow(stack);
  const open = await listOpenDifferences(stack.world, { transactionId, limit: 10 });
  return open.map(({ kind }) => kind);
}

it('a dispute that the gateway still has open cannot be settled', async () => {
  const transactionId = await disputed();
  expect(await operator.act(transactionId, 'settle-dispute', { evidence: EVIDENCE })).toMatchObject({
    outcome: 'refused',
    code: 'OUTCOME_NEEDED',
  });
  for (const outcome of ['won', 'lost'] as const)
    expect(await settle(transactionId, outcome)).toMatchObject({ outcome: 'refused', code: 'DISPUTE_OPEN' });
  expect(await movedBy(stack, transactionId)).toMatchObject({ 'suspense:USD': 230 });
  expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ attention_reason: 'PAYMENT_DISPUTED' });
  expect(await disputesOf(transactionId)).toEqual([{ gateway_state: 'open', outcome: null }]);
});

it('a dispute won at the gateway can only be settled as won, and the money is ours again', async () => {
  const transactionId = await disputed();
  await resolve(transactionId, 'declined');
  expect(await settle(transactionId, 'lost')).toMatchObject({ code: 'OUTCOME_DIFFERS' });
  expect(await settle(transactionId, 'won')).toMatchObject({ did: 'Dispute won: the money is ours again' });
  expect(await movedBy(stack, transactionId)).toMatchObject({
    'revenue:USD': 230,
    'gateway-clearing:paystack:USD': -230,
  });
  expect(await disputesOf(transactionId)).toEqual([{ gateway_state: 'won', outcome: 'WON' }]);
  expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ attention_reason: null });
});

it('a dispute lost at the gateway can only be settled as lost, and is booked as our loss', async () => {
  const transactionId = await disputed();
  await resolve(transactionId, 'merchant-accepted');
  expect(await settle(transactionId, 'won')).toMatchObject({ code: 'OUTCOME_DIFFERS' });
  expect(await settle(transactionId, 'lost')).toMatchObject({ did: 'Dispute lost: our loss is USD 2.30' });
  const moved = await movedBy(stack, transactionId);
  expect(Object.keys(moved).toSorted()).toEqual(['supplier-cost:USD4', 'supplier-prepaid:esim-access:USD4']);
  expect(await disputesOf(transactionId)).toEqual([{ gateway_state: 'lost', outcome: 'LOST' }]);
});

it('a dispute after a settled one is handled separately', async () => {
  const transactionId = await disputed();
  await resolve(transactionId, 'declined');
  expect(await settle(transactionId, 'won')).toMatchObject({ outcome: 'done' });
  await dispute(transactionId);
  expect(await movedBy(stack, transactionId)).toMatchObject({ 'suspense:USD': 230 });
  await resolve(transactionId, 'merchant-accepted');
  const second = await settle(transactionId, 'lost');
  expect(second).toMatchObject({ did: 'Dispute lost: our loss is USD 2.30' });
  expect(await disputesOf(transactionId)).toEqual([
    { gateway_state: 'won', outcome: 'WON' },
    { gateway_state: 'lost', outcome: 'LOST' },
  ]);
});

it('a settlement against the gateway’s status needs a second person’s approval', async () => {
  const transactionId = await disputed();
  const asked = await settle(transactionId, 'won', { overrides: true });
  expect(asked).toMatchObject({ outcome: 'waits-for-approval' });
  expect(await movedBy(stack, transactionId)).toMatchObject({ 'suspense:USD': 230 });
  const actionId = 'actionId' in asked ? asked.actionId : '';
  expect(await operator.approve(actionId, 'ada')).toMatchObject({ code: 'SAME_PERSON' });
  expect(await operator.approve(actionId, 'grace')).toMatchObject({
    did: 'Dispute won against what the gateway reports: the money is ours again',
  });
  expect(await disputesOf(transactionId)).toEqual([{ gateway_state: 'open', outcome: 'WON' }]);
  expect(await differencesOf(transactionId)).toEqual(['dispute-differs']);
  await resolve(transactionId, 'declined');
  expect(await differencesOf(transactionId)).toEqual([]);
});

it('a dispute open on both sides is no difference; one only at the gateway is', async () => {
  const transactionId = await disputed();
  expect(await differencesOf(transactionId)).toEqual([]);
  await gatewayFaults(stack, { webhooks: 'drop' });
  const { transactionId: withoutEvent } = await harness.purchase({ account: buyer.account, paidBy: 'CARD' });
  await atGateway(stack, withoutEvent, 'pay');
  await operator.act(withoutEvent, 'check-gateway');
  await harness.result(withoutEvent);
  await atGateway(stack, withoutEvent, 'dispute');
  expect(await differencesOf(withoutEvent)).toEqual(['dispute-missing-in-ledger']);
  expect(await operator.act(withoutEvent, 'check-gateway')).toMatchObject({ outcome: 'done' });
  expect(await disputesOf(withoutEvent)).toEqual([{ gateway_state: 'open', outcome: null }]);
  expect(await findPurchaseRow(stack, withoutEvent)).toMatchObject({ attention_reason: 'PAYMENT_DISPUTED' });
  expect(await movedBy(stack, withoutEvent)).toMatchObject({ 'suspense:USD': 230 });
  expect(await differencesOf(withoutEvent)).toEqual([]);
});
