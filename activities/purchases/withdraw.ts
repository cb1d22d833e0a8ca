/**
 * Cancels what may have been ordered, for an operator who gives the money back or delivers something else.
 * The order's row is first closed to sending and settling, so that a delivery and a withdrawal cannot both
 * succeed; a withdrawal that cancels nothing opens it again.
 */
import { sleep } from '@temporalio/activity';
import { createFence } from '../../src/platform/fence.ts';
import {
  beginCancelling,
  beginWithdrawal,
  recordAccepted,
  recordWithdrawn,
  reopenDelivery,
  SEND_WITHIN_MS,
  type SupplierOrder,
} from '../../src/purchases/store/supplier-orders.ts';
import type { ActivityDeps } from '../deps.ts';
import { findOrder, isOfSupplier, NOT_CONNECTED } from './delivery-attempt.ts';

/** `withdrawn`: nothing of it is left at the supplier. `uncertain`: the supplier may still deliver. */
export type Withdrawal =
  | { readonly outcome: 'withdrawn' }
  | { readonly outcome: 'uncertain' | 'delivered'; readonly detail: string };

const WITHDRAWN: Withdrawal = { outcome: 'withdrawn' };
const DELIVERED: Withdrawal = { outcome: 'delivered', detail: 'it was delivered meanwhile' };
const OVER: Withdrawal = { outcome: 'uncertain', detail: 'another step has ended this withdrawal' };

/** Our timer and Postgres's clock. */
const TIMERS_DIFFER_MS = 50;

const uncertain = (detail: string): Withdrawal => ({ outcome: 'uncertain', detail });

interface WithdrawOptions {
  /**
   * The operator has the supplier's word that nothing is delivered. Used only where the supplier's API does
   * not say.
   */
  readonly supplierConfirmedUndelivered: boolean;
}

/** Withdraws the order at the supplier. Repeatable. Only a recorded withdrawal allows a refund. */
export async function withdraw(
  deps: ActivityDeps,
  transactionId: string,
  options: WithdrawOptions,
): Promise<Withdrawal> {
  const {
    state,
    delivery: { order },
  } = await beginWithdrawal(deps.db, transactionId);
  if (state === 'delivered') return DELIVERED;
  if (state === 'withdrawn' || order === null || order.attempts === 0) return WITHDRAWN;
  // The money went back before; only the order at the supplier is left to cancel.
  if (state === 'closed') return cancelOrder(deps, order, options);
  // Until then what was sent may still arrive.
  if (order.settlesInMs > 0) await sleep(order.settlesInMs + TIMERS_DIFFER_MS);
  const withdrawal = await cancelOrder(deps, order, options);
  if (withdrawal.outcome === 'withdrawn') return (await recordWithdrawn(deps.db, order)) ? WITHDRAWN : OVER;
  await reopen(deps, transactionId);
  return withdrawal;
}

/** Once a cancellation that was sent can no longer arrive. */
async function reopen({ db }: ActivityDeps, transactionId: string): Promise<void> {
  for (;;) {
    const waitMs = await reopenDelivery(db, transactionId);
    if (waitMs === 0) return;
    await sleep(waitMs);
  }
}

/**
 * By our order number where it is known. An order that is not listed may still be allocating, so only the
 * supplier's word to an operator rules it out. An order that is there and cannot be cancelled counts as
 * deliverable in any case.
 */
async function cancelOrder(
  deps: ActivityDeps,
  order: SupplierOrder,
  { supplierConfirmedUndelivered }: WithdrawOptions,
): Promise<Withdrawal> {
  const unlessConfirmed = (detail: string): Withdrawal =>
    supplierConfirmedUndelivered ? WITHDRAWN : uncertain(detail);
  if (!isOfSupplier(deps, order)) return uncertain(NOT_CONNECTED);
  if (order.kind === 'TOPUP') {
    const held = await deps.supplier.findTopUp({ transactionId: order.id, esimTranNo: order.esimTranNo });
    if (held.outcome !== 'done')
      return unlessConfirmed('the supplier does not say whether it has the top-up');
    return held.value.found ? uncertain('the top-up is there, and cannot be taken back') : WITHDRAWN;
  }
  const orderNo = order.orderNo ?? (await findOrderNo(deps, order));
  if (orderNo === undefined) return unlessConfirmed('the supplier does not say whether it has the order');
  if (orderNo === null)
    return unlessConfirmed('the supplier lists nothing of it, and may still be allocating it');
  const answer = await deps.supplier.profile({ orderNo });
  if (answer.outcome !== 'done')
    return unlessConfirmed(`the supplier does not say how order ${orderNo} stands`);
  if (answer.value.state === 'allocating')
    return unlessConfirmed(`order ${orderNo} is still being allocated`);
  if (answer.value.profile.status === 'CANCELLED') return WITHDRAWN;
  return cancelEsim(deps, order, answer.value.profile.esimTranNo);
}

async function findOrderNo(deps: ActivityDeps, order: SupplierOrder): Promise<string | null | undefined> {
  const orderNo = await findOrder(deps, order);
  if (orderNo) await recordAccepted(deps.db, order, orderNo);
  return orderNo;
}

/** Only during this withdrawal: a purchase that was opened again may be delivered by now. */
async function cancelEsim(
  { db, supplier }: ActivityDeps,
  order: SupplierOrder,
  esimTranNo: string,
): Promise<Withdrawal> {
  const fence = createFence(SEND_WITHIN_MS);
  if (!(await beginCancelling(db, order, supplier.effectTimeLimitMs))) return OVER;
  const cancelled = await supplier.cancel(esimTranNo, fence);
  switch (cancelled.outcome) {
    case 'done':
      return WITHDRAWN;
    case 'refused':
      return uncertain(`the eSIM is there, and cannot be cancelled: ${cancelled.reason}`);
    case 'unknown':
      return uncertain(`the supplier does not say whether it cancelled ${esimTranNo}`);
  }
}
