/**
 * Operator's moves on a purchase that is being delivered, made at its pauses, so that nothing else asks the supplier meanwhile. Money goes back,
 * or another package is ordered, only once nothing of the first order can come any more, or a person has that in writing.
 */
import { patched, sleep } from '@temporalio/workflow';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import type { Refusal } from '../../src/domain/refusals.ts';
import type { DeliverOutcome, MadeMove, NewMessages } from '../contract.ts';
import type { PaymentPoller } from '../payments/payment-poller.ts';
import { lookForMove, type PendingApproval } from '../operations/operator-actions.ts';
import { closeMove, deliverOnce, lookAtSupplier, makeMove, withdrawForMove } from '../steps.ts';

/** How the story goes on after a move. */
export type ActionEffect =
  /** As before. */
  | { readonly way: 'on' }
  /** The supplier was asked, with this outcome. */
  | { readonly way: 'asked'; readonly outcome: DeliverOutcome }
  /** Another package is to be delivered. */
  | { readonly way: 'anew' }
  | { readonly way: 'given-back'; readonly refusal: Refusal; readonly messages?: NewMessages };

export async function performAction(
  input: PurchaseInput,
  look: PaymentPoller | undefined,
  move: PendingApproval,
): Promise<ActionEffect> {
  const { transactionId } = input;
  switch (move.wish.move) {
    case 'look-at-gateway':
      if (look) move.answer(await lookForMove(move.moveId, look));
      else move.answer(await closeMove(move.moveId, { refusal: 'DOES_NOT_FIT' }));
      return { way: 'on' };
    case 'look-at-supplier': {
      const { did, delivery } = await lookAtSupplier(transactionId);
      move.answer(await closeMove(move.moveId, { did }));
      return delivery ? { way: 'asked', outcome: delivery } : { way: 'on' };
    }
    case 'retry-delivery': {
      const outcome = await deliverOnce(input);
      move.answer(await closeMove(move.moveId, { did: describeOutcome(outcome) }));
      return { way: 'asked', outcome };
    }
    default:
      return replaceOrGiveBack(input, move);
  }
}

async function replaceOrGiveBack(input: PurchaseInput, move: PendingApproval): Promise<ActionEffect> {
  const { wish, moveId } = move;
  // Builds of before waited here, and not in the step.
  if (!patched('withdrawal-waits'))
    await sleep(input.timings.doubtMs, { summary: 'until nothing sent earlier can still arrive' });
  const withdrawal = await withdrawForMove(input, wish.evidence !== undefined);
  if (withdrawal.left !== 'nothing') {
    const { left, detail } = withdrawal;
    const refusal = left === 'delivered' ? 'ALREADY_DELIVERED' : 'SUPPLIER_MAY_DELIVER';
    move.answer(await closeMove(moveId, { refusal, detail }));
    return left === 'delivered' ? { way: 'asked', outcome: await deliverOnce(input) } : { way: 'on' };
  }
  const made = await makeMove(moveId, 'delivering');
  move.answer(made.outcome === 'not-now' ? await closeMove(moveId, { refusal: 'DOES_NOT_FIT' }) : made);
  if (made.outcome !== 'done') return { way: 'on' };
  return wish.move === 'deliver-other' ? { way: 'anew' } : givenBack(moveId, made);
}

function givenBack(moveId: string, made: Extract<MadeMove, { readonly outcome: 'done' }>): ActionEffect {
  return {
    way: 'given-back',
    refusal: { reason: 'CANCELLED_BY_OPERATOR', detail: moveId },
    ...(made.messages ? { messages: made.messages } : {}),
  };
}

function describeOutcome(outcome: DeliverOutcome): string {
  switch (outcome.outcome) {
    case 'delivered':
      return 'delivered';
    case 'refused':
      return `the supplier refuses: ${outcome.refusal.reason}`;
    case 'unknown':
      return `asked the supplier; still open: ${outcome.reason}`;
    case 'withdrawing':
      return 'nothing was asked: the order is being taken back';
  }
}
