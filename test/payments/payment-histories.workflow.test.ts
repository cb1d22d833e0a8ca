// However many callers check a payment, the workflow's history stays within bounds: the purchase continues as
// new, and nothing that it knew is lost.
import { afterEach, expect, it } from 'vitest';
import { createPaymentChecks } from '../../src/app/temporal/purchase-engine.ts';
import { timelineOf, untilClosed } from '../support/people/buyer.ts';
import { eventTypes, fetchHistory } from '../support/world/history.ts';
import { atGateway, clearGatewayFaults, confirm, gatewayFaults } from '../support/money/payments.ts';
import { FRESH_HISTORY_AFTER_EVENTS } from '../support/world/services.ts';
import { until } from '../support/time/until.ts';
import { startWorkflows, LONG_ANSWER_TIMINGS, untilListed } from '../support/world/workflow-harness.ts';

/** The tests' server suggests continue-as-new early; one check costs about ten events. */
const LONGEST_HISTORY = FRESH_HISTORY_AFTER_EVENTS * 1.5;
const MAX_CHECKS = FRESH_HISTORY_AFTER_EVENTS;
/** The workflow checks only when it is asked. */
const SLOW_POLL_TIMINGS = {
  ...LONG_ANSWER_TIMINGS,
  checkoutMs: 600_000,
  pollFirstMs: 300_000,
  pollMaxMs: 300_000,
};

const { stack, harness, buyer } = await startWorkflows({}, { fundsMinor: 0n });
afterEach(() => clearGatewayFaults(stack));

const runIdOf = async (workflowId: string): Promise<string> =>
  (await stack.temporal.workflow.getHandle(workflowId).describe()).runId;

/**
 * Callers request checks, each one after the other, until the workflow has continued as new; answers the
 * length of its first history.
 */
async function askUntilFresh(transactionId: string, askers: number): Promise<number> {
  const checks = createPaymentChecks(stack.temporal, LONG_ANSWER_TIMINGS);
  const firstRunId = await runIdOf(transactionId);
  let asked = 0;
  let isFresh = false;
  const ask = async (): Promise<void> => {
    while (!isFresh) {
      asked += 1;
      if (asked > MAX_CHECKS) throw new Error(`the same history after ${MAX_CHECKS} checks`);
      await checks.check({ transactionId, purpose: 'purchase' }, 10_000);
      if (asked % 20 === 0) isFresh ||= (await runIdOf(transactionId)) !== firstRunId;
    }
  };
  await Promise.all(Array.from({ length: askers }, ask));
  return (await stack.temporal.workflow.getHandle(transactionId, firstRunId).describe()).historyLength;
}

it('a waiting purchase continues as new in the middle of its pause, and is still paid and delivered', async () => {
  await gatewayFaults(stack, { webhooks: 'drop' });
  const { input, transactionId, answer } = await harness.purchase({
    account: buyer.account,
    paidBy: 'CARD',
    timings: SLOW_POLL_TIMINGS,
  });
  expect(await askUntilFresh(transactionId, 1)).toBeLessThan(LONGEST_HISTORY);
  // Its caller gets the same answer, the buyer the same page, and operations find it by its reference.
  expect(await harness.ask(input)).toEqual(answer);
  const payments = await stack.owner
    .selectFrom('payments')
    .select('reference')
    .where('transaction_id', '=', transactionId)
    .execute();
  expect(payments).toEqual([{ reference: transactionId }]);
  await untilListed(stack, `GatewayReference = '${transactionId}' AND ExecutionStatus = 'Running'`, (ids) =>
    ids.includes(transactionId),
  );
  expect((await confirm(stack, buyer.account, transactionId)).body.status).toBe('PENDING');

  await atGateway(stack, transactionId, 'pay');
  await confirm(stack, buyer.account, transactionId);
  expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
  expect(await harness.result(transactionId)).toEqual({ status: 'SUCCESS' });
  expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  expect(await timelineOf(stack, transactionId)).toEqual(['opened', 'payment-received', 'delivered']);
});

it('a long refund does the same, and keeps answering all callers', async () => {
  await gatewayFaults(stack, { refund: 'pending' });
  const { transactionId } = await harness.purchase({
    account: buyer.account,
    paidBy: 'CARD',
    packageCode: 'SIM-OUT-OF-STOCK',
    timings: { ...SLOW_POLL_TIMINGS, refundCheckFirstMs: 300_000, refundCheckMaxMs: 300_000 },
  });
  await atGateway(stack, transactionId, 'pay');
  expect((await untilClosed(stack, transactionId)).reason).toBe('PACKAGE_UNAVAILABLE');
  // So many callers that one is always waiting for an answer.
  expect(await askUntilFresh(transactionId, 6)).toBeLessThan(LONGEST_HISTORY);
  const asked = await confirm(stack, buyer.account, transactionId);
  expect(asked).toMatchObject({ status: 200, body: { status: 'FAILED', reason: 'PACKAGE_UNAVAILABLE' } });
  const types = eventTypes(await fetchHistory(stack, transactionId));
  expect(types.filter((type) => type.includes('FAILED'))).toEqual([]);
  const described = await stack.temporal.workflow.getHandle(transactionId).describe();
  expect(described.status.name).toBe('RUNNING');
  // The next check of the refund is minutes away.
  await stack.temporal.workflow.getHandle(transactionId).terminate('a test');
});

it('many callers at once share the checks, and each gets an answer', async () => {
  const { transactionId } = await harness.purchase({
    account: buyer.account,
    paidBy: 'CARD',
    timings: SLOW_POLL_TIMINGS,
  });
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => confirm(stack, buyer.account, transactionId)),
  );
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.status}`))).toEqual(
    new Set(['200 PENDING']),
  );
  const checked = eventTypes(await fetchHistory(stack, transactionId)).filter((type) =>
    type.startsWith('ACTIVITY_TASK_SCHEDULED'),
  );
  // The first of them opens the payment.
  expect(checked.length).toBeLessThan(30);
  await atGateway(stack, transactionId, 'pay');
  await until(
    () => confirm(stack, buyer.account, transactionId),
    ({ body }) => body.status === 'SUCCESS',
    { what: 'SUCCESS' },
  );
});
