// However often somebody asks whether a payment has come, its history stays within bounds: the purchase begins a fresh one, and nothing of
// what was known is lost by it.
import { afterEach, expect, it } from 'vitest';
import { createPaymentChecks } from '../../src/platform/temporal/purchase-engine.ts';
import { timelineOf, untilClosed } from '../support/buyer.ts';
import { eventTypes, fetchHistory } from '../support/history.ts';
import { atGateway, clearGatewayFaults, confirm, gatewayFaults } from '../support/payments.ts';
import { FRESH_HISTORY_AFTER_EVENTS } from '../support/services.ts';
import { until } from '../support/until.ts';
import { startWorkflows, PATIENT, untilListed } from '../support/workflow-harness.ts';

/** The tests' server suggests a fresh history early; one look costs about ten events. */
const LONGEST_HISTORY = FRESH_HISTORY_AFTER_EVENTS * 1.5;
const MOST_LOOKS = FRESH_HISTORY_AFTER_EVENTS;
/** Nothing but what is asked for makes the workflow look. */
const UNHURRIED = { ...PATIENT, checkoutMs: 600_000, pollFirstMs: 300_000, pollMaxMs: 300_000 };

const { stack, harness, buyer } = await startWorkflows({}, { fundsMinor: 0n });
afterEach(() => clearGatewayFaults(stack));

const runIdOf = async (workflowId: string): Promise<string> =>
  (await stack.temporal.workflow.getHandle(workflowId).describe()).runId;

/** So many ask for looks, each one after the other, until the workflow has begun a fresh history; answers the length of the first one. */
async function askUntilFresh(transactionId: string, askers: number): Promise<number> {
  const looks = createPaymentChecks(stack.temporal, PATIENT);
  const firstRunId = await runIdOf(transactionId);
  let asked = 0;
  let isFresh = false;
  const ask = async (): Promise<void> => {
    while (!isFresh) {
      asked += 1;
      if (asked > MOST_LOOKS) throw new Error(`the same history after ${MOST_LOOKS} looks`);
      await looks.check({ transactionId, purpose: 'purchase' }, 10_000);
      if (asked % 20 === 0) isFresh ||= (await runIdOf(transactionId)) !== firstRunId;
    }
  };
  await Promise.all(Array.from({ length: askers }, ask));
  return (await stack.temporal.workflow.getHandle(transactionId, firstRunId).describe()).historyLength;
}

it('a purchase that waits begins a fresh history in the middle of its pause, and is still paid and delivered', async () => {
  await gatewayFaults(stack, { webhooks: 'drop' });
  const { input, transactionId, answer } = await harness.purchase({
    account: buyer.account,
    paidBy: 'CARD',
    timings: UNHURRIED,
  });
  expect(await askUntilFresh(transactionId, 1)).toBeLessThan(LONGEST_HISTORY);
  // Its caller hears the same again, the buyer finds the same page, operations find it by its reference.
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

it('a refund that takes long does the same, and goes on answering whoever asks', async () => {
  await gatewayFaults(stack, { refund: 'pending' });
  const { transactionId } = await harness.purchase({
    account: buyer.account,
    paidBy: 'CARD',
    packageCode: 'SIM-OUT-OF-STOCK',
    timings: { ...UNHURRIED, refundLookFirstMs: 300_000, refundLookMaxMs: 300_000 },
  });
  await atGateway(stack, transactionId, 'pay');
  expect((await untilClosed(stack, transactionId)).reason).toBe('OUT_OF_STOCK');
  // So many that there is always somebody to be answered.
  expect(await askUntilFresh(transactionId, 6)).toBeLessThan(LONGEST_HISTORY);
  const asked = await confirm(stack, buyer.account, transactionId);
  expect(asked).toMatchObject({ status: 200, body: { status: 'FAILED', reason: 'OUT_OF_STOCK' } });
  const types = eventTypes(await fetchHistory(stack, transactionId));
  expect(types.filter((type) => type.includes('FAILED'))).toEqual([]);
  const described = await stack.temporal.workflow.getHandle(transactionId).describe();
  expect(described.status.name).toBe('RUNNING');
  // Its next look at the refund is minutes away.
  await stack.temporal.workflow.getHandle(transactionId).terminate('a test');
});

it('an answer to everybody: many who ask at once share the looks', async () => {
  const { transactionId } = await harness.purchase({
    account: buyer.account,
    paidBy: 'CARD',
    timings: UNHURRIED,
  });
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => confirm(stack, buyer.account, transactionId)),
  );
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.status}`))).toEqual(
    new Set(['200 PENDING']),
  );
  const looked = eventTypes(await fetchHistory(stack, transactionId)).filter((type) =>
    type.startsWith('ACTIVITY_TASK_SCHEDULED'),
  );
  // Opening it is the first of them.
  expect(looked.length).toBeLessThan(30);
  await atGateway(stack, transactionId, 'pay');
  await until(
    () => confirm(stack, buyer.account, transactionId),
    ({ body }) => body.status === 'SUCCESS',
    { what: 'SUCCESS' },
  );
});
