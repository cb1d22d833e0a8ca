/**
 * Cancels what may have been ordered, for an operator who gives the money back or delivers something else. The purchase's row is first closed to orders
 * and settling, so that a delivery and a withdrawal cannot both succeed; a withdrawal that cancels nothing opens it again.
 */
import { sleep } from '@temporalio/activity';
import {
  beginCancelling,
  beginWithdrawal,
  keepOrderNo,
  keepWithdrawn,
  reopenDelivery,
  type Delivery,
} from '../../src/purchases/store/deliveries.ts';
import type { Withdrawal } from '../../workflows/contract.ts';
import { findOrder, topUpOf } from './deliver.ts';
import type { ActivityDeps } from '../deps.ts';

const NOTHING: Withdrawal = { left: 'nothing' };
const DELIVERED: Withdrawal = { left: 'delivered', detail: 'it was delivered meanwhile' };

/**
 * Whether the supplier may still deliver. Safe to repeat. `isVouchedFor`: the operator has the supplier's word that nothing is delivered; used only when the
 * supplier's API does not say. The row records that nothing is left, and only then may the money go back.
 */
export async function withdraw(
  deps: ActivityDeps,
  transactionId: string,
  isVouchedFor: boolean,
): Promise<Withdrawal> {
  const { state, delivery } = await beginWithdrawal(deps.db, transactionId, deps.clock.now());
  if (state === 'delivered') return DELIVERED;
  // The money went back before; only the order at the supplier is left to cancel.
  if (state === 'closed')
    return delivery.orderAttempts === 0 ? NOTHING : cancelOrder(deps, delivery, isVouchedFor);
  const withdrawal =
    delivery.orderAttempts === 0 ? NOTHING : await cancelWhenSettled(deps, delivery, isVouchedFor);
  if (withdrawal.left === 'nothing') await keepWithdrawn(deps.db, delivery);
  else await reopen(deps, transactionId);
  return withdrawal;
}

/** Once no order that was sent can still arrive. */
async function cancelWhenSettled(
  deps: ActivityDeps,
  delivery: Delivery,
  isVouchedFor: boolean,
): Promise<Withdrawal> {
  const now = deps.clock.now();
  const waitMs = (delivery.lastAskedAt ?? now).getTime() + delivery.graceMs - now.getTime();
  if (waitMs > 0) await sleep(waitMs);
  return cancelOrder(deps, delivery, isVouchedFor);
}

async function reopen(deps: ActivityDeps, transactionId: string): Promise<void> {
  for (;;) {
    const waitMs = await reopenDelivery(deps.db, transactionId, deps.clock.now());
    if (waitMs === 0) return;
    await sleep(waitMs);
  }
}

/**
 * By our order number where it is known. An order that is not listed may still be allocating, so only the supplier's word to an operator rules it out.
 * An order that is there and cannot be cancelled counts as deliverable in any case.
 */
async function cancelOrder(
  deps: ActivityDeps,
  delivery: Delivery,
  isVouchedFor: boolean,
): Promise<Withdrawal> {
  const unless = (detail: string): Withdrawal =>
    isVouchedFor ? NOTHING : { left: 'perhaps-something', detail };
  if (delivery.packageType === 'TOPUP') {
    const held = await deps.supplier.findTopUp(topUpOf(delivery));
    if (held.outcome !== 'done') return unless('the supplier does not say whether it has the top-up');
    if (!held.value.found) return NOTHING;
    return { left: 'perhaps-something', detail: 'the top-up is there, and cannot be taken back' };
  }
  const orderNo = delivery.orderNo ?? (await findOrderNo(deps, delivery));
  if (orderNo === undefined) return unless('the supplier does not say whether it has the order');
  if (orderNo === null) return unless('the supplier lists nothing of it, and may still be allocating it');
  const answer = await deps.supplier.profile({ orderNo });
  if (answer.outcome !== 'done') return unless(`the supplier does not say how order ${orderNo} stands`);
  if (answer.value.state === 'allocating') return unless(`order ${orderNo} is still being allocated`);
  if (answer.value.profile.status === 'CANCELLED') return NOTHING;
  return cancelEsim(deps, delivery, answer.value.profile.esimTranNo);
}

async function findOrderNo(deps: ActivityDeps, delivery: Delivery): Promise<string | null | undefined> {
  const held = await findOrder(deps, delivery);
  if (!held) return held;
  await keepOrderNo(deps.db, delivery, held.orderNo);
  return held.orderNo;
}

/** Only during this withdrawal: a purchase that was opened again may be delivered by now. */
async function cancelEsim(deps: ActivityDeps, delivery: Delivery, esimTranNo: string): Promise<Withdrawal> {
  const isClosed = delivery.status === 'FAILED';
  if (!isClosed && !(await beginCancelling(deps.db, delivery, deps.clock.now()))) return DELIVERED;
  const cancelled = await deps.supplier.cancel(esimTranNo);
  if (cancelled.outcome === 'done') return NOTHING;
  const detail =
    cancelled.outcome === 'refused'
      ? `the eSIM is there, and cannot be cancelled: ${cancelled.reason}`
      : `the supplier does not say whether it cancelled ${esimTranNo}`;
  return { left: 'perhaps-something', detail };
}
