// A purchase or a funding that is past its payment goes on where it is, however its workflow came to begin
// again: continued as new, or restarted by an operator. It never waits for money that is booked already.
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { findPurchaseRow, untilClosed } from '../support/people/buyer.ts';
import { fundThroughGateway, untilFunding } from '../support/money/fundings.ts';
import {
  atGateway,
  buyThroughGateway,
  chargeAt,
  confirm,
  gatewayChecks,
  gatewayFaults,
} from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import {
  expectEndsSoon,
  loseWorkflow,
  paidPurchase,
  startSequences,
  untilContinuedAsNew,
  untilOrdered,
} from './support.ts';

const sequences = await startSequences();
const { stack, buyer, operator } = sequences;

/** Paid, ordered, and not allocated. */
async function beingDelivered(): Promise<string> {
  await stack.faults({ neverAllocate: 1 });
  const transactionId = await paidPurchase(sequences);
  await untilOrdered(stack, transactionId);
  return transactionId;
}

const untilPaid = (transactionId: string) =>
  until(
    () => findPurchaseRow(stack, transactionId),
    (row) => row !== undefined && row.status !== 'PENDING',
    { what: `${transactionId} paid` },
  );

/** A refund that the gateway holds until the test ends it. */
async function untilRefundIsHeld(reference: string): Promise<string> {
  const held = await until(
    () => chargeAt(stack, reference),
    ({ refunds }) => refunds.length === 1,
    { what: 'the refund at the gateway' },
  );
  return String(held.refunds[0]?.id);
}

async function endRefund(refundId: string): Promise<void> {
  const answer = await fetch(`${stack.gatewayControlUrl}/refunds/${refundId}/process`, { method: 'POST' });
  if (!answer.ok) throw new Error(await answer.text());
}

const untilRefundDone = (transactionId: string) =>
  until(
    () =>
      stack.owner
        .selectFrom('refunds')
        .select('status')
        .where('transaction_id', '=', transactionId)
        .execute(),
    (refunds) => refunds.length === 1 && refunds[0]?.status === 'DONE',
    { what: `the refund of ${transactionId} done` },
  );

/** What runs for a purchase, whichever workflow that is. */
async function runningFor(transactionId: string): Promise<string> {
  const query = `TransactionId = '${transactionId}' AND ExecutionStatus = 'Running'`;
  const [workflowId] = await until(
    async () => {
      const ids: string[] = [];
      for await (const workflow of stack.temporal.workflow.list({ query })) ids.push(workflow.workflowId);
      return ids;
    },
    (ids) => ids.length === 1,
    { what: `one workflow for ${transactionId}` },
  );
  return workflowId!;
}

it('a paid purchase that continues as new goes on being delivered', async () => {
  const transactionId = await beingDelivered();
  await untilContinuedAsNew(stack, transactionId);
  await stack.clearFaults();
  await expectEndsSoon(stack, transactionId, 'SUCCESS');
});

it('a paid purchase whose workflow is lost is delivered once an operator retries its delivery', async () => {
  const transactionId = await beingDelivered();
  await loseWorkflow(stack, transactionId);
  expect((await operator.preview(transactionId))?.fits).toContain('retry-delivery');
  expect(await operator.act(transactionId, 'retry-delivery')).toMatchObject({ outcome: 'done' });
  await stack.clearFaults();
  await expectEndsSoon(stack, transactionId, 'SUCCESS');
});

it('a paid purchase whose workflow is lost goes on after any action of an operator', async () => {
  const transactionId = await beingDelivered();
  await loseWorkflow(stack, transactionId);
  await stack.clearFaults();
  expect(await operator.act(transactionId, 'check-supplier')).toMatchObject({ outcome: 'done' });
  await expectEndsSoon(stack, transactionId, 'SUCCESS');
});

it('money that a check books while the workflow waits to continue as new is delivered for', async () => {
  await gatewayFaults(stack, { webhooks: 'drop' });
  const { transactionId } = await buyThroughGateway(stack, buyer.account);
  // Two callers: the second check begins when the first has ended, and keeps the workflow from continuing as
  // new until it has ended too.
  await gatewayFaults(stack, { webhooks: 'drop', latencyMs: 2_000 });
  const before = await gatewayChecks(stack);
  const first = confirm(stack, buyer.account, transactionId);
  await pause(400);
  const second = confirm(stack, buyer.account, transactionId);
  await pause(200);
  const renewed = untilContinuedAsNew(stack, transactionId);
  await until(
    () => gatewayChecks(stack),
    (checks) => checks > before,
    { what: 'the first check answered', everyMs: 20 },
  );
  await atGateway(stack, transactionId, 'pay');
  await Promise.all([first, second, renewed]);
  await gatewayFaults(stack, { webhooks: 'drop', latencyMs: 0 });
  await untilPaid(transactionId);
  await expectEndsSoon(stack, transactionId, 'SUCCESS');
});

it('the refund of a failed funding is followed after its workflow continued as new', async () => {
  await gatewayFaults(stack, { webhooks: 'drop', refund: 'pending' });
  const { transactionId } = await fundThroughGateway(stack, buyer.account, { amount: 10, method: 'CARD' });
  await atGateway(stack, transactionId, 'pay', { currency: 'NGN', amountMinor: 500_000 });
  await confirm(stack, buyer.account, transactionId);
  await untilFunding(stack, transactionId, 'FAILED');
  const refundId = await untilRefundIsHeld(transactionId);
  await untilContinuedAsNew(stack, transactionId);
  await endRefund(refundId);
  expect(await untilRefundDone(transactionId)).toHaveLength(1);
});

it('the goodwill refund of a delivered purchase is followed after its workflow continued as new', async () => {
  await stack.faults({ neverAllocate: 1 });
  const transactionId = await paidPurchase(sequences);
  await untilOrdered(stack, transactionId);
  // A check that takes long keeps the workflow open while it is delivered and refunded.
  await gatewayFaults(stack, { webhooks: 'drop', refund: 'pending', latencyMs: 2_000 });
  const checked = confirm(stack, buyer.account, transactionId);
  await pause(300);
  await stack.clearFaults();
  expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
  const refunded = await operator.act(transactionId, 'refund-to-source', {
    amount: { amountMinor: 100n, currency: 'USD' },
    goodwill: true,
  });
  expect(refunded).toMatchObject({ outcome: 'done' });
  await gatewayFaults(stack, { webhooks: 'drop', refund: 'pending', latencyMs: 0 });
  await checked;
  const refundId = await untilRefundIsHeld(transactionId);
  await untilContinuedAsNew(stack, await runningFor(transactionId));
  await endRefund(refundId);
  expect(await untilRefundDone(transactionId)).toHaveLength(1);
});
