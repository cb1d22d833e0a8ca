// An action that a second person approves days later concerns only what existed when it was requested.
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { makeId } from '../../src/domain/ids.ts';
import type { ActionRequest } from '../../src/operations/rules.ts';
import {
  askForAction,
  carryOutAction,
  decideApproval,
  nextAction,
} from '../../src/operations/store/actions.ts';
import { findOpenRefunds, saveRefundState } from '../../src/payments/store/refunds.ts';
import { settlePurchase } from '../../src/purchases/store/purchases.ts';
import { NO_LIMITS } from '../support/money/facts.ts';
import { CHARGE_MINOR, NOW, PRICE_MINOR, usePaymentBooks, type Payer } from '../payments/payments.support.ts';

const books = usePaymentBooks();
const newId = () => makeId('action', randomBytes(16).toString('hex'));
const EVIDENCE = 'https://tickets.test.example/4711';
const ABOVE = { limits: { ...NO_LIMITS, perAction: { USD: 1n } }, now: NOW };

const requestOf = (
  { transactionId }: Payer,
  more: Pick<ActionRequest, 'action'> & Partial<ActionRequest>,
) => {
  const actionId = newId();
  return { actionId, actionKey: actionId, transactionId, by: 'ada', reason: 'a test', ...more };
};

async function perform({ transactionId }: Payer, actionId: string) {
  expect(await nextAction(books.world, transactionId)).toMatchObject({ actionId });
  return carryOutAction(books.world, actionId, NOW);
}

/** Waits for a second person; returns what approves it. */
async function waiting(payer: Payer, more: Pick<ActionRequest, 'action'> & Partial<ActionRequest>) {
  const request = requestOf(payer, more);
  const { actionId } = request;
  expect(await askForAction(books.world, request, ABOVE)).toMatchObject({ outcome: 'waits-for-approval' });
  return async () => {
    const decision = { by: 'grace', isApproved: true, tryId: newId() };
    expect(await decideApproval(books.world, actionId, decision, NOW)).toMatchObject({ outcome: 'go' });
    return perform(payer, actionId);
  };
}

/** By another person, at once. */
async function done(payer: Payer, more: Pick<ActionRequest, 'action'> & Partial<ActionRequest>) {
  const request = requestOf(payer, { ...more, by: 'bob' });
  await askForAction(books.world, request, { limits: NO_LIMITS, now: NOW });
  expect(await perform(payer, request.actionId)).toMatchObject({ outcome: 'done' });
}

async function delivered(): Promise<Payer> {
  const payer = await books.payer();
  await books.bookCheck(payer);
  await settlePurchase(books.world, payer.transactionId);
  return payer;
}

/** Bob has the money sent back as a gift, and the gateway waits for the buyer's bank details. */
async function giftThatWaits(payer: Payer) {
  await done(payer, {
    action: 'refund-to-source',
    goodwill: true,
    amountMinor: String(CHARGE_MINOR),
    currency: 'NGN',
  });
  const [refund] = await findOpenRefunds(books.world, payer.transactionId);
  const state = { status: 'NEEDS_ATTENTION', refundId: '1', gatewayStatus: 'needs-attention' } as const;
  await saveRefundState(books.world, refund!, state);
}

const openRefunds = async ({ transactionId }: Payer) =>
  (await findOpenRefunds(books.world, transactionId)).map((refund) => refund.status);

it('a dispute that came later is not settled against the gateway’s word by what was approved for an earlier one', async () => {
  const payer = await delivered();
  await books.dispute(payer, { disputeId: '17' });
  const settle = { action: 'settle-dispute', evidence: EVIDENCE, outcome: 'won' } as const;
  const approve = await waiting(payer, { ...settle, overrides: true });
  await books.dispute(payer, { disputeId: '17', state: 'won' });
  await done(payer, settle);
  await books.dispute(payer, { disputeId: '18' });
  expect(await approve()).toMatchObject({ code: 'DISPUTE_NEEDED' });
  expect(await books.payment(payer)).toMatchObject({ disputed_minor: CHARGE_MINOR });
});

it('a named dispute is settled, and so is the one that was open when it was asked for', async () => {
  for (const disputeId of ['17', undefined]) {
    const payer = await delivered();
    await books.dispute(payer, { disputeId: '17' });
    const settle = { action: 'settle-dispute', evidence: EVIDENCE, outcome: 'won', overrides: true } as const;
    const approve = await waiting(payer, { ...settle, disputeId });
    expect(await approve()).toMatchObject({ outcome: 'done' });
    expect(await books.payment(payer)).toMatchObject({ disputed_minor: 0n, used_minor: CHARGE_MINOR });
  }
});

it('a gift to the wallet does not end a refund that came later and that the gateway may still send', async () => {
  const payer = await delivered();
  const gift = { amountMinor: String(PRICE_MINOR), currency: 'USD', goodwill: true, evidence: EVIDENCE };
  const approve = await waiting(payer, { action: 'credit-wallet', ...gift });
  await giftThatWaits(payer);
  expect(await approve()).toMatchObject({ outcome: 'refused' });
  expect([await books.balance(payer), await openRefunds(payer)]).toEqual([0n, ['NEEDS_ATTENTION']]);
});

it('a gift back to its source does not close, as sent by hand, a refund that came later', async () => {
  const payer = await delivered();
  const gift = { amountMinor: String(CHARGE_MINOR), currency: 'NGN', goodwill: true, evidence: EVIDENCE };
  const approve = await waiting(payer, { action: 'refund-to-source', ...gift });
  await giftThatWaits(payer);
  expect(await approve()).toMatchObject({ outcome: 'refused' });
  expect(await openRefunds(payer)).toEqual(['NEEDS_ATTENTION']);
});

it('what was asked for about a refund that waits ends that refund', async () => {
  const payer = await delivered();
  await giftThatWaits(payer);
  const approve = await waiting(payer, { action: 'credit-wallet', evidence: EVIDENCE });
  expect(await approve()).toMatchObject({ outcome: 'done' });
  expect([await books.balance(payer), await openRefunds(payer)]).toEqual([PRICE_MINOR, []]);
});
