// A stranger who reaches Temporal takes tasks from our workers and answers with lies. No money moves by a
// lie: the rows decide, and the next run of the step, or a replay from the stuck list, continues as if the
// lie had never been told.
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { runWorker } from '../../src/app/processes/worker.ts';
import { findStuck } from '../../src/operations/stuck.ts';
import { stuckLimits } from '../../src/operations/stuck-rules.ts';
import { connectClient } from '../../src/platform/temporal/connect.ts';
import { QUEUE_NAMES } from '../../src/app/temporal/workers.ts';
import { createWorkflowStates } from '../../src/app/temporal/workflow-states.ts';
import { gatewayQueue, supplierQueue, checkPaymentSoon } from '../../workflows/contract.ts';
import { findPurchaseRow, holdOf } from '../support/people/buyer.ts';
import { newOperator, REASON } from '../support/people/operator-actions.ts';
import { atGateway, chargeAt, untilStatus } from '../support/money/payments.ts';
import { alarms, createStranger } from '../support/world/stranger.ts';
import { until } from '../support/time/until.ts';
import {
  EARLY_ATTENTION_TIMINGS,
  RARE_CHECK_TIMINGS,
  SHORT_ANSWER_TIMINGS,
  startWorkflows,
  untilRow,
} from '../support/world/workflow-harness.ts';
import { createScenes } from './strangers.support.ts';

const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: null } });
const { withUnknownOutcome, unpaid, rowsAbout, ordersOf, signedInputOf, untilParked } = createScenes({
  stack,
  harness,
  buyer,
});
const stranger = await createStranger(stack);
const operator = newOperator(stack);
afterEach(() => stack.clearFaults());
const temporal = connectClient({ address: stack.env['TEMPORAL_ADDRESS'] ?? '', namespace: stack.namespace });
const workflows = createWorkflowStates(temporal);
const VENDOR_QUEUES = { supplier: supplierQueue('esim-access'), gateway: gatewayQueue('paystack') } as const;
afterAll(async () => {
  await temporal.close();
  await stranger.close();
});

const by = { by: 'ada', reason: REASON };
/** Long enough to pay after the lies. */
const LONG_CHECKOUT = { ...RARE_CHECK_TIMINGS, checkoutMs: 600_000 };

/** Answers the same to every task, and counts them. */
function lieOf(answer: object | null) {
  let told = 0;
  return {
    tell: () => {
      told += 1;
      return Promise.resolve(answer);
    },
    told: () => told,
  };
}

const untilTold = (lie: ReturnType<typeof lieOf>) =>
  until(
    () => Promise.resolve(lie.told()),
    (count) => count > 0,
    { what: 'a lie' },
  );

describe('a delivery that a stranger answers', () => {
  it.each([
    ['that never happened', { state: 'done', iccid: '8900000000000000001' }, { status: 'SUCCESS' }],
    [
      'with a refusal that the supplier never gave',
      { state: 'failed', reason: 'OUT_OF_STOCK', detail: 'a lie' },
      { status: 'FAILED', reason: 'OUT_OF_STOCK' },
    ],
  ])('%s neither charges nor returns money; a replay delivers it', async (_what, answer, result) => {
    const balance = await buyer.balanceMinor();
    const lie = lieOf(answer);
    const transactionId = await withLiesOn('supplier', { deliver: lie.tell }, async () => {
      await stack.faults({ loseAnswer: 1 });
      const asked = await harness.purchase({ account: buyer.account, timings: SHORT_ANSWER_TIMINGS });
      expect(await harness.result(asked.transactionId)).toEqual(result);
      await stack.clearFaults();
      return asked.transactionId;
    });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({
      status: 'PROCESSING',
      closed_at: null,
    });
    expect(await holdOf(stack, transactionId)).toBe('HELD');
    const { body } = await buyer.read(`/api/esim/transactions/${transactionId}`);
    expect(body.status).toBe('PROCESSING');
    expect(await stuckAs(transactionId)).toEqual(['workflow-gone: PROCESSING']);
    await operator.replay(transactionId, by);
    await untilStatus(stack, transactionId, 'SUCCESS');
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
    expect(await buyer.balanceMinor()).toBe(balance - 230n);
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
    expect(await stuckAs(transactionId)).toEqual([]);
  });

  it.each([
    ['no answer', null],
    ['no time to wait', { state: 'waiting', waitMs: 'soon' }],
    ['a wait of ages', { state: 'waiting', waitMs: 1e18, why: 7 }],
    ['messages that are none', { state: 'waiting', waitMs: 300_000, messages: 5 }],
    [
      'messages of others',
      { state: 'waiting', waitMs: 300_000, messages: { accountId: 'acc-other', ids: [7, 'no', 'txn-'] } },
    ],
  ])('with %s stops nothing: a check delivers it', async (_what, answer) => {
    const transactionId = await withLiesOn('supplier', { deliver: lieOf(answer).tell }, async () => {
      const opened = await withUnknownOutcome({ timings: SHORT_ANSWER_TIMINGS });
      expect(await holdOf(stack, opened)).toBe('HELD');
      return opened;
    });
    await operator.replay(transactionId, by);
    await untilStatus(stack, transactionId, 'SUCCESS');
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  });
});

describe('a payment that a stranger answers', () => {
  it('as paid leads to no order; the purchase is delivered once it is paid', async () => {
    const transactionId = await unpaid({ ...EARLY_ATTENTION_TIMINGS, checkoutMs: 600_000 });
    const before = { balance: await buyer.balanceMinor(), rows: await rowsAbout(transactionId) };
    const lies = {
      checkPayment: lieOf({ state: 'paid', isKnown: true }).tell,
      collectPayment: lieOf({ state: 'done' }).tell,
    };
    await withLiesOn('gateway', lies, async (raised) => {
      await stack.temporal.workflow.getHandle(transactionId).signal(checkPaymentSoon);
      await until(
        () => raised('delivery'),
        (count) => count > 0,
        { what: 'the alarm' },
      );
      await untilRow(stack, transactionId, (row) => row.attention_reason !== null, 'on the stuck list');
      expect(await stuckAs(transactionId)).toEqual(['paid-not-delivered: DELIVERY_STEP_FAILED']);
    });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PENDING' });
    expect(await ordersOf(transactionId)).toMatchObject([{ state: 'planned', attempts: 0 }]);
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    expect(await holdOf(stack, transactionId)).toBeUndefined();
    expect(await buyer.balanceMinor()).toBe(before.balance);
    expect(await rowsAbout(transactionId)).toBe(before.rows);
    await atGateway(stack, transactionId, 'pay');
    await untilStatus(stack, transactionId, 'SUCCESS');
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  });

  it('as over is not closed; what is paid after that is booked, and a replay delivers it', async () => {
    const transactionId = await unpaid(LONG_CHECKOUT);
    const input = await signedInputOf(transactionId);
    await stack.temporal.workflow.getHandle(transactionId).terminate('a stranger');
    const over = { reason: 'PAYMENT_EXPIRED', detail: 'a lie' };
    const lies = {
      collectPayment: lieOf({ state: 'failed', ...over }).tell,
      checkPayment: lieOf({ state: 'ended', ...over, isKnown: true }).tell,
      followMoney: lieOf({ state: 'done' }).tell,
    };
    await withLiesOn('gateway', lies, async () => {
      const again = await stranger.start('purchase', transactionId, input);
      expect(await again.result()).toEqual({ status: 'FAILED', reason: 'PAYMENT_EXPIRED' });
    });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PENDING', reason: null });
    await atGateway(stack, transactionId, 'pay');
    await untilStatus(stack, transactionId, 'PROCESSING');
    expect(await holdOf(stack, transactionId)).toBe('HELD');
    expect(await stuckAs(transactionId)).toEqual(['workflow-gone: PROCESSING']);
    await operator.replay(transactionId, by);
    await untilStatus(stack, transactionId, 'SUCCESS');
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
    expect((await chargeAt(stack, transactionId)).refunds).toEqual([]);
  });
});

describe('an operator action that a stranger answers', () => {
  it('as performed stays open without another effect, and is performed when it is asked for again', async () => {
    const balance = await buyer.balanceMinor();
    const transactionId = await withUnknownOutcome();
    const lie = lieOf({});
    const waiting = lieOf({ state: 'waiting', waitMs: 600_000, why: 'a lie' });
    let asked: Promise<unknown> | undefined;
    await withLiesOn('supplier', { performAction: lie.tell, deliver: waiting.tell }, async () => {
      asked = operator.act(transactionId, 'cancel');
      await untilTold(lie);
      expect(await recordsOf(transactionId)).toEqual(['cancel BEGUN']);
      // The workflow believes the row: it asks again later, and not at once for as long as it is lied to.
      await untilParked(transactionId);
      expect(lie.told()).toBeLessThan(3);
    });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PROCESSING' });
    expect(await operator.act(transactionId, 'cancel')).toMatchObject({ outcome: 'done' });
    await asked;
    expect(await untilRow(stack, transactionId, (row) => row.closed_at !== null, 'closed')).toMatchObject({
      status: 'FAILED',
      reason: 'CANCELLED_BY_OPERATOR',
    });
    expect(await recordsOf(transactionId)).toEqual(['cancel DONE']);
    expect(await holdOf(stack, transactionId)).toBe('VOIDED');
    expect(await buyer.balanceMinor()).toBe(balance);
  });
});

const recordsOf = async (transactionId: string): Promise<string[]> =>
  (await operator.listFor(transactionId)).map(({ action, status }) => `${action} ${status}`);

/**
 * Our worker serves every queue but one. There a stranger answers until `scene` has ended; `raised` counts
 * our worker's alarms.
 */
async function withLiesOn<T>(
  queue: keyof typeof VENDOR_QUEUES,
  lies: object,
  scene: (raised: (what: string) => Promise<number>) => Promise<T>,
): Promise<T> {
  await stack.stopWorker();
  const others = QUEUE_NAMES.filter((name) => name !== queue);
  const worker = await runWorker({ ...stack.context, processName: 'worker' }, others);
  const leave = await stranger.takeTasks(VENDOR_QUEUES[queue], lies);
  try {
    return await scene((what) => alarms(worker.adminUrl, what));
  } finally {
    await leave();
    await worker.stop();
    await stack.startWorker();
  }
}

/** As the stuck list shows it two minutes from now. */
async function stuckAs(transactionId: string): Promise<string[]> {
  const clock = { now: () => new Date(Date.now() + 120_000) };
  const { items } = await findStuck(
    { db: stack.world, workflows, clock, limits: stuckLimits(EARLY_ATTENTION_TIMINGS) },
    { transactionIds: [transactionId] },
  );
  return items.map((item) => `${item.class}: ${item.reason}`);
}
