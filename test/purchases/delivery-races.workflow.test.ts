// Two observers of one delivery that disagree: an abandoned attempt that still works, a refusal while an order is in progress, an
// operator's cancellation during a delivery. The test runs the attempts itself, in the order that shows the fault.
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { makeId } from '../../src/domain/ids.ts';
import { askForAction, beginAction } from '../../src/operations/store/actions.ts';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { keepRefusal, loadDelivery } from '../../src/purchases/store/deliveries.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { failPurchase } from '../support/give-back.ts';
import type { DeliverOutcome } from '../../workflows/contract.ts';
import { findPurchaseRow, holdOf } from '../support/buyer.ts';
import { NO_LIMITS } from '../support/facts.ts';
import { createAttempt, type Attempt } from '../support/delivery-attempts.ts';
import { EVIDENCE, REASON } from '../support/operator-actions.ts';
import { until } from '../support/until.ts';
import { startWorkflows } from '../support/workflow-harness.ts';

const attempts: Attempt[] = [];

// A cancellation must be in time before the eSIM is in use, on a busy machine as well.
const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: 1_000 } });
const topUpTarget = await harness.topUpTarget(buyer);
afterEach(async () => {
  for (const attempt of attempts.splice(0)) attempt.close();
  await stack.clearFaults();
});

function newAttempt(aheadMs?: number): Attempt {
  const attempt = createAttempt(stack, aheadMs);
  attempts.push(attempt);
  return attempt;
}

/** An open purchase with its money held and without a workflow. */
async function open(esimId?: string): Promise<PurchaseInput> {
  const input = harness.inputFor({ account: buyer.account, ...(esimId === undefined ? {} : { esimId }) });
  const options = { now: new Date(), gateway: 'paystack', keepRefusal: () => false };
  expect(await openPurchase(stack.world, input, options)).toMatchObject({ stage: 'paid' });
  return input;
}

const once = (transactionId: string) => ({ transactionId, budgetMs: 0, checkFirstMs: 50, checkMaxMs: 200 });
/** No earlier request can still arrive. */
const LATER_MS = 600_000;
const NO_STOCK = { refusalsFirst: true, outOfStock: 1 };

async function esimStatusAtSupplier(transactionId: string): Promise<string | undefined> {
  const [order] = await stack.supplierOrders(transactionId);
  return order?.esims[0]?.esimStatus;
}

/** The books and the supplier agree: delivered and active there, or refunded and cancelled there. */
async function expectAgreement(transactionId: string): Promise<void> {
  const row = await findPurchaseRow(stack, transactionId);
  const atSupplier = await esimStatusAtSupplier(transactionId);
  const hold = await holdOf(stack, transactionId);
  if (row?.status === 'SUCCESS') {
    expect({ atSupplier, hold }).toEqual({
      atSupplier: expect.stringMatching(/GOT_RESOURCE|IN_USE/) as unknown,
      hold: 'POSTED',
    });
  } else if (row?.status === 'FAILED') {
    expect({ isDead: atSupplier === undefined || atSupplier === 'CANCEL', hold }).toEqual({
      isDead: true,
      hold: 'VOIDED',
    });
  } else expect(hold).toBe('HELD');
}

/** One attempt has ordered and not written its row; another is refused, and the supplier's list does not show the order yet. */
async function refusedBesideAnOrder(
  input: PurchaseInput,
  faults: Record<string, unknown> = { allocationMs: 1_500 },
): Promise<{ first: Attempt; firstEnds: Promise<DeliverOutcome> }> {
  const first = newAttempt();
  await stack.faults(faults);
  first.stall('order', 'after');
  const firstEnds = first.activities.deliver(once(input.transactionId));
  await first.stalled();
  await stack.faults(NO_STOCK);
  expect(await newAttempt().activities.deliver(once(input.transactionId))).toMatchObject({
    outcome: 'refused',
    afterDoubt: true,
  });
  return { first, firstEnds };
}

/** An operator has requested its cancellation, and its workflow has begun that. */
async function cancelBegun(transactionId: string, evidence?: string): Promise<void> {
  const actionId = makeId('action', randomBytes(16).toString('hex'));
  const action = {
    actionId,
    actionKey: actionId,
    transactionId,
    action: 'cancel',
    by: 'ada',
    reason: REASON,
  } as const;
  await askForAction(stack.world, { ...action, evidence }, new Date());
  const begun = await beginAction(stack.world, action, { limits: NO_LIMITS, now: new Date() });
  expect(begun).toMatchObject({ outcome: 'go' });
}

/** By the state in its row. */
async function refusedForGood(transactionId: string): Promise<void> {
  const delivery = await loadDelivery(stack.world, transactionId);
  await keepRefusal(stack.world, delivery, { reason: 'OUT_OF_STOCK', detail: '' });
}

async function untilAllocated(transactionId: string): Promise<void> {
  await until(
    () => stack.supplierOrders(transactionId),
    ([order]) => order?.status === 'GOT_RESOURCE',
    { what: 'allocated' },
  );
}

describe('an abandoned attempt that still delivers', () => {
  it('is not undone: its delivery is not cancelled', async () => {
    const input = await open();
    const { first, firstEnds } = await refusedBesideAnOrder(input);
    await refusedForGood(input.transactionId);
    await untilAllocated(input.transactionId);
    first.goOn();
    expect(await firstEnds).toMatchObject({ outcome: 'delivered' });
    await newAttempt(LATER_MS).activities.withdrawOrder(input.transactionId);
    await expectAgreement(input.transactionId);
    expect(await findPurchaseRow(stack, input.transactionId)).toMatchObject({ status: 'SUCCESS' });
  });

  it('is not cancelled by an operator either, once it has delivered', async () => {
    const input = await open();
    const { first, firstEnds } = await refusedBesideAnOrder(input);
    await cancelBegun(input.transactionId, EVIDENCE);
    await untilAllocated(input.transactionId);
    first.goOn();
    expect(await firstEnds).toMatchObject({ outcome: 'delivered' });
    expect(await newAttempt(LATER_MS).activities.withdrawForAction(input.transactionId, true)).not.toEqual({
      outcome: 'withdrawn',
    });
    await expectAgreement(input.transactionId);
  });

  it('cannot deliver what was cancelled', async () => {
    const input = await open();
    await cancelBegun(input.transactionId);
    const first = newAttempt();
    first.stall('profile', 'after');
    const firstEnds = first.activities.deliver(once(input.transactionId));
    await first.stalled();
    expect(await newAttempt(LATER_MS).activities.withdrawForAction(input.transactionId, false)).toEqual({
      outcome: 'withdrawn',
    });
    first.goOn();
    expect(await firstEnds).not.toMatchObject({ outcome: 'delivered' });
    await failPurchase(stack.world, input.transactionId, { reason: 'CANCELLED_BY_OPERATOR', detail: '' });
    await expectAgreement(input.transactionId);
  });
});

describe('a closed purchase', () => {
  const REFUSAL = { reason: 'OUT_OF_STOCK', detail: '' } as const;

  it('is not ordered by an attempt that begins late', async () => {
    const input = await open();
    await failPurchase(stack.world, input.transactionId, REFUSAL);
    await newAttempt().activities.deliver(once(input.transactionId));
    expect(await stack.supplierOrders(input.transactionId)).toEqual([]);
  });

  it('is not topped up by an attempt that begins late, and stores no totals', async () => {
    const input = await open(topUpTarget.esimId);
    await failPurchase(stack.world, input.transactionId, REFUSAL);
    await newAttempt().activities.deliver(once(input.transactionId));
    expect(await stack.supplierOrders(input.transactionId)).toEqual([]);
    expect(await findPurchaseRow(stack, input.transactionId)).toMatchObject({
      top_up_total_volume_bytes: null,
    });
  });
});

describe('a refund', () => {
  it('does not rely on a list when our own order number contradicts it', async () => {
    const input = await open();
    const { first, firstEnds } = await refusedBesideAnOrder(input, { neverAllocate: { next: 1 } });
    first.goOn();
    expect(await firstEnds).toMatchObject({ outcome: 'unknown' });
    await refusedForGood(input.transactionId);
    // Still allocating, so no list shows it; the number is in our row.
    expect(await newAttempt(LATER_MS).activities.withdrawOrder(input.transactionId)).toBe(false);
    expect(await holdOf(stack, input.transactionId)).toBe('HELD');
  });
});
