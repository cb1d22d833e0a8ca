// Refusals while orders are in progress: money is returned only after the supplier's final answer, and an
// operator is never blocked by a supplier that does not say what it did.
import { afterEach, describe, expect, it } from 'vitest';
import { findPurchaseRow, holdOf, untilClosed } from '../support/people/buyer.ts';
import { newOperator } from '../support/people/operator-actions.ts';
import { until } from '../support/time/until.ts';
import {
  startWorkflows,
  SHORT_ANSWER_TIMINGS,
  LONG_ANSWER_TIMINGS,
} from '../support/world/workflow-harness.ts';

// An eSIM in use cannot be cancelled: here none is activated on its own.
const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: null } });
const operator = newOperator(stack);
afterEach(() => stack.clearFaults());

/** Longer than the 5 s that a call may take. */
const LATE_MS = 7_000;
const LATE_ORDER = { commitLate: { next: 1 }, lateCommitMs: LATE_MS };

/** Refusals of a fault that were answered so far. */
async function answered(code: string): Promise<number> {
  const stats = (await (await fetch(`${stack.supplierControlUrl}/stats`)).json()) as {
    codes: Record<string, Record<string, number>>;
  };
  return stats.codes['esim/order']?.[code] ?? 0;
}

const ordersOf = (transactionId: string) =>
  stack.owner.selectFrom('supplier_orders').selectAll().where('transaction_id', '=', transactionId).execute();

/**
 * The supplier is too slow for an inline attempt in the purchase's task, so one activity makes all the
 * requests.
 */
async function restQuickAsks(): Promise<void> {
  await stack.faults({ latencyMs: 1_000 });
  await harness.purchase({ account: buyer.account });
  await stack.clearFaults();
}

async function expectDeliveredOnce(transactionId: string): Promise<void> {
  expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
  expect(await holdOf(stack, transactionId)).toBe('POSTED');
  expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
}

describe('a refusal while an order is in progress', () => {
  it('does not lead to a refund because of a list that does not show orders being allocated', async () => {
    const timings = { ...LONG_ANSWER_TIMINGS, inFlightGraceMs: LATE_MS + 1_000, checkFirstMs: 500 };
    const asked = harness.inputFor({ account: buyer.account, timings });
    await stack.faults({ ...LATE_ORDER, allocationMs: 12_000, outOfStock: { next: 1 } });
    expect(await harness.ask(asked)).toEqual({ status: 'PROCESSING' });
    await expectDeliveredOnce(asked.transactionId);
  });

  it('does not stop a delivery by a supplier that checks its stock before it finds the order', async () => {
    const timings = { ...LONG_ANSWER_TIMINGS, inFlightGraceMs: 6_000 };
    const asked = harness.inputFor({ account: buyer.account, timings });
    // Abandoned by the inline attempt, refused the second time, and accepted a moment after that.
    await stack.faults({
      commitLate: { next: 1 },
      lateCommitMs: 2_500,
      allocationMs: 2_000,
      outOfStock: { next: 1 },
    });
    expect(await harness.ask(asked)).toEqual({ status: 'PROCESSING' });
    await until(
      () => stack.supplierOrders(asked.transactionId),
      (orders) => orders.length > 0,
      { what: 'taken' },
    );
    await stack.faults({ refusalsFirst: true, outOfStock: 1 });
    await expectDeliveredOnce(asked.transactionId);
  });

  it('leads to a refund once the supplier has refused again with nothing in progress', async () => {
    await stack.faults({ busy: 1 });
    const timings = { ...SHORT_ANSWER_TIMINGS, inFlightGraceMs: 2_000 };
    const asked = harness.inputFor({ account: buyer.account, timings });
    expect(await harness.ask(asked)).toEqual({ status: 'PROCESSING' });
    await stack.faults({ busy: 0, outOfStock: 1 });
    const before = await answered('200011');
    await until(
      () => answered('200011'),
      (count) => count > before,
      { what: 'refused' },
    );
    expect(await holdOf(stack, asked.transactionId)).toBe('HELD');
    expect(await untilClosed(stack, asked.transactionId)).toMatchObject({
      status: 'FAILED',
      reason: 'OUT_OF_STOCK',
    });
    expect(await answered('200011')).toBe(before + 2);
    expect(await holdOf(stack, asked.transactionId)).toBe('VOIDED');
    expect(await stack.supplierOrders(asked.transactionId)).toEqual([]);
  });

  it('does not lead to a refund when the order before it, in the same attempt, is accepted late', async () => {
    await restQuickAsks();
    const before = await answered('200011');
    const timings = { ...LONG_ANSWER_TIMINGS, inFlightGraceMs: LATE_MS + 1_000 };
    const asked = harness.inputFor({ account: buyer.account, timings });
    await stack.faults(LATE_ORDER);
    const answer = harness.ask(asked);
    await until(
      () => ordersOf(asked.transactionId),
      ([order]) => order?.attempts === 1,
      { what: 'the first order is out' },
    );
    await stack.faults({ outOfStock: { next: 1 } });
    await until(
      () => answered('200011'),
      (count) => count > before,
      { what: 'the second is refused' },
    );
    // Held while the outcome is unknown: neither refunded nor reported as refused.
    expect(await answer).toEqual({ status: 'PROCESSING' });
    expect(await holdOf(stack, asked.transactionId)).toBe('HELD');
    expect(await findPurchaseRow(stack, asked.transactionId)).toMatchObject({ status: 'PROCESSING' });
    await expectDeliveredOnce(asked.transactionId);
  });
});

describe('an operator’s cancellation, when the supplier does not say whether it cancelled', () => {
  const RARE_CHECK_TIMINGS = {
    ...SHORT_ANSWER_TIMINGS,
    attentionAfterMs: 600_000,
    checkFirstMs: 300_000,
    checkMaxMs: 300_000,
  };

  it('reports that, and the purchase can continue: the order is delivered after all', async () => {
    await stack.faults({ neverAllocate: 1 });
    const { transactionId } = await harness.purchase({ account: buyer.account, timings: RARE_CHECK_TIMINGS });
    await stack.clearFaults();
    await stack.faults({ cancelUnseen: 1 });
    expect(await operator.act(transactionId, 'cancel')).toMatchObject({
      outcome: 'refused',
      code: 'SUPPLIER_MAY_DELIVER',
      detail: expect.stringContaining('does not say whether it cancelled') as unknown,
    });
    await expectDeliveredOnce(transactionId);
  });

  it('leads to a refund when the supplier had cancelled without saying so', async () => {
    await stack.faults({ neverAllocate: 1 });
    const { transactionId } = await harness.purchase({ account: buyer.account, timings: RARE_CHECK_TIMINGS });
    await stack.clearFaults();
    await stack.faults({ loseAnswer: 1 });
    expect(await operator.act(transactionId, 'cancel')).toMatchObject({ code: 'SUPPLIER_MAY_DELIVER' });
    await stack.clearFaults();
    expect(await untilClosed(stack, transactionId)).toMatchObject({
      status: 'FAILED',
      reason: 'SUPPLIER_REFUSED',
    });
    expect(await holdOf(stack, transactionId)).toBe('VOIDED');
  });
});
