/**
 * Operator actions on a purchase that is being delivered. They run in its pauses, so that nothing else asks the supplier meanwhile. Money goes back,
 * or another package is ordered, only once the first order can no longer arrive, or an operator has that in writing from the supplier.
 */
import { patched, sleep } from '@temporalio/workflow';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import type { Refusal } from '../../src/domain/refusals.ts';
import type { DeliverOutcome, NewMessages } from '../contract.ts';
import type { PaymentPoller } from '../payments/payment-poller.ts';
import { checkGatewayFor, type PendingAction } from '../operations/operator-actions.ts';
import { closeMove, deliverOnce, checkSupplier, makeMove, withdrawForMove } from '../steps.ts';

/** How the purchase continues after an action. */
export type DeliveryChange =
  /** As before. */
  | { readonly way: 'on' }
  /** The supplier was asked, with this outcome. */
  | { readonly way: 'asked'; readonly outcome: DeliverOutcome }
  /** Another package is to be delivered. */
  | { readonly way: 'replaced' }
  | { readonly way: 'given-back'; readonly refusal: Refusal; readonly messages?: NewMessages };

/** Performs an operator action and answers its caller. Returns what it means for the delivery. */
export async function performAction(
  input: PurchaseInput,
  poller: PaymentPoller | undefined,
  action: PendingAction,
): Promise<DeliveryChange> {
  const { transactionId } = input;
  switch (action.request.move) {
    case 'look-at-gateway':
      if (poller) action.answer(await checkGatewayFor(action.moveId, poller));
      else action.answer(await closeMove(action.moveId, { refusal: 'DOES_NOT_FIT' }));
      return { way: 'on' };
    case 'look-at-supplier': {
      const { did, delivery } = await checkSupplier(transactionId);
      action.answer(await closeMove(action.moveId, { did }));
      return delivery ? { way: 'asked', outcome: delivery } : { way: 'on' };
    }
    case 'retry-delivery': {
      const outcome = await deliverOnce(input);
      action.answer(await closeMove(action.moveId, { did: describeOutcome(outcome) }));
      return { way: 'asked', outcome };
    }
    default:
      return replaceOrGiveBack(input, action);
  }
}

async function replaceOrGiveBack(input: PurchaseInput, action: PendingAction): Promise<DeliveryChange> {
  const { request, moveId } = action;
  // Earlier builds waited here and not in the step.
  if (!patched('withdrawal-waits'))
    await sleep(input.timings.doubtMs, { summary: 'until nothing sent earlier can still arrive' });
  const withdrawal = await withdrawForMove(input, action);
  if (withdrawal.left !== 'nothing') {
    const { left, detail } = withdrawal;
    const refusal = left === 'delivered' ? 'ALREADY_DELIVERED' : 'SUPPLIER_MAY_DELIVER';
    action.answer(await closeMove(moveId, { refusal, detail }));
    return left === 'delivered' ? { way: 'asked', outcome: await deliverOnce(input) } : { way: 'on' };
  }
  const made = await makeMove(moveId, 'delivering');
  action.answer(made.outcome === 'not-now' ? await closeMove(moveId, { refusal: 'DOES_NOT_FIT' }) : made);
  if (made.outcome !== 'done') return { way: 'on' };
  if (request.move === 'deliver-other') return { way: 'replaced' };
  const { messages } = made;
  const refusal: Refusal = { reason: 'CANCELLED_BY_OPERATOR', detail: moveId };
  return { way: 'given-back', refusal, ...(messages ? { messages } : {}) };
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
      return 'supplier not asked: the order is being cancelled';
  }
}
