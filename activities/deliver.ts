/**
 * Delivery: order at the supplier under our id, look for the result, and settle with it in one transaction. A repeat orders nothing twice, since the supplier takes a repeated
 * transactionId as the same request; a refusal after any doubt counts only once the find-twin confirms that nothing was taken.
 */
import { sleep } from '@temporalio/activity';
import { esimFactsOf, type TopUpTotals } from '../src/domain/esim.ts';
import type { FailureReason, Refusal } from '../src/domain/refusals.ts';
import type { SupplierProfile, SupplierRefusal, TopUpRequest } from '../src/ports/esim-supplier.ts';
import { beginAsking, keepOrderNo, loadDelivery, type Delivery } from '../src/store/deliveries.ts';
import { isPassing } from '../src/store/constraint-errors.ts';
import { keepGoods, KEPT_BEFORE, profileGoods, topUpGoods, type Goods } from '../src/store/goods.ts';
import { settlePurchase } from '../src/store/purchases.ts';
import { messagesOf, noMessages } from '../src/store/webhook-messages.ts';
import type { DeliverOutcome, DeliverRequest, SupplierActivities } from '../workflows/contract.ts';
import type { ActivityDeps } from './deps.ts';

/** One step of an attempt: an end, or a reason to ask again after the next pause. */
type Step =
  | DeliverOutcome
  | { readonly outcome: 'again'; readonly orderNo: string | null; readonly retryAfterMs?: number };

export function createSupplierActivities(
  deps: ActivityDeps,
): Pick<SupplierActivities, 'deliver' | 'withdrawOrder'> {
  return {
    deliver: (request) => deliver(deps, request),
    withdrawOrder: (transactionId) => withdrawOrder(deps, transactionId),
  };
}

/** Orders where needed and looks for the result, again and again within the budget; a budget of 0 is one ask. */
export async function deliver(deps: ActivityDeps, request: DeliverRequest): Promise<DeliverOutcome> {
  const delivery = await beginAsking(deps.db, request.transactionId);
  if (delivery.delivered) return settle(deps, delivery.transactionId, delivery.iccid);
  const endsAtMs = deps.clock.now().getTime() + request.budgetMs;
  let doubt = delivery.askedBefore;
  let orderNo = delivery.orderNo;
  let pauseMs = request.lookFirstMs;
  for (;;) {
    const step =
      delivery.packageType === 'BASE'
        ? await orderStep(deps, delivery, orderNo, doubt)
        : await topUpStep(deps, delivery, doubt);
    if (step.outcome !== 'again') return step;
    doubt = true;
    orderNo = step.orderNo ?? orderNo;
    const waitMs = Math.max(pauseMs, step.retryAfterMs ?? 0);
    if (deps.clock.now().getTime() + waitMs >= endsAtMs) {
      if (orderNo !== null && delivery.orderNo === null)
        await keepOrderNo(deps.db, delivery.transactionId, orderNo);
      return {
        outcome: 'unknown',
        reason: orderNo === null ? 'SUPPLIER_OUTCOME_UNKNOWN' : 'SUPPLIER_NEVER_ALLOCATED',
      };
    }
    await sleep(waitMs);
    pauseMs = Math.min(pauseMs * 2, request.lookMaxMs);
  }
}

/** What the supplier is asked for: under the id that this order has there. */
export function orderOf(delivery: Delivery): TopUpRequest {
  const { supplierId: transactionId, packageCode, costUsdE4, esimTranNo } = delivery;
  return { transactionId, packageCode, costUsdE4, esimTranNo };
}

async function orderStep(
  deps: ActivityDeps,
  delivery: Delivery,
  knownOrderNo: string | null,
  doubt: boolean,
): Promise<Step> {
  let orderNo = knownOrderNo;
  if (orderNo === null) {
    const ordered = await deps.supplier.order(orderOf(delivery));
    if (ordered.outcome === 'unknown') return again(null, ordered.retryAfterMs);
    if (ordered.outcome === 'refused') {
      const held = doubt ? await findBehindRefusal(deps, delivery, ordered.reason) : null;
      if (held === undefined) return again(null, undefined);
      if (held === null) return refuse(deps, delivery, ordered.reason, ordered.detail);
      orderNo = held.orderNo;
    } else {
      orderNo = ordered.value.orderNo;
    }
  }
  const look = await deps.supplier.profile({ orderNo });
  if (look.outcome !== 'done')
    return again(orderNo, look.outcome === 'unknown' ? look.retryAfterMs : undefined);
  if (look.value.state === 'allocating') return again(orderNo, undefined);
  // Nobody can install it; what becomes of the money is decided as for any refusal.
  if (look.value.profile.status === 'CANCELLED')
    return refuse(deps, delivery, 'REQUEST_REFUSED', 'the order was cancelled at the supplier');
  return deliverProfile(deps, delivery, look.value.profile);
}

/**
 * The order behind a refusal that follows doubt, null when nothing was taken, undefined when that is not known. An order that is still being allocated is not
 * listed, so null counts only beside a refusal that a taken order would not have got: the supplier answers a repeat of it as taken.
 */
async function findBehindRefusal(
  deps: ActivityDeps,
  delivery: Delivery,
  reason: SupplierRefusal,
): Promise<{ readonly orderNo: string } | null | undefined> {
  const held = await deps.supplier.findOrder({
    transactionId: delivery.supplierId,
    askedAt: delivery.createdAt,
  });
  if (held.outcome !== 'done') return undefined;
  return held.value === null && reason === 'CREDENTIALS_REFUSED' ? undefined : held.value;
}

export async function deliverProfile(
  deps: ActivityDeps,
  delivery: Delivery,
  profile: SupplierProfile,
): Promise<DeliverOutcome> {
  const goods = profileGoods(esimFactsOf(profile), deps.clock.now());
  return settle(deps, delivery.transactionId, profile.iccid, goods);
}

/**
 * What was delivered is kept with the settling; where that is refused for good, it is kept alone for the person who is called,
 * and later tries ask the supplier for nothing. A database that is away for a moment makes the step fail and be run again.
 */
export async function settle(
  deps: ActivityDeps,
  transactionId: string,
  iccid: string,
  goods: Goods = KEPT_BEFORE,
): Promise<DeliverOutcome> {
  const written = noMessages();
  try {
    await settlePurchase(deps.db, transactionId, goods, written);
  } catch (error) {
    if (isPassing(error)) throw error;
    deps.events.settleFailed({
      transactionId,
      detail: error instanceof Error ? error.message : String(error),
    });
    await keepGoods(deps.db, transactionId, goods);
    return { outcome: 'unknown', reason: 'SETTLE_FAILED' };
  }
  deps.events.purchaseDelivered({ transactionId });
  return { outcome: 'delivered', iccid, ...messagesOf(written) };
}

async function topUpStep(deps: ActivityDeps, delivery: Delivery, doubt: boolean): Promise<Step> {
  const topUp = await deps.supplier.topUp(orderOf(delivery));
  if (topUp.outcome === 'unknown') return again(null, topUp.retryAfterMs);
  if (topUp.outcome === 'done') return deliverTopUp(deps, delivery, topUp.value);
  if (doubt) {
    const held = await deps.supplier.findTopUp({
      transactionId: delivery.supplierId,
      esimTranNo: delivery.esimTranNo,
      askedAt: delivery.createdAt,
    });
    if (held.outcome !== 'done' || held.value.found) return again(null, undefined);
  }
  return refuse(deps, delivery, topUp.reason, topUp.detail);
}

export async function deliverTopUp(
  deps: ActivityDeps,
  delivery: Delivery,
  totals: TopUpTotals,
): Promise<DeliverOutcome> {
  return settle(deps, delivery.transactionId, totals.iccid, topUpGoods(totals));
}

function again(orderNo: string | null, retryAfterMs: number | undefined): Step {
  return { outcome: 'again', orderNo, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

const REASONS: Record<SupplierRefusal, FailureReason> = {
  OUT_OF_STOCK: 'OUT_OF_STOCK',
  PRICE_CHANGED: 'PRICE_CHANGED',
  BALANCE_TOO_LOW: 'SUPPLIER_BALANCE_TOO_LOW',
  PACKAGE_UNKNOWN: 'PACKAGE_WITHDRAWN',
  NOT_ALLOWED_IN_STATE: 'ESIM_NOT_ACTIVE',
  CREDENTIALS_REFUSED: 'SUPPLIER_REFUSED',
  REQUEST_REFUSED: 'SUPPLIER_REFUSED',
};

function refuse(deps: ActivityDeps, delivery: Delivery, reason: SupplierRefusal, detail: string): Step {
  deps.events.supplierRefused({ transactionId: delivery.transactionId, reason, detail });
  // For a new eSIM there is no eSIM whose state could be wrong.
  const known =
    delivery.packageType === 'BASE' && reason === 'NOT_ALLOWED_IN_STATE' ? 'REQUEST_REFUSED' : reason;
  const refusal: Refusal = { reason: REASONS[known], detail };
  return {
    outcome: 'refused',
    refusal,
    catalogueIsOld: reason === 'PRICE_CHANGED' || reason === 'PACKAGE_UNKNOWN',
    afterDoubt: delivery.askedBefore,
  };
}

async function withdrawOrder(deps: ActivityDeps, transactionId: string): Promise<boolean> {
  const delivery = await loadDelivery(deps.db, transactionId);
  if (delivery.packageType === 'TOPUP') {
    // A top-up cannot be taken back at the supplier; it counts as undone only when there is none.
    const held = await deps.supplier.findTopUp({
      transactionId: delivery.supplierId,
      esimTranNo: delivery.esimTranNo,
      askedAt: delivery.createdAt,
    });
    if (held.outcome !== 'done')
      throw new Error(`the supplier does not say whether it holds a top-up for ${transactionId}`);
    return !held.value.found;
  }
  const held = await deps.supplier.findOrder({
    transactionId: delivery.supplierId,
    askedAt: delivery.createdAt,
  });
  if (held.outcome !== 'done')
    throw new Error(`the supplier does not say whether it holds an order for ${transactionId}`);
  if (held.value === null) return true;
  const cancelled = await deps.supplier.cancel(held.value.esimTranNo);
  if (cancelled.outcome === 'unknown')
    throw new Error(`the supplier does not say whether it cancelled ${transactionId}`);
  return cancelled.outcome === 'done';
}
