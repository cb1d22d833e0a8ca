// A worker stops between writing down an effect and sending it, for longer than others wait for it. When it goes on, it sends nothing any more.
import { afterEach, describe, expect, it } from 'vitest';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { findPurchaseRow, holdOf } from '../support/buyer.ts';
import { createAttempt, type Attempt } from '../support/delivery-attempts.ts';
import { until } from '../support/until.ts';
import { PATIENT, startWorkflows } from '../support/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: null } });
const attempts: Attempt[] = [];
afterEach(async () => {
  for (const attempt of attempts.splice(0)) attempt.close();
  await stack.clearFaults();
});

function worker(aheadMs = 0): Attempt {
  const attempt = createAttempt(stack, aheadMs);
  attempts.push(attempt);
  return attempt;
}

/** Open, its money held, and without a workflow. */
async function open(esimId?: string): Promise<PurchaseInput> {
  const timings = { ...PATIENT, doubtMs: 300 };
  const input = harness.inputFor({ account: buyer.account, timings, ...(esimId ? { esimId } : {}) });
  const options = { now: new Date(), keepRefusal: () => false };
  expect(await openPurchase(stack.world, input, options)).toMatchObject({ opened: true });
  return input;
}

const deliveredBy = (attempt: () => Attempt, transactionId: string) =>
  until(
    async () => {
      await attempt().deliverOnce(transactionId);
      return findPurchaseRow(stack, transactionId);
    },
    (row) => row?.status === 'SUCCESS',
    { what: 'delivered', withinMs: 60_000 },
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
});
