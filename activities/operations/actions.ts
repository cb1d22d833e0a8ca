/** A check orders nothing. A refund or a replacement comes only after the first order can no longer be delivered. */
import {
  countOrderAttempt,
  keepOrderNo,
  loadDelivery,
  type Delivery,
} from '../../src/purchases/store/deliveries.ts';
import { checkEsim } from '../../src/esims/refresh.ts';
import { findEsim } from '../../src/esims/store/esims.ts';
import {
  beginAction,
  carryOutAction,
  closeAction,
  findBegunWithdrawal,
  isOnRecord,
} from '../../src/operations/store/actions.ts';
import { REFUSAL_MESSAGES } from '../../src/operations/rules.ts';
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
    beginMove: async (request) => {
      const begun = await beginAction(db, request, { limits: deps.approvalLimits, now: clock.now() });
      const { transactionId, move, moveId } = request;
      if (!begun) {
        events.unverifiedRequest({ what: 'action', transactionId, detail: `${move} ${moveId}` });
        return { outcome: 'refused', code: 'NOT_ASKED', detail: REFUSAL_MESSAGES.NOT_ASKED, fits: [] };
      }
      if (begun.outcome !== 'go')
        events.operatorActionEnded({ moveId, transactionId, move, ...outcomeFields(begun) });
      return begun;
    },
    makeMove: async (moveId, stage) => {
      const pending = newPendingMessages();
      const made = await carryOutAction(db, moveId, { stage, now: clock.now() }, pending);
      if (made.outcome === 'not-now') return made;
      events.operatorActionEnded({ moveId, ...outcomeFields(made) });
      return { ...made, ...messagesOf(pending) };
    },
    closeMove: async (moveId, result) => {
      const closed = await closeAction(db, moveId, result, clock.now());
      events.operatorActionEnded({ moveId, ...outcomeFields(closed) });
      return closed;
    },
  };
}

const outcomeFields = (ended: { readonly outcome: string; readonly code?: string }) => ({
  outcome: ended.outcome,
  ...(ended.code === undefined ? {} : { code: ended.code }),
});

export function createSupplierActions(
  deps: ActivityDeps,
): Pick<SupplierActivities, 'lookAtSupplier' | 'withdrawForMove' | 'withdrawOrder'> {
  return {
    lookAtSupplier: (transactionId) =>
      checkSupplier({ ...deps, supplier: deps.checksSupplier }, transactionId),
    withdrawForMove: async (transactionId, _isVouchedFor, _graceMs, moveId) => {
      const action = await findBegunWithdrawal(deps.db, transactionId, moveId);
      if (action) return withdraw(deps, transactionId, action.evidence !== null);
      // Sent twice, and its first run has ended it.
      if (moveId !== undefined && (await isOnRecord(deps.db, transactionId, moveId)))
        return { left: 'perhaps-something', detail: 'this action has ended' };
      const detail = 'no operator has asked for this order to be withdrawn';
      deps.events.unverifiedRequest({ what: 'withdrawal', transactionId, detail });
      return { left: 'perhaps-something', detail };
    },
    // For histories of earlier builds, after the supplier had refused for good.
    withdrawOrder: async (transactionId) => {
      const { status, refusedAttempts, orderAttempts } = await loadDelivery(deps.db, transactionId);
      if (status !== 'FAILED' && refusedAttempts !== orderAttempts) {
        const detail = 'the supplier has not refused it for good';
        deps.events.unverifiedRequest({ what: 'withdrawal', transactionId, detail });
        return false;
      }
      const { left } = await withdraw(deps, transactionId, false);
      return left === 'nothing';
    },
  };
}

async function checkSupplier(deps: ActivityDeps, transactionId: string): Promise<SupplierCheck> {
  const delivery = await loadDelivery(deps.db, transactionId);
  switch (delivery.status) {
    case 'PENDING':
      return { did: 'nothing was ordered yet' };
    case 'SUCCESS':
      return refreshDelivered(deps, delivery);
    case 'FAILED': {
      // After a refund the supplier must hold nothing of it.
      const withdrawal = await withdraw(deps, transactionId, false);
      return { did: withdrawal.left === 'nothing' ? 'the supplier has nothing of it' : withdrawal.detail };
    }
    case 'PROCESSING':
      if (delivery.delivered) return afterDelivery(await settle(deps, transactionId, delivery.iccid));
      return delivery.packageType === 'BASE' ? checkOrder(deps, delivery) : checkTopUp(deps, delivery);
  }
}

async function checkOrder(deps: ActivityDeps, delivery: Delivery): Promise<SupplierCheck> {
  let { orderNo } = delivery;
  if (orderNo === null) {
    const held = await findOrder(deps, delivery);
    if (held === undefined) return { did: 'the supplier does not say whether it has the order' };
    if (held === null) return { did: 'the supplier lists no such order' };
    ({ orderNo } = held);
    await keepOrderNo(deps.db, delivery, orderNo);
  }
  const check = await deps.supplier.profile({ orderNo });
  if (check.outcome !== 'done') return { did: `the supplier does not say how order ${orderNo} stands` };
  if (check.value.state === 'allocating') return { did: `order ${orderNo} is still being allocated` };
  const { profile } = check.value;
  if (profile.status === 'CANCELLED') return { did: `order ${orderNo} was cancelled at the supplier` };
  return afterDelivery(await deliverProfile(deps, delivery, profile));
}

/** A repeated request under the same id answers the existing top-up and adds nothing. */
async function checkTopUp(deps: ActivityDeps, delivery: Delivery): Promise<SupplierCheck> {
  const held = await deps.supplier.findTopUp(topUpOf(delivery));
  if (held.outcome !== 'done') return { did: 'the supplier does not say whether it has the top-up' };
  if (!held.value.found) return { did: 'the supplier lists no such top-up' };
  const asking = await countOrderAttempt(deps.db, delivery.transactionId, deps.clock.now());
  if (!asking.mayOrder) return { did: 'the supplier has the top-up, and the purchase is closed' };
  const repeated = await deps.supplier.topUp(orderOf(asking.delivery));
  if (repeated.outcome !== 'done')
    return { did: 'the supplier has the top-up, and does not say what it came to' };
  return afterDelivery(await deliverTopUp(deps, delivery, repeated.value));
}

function afterDelivery(delivery: DeliverOutcome): SupplierCheck {
  return { did: delivery.outcome === 'delivered' ? 'delivered' : 'delivered, and not settled', delivery };
}

/** Updates the state of a delivered eSIM. */
async function refreshDelivered(deps: ActivityDeps, delivery: Delivery): Promise<SupplierCheck> {
  const before = await findEsim(deps.db, delivery.esimId);
  if (!before) throw new Error(`no eSIM ${delivery.esimId}`);
  const { row, isAnswered } = await checkEsim(deps, before);
  return { did: isAnswered ? `the eSIM is ${row.status}` : 'the supplier does not say how the eSIM stands' };
}
