// Final refusals: the money is returned, the purchase has the reason, and the supplier has no order. And
// refusals that do not count, because an order may have been accepted before them.
import { afterEach, describe, expect, it } from 'vitest';
import { findPurchaseRow, holdOf, timelineOf } from '../support/people/buyer.ts';
import { until } from '../support/time/until.ts';
import { startWorkflows, LONG_ANSWER_TIMINGS, untilListed } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows();
const topUpTarget = await harness.topUpTarget(buyer);
afterEach(() => stack.clearFaults());

const REFUSALS = [
  { fault: { outOfStock: 1 }, reason: 'PACKAGE_UNAVAILABLE' },
  { fault: { priceChanged: 1 }, reason: 'PRICE_CHANGED' },
  { fault: { lowBalance: 1 }, reason: 'PACKAGE_UNAVAILABLE' },
  { fault: {}, code: 'SIM-WRONG-SIGNATURE', reason: 'SUPPLIER_REFUSED' },
  { fault: {}, code: 'SIM-UNKNOWN-PACKAGE', reason: 'PACKAGE_WITHDRAWN' },
] as const;

describe.each(['BASE', 'TOPUP'] as const)('a %s purchase that the supplier refuses', (type) => {
  it.each(REFUSALS)('is refunded and keeps the reason $reason', async (refusal) => {
    const { fault, reason } = refusal;
    const code = 'code' in refusal ? refusal.code : 'SIM-OK';
    const before = await buyer.balanceMinor();
    await stack.faults(fault);
    const { transactionId, answer } = await harness.purchase({
      packageCode: type === 'BASE' ? code : `TOPUP_${code}`,
      ...(type === 'BASE' ? {} : { esimId: topUpTarget.esimId }),
    });
    expect(answer).toMatchObject({ status: 'REFUSED', refusal: { reason } });
    expect(await harness.result(transactionId)).toEqual({ status: 'FAILED', reason });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'FAILED', reason });
    expect(await holdOf(stack, transactionId)).toBe('VOIDED');
    expect(await buyer.balanceMinor()).toBe(before);
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    expect(await timelineOf(stack, transactionId)).toEqual(['wallet-held', 'failed', 'hold-released']);
    await untilListed(
      stack,
      `TransactionId = '${transactionId}' AND PurchaseStatus = 'FAILED' AND Reason = '${reason}' AND NeedsAttention = false`,
      (ids) => ids.length === 1,
    );
  });
});

describe('a refusal after an unknown outcome', () => {
  /** Long pauses between checks, so that a fault set in between affects exactly the next call. */
  const SLOW_CHECK_TIMINGS = { ...LONG_ANSWER_TIMINGS, checkFirstMs: 800 };

  it('does not count while the supplier has the order: it is delivered, not refunded', async () => {
    // The order is accepted and its answer lost; the repeat is refused for its signature, which says nothing
    // about the order.
    await stack.faults({ loseAnswer: { next: 1 } });
    const asked = harness.inputFor({ timings: SLOW_CHECK_TIMINGS });
    const answer = harness.ask(asked);
    await untilOrdered(asked.transactionId);
    await stack.faults({ wrongSignature: { next: 1 } });
    expect(await answer).toEqual({ status: 'SUCCESS' });
    expect(await stack.supplierOrders(asked.transactionId)).toHaveLength(1);
    expect(await refusedSignatures()).toBeGreaterThan(0);
  });
});

function untilOrdered(transactionId: string): Promise<unknown[]> {
  return until(
    () => stack.supplierOrders(transactionId),
    (orders) => orders.length > 0,
    { what: 'the order at the supplier', everyMs: 5 },
  );
}

async function refusedSignatures(): Promise<number> {
  const answer = await fetch(`${stack.supplierControlUrl}/stats`);
  const { codes } = (await answer.json()) as { codes: Record<string, Record<string, number>> };
  return Object.values(codes).reduce((sum, ofOperation) => sum + (ofOperation['101003'] ?? 0), 0);
}
