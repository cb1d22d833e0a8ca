// A top-up that the supplier has applied settles, even if its answer was lost. After an unknown outcome it is
// searched for before it is sent again.
import { afterEach, describe, expect, it } from 'vitest';
import { findPurchaseRow, holdOf, untilClosed } from '../support/people/buyer.ts';
import { SHORT_ANSWER_TIMINGS, startWorkflows } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows();
const { esimId } = await harness.topUpTarget(buyer);
afterEach(() => stack.clearFaults());

const requestsOf = async (transactionId: string): Promise<number | undefined> =>
  (await stack.supplierOrders(transactionId))[0]?.requests;

describe('a top-up without an answer', () => {
  it('settles if it was applied, although the supplier refuses its repeat', async () => {
    await stack.faults({ loseAnswer: 1 });
    const { transactionId } = await harness.purchase({
      account: buyer.account,
      esimId,
      timings: SHORT_ANSWER_TIMINGS,
    });
    await stack.faults({ loseAnswer: 0, refusalsFirst: true, outOfStock: 1 });
    const row = await untilClosed(stack, transactionId);
    expect(row).toMatchObject({ status: 'SUCCESS' });
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
    expect(BigInt(row.top_up_total_volume_bytes ?? 0)).toBeGreaterThan(0n);
  });

  it('is searched for before it is sent again: the supplier gets one request', async () => {
    await stack.faults({ loseAnswer: { next: 1 } });
    const { transactionId } = await harness.purchase({
      account: buyer.account,
      esimId,
      timings: SHORT_ANSWER_TIMINGS,
    });
    expect(await untilClosed(stack, transactionId)).toMatchObject({
      status: 'SUCCESS',
    });
    expect(await requestsOf(transactionId)).toBe(1);
  });

  it('is sent again if it is not found once it can no longer arrive', async () => {
    await stack.faults({ busy: { next: 1 } });
    const timings = { ...SHORT_ANSWER_TIMINGS, inFlightGraceMs: 1_000 };
    const { transactionId } = await harness.purchase({ account: buyer.account, esimId, timings });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PROCESSING' });
    expect(await untilClosed(stack, transactionId)).toMatchObject({
      status: 'SUCCESS',
    });
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  });
});
