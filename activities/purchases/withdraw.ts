/**
 * Cancels what may have been ordered, for an operator who gives the money back or delivers something else.
 * The order's row is first closed to sending and settling, so that a delivery and a withdrawal cannot both
 * succeed; a withdrawal that cancels nothing opens it again.
 */
import { sleep } from '@temporalio/activity';
import { createFence } from '../../src/platform/fence.ts';
import { judgeOrder, NOT_ASKED, type JudgeOptions } from '../../src/purchases/order-judgement.ts';
import {
  beginCancelling,
  beginWithdrawal,
  loadGivenUp,
  recordAccepted,
  recordWithdrawn,
  reopenDelivery,
  SEND_WITHIN_MS,
  type SupplierOrder,
} from '../../src/purchases/store/supplier-orders.ts';
import type { ActivityDeps } from '../deps.ts';
import { findOrder, isOfSupplier, NOT_CONNECTED } from './delivery-attempt.ts';

/**
 * `withdrawn`: nothing of it is left at the supplier; `cancelled` is the eSIM that was there.
 * `uncertain`: the supplier may still deliver.
 */
export type Withdrawal =
  | { readonly outcome: 'withdrawn'; readonly cancelled?: string }
  | { readonly outcome: 'uncertain' | 'delivered'; readonly detail: string };

const WITHDRAWN: Withdrawal = { outcome: 'withdrawn' };
const DELIVERED: Withdrawal = { outcome: 'delivered', detail: 'it was delivered meanwhile' };
const OVER: Withdrawal = { outcome: 'uncertain', detail: 'another step has ended this withdrawal' };

/** Our timer and Postgres's clock. */
const TIMERS_DIFFER_MS = 50;

const uncertain = (detail: string): Withdrawal => ({ outcome: 'uncertain', detail });

/** Withdraws the order at the supplier. Repeatable. Only a recorded withdrawal allows a refund. */
export async function withdraw(
  deps: ActivityDeps,
  transactionId: string,
  options: JudgeOptions,
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
  if (withdrawal.outcome === 'withdrawn') return (await recordWithdrawn(deps.db, order)) ? withdrawal : OVER;
  await reopen(deps, transactionId);
  return withdrawal;
}

/** Cancels what was given up and came later. Says where the supplier has, or may get, anything of it. */
export async function cancelGivenUp(deps: ActivityDeps, transactionId: string): Promise<string[]> {
  const said: string[] = [];
  for (const order of await loadGivenUp(deps.db, transactionId)) {
    const withdrawal = await cancelOrder(deps, order, { supplierConfirmedUndelivered: false });
    if (withdrawal.outcome !== 'withdrawn') said.push(withdrawal.detail);
    else if (withdrawal.cancelled !== undefined)
      said.push(`the supplier had delivered what was given up: cancelled ${withdrawal.cancelled} there`);
  }
  return said;
}

/** Once a cancellation that was sent can no longer arrive. */
async function reopen({ db }: ActivityDeps, transactionId: string): Promise<void> {
  for (;;) {
    const waitMs = await reopenDelivery(db, transactionId);
    if (waitMs === 0) return;
    await sleep(waitMs);
  }
}

/** As the supplier says now; an eSIM that is there is cancelled. */
async function cancelOrder(
  deps: ActivityDeps,
  order: SupplierOrder,
  options: JudgeOptions,
): Promise<Withdrawal> {
  if (!isOfSupplier(deps, order)) return uncertain(NOT_CONNECTED);
  const judged = await judgeOrder(deps.supplier, order, options, async () => {
    const found = await findOrder(deps, order);
    if (found.orderNo) await recordAccepted(deps.db, order, found.orderNo);
    return found;
  });
  switch (judged.outcome) {
    case 'withdrawn':
      return WITHDRAWN;
    case 'uncertain':
      return uncertain(judged.detail);
    case 'cancellable':
      return cancelEsim(deps, order, judged.esimTranNo);
  }
}

/** Only during this withdrawal: a purchase that was opened again may be delivered by now. */
async function cancelEsim(
  { db, supplier }: ActivityDeps,
  order: SupplierOrder,
  esimTranNo: string,
): Promise<Withdrawal> {
  const fence = createFence(SEND_WITHIN_MS);
  if (!(await beginCancelling(db, order, supplier.effectTimeLimitMs))) return OVER;
  const cancelled = await supplier.cancel({ esimTranNo, accountId: order.accountId }, fence);
  switch (cancelled.outcome) {
    case 'done':
      return { outcome: 'withdrawn', cancelled: esimTranNo };
    case 'refused':
      return uncertain(`the eSIM is there, and cannot be cancelled: ${cancelled.reason}`);
    case 'unknown':
      if (cancelled.notSent) return uncertain(NOT_ASKED);
      return uncertain(`the supplier does not say whether it cancelled ${esimTranNo}`);
  }
}
