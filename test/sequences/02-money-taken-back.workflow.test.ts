// Money that a bank takes back, or may take back, before the delivery: from then on nothing is ordered and
// nothing is settled until a person decides. What the person decides happens at once, and no money goes out
// twice.
import { beforeEach, describe, expect, it } from 'vitest';
import { findPurchaseRow } from '../support/people/buyer.ts';
import { disputing } from '../support/money/disputing.ts';
import { movedBy } from '../support/money/fundings.ts';
import { EVIDENCE } from '../support/people/operator-actions.ts';
import { atGateway, chargeAt, confirm } from '../support/money/payments.ts';
import { expectEndsSoon, expectStays, paidPurchase, startSequences, untilOrdered } from './support.ts';

const sequences = await startSequences();
const { stack, buyer, operator } = sequences;
const { resolve, settle, untilAttention } = disputing(stack, operator);

/** The bank's step, and that our rows say so. */
const DISPUTE_REASONS = [
  { deed: 'reverse', reason: 'PAYMENT_REVERSED' },
  { deed: 'dispute', reason: 'PAYMENT_DISPUTED' },
] as const;
type DisputeReason = (typeof DISPUTE_REASONS)[number];

async function dispute(transactionId: string, { deed, reason }: DisputeReason): Promise<void> {
  await atGateway(stack, transactionId, deed);
  // The gateway sends no event about a reversal.
  await confirm(stack, buyer.account, transactionId);
  await untilAttention(transactionId, reason);
}

/** Paid, and every order is turned away: nothing is ordered yet. */
async function notOrdered(): Promise<string> {
  await stack.faults({ busy: 1 });
  return paidPurchase(sequences);
}

/** The supplier lists an order once it is allocated: a person asks it whether a refused order exists. */
const cancelOnItsWord = (transactionId: string) =>
  operator.act(transactionId, 'cancel', { evidence: EVIDENCE });

/** Paid and ordered, and the supplier does not allocate. */
async function ordered(): Promise<string> {
  await stack.faults({ neverAllocate: 1 });
  const transactionId = await paidPurchase(sequences);
  await untilOrdered(stack, transactionId);
  return transactionId;
}

/** The merchant sees no eSIM. */
async function expectNothingShown(transactionId: string): Promise<void> {
  const { body } = await buyer.read(`/api/esim/transactions/${transactionId}`);
  expect(body.status).toBe('PROCESSING');
  expect(body).not.toHaveProperty('esimDetails');
}

/** What the buyer has back, at the gateway and in the wallet. */
async function sentBack(transactionId: string): Promise<unknown> {
  const { refunds } = await chargeAt(stack, transactionId);
  return { refunds, wallet: await buyer.balanceMinor() };
}

describe.each(DISPUTE_REASONS)('a paid purchase whose money is $reason', (taken) => {
  let wallet: bigint;
  beforeEach(async () => {
    wallet = await buyer.balanceMinor();
  });

  it('is not ordered any more, and ends when an operator cancels it', async () => {
    const transactionId = await notOrdered();
    await dispute(transactionId, taken);
    await stack.clearFaults();
    await expectStays(stack, transactionId, 'PROCESSING');
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    await expectNothingShown(transactionId);
    expect(await cancelOnItsWord(transactionId)).toMatchObject({ outcome: 'done' });
    await expectEndsSoon(stack, transactionId, 'FAILED');
    expect(await sentBack(transactionId)).toEqual({ refunds: [], wallet });
    expect(await movedBy(stack, transactionId)).not.toHaveProperty('revenue:USD');
  });

  it('is not settled any more, and ends when an operator cancels it', async () => {
    const transactionId = await ordered();
    await dispute(transactionId, taken);
    await stack.clearFaults();
    await expectStays(stack, transactionId, 'PROCESSING');
    await expectNothingShown(transactionId);
    expect(await movedBy(stack, transactionId)).not.toHaveProperty('revenue:USD');
    expect(await operator.act(transactionId, 'cancel')).toMatchObject({ outcome: 'done' });
    await expectEndsSoon(stack, transactionId, 'FAILED');
    expect(await sentBack(transactionId)).toEqual({ refunds: [], wallet });
    expect(await movedBy(stack, transactionId)).not.toHaveProperty('supplier-cost:USD4');
  });

  it('is not delivered by a retry of an operator', async () => {
    const transactionId = await notOrdered();
    await dispute(transactionId, taken);
    await stack.clearFaults();
    await operator.act(transactionId, 'retry-delivery');
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PROCESSING' });
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    await operator.act(transactionId, 'cancel');
  });
});

it('a disputed purchase is delivered as soon as a person has settled the dispute as won', async () => {
  const transactionId = await notOrdered();
  await dispute(transactionId, { deed: 'dispute', reason: 'PAYMENT_DISPUTED' });
  await stack.clearFaults();
  await expectStays(stack, transactionId, 'PROCESSING');
  await resolve(transactionId, 'declined');
  expect(await settle(transactionId, 'won')).toMatchObject({ outcome: 'done' });
  await expectEndsSoon(stack, transactionId, 'SUCCESS');
  expect(await movedBy(stack, transactionId)).toMatchObject({ 'revenue:USD': 230 });
});

it('a purchase whose dispute is lost is never delivered, and the money is gone once', async () => {
  const transactionId = await notOrdered();
  const wallet = await buyer.balanceMinor();
  await dispute(transactionId, { deed: 'dispute', reason: 'PAYMENT_DISPUTED' });
  await stack.clearFaults();
  await resolve(transactionId, 'merchant-accepted');
  expect(await settle(transactionId, 'lost')).toMatchObject({ outcome: 'done' });
  expect(await cancelOnItsWord(transactionId)).toMatchObject({ outcome: 'done' });
  await expectEndsSoon(stack, transactionId, 'FAILED');
  expect(await sentBack(transactionId)).toEqual({ refunds: [], wallet });
  const { 'gateway-clearing:paystack:USD': clearing = 0, 'suspense:USD': suspense = 0 } = await movedBy(
    stack,
    transactionId,
  );
  expect({ clearing, suspense }).toEqual({ clearing: 0, suspense: 0 });
});
