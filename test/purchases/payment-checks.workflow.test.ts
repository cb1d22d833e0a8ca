// Checks at the gateway that are overtaken: money that arrives between a check's request and its end, and a
// check that ends when all else is done.
import { sql } from 'kysely';
import { afterEach, expect, it } from 'vitest';
import { untilClosed } from '../support/people/buyer.ts';
import {
  atGateway,
  clearGatewayFaults,
  gatewayFaults,
  gatewayChecks,
  untilStatus,
} from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import { startWorkflows, LONG_ANSWER_TIMINGS } from '../support/world/workflow-harness.ts';

const { stack, harness } = await startWorkflows({}, { fundsMinor: 0n });
afterEach(async () => {
  await stack.clearFaults();
  await clearGatewayFaults(stack);
});

/**
 * A check whose answer has arrived waits for the row of the first attempt, under 2 s, while `meanwhile`
 * happens.
 */
async function whileACheckWaits(transactionId: string, meanwhile: () => Promise<unknown>): Promise<void> {
  const lock = await stack.owner.startTransaction().execute();
  try {
    await sql`select from payments where reference = ${transactionId} for update`.execute(lock);
    const before = await gatewayChecks(stack);
    await stack.temporal.workflow.getHandle(transactionId).signal('checkPaymentSoon');
    await until(
      () => gatewayChecks(stack),
      (checks) => checks > before,
      { what: 'asked', everyMs: 10 },
    );
    await meanwhile();
  } finally {
    await lock.rollback().execute();
  }
}

const untilTime = (timeMs: number) =>
  until(
    () => Date.now(),
    (nowMs) => nowMs > timeMs,
    { what: 'the time', everyMs: 10 },
  );

it('money that came after a check was sent, and before the payment expired, is not lost as expired', async () => {
  // No event reports the money.
  await gatewayFaults(stack, {
    webhooks: 'drop',
    network: { kind: '500', operation: 'transaction/list' },
  });
  const timings = { ...LONG_ANSWER_TIMINGS, checkoutMs: 3_000 };
  const { transactionId } = await harness.purchase({ paidBy: 'CARD', timings });
  const { expires_at: expiresAt } = await stack.owner
    .selectFrom('payments')
    .select('expires_at')
    .where('transaction_id', '=', transactionId)
    .executeTakeFirstOrThrow();
  await untilTime(expiresAt.getTime() - 1_100);
  const payMeanwhile = async (): Promise<void> => {
    await atGateway(stack, transactionId, 'pay');
    // It ends after the time to pay, with an answer from before that.
    await untilTime(expiresAt.getTime() + 100);
  };
  await whileACheckWaits(transactionId, payMeanwhile);
  expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
});

it('money that a check finds just after a refund was sent is refunded too, before the workflow ends', async () => {
  // The first attempt is accepted without payment instructions, so there are two references that may be paid.
  await gatewayFaults(stack, { webhooks: 'drop', refundDelayMs: 300, loseAnswer: { next: 1 } });
  await stack.faults({ outOfStock: 1 });
  const { transactionId } = await harness.purchase({ paidBy: 'CARD' });
  await atGateway(stack, `${transactionId}-2`, 'pay');
  await stack.temporal.workflow.getHandle(transactionId).signal('checkPaymentSoon');
  await untilStatus(stack, transactionId, 'FAILED');
  await atGateway(stack, transactionId, 'pay', { currency: 'NGN' });
  const refunds = () =>
    stack.owner
      .selectFrom('refunds')
      .select(['reason', 'status'])
      .where('transaction_id', '=', transactionId)
      .orderBy('reason')
      .execute();
  // A busy machine may take longer than the check can wait: then nothing is overtaken, and the end must be
  // the same.
  await whileACheckWaits(transactionId, () =>
    until(refunds, ([refund]) => refund?.status === 'DONE', {
      what: 'the first refund sent',
      withinMs: 1_500,
    }).catch(() => undefined),
  );
  await harness.result(transactionId);
  expect(await refunds()).toEqual([
    { reason: 'not-delivered', status: 'DONE' },
    { reason: expect.stringMatching(/^other-currency/) as unknown, status: 'DONE' },
  ]);
});
