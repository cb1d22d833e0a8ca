/**
 * Operator's moves: judged and made in our own Postgres, and what they ask of the supplier. A look orders nothing, and money is given back
 * or another package ordered only once nothing of the first order can come any more.
 */
import { esimFactsOf } from '../../src/esims/rules.ts';
import {
  countOrderAttempt,
  keepOrderNo,
  loadDelivery,
  type Delivery,
} from '../../src/purchases/store/deliveries.ts';
import { refreshEsim } from '../../src/esims/store/esims.ts';
import { beginMove, closeMove, carryOutAction } from '../../src/operations/store/actions.ts';
import { messagesOf, newPendingMessages } from '../../src/webhooks/store/messages.ts';
import type {
  DeliverOutcome,
  OrderActivities,
  SupplierActivities,
  SupplierCheck,
} from '../../workflows/contract.ts';
import { deliverProfile, deliverTopUp, findOrder, orderOf, settle, topUpOf } from '../purchases/deliver.ts';
import type { ActivityDeps } from '../deps.ts';
import { withdraw } from '../purchases/withdraw.ts';

export function createActionActivities(
  deps: ActivityDeps,
): Pick<OrderActivities, 'beginMove' | 'makeMove' | 'closeMove'> {
  const { db, clock, events } = deps;
  return {
    beginMove: async (wish) => {
      const begun = await beginMove(db, wish, { limits: deps.approvalLimits, now: clock.now() });
      const { transactionId, move, moveId } = wish;
      if (begun.outcome !== 'go') events.moveEnded({ moveId, transactionId, move, ...wordsOf(begun) });
      return begun;
    },
    makeMove: async (moveId, stage) => {
      const written = newPendingMessages();
      const made = await carryOutAction(db, moveId, { stage, now: clock.now() }, written);
      if (made.outcome === 'not-now') return made;
      events.moveEnded({ moveId, ...wordsOf(made) });
      return { ...made, ...messagesOf(written) };
    },
    closeMove: async (moveId, result) => {
      const closed = await closeMove(db, moveId, result, clock.now());
      events.moveEnded({ moveId, ...wordsOf(closed) });
      return closed;
    },
  };
}

const wordsOf = (ended: { readonly outcome: string; readonly code?: string }) => ({
  outcome: ended.outcome,
  ...(ended.code === undefined ? {} : { code: ended.code }),
});

export function createSupplierActions(
  deps: ActivityDeps,
): Pick<SupplierActivities, 'lookAtSupplier' | 'withdrawForMove' | 'withdrawOrder'> {
  return {
    lookAtSupplier: (transactionId) => lookAtSupplier(deps, transactionId),
    withdrawForMove: (transactionId, isVouchedFor, graceMs) =>
      withdraw(deps, transactionId, { isVouchedFor, ...(graceMs === undefined ? {} : { graceMs }) }),
    // For purchases that were refused under a build of before, which undo in this way.
    withdrawOrder: async (transactionId) => {
      const { left } = await withdraw(deps, transactionId, { isVouchedFor: false });
      return left === 'nothing';
    },
  };
}

async function lookAtSupplier(deps: ActivityDeps, transactionId: string): Promise<SupplierCheck> {
  const delivery = await loadDelivery(deps.db, transactionId);
  switch (delivery.status) {
    case 'PENDING':
      return { did: 'nothing was ordered yet' };
    case 'SUCCESS':
      return refresh(deps, delivery);
    case 'FAILED':
      return withdrawLeftover(deps, delivery);
    case 'PROCESSING':
      if (delivery.delivered) return told(await settle(deps, transactionId, delivery.iccid));
      return delivery.packageType === 'BASE' ? lookForOrder(deps, delivery) : lookForTopUp(deps, delivery);
  }
}

async function lookForOrder(deps: ActivityDeps, delivery: Delivery): Promise<SupplierCheck> {
  let { orderNo } = delivery;
  if (orderNo === null) {
    const held = await findOrder(deps, delivery);
    if (held === undefined) return { did: 'the supplier does not say whether it has the order' };
    if (held === null) return { did: 'the supplier lists no such order' };
    ({ orderNo } = held);
    await keepOrderNo(deps.db, delivery, orderNo);
  }
  const look = await deps.supplier.profile({ orderNo });
  if (look.outcome !== 'done') return { did: `the supplier does not say how order ${orderNo} stands` };
  if (look.value.state === 'allocating') return { did: `order ${orderNo} is still being allocated` };
  const { profile } = look.value;
  if (profile.status === 'CANCELLED') return { did: `order ${orderNo} was cancelled at the supplier` };
  return told(await deliverProfile(deps, delivery, profile));
}

/** One that is there is told of again when it is asked for again under the same id, which adds nothing. */
async function lookForTopUp(deps: ActivityDeps, delivery: Delivery): Promise<SupplierCheck> {
  const held = await deps.supplier.findTopUp(topUpOf(delivery));
  if (held.outcome !== 'done') return { did: 'the supplier does not say whether it has the top-up' };
  if (!held.value.found) return { did: 'the supplier lists no such top-up' };
  const asking = await countOrderAttempt(deps.db, delivery.transactionId, deps.clock.now());
  if (!asking.mayOrder) return { did: 'the supplier has the top-up, and the purchase is closed' };
  const repeated = await deps.supplier.topUp(orderOf(asking.delivery));
  if (repeated.outcome !== 'done')
    return { did: 'the supplier has the top-up, and does not say what it came to' };
  return told(await deliverTopUp(deps, delivery, repeated.value));
}

function told(delivery: DeliverOutcome): SupplierCheck {
  return { did: delivery.outcome === 'delivered' ? 'delivered' : 'delivered, and not settled', delivery };
}

/** How a delivered eSIM stands by now. */
async function refresh({ db, supplier, clock }: ActivityDeps, delivery: Delivery): Promise<SupplierCheck> {
  const lookedAt = clock.now();
  const look = await supplier.profile({ esimTranNo: delivery.esimTranNo });
  if (look.outcome !== 'done' || look.value.state !== 'ready')
    return { did: 'the supplier does not say how the eSIM stands' };
  const row = await refreshEsim(db, delivery.esimId, esimFactsOf(look.value.profile), lookedAt);
  return { did: `the eSIM is ${row?.status ?? look.value.profile.supplierStatus}` };
}

/** What was given back must not be held at the supplier. */
async function withdrawLeftover(deps: ActivityDeps, { transactionId }: Delivery): Promise<SupplierCheck> {
  const withdrawal = await withdraw(deps, transactionId, { isVouchedFor: false });
  return { did: withdrawal.left === 'nothing' ? 'the supplier has nothing of it' : withdrawal.detail };
}
