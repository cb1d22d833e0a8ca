// "Request cancellation" pressed in the Temporal UI: nothing changes, for the workflow and for its callers.
import { afterEach, describe, expect, it } from 'vitest';
import { holdOf, untilClosed } from '../support/people/buyer.ts';
import { fundThroughGateway, untilFunding } from '../support/money/fundings.ts';
import { eventTypes, fetchHistory } from '../support/world/history.ts';
import { newOperator } from '../support/people/operator-actions.ts';
import { atGateway, clearGatewayFaults, confirm, gatewayFaults } from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import { RARE_CHECK_TIMINGS, startWorkflows } from '../support/world/workflow-harness.ts';

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
});
