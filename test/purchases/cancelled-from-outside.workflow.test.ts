// "Request cancellation" pressed in the Temporal UI, at every stage: nothing changes, for the workflow and
// for its callers.
import { afterEach, describe, expect, it } from 'vitest';
import { findPurchaseRow, holdOf, untilClosed } from '../support/people/buyer.ts';
import { fundThroughGateway, untilFunding } from '../support/money/fundings.ts';
import { eventTypes, fetchHistory } from '../support/world/history.ts';
import { newOperator } from '../support/people/operator-actions.ts';
import {
  atGateway,
  chargeAt,
  clearGatewayFaults,
  confirm,
  gatewayFaults,
  untilStatus,
} from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import {
  startWorkflows,
  SHORT_ANSWER_TIMINGS,
  LONG_ANSWER_TIMINGS,
} from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: null } });
const operator = newOperator(stack);
afterEach(async () => {
  await stack.clearFaults();
  await clearGatewayFaults(stack);
});

/** Only the test calls it. */
const NEVER_MS = 3_600_000;
const RARE_CHECK_TIMINGS = {
  ...SHORT_ANSWER_TIMINGS,
  attentionAfterMs: NEVER_MS,
  checkFirstMs: NEVER_MS,
  checkMaxMs: NEVER_MS,
};
const UNASKED = { ...LONG_ANSWER_TIMINGS, checkoutMs: NEVER_MS, pollFirstMs: NEVER_MS, pollMaxMs: NEVER_MS };

async function cancel(workflowId: string): Promise<void> {
  await stack.temporal.workflow.getHandle(workflowId).cancel();
  await until(
    async () => eventTypes(await fetchHistory(stack, workflowId)),
    (types) =>
      types.lastIndexOf('WORKFLOW_TASK_COMPLETED') > types.indexOf('WORKFLOW_EXECUTION_CANCEL_REQUESTED'),
    { what: `${workflowId} has seen the cancellation` },
  );
}

describe('a purchase that waits for its money', () => {
  it('is delivered once it is checked and the money is there', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const { transactionId } = await harness.purchase({
      account: buyer.account,
      paidBy: 'CARD',
      timings: UNASKED,
    });
    await cancel(transactionId);
    await atGateway(stack, transactionId, 'pay');
    expect((await confirm(stack, buyer.account, transactionId)).body.status).not.toBe('PENDING');
    expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
    expect(await harness.result(transactionId)).toEqual({ status: 'SUCCESS' });
  });

  it('can be cancelled by an operator', async () => {
    const { transactionId } = await harness.purchase({
      account: buyer.account,
      paidBy: 'CARD',
      timings: UNASKED,
    });
    await cancel(transactionId);
    expect(await operator.act(transactionId, 'cancel')).toMatchObject({ outcome: 'done' });
    expect(await harness.result(transactionId)).toMatchObject({ reason: 'CANCELLED_BY_OPERATOR' });
  });
});

describe('a paid purchase in the middle of its delivery', () => {
  it('is delivered as usual', async () => {
    await stack.faults({ neverAllocate: 1 });
    const { transactionId } = await harness.purchase({
      account: buyer.account,
      timings: SHORT_ANSWER_TIMINGS,
    });
    await cancel(transactionId);
    await stack.clearFaults();
    expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
    expect(await harness.result(transactionId)).toEqual({ status: 'SUCCESS' });
  });

  it.each(['retry-delivery', 'check-supplier', 'cancel'] as const)(
    'accepts the operator action %s',
    async (action) => {
      await stack.faults({ neverAllocate: 1 });
      const { transactionId } = await harness.purchase({
        account: buyer.account,
        timings: RARE_CHECK_TIMINGS,
      });
      await cancel(transactionId);
      await stack.clearFaults();
      expect(await operator.act(transactionId, action)).toMatchObject({ outcome: 'done' });
      const { status } = await untilClosed(stack, transactionId);
      expect(status).toBe(action === 'cancel' ? 'FAILED' : 'SUCCESS');
      expect(await holdOf(stack, transactionId)).toBe(action === 'cancel' ? 'VOIDED' : 'POSTED');
    },
  );
});

describe('money in transit', () => {
  it('into a wallet is credited', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const { transactionId } = await fundThroughGateway(stack, buyer.account, { amount: 10, method: 'CARD' });
    await cancel(transactionId);
    await atGateway(stack, transactionId, 'pay');
    await confirm(stack, buyer.account, transactionId);
    await untilFunding(stack, transactionId, 'SUCCESS');
    const { body } = await confirm(stack, buyer.account, transactionId);
    expect(body.timeline.map(({ what }) => what)).toEqual(['opened', 'wallet-credited']);
  });

  it('back to the buyer is followed until it is sent, and its workflow answers', async () => {
    await stack.faults({ outOfStock: 1 });
    await gatewayFaults(stack, { refundDelayMs: 1_500 });
    const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD' });
    await atGateway(stack, transactionId, 'pay');
    await untilStatus(stack, transactionId, 'FAILED');
    await cancel(transactionId);
    expect(await operator.act(transactionId, 'check-gateway')).toMatchObject({ outcome: 'done' });
    await until(
      () => chargeAt(stack, transactionId),
      ({ refunds }) => refunds[0]?.status === 'processed',
      { what: 'the refund sent' },
    );
    expect(await harness.result(transactionId)).toMatchObject({ status: 'FAILED', reason: 'OUT_OF_STOCK' });
  });

  it('for a closed purchase is booked', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const timings = { ...LONG_ANSWER_TIMINGS, checkoutMs: 300 };
    const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD', timings });
    await harness.result(transactionId);
    const before = await buyer.balanceMinor();
    // Its workflow checks at a gateway that is down, and is cancelled meanwhile.
    await gatewayFaults(stack, { error: 1 });
    void confirm(stack, buyer.account, transactionId);
    await until(
      async () => {
        const found: string[] = [];
        const query = `TransactionId = '${transactionId}' AND ExecutionStatus = 'Running'`;
        for await (const { workflowId } of stack.temporal.workflow.list({ query })) found.push(workflowId);
        return found;
      },
      (found) => found.length === 1,
      { what: 'its workflow' },
    ).then(([workflowId]) => cancel(workflowId ?? ''));
    await atGateway(stack, transactionId, 'pay');
    await clearGatewayFaults(stack);
    await until(
      () => buyer.balanceMinor(),
      (balance) => balance === before + 230n,
      { what: 'the money in the wallet' },
    );
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'FAILED' });
  });
});
