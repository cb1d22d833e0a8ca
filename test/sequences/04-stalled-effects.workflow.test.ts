// A worker pauses between recording an effect and sending it, for longer than others wait. When it continues,
// it sends nothing. And workers whose clocks differ: none of them counts an order in flight as refused.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { SEND_WITHIN_MS } from '../../src/purchases/store/supplier-orders.ts';
import { findPurchaseRow, holdOf } from '../support/people/buyer.ts';
import { createAttempt, type Attempt } from '../support/people/delivery-attempts.ts';
import { until } from '../support/time/until.ts';
import { LONG_ANSWER_TIMINGS, startWorkflows } from '../support/world/workflow-harness.ts';

// An eSIM in use cannot be cancelled: here none is activated on its own.
const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: null } });
const topUpTarget = await harness.topUpTarget(buyer);

const attempts: Attempt[] = [];
afterEach(async () => {
  for (const attempt of attempts.splice(0)) attempt.close();
  await stack.clearFaults();
  // What an earlier test had the supplier refuse is not on sale otherwise.
  await sql`delete from package_shortages`.execute(stack.owner);
});

function worker(aheadMs = 0): Attempt {
  const attempt = createAttempt(stack, aheadMs);
  attempts.push(attempt);
  return attempt;
}

/** Open, its money held, and without a workflow. */
async function open(esimId?: string, inFlightGraceMs = 300): Promise<PurchaseInput> {
  const timings = { ...LONG_ANSWER_TIMINGS, inFlightGraceMs };
  const input = harness.inputFor({ account: buyer.account, timings, ...(esimId ? { esimId } : {}) });
  const options = { now: new Date(), gateway: 'paystack', keepRefusal: () => false };
  expect(await openPurchase(stack.world, input, options)).toMatchObject({ stage: 'paid' });
  return input;
}

const deliveredBy = (attempt: () => Attempt, transactionId: string) =>
  until(
    async () => {
      await attempt().deliverOnce(transactionId);
      return findPurchaseRow(stack, transactionId);
    },
    (row) => row?.status === 'SUCCESS',
    { what: 'delivered' },
  );

describe('a worker that stops before it sends', () => {
  it('a cancellation does not cancel the eSIM that is delivered meanwhile', async () => {
    const { transactionId } = await open();
    await stack.faults({ neverAllocate: { next: 1 } });
    await worker().deliverOnce(transactionId);
    const [order] = await stack.supplierOrders(transactionId);
    await fetch(`${stack.supplierControlUrl}/orders/${order?.orderNo ?? ''}/allocate`, { method: 'POST' });
    const stopped = worker();
    stopped.stall('cancel', 'before');
    const ends = stopped.withdraw(transactionId);
    await stopped.stalled();
    // Its step is over for Temporal, and the purchase goes on.
    await deliveredBy(() => worker(), transactionId);
    stopped.goOn();
    await ends;
    const [after] = await stack.supplierOrders(transactionId);
    expect(after?.esims.map(({ esimStatus }) => esimStatus)).toEqual(['GOT_RESOURCE']);
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
  });

  it.each([
    ['an order', undefined, 'order'],
    ['a top-up', topUpTarget.esimId, 'topUp'],
  ] as const)('%s is not sent any more: the supplier gets nothing', async (_what, esimId, call) => {
    const { transactionId } = await open(esimId);
    const stopped = worker();
    stopped.stall(call, 'before');
    const ends = stopped.deliverOnce(transactionId);
    await stopped.stalled();
    await new Promise((resolve) => setTimeout(resolve, SEND_WITHIN_MS));
    stopped.goOn();
    expect(await ends).toMatchObject({ state: 'waiting' });
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    // It is known not to have been sent, so nothing is in doubt, and the next attempt sends it.
    expect(await worker().deliverOnce(transactionId)).toMatchObject({ state: 'done' });
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  });
});

describe.each([90_000, 3_600_000, -90_000, -3_600_000])('a second worker %i ms ahead', (aheadMs) => {
  it('does not make the refusal final of an order that the first one has in flight', async () => {
    const { transactionId } = await open(undefined, 60_000);
    const first = worker(0);
    // It arrives at the supplier after the refusal.
    first.stall('order', 'before');
    const firstEnds = first.deliverOnce(transactionId);
    await first.stalled();
    await stack.faults({ refusalsFirst: true, outOfStock: 1 });
    await worker(aheadMs).deliverOnce(transactionId);
    await stack.clearFaults();
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PROCESSING' });
    expect(await holdOf(stack, transactionId)).toBe('HELD');
    first.goOn();
    await firstEnds;
    await deliveredBy(() => worker(), transactionId);
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  });
});
