// "Request cancellation" pressed in the Temporal UI: nothing changes, for the workflow and for its callers.
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
  LONG_ANSWER_TIMINGS,
  RARE_CHECK_TIMINGS,
  startWorkflows,
} from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: null } });
const operator = newOperator(stack);
afterEach(async () => {
  await stack.clearFaults();
  await clearGatewayFaults(stack);
});

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
    const { transactionId } = await harness.purchase({ paidBy: 'CARD', timings: RARE_CHECK_TIMINGS });
    await cancel(transactionId);
    await atGateway(stack, transactionId, 'pay');
    expect((await confirm(stack, buyer.account, transactionId)).body.status).not.toBe('PENDING');
    expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
    expect(await harness.result(transactionId)).toEqual({ status: 'SUCCESS' });
  });
});

describe('a paid purchase in the middle of its delivery', () => {
  it.each(['retry-delivery', 'check-supplier', 'cancel'] as const)(
    'accepts the operator action %s',
    async (action) => {
      await stack.faults({ neverAllocate: 1 });
      const { transactionId } = await harness.purchase({ timings: RARE_CHECK_TIMINGS });
      await until(() => harness.isParked(transactionId), Boolean, { what: 'its first attempt is over' });
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
    const { transactionId } = await harness.purchase({ paidBy: 'CARD' });
    await atGateway(stack, transactionId, 'pay');
    await untilStatus(stack, transactionId, 'FAILED');
    await cancel(transactionId);
    expect(await operator.act(transactionId, 'check-gateway')).toMatchObject({ outcome: 'done' });
    await until(
      () => chargeAt(stack, transactionId),
      ({ refunds }) => refunds[0]?.status === 'processed',
      { what: 'the refund sent' },
    );
    expect(await harness.result(transactionId)).toMatchObject({
      status: 'FAILED',
      reason: 'PACKAGE_UNAVAILABLE',
    });
  });

  it('for a closed purchase is booked', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const timings = { ...LONG_ANSWER_TIMINGS, checkoutMs: 300 };
    const { transactionId } = await harness.purchase({ paidBy: 'CARD', timings });
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
