// Workers whose clocks differ by 90 s and by an hour: none of them counts an order in flight as refused.
import { afterEach, describe, expect, it } from 'vitest';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { findPurchaseRow, holdOf } from '../support/people/buyer.ts';
import { createAttempt, type Attempt } from '../support/people/delivery-attempts.ts';
import { until } from '../support/time/until.ts';
import { LONG_ANSWER_TIMINGS, startWorkflows } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows();
const attempts: Attempt[] = [];
afterEach(async () => {
  for (const attempt of attempts.splice(0)) attempt.close();
  await stack.clearFaults();
});

function worker(aheadMs: number): Attempt {
  const attempt = createAttempt(stack, aheadMs);
  attempts.push(attempt);
  return attempt;
}

/** Open, its money held, and without a workflow. An order may be in flight for a minute. */
async function open(): Promise<PurchaseInput> {
  const input = harness.inputFor({
    account: buyer.account,
    timings: { ...LONG_ANSWER_TIMINGS, inFlightGraceMs: 60_000 },
  });
  const options = { now: new Date(), gateway: 'paystack', keepRefusal: () => false };
  expect(await openPurchase(stack.world, input, options)).toMatchObject({ stage: 'paid' });
  return input;
}

describe.each([90_000, 3_600_000, -90_000, -3_600_000])('a second worker %i ms ahead', (aheadMs) => {
  it('does not make the refusal final of an order that the first one has in flight', async () => {
    const { transactionId } = await open();
    const first = worker(0);
    // It arrives at the supplier after the refusal.
    first.stall('order', 'before');
    const firstEnds = first.deliverOnce(transactionId);
    await first.stalled();
    await stack.faults({ refusalsFirst: true, outOfStock: 1 });
    await worker(aheadMs).deliverOnce(transactionId);
    await stack.clearFaults();
    expect({ ...(await statusOf(transactionId)) }).toEqual({ status: 'PROCESSING', hold: 'HELD' });
    first.goOn();
    await firstEnds;
    await until(
      async () => {
        await worker(0).deliverOnce(transactionId);
        return findPurchaseRow(stack, transactionId);
      },
      (row) => row?.status === 'SUCCESS',
      { what: 'delivered' },
    );
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  });
});

async function statusOf(transactionId: string) {
  const row = await findPurchaseRow(stack, transactionId);
  return { status: row?.status, hold: await holdOf(stack, transactionId) };
}
