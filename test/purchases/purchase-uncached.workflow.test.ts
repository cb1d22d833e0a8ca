// Every path again on a worker that keeps no workflow in memory: each task replays the whole history, so code
// that is not deterministic shows here as a purchase that does not end.
import { afterEach, expect, it } from 'vitest';
import { untilClosed } from '../support/people/buyer.ts';
import { eventTypes, fetchHistory } from '../support/world/history.ts';
import { atGateway, chargeAt, confirm } from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import { answerStatus, startReceiver } from '../support/people/webhook-receiver.ts';
import {
  EARLY_ATTENTION_TIMINGS,
  startWorkflows,
  SHORT_ANSWER_TIMINGS,
  LONG_ANSWER_TIMINGS,
  untilRow,
} from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows({ env: { SIMWAY_WORKER_CACHED_WORKFLOWS: '0' } });
afterEach(() => stack.clearFaults());

/** Failures of the workflow's own tasks: a step may take too long on a busy machine, and is then retried. */
async function expectNoFailedTask(transactionId: string): Promise<void> {
  const types = eventTypes(await fetchHistory(stack, transactionId));
  expect(types.filter((type) => /^WORKFLOW_TASK_(FAILED|TIMED_OUT)/.test(type))).toEqual([]);
  // Without a cache there is no sticky queue either.
  expect(types.at(-1)).toBe('WORKFLOW_EXECUTION_COMPLETED');
}

it('a worker without a cache delivers a BASE purchase and a top-up', async () => {
  const target = await harness.topUpTarget(buyer);
  const topUp = await harness.purchase({ account: buyer.account, esimId: target.esimId });
  expect(topUp.answer).toEqual({ status: 'SUCCESS' });
  await harness.result(topUp.transactionId);
  const [base] = await buyer.purchases();
  await harness.result(base!.transaction_id);
  await expectNoFailedTask(base!.transaction_id);
  await expectNoFailedTask(topUp.transactionId);
});

it('a worker without a cache refunds a refused purchase, and syncs the catalogue that caused the refusal', async () => {
  await stack.faults({ priceChanged: 1 });
  const { transactionId, answer } = await harness.purchase({ account: buyer.account });
  expect(answer).toMatchObject({ status: 'REFUSED', refusal: { reason: 'PRICE_CHANGED' } });
  await harness.result(transactionId);
  await expectNoFailedTask(transactionId);
});

it('a worker without a cache delivers a purchase that was PROCESSING and needed attention', async () => {
  await stack.faults({ neverAllocate: 1 });
  const { transactionId, answer } = await harness.purchase({
    account: buyer.account,
    timings: EARLY_ATTENTION_TIMINGS,
  });
  expect(answer).toEqual({ status: 'PROCESSING' });
  await untilRow(stack, transactionId, (row) => row.needs_attention_since !== null, 'flagged');
  await stack.clearFaults();
  expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
  await harness.result(transactionId);
  await expectNoFailedTask(transactionId);
});

it('a worker without a cache accepts a refusal after an unknown outcome only later', async () => {
  await stack.faults({ busy: 1 });
  const { transactionId } = await harness.purchase({ account: buyer.account, timings: SHORT_ANSWER_TIMINGS });
  await stack.faults({ busy: 0, outOfStock: 1 });
  expect((await untilClosed(stack, transactionId)).status).toBe('FAILED');
  await harness.result(transactionId);
  await expectNoFailedTask(transactionId);
});

it('a worker without a cache waits for money while many callers check it, and delivers', async () => {
  const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'BANK_TRANSFER' });
  await Promise.all([1, 2, 3].map(() => confirm(stack, buyer.account, transactionId)));
  await atGateway(stack, transactionId, 'pay', { times: 2 });
  await Promise.all([1, 2, 3].map(() => confirm(stack, buyer.account, transactionId)));
  expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
  await harness.result(transactionId);
  await expectNoFailedTask(transactionId);
});

it('a worker without a cache ends an unpaid purchase, and books later money', async () => {
  const timings = { ...LONG_ANSWER_TIMINGS, checkoutMs: 500 };
  const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD', timings });
  expect((await untilClosed(stack, transactionId)).reason).toBe('PAYMENT_EXPIRED');
  await harness.result(transactionId);
  await expectNoFailedTask(transactionId);
  const before = await buyer.balanceMinor();
  await atGateway(stack, transactionId, 'pay');
  await until(
    () => buyer.balanceMinor(),
    (balance) => balance === before + 230n,
    { what: 'the money in the wallet' },
  );
  await harness.result(`after-${transactionId}`);
  await expectNoFailedTask(`after-${transactionId}`);
});

it('a worker without a cache sends a webhook, and again when that was refused', async () => {
  const receiver = await startReceiver();
  const listener = await receiver.listen(stack, buyer.account, {
    answer: (response, received) =>
      answerStatus(listener.received.length > 1 ? 204 : 503)(response, received),
  });
  const { transactionId } = await harness.purchase({ account: buyer.account });
  const [first] = await listener.untilReceived(2);
  const { id: messageId } = await stack.owner
    .selectFrom('webhook_messages')
    .select('id')
    .where('event_id', '=', first!.id)
    .executeTakeFirstOrThrow();
  await stack.temporal.workflow.getHandle(messageId).result();
  await expectNoFailedTask(messageId);
  await expectNoFailedTask(transactionId);
  await receiver.close();
});

it('a worker without a cache refunds a paid purchase that cannot be delivered', async () => {
  const { transactionId } = await harness.purchase({
    account: buyer.account,
    paidBy: 'CARD',
    packageCode: 'SIM-OUT-OF-STOCK',
  });
  await atGateway(stack, transactionId, 'pay');
  await harness.result(transactionId);
  expect((await chargeAt(stack, transactionId)).status).toBe('reversed');
  await expectNoFailedTask(transactionId);
});
