// Final refusals: the money is returned, the purchase has the reason, and the supplier has no order. And
// refusals that do not count, because an order may have been accepted before them.
import { afterEach, describe, expect, it } from 'vitest';
import { findPurchaseRow, holdOf, timelineOf, untilClosed } from '../support/people/buyer.ts';
import { eventTypes, fetchHistory } from '../support/world/history.ts';
import { until } from '../support/time/until.ts';
import {
  startWorkflows,
  SHORT_ANSWER_TIMINGS,
  LONG_ANSWER_TIMINGS,
  untilListed,
} from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows();
const topUpTarget = await harness.topUpTarget(buyer);
afterEach(() => stack.clearFaults());

const REFUSALS = [
  { fault: { outOfStock: 1 }, reason: 'OUT_OF_STOCK' },
  { fault: { priceChanged: 1 }, reason: 'PRICE_CHANGED' },
  { fault: { lowBalance: 1 }, reason: 'SUPPLIER_BALANCE_TOO_LOW' },
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
      account: buyer.account,
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

describe('a purchase refused before any money moves', () => {
  it.each([
    { why: 'a wallet too small', reason: 'INSUFFICIENT_BALANCE', order: { priceMinor: '99999999999' } },
    {
      why: 'an eSIM that is not ours to top up',
      reason: 'ESIM_NOT_ACTIVE',
      order: { esimId: `esim-${'0'.repeat(32)}` },
    },
    { why: 'a package gone meanwhile', reason: 'PACKAGE_WITHDRAWN', order: { packageCode: 'GONE' } },
  ])('writes nothing for $why', async ({ reason, order }) => {
    const { transactionId, answer } = await harness.purchase({ account: buyer.account, ...order });
    expect(answer).toMatchObject({ status: 'REFUSED', refusal: { reason } });
    expect(await harness.result(transactionId)).toEqual({ status: 'FAILED', reason });
    expect(await findPurchaseRow(stack, transactionId)).toBeUndefined();
    expect(await holdOf(stack, transactionId)).toBeUndefined();
    expect(eventTypes(await fetchHistory(stack, transactionId))).not.toContain('ACTIVITY_TASK_SCHEDULED');
  });
});

describe('a refusal after an unknown outcome', () => {
  /** Long pauses between checks, so that a fault set in between affects exactly the next call. */
  const SLOW_CHECK_TIMINGS = { ...LONG_ANSWER_TIMINGS, checkFirstMs: 800 };

  it('does not count while the supplier has the order: it is delivered, not refunded', async () => {
    // The order is accepted and its answer lost; the repeat is refused for its signature, which says nothing
    // about the order.
    await stack.faults({ loseAnswer: { next: 1 } });
    const asked = harness.inputFor({ account: buyer.account, timings: SLOW_CHECK_TIMINGS });
    const answer = harness.ask(asked);
    await untilOrdered(asked.transactionId);
    await stack.faults({ wrongSignature: { next: 1 } });
    expect(await answer).toEqual({ status: 'SUCCESS' });
    expect(await stack.supplierOrders(asked.transactionId)).toHaveLength(1);
    expect(await refusedSignatures()).toBeGreaterThan(0);
  });

  it('does not count while the order is still being allocated and no list shows it', async () => {
    await stack.faults({ loseAnswer: { next: 1 }, allocationMs: 4_000 });
    const timings = { ...SLOW_CHECK_TIMINGS, answerWithinMs: 3_000 };
    const asked = harness.inputFor({ account: buyer.account, timings });
    const answer = harness.ask(asked);
    await untilOrdered(asked.transactionId);
    const before = await refusedSignatures();
    await stack.faults({ wrongSignature: { next: 1 } });
    expect(await answer).toEqual({ status: 'PROCESSING' });
    expect((await untilClosed(stack, asked.transactionId)).status).toBe('SUCCESS');
    expect(await stack.supplierOrders(asked.transactionId)).toHaveLength(1);
    expect(await refusedSignatures()).toBe(before + 1);
  });

  it('counts once no earlier request can still arrive', async () => {
    await stack.faults({ busy: 1 });
    const asked = harness.inputFor({ account: buyer.account, timings: SHORT_ANSWER_TIMINGS });
    expect(await harness.ask(asked)).toEqual({ status: 'PROCESSING' });
    await stack.faults({ busy: 0, outOfStock: 1 });
    const row = await untilClosed(stack, asked.transactionId);
    expect(row).toMatchObject({ status: 'FAILED', reason: 'OUT_OF_STOCK' });
    expect(await holdOf(stack, asked.transactionId)).toBe('VOIDED');
    expect(await stack.supplierOrders(asked.transactionId)).toEqual([]);
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
