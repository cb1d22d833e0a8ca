// A refusal while an order is in progress: money is returned only after the supplier's final answer, and an
// operator is never blocked by a supplier that does not say what it did. Their races: delivery-races.
import { afterEach, describe, expect, it } from 'vitest';
import { holdOf, untilClosed } from '../support/people/buyer.ts';
import { newOperator } from '../support/people/operator-actions.ts';
import { until } from '../support/time/until.ts';
import {
  RARE_CHECK_TIMINGS,
  SHORT_ANSWER_TIMINGS,
  startWorkflows,
} from '../support/world/workflow-harness.ts';

// An eSIM in use cannot be cancelled: here none is activated on its own.
const { stack, harness } = await startWorkflows({ supplier: { activateAfterMs: null } });
const operator = newOperator(stack);
afterEach(() => stack.clearFaults());

/** Refusals of a fault that were answered so far. */
async function answered(code: string): Promise<number> {
  const stats = (await (await fetch(`${stack.supplierControlUrl}/stats`)).json()) as {
    codes: Record<string, Record<string, number>>;
  };
  return stats.codes['esim/order']?.[code] ?? 0;
}

async function expectDeliveredOnce(transactionId: string): Promise<void> {
  expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
  expect(await holdOf(stack, transactionId)).toBe('POSTED');
  expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
}

describe('a refusal while an order is in progress', () => {
  it('leads to a refund once the supplier has refused again with nothing in progress', async () => {
    await stack.faults({ busy: 1 });
    const timings = { ...SHORT_ANSWER_TIMINGS, inFlightGraceMs: 2_000 };
    const asked = harness.inputFor({ timings });
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
      reason: 'PACKAGE_UNAVAILABLE',
    });
    expect(await answered('200011')).toBe(before + 2);
    expect(await holdOf(stack, asked.transactionId)).toBe('VOIDED');
    expect(await stack.supplierOrders(asked.transactionId)).toEqual([]);
  });
});

describe('an operator’s cancellation, when the supplier does not say whether it cancelled', () => {
  it('reports that, and the purchase can continue: the order is delivered after all', async () => {
    await stack.faults({ neverAllocate: 1 });
    const { transactionId } = await harness.purchase({ timings: RARE_CHECK_TIMINGS });
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
    const { transactionId } = await harness.purchase({ timings: RARE_CHECK_TIMINGS });
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
