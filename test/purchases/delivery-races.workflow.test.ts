// Two observers of one delivery that disagree: an abandoned attempt that still works, a refusal while an
// order is in progress, an operator's cancellation during a delivery. The test runs the attempts itself, in
// the order that shows the fault.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { flagMoney } from '../../src/payments/store/payments.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { loadDelivery } from '../../src/purchases/store/supplier-orders.ts';
import { refuseOrder } from '../../src/purchases/store/purchases.ts';
import { failPurchase } from '../support/money/give-back.ts';
import type { DeliveryResult } from '../../workflows/contract.ts';
import { findPurchaseRow, holdOf } from '../support/people/buyer.ts';
import { createAttempt, type Attempt } from '../support/people/delivery-attempts.ts';
import { until } from '../support/time/until.ts';
import { LONG_ANSWER_TIMINGS, startWorkflows } from '../support/world/workflow-harness.ts';

const attempts: Attempt[] = [];

// An eSIM in use cannot be cancelled: here none is activated on its own.
const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: null } });
const topUpTarget = await harness.topUpTarget(buyer);
afterEach(async () => {
  for (const attempt of attempts.splice(0)) attempt.close();
  await stack.clearFaults();
  // What an earlier test had the supplier refuse is not on sale otherwise.
  await sql`delete from package_shortages`.execute(stack.owner);
});

function newAttempt(): Attempt {
  const attempt = createAttempt(stack);
  attempts.push(attempt);
  return attempt;
}

/** An open purchase with its money held and without a workflow. */
async function open(esimId?: string): Promise<PurchaseInput> {
  const timings = { ...LONG_ANSWER_TIMINGS, inFlightGraceMs: 300 };
  const input = harness.inputFor({ timings, ...(esimId === undefined ? {} : { esimId }) });
  const options = { now: new Date(), gateway: 'paystack', keepRefusal: () => false };
  expect(await openPurchase(stack.world, input, options)).toMatchObject({ stage: 'paid' });
  return input;
}

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

/**
 * One attempt has ordered and not written its row; another is refused, and the supplier's list does not show
 * the order yet.
 */
async function refusedBesideAnOrder(
  input: PurchaseInput,
  faults: Record<string, unknown> = { allocationMs: 1_500 },
): Promise<{ first: Attempt; firstEnds: Promise<DeliveryResult> }> {
  const first = newAttempt();
  await stack.faults(faults);
  first.stall('order', 'after');
  const firstEnds = first.deliverOnce(input.transactionId);
  await first.stalled();
  await stack.faults(NO_STOCK);
  // Not final: the first one may still be accepted.
  expect(await newAttempt().deliverOnce(input.transactionId)).toMatchObject({ state: 'waiting' });
  expect(await holdOf(stack, input.transactionId)).toBe('HELD');
  return { first, firstEnds };
}

async function untilAllocated(transactionId: string): Promise<void> {
  await until(
    () => stack.supplierOrders(transactionId),
    ([order]) => order?.status === 'GOT_RESOURCE',
    { what: 'allocated' },
  );
}

describe('an abandoned attempt that still delivers', () => {
  it('delivers, beside a refusal that was not final', async () => {
    const input = await open();
    const { first, firstEnds } = await refusedBesideAnOrder(input);
    await untilAllocated(input.transactionId);
    first.goOn();
    expect(await firstEnds).toMatchObject({ state: 'done' });
    await expectAgreement(input.transactionId);
    expect(await findPurchaseRow(stack, input.transactionId)).toMatchObject({ status: 'SUCCESS' });
  });

  it('is not cancelled by an operator either, once it has delivered', async () => {
    const input = await open();
    const { first, firstEnds } = await refusedBesideAnOrder(input);
    await untilAllocated(input.transactionId);
    first.goOn();
    expect(await firstEnds).toMatchObject({ state: 'done' });
    expect(await newAttempt().withdraw(input.transactionId, true)).toMatchObject({ outcome: 'delivered' });
    await expectAgreement(input.transactionId);
  });

  it('cannot deliver what was cancelled', async () => {
    const input = await open();
    const first = newAttempt();
    first.stall('profile', 'after');
    const firstEnds = first.deliverOnce(input.transactionId);
    await first.stalled();
    expect(await newAttempt().withdraw(input.transactionId)).toMatchObject({ outcome: 'withdrawn' });
    first.goOn();
    expect(await firstEnds).toMatchObject({ state: 'waiting' });
    await failPurchase(stack.world, input.transactionId, { reason: 'CANCELLED_BY_OPERATOR', detail: '' });
    await expectAgreement(input.transactionId);
  });

  it('goes on after an operator’s step that died on its way', async () => {
    const input = await open();
    await stack.faults({ neverAllocate: { next: 1 } });
    await newAttempt().deliverOnce(input.transactionId);
    const stopped = newAttempt();
    stopped.stall('profile', 'before');
    const ends = stopped.withdraw(input.transactionId);
    await stopped.stalled();
    expect(await newAttempt().deliverOnce(input.transactionId)).toMatchObject({ state: 'waiting' });
    const [order] = await stack.supplierOrders(input.transactionId);
    await fetch(`${stack.supplierControlUrl}/orders/${order?.orderNo ?? ''}/allocate`, { method: 'POST' });
    expect(await newAttempt().deliverOnce(input.transactionId)).toMatchObject({ state: 'done' });
    stopped.goOn();
    expect(await ends).toMatchObject({ outcome: 'uncertain' });
    await expectAgreement(input.transactionId);
    expect(await esimStatusAtSupplier(input.transactionId)).not.toBe('CANCEL');
  });
});

describe('a closed purchase', () => {
  const REFUSAL = { reason: 'OUT_OF_STOCK', detail: '' } as const;

  it('is not ordered by an attempt that begins late', async () => {
    const input = await open();
    await failPurchase(stack.world, input.transactionId, REFUSAL);
    await newAttempt().deliverOnce(input.transactionId);
    expect(await stack.supplierOrders(input.transactionId)).toEqual([]);
  });

  it('is not topped up by an attempt that begins late, and stores no totals', async () => {
    const input = await open(topUpTarget.esimId);
    await failPurchase(stack.world, input.transactionId, REFUSAL);
    await newAttempt().deliverOnce(input.transactionId);
    expect(await stack.supplierOrders(input.transactionId)).toEqual([]);
    expect(await findPurchaseRow(stack, input.transactionId)).toMatchObject({
      top_up_total_volume_bytes: null,
    });
  });
});

describe('a withdrawal', () => {
  it('waits for a top-up that is in flight, and finds it', async () => {
    const { transactionId } = await open(topUpTarget.esimId);
    const first = newAttempt();
    first.stall('topUp', 'before');
    const firstEnds = first.deliverOnce(transactionId);
    await first.stalled();
    const withdrawn = newAttempt().withdraw(transactionId);
    await new Promise((resolve) => setTimeout(resolve, 500));
    first.goOn();
    expect(await firstEnds).toMatchObject({ state: 'waiting' });
    expect(await withdrawn).toMatchObject({
      outcome: 'uncertain',
      detail: 'the top-up is there, and cannot be taken back',
    });
    expect(await newAttempt().deliverOnce(transactionId)).toMatchObject({ state: 'done' });
    expect(await stack.supplierOrders(transactionId)).toMatchObject([{ requests: 1 }]);
  });
});

describe('an operator’s check', () => {
  it('orders nothing', async () => {
    const { transactionId } = await open();
    expect(await newAttempt().checkSupplier(transactionId)).toBe('nothing was ordered yet');
    await stack.faults({ busy: { next: 1 } });
    await newAttempt().deliverOnce(transactionId);
    expect(await newAttempt().checkSupplier(transactionId)).toBe('the supplier lists no such order');
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
  });

  it('settles a top-up that the eSIM already has, and a withdrawal cannot take it back', async () => {
    const { transactionId } = await open(topUpTarget.esimId);
    const first = newAttempt();
    first.stall('topUp', 'after');
    void first.deliverOnce(transactionId);
    await first.stalled();
    expect(await newAttempt().withdraw(transactionId, true)).toMatchObject({
      outcome: 'uncertain',
      detail: 'the top-up is there, and cannot be taken back',
    });
    expect(await newAttempt().checkSupplier(transactionId)).toBe('delivered');
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
    expect(await stack.supplierOrders(transactionId)).toMatchObject([{ kind: 'topup', requests: 1 }]);
  });
});

it('a worker of another supplier sends nothing, cancels nothing and calls no person', async () => {
  const { transactionId } = await open();
  await stack.faults({ loseAnswer: 1 });
  expect(await newAttempt().deliverOnce(transactionId)).toMatchObject({ state: 'waiting' });
  const ofSupplier = (supplier: string) =>
    stack.owner
      .updateTable('supplier_orders')
      .set({ supplier })
      .where('transaction_id', '=', transactionId)
      .execute();
  await ofSupplier('another');
  const why = 'this worker has no connection to its supplier';
  const waiting = await newAttempt().deliverOnce(transactionId);
  expect(waiting).toMatchObject({ state: 'waiting', why: `for the delivery: ${why}` });
  expect(waiting).not.toHaveProperty('attention');
  expect(await newAttempt().checkSupplier(transactionId)).toBe(why);
  expect(await newAttempt().withdraw(transactionId, true)).toEqual({ outcome: 'uncertain', detail: why });
  expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  await stack.clearFaults();
  await ofSupplier('esim-access');
  await until(
    () => newAttempt().deliverOnce(transactionId),
    ({ state }) => state === 'done',
    { what: 'delivered by its own supplier' },
  );
});

describe('a refund', () => {
  it('does not rely on a list when our own order number contradicts it', async () => {
    const input = await open();
    const { first, firstEnds } = await refusedBesideAnOrder(input, { neverAllocate: { next: 1 } });
    first.goOn();
    expect(await firstEnds).toMatchObject({ state: 'waiting' });
    const { order } = await loadDelivery(stack.world, input.transactionId);
    expect(await refuseOrder(stack.world, order!, { reason: 'OUT_OF_STOCK', detail: '' })).toBe('open');
    // Still allocating, so no list shows it; the number is in our row.
    expect(await newAttempt().withdraw(input.transactionId)).toMatchObject({
      outcome: 'uncertain',
      detail: expect.stringMatching(/still being allocated/) as unknown,
    });
    expect(await holdOf(stack, input.transactionId)).toBe('HELD');
  });
});

describe('a payment that is disputed', () => {
  it('stops a delivery that is under way, and lets it go on once it is not', async () => {
    const input = await open();
    const { transactionId } = input;
    const first = newAttempt();
    first.stall('profile', 'after');
    const firstEnds = first.deliverOnce(transactionId);
    await first.stalled();
    await flagMoney(stack.world, transactionId, 'PAYMENT_DISPUTED');
    first.goOn();
    const disputed = { state: 'waiting', attention: 'PAYMENT_DISPUTED' };
    expect(await firstEnds).toMatchObject(disputed);
    expect(await newAttempt().deliverOnce(transactionId)).toMatchObject(disputed);
    expect(await holdOf(stack, transactionId)).toBe('HELD');
    await stack.owner
      .updateTable('purchases')
      .set({ attention_reason: null, needs_attention_since: null })
      .where('transaction_id', '=', transactionId)
      .execute();
    expect(await newAttempt().deliverOnce(transactionId)).toMatchObject({ state: 'done' });
    await expectAgreement(transactionId);
  });
});
