/**
 * Delivery: order at the supplier under our id, fetch the result, and settle in one transaction. Repeats are safe: the supplier treats a repeated
 * transactionId as the same request. Every order attempt is counted on the purchase's row before it is sent. A refusal is final only when no earlier
 * attempt can still be accepted or appear in the supplier's list.
 */
import { sleep } from '@temporalio/activity';
import type { TopUpTotals } from '../../src/esims/rules.ts';
import type { FailureReason, Refusal } from '../../src/domain/refusals.ts';
import type { SupplierProfile, SupplierRefusal, TopUpRequest } from '../../src/esims/port.ts';
import {
  countOrderAttempt,
  keepOrderNo,
  keepRefusal,
  keepSearched,
  loadDelivery,
  type Delivery,
} from '../../src/purchases/store/deliveries.ts';
import { isPassing } from '../../src/platform/database/errors.ts';
import {
  settlePurchase,
  saveDeliveredItem,
  KEPT_BEFORE,
  profileItem,
  topUpItem,
  type DeliveredItem,
} from '../../src/purchases/store/purchases.ts';
import { messagesOf, newPendingMessages } from '../../src/webhooks/store/messages.ts';
import type { DeliverOutcome, DeliverRequest } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';

/** No step is given longer, and none asks the supplier more often than this. */
const MAX_BUDGET_MS = 60_000;
const MIN_PAUSE_MS = 20;
/** An order that waited longer on our side is not sent, since the purchase may be closed by then. */
const SEND_WITHIN_MS = 10_000;
/** Twenty times the expected allocation time: an older order is listed by now, or never will be. */
const LISTED_WITHIN_MS = 600_000;

/** An outcome, or a reason to try again after the next pause. */
type AttemptResult =
  | DeliverOutcome
  | {
      readonly outcome: 'again';
      readonly orderNo: string | null;
      readonly retryAfterMs?: number | undefined;
    };

/**
 * Orders where needed and checks for the result, repeatedly within the budget; a budget of 0 is one attempt. What to order, and how long an order may be
 * in flight, is on the row: the request only sets the pace.
 */
export async function deliver(
  deps: ActivityDeps,
  request: Omit<DeliverRequest, 'graceMs'>,
): Promise<DeliverOutcome> {
  const { transactionId } = request;
  const endsAtMs = deps.clock.now().getTime() + Math.min(request.budgetMs, MAX_BUDGET_MS);
  let attempt = await countOrderAttempt(deps.db, transactionId, deps.clock.now());
  let { orderNo } = attempt.delivery;
  let pauseMs = request.lookFirstMs;
  for (;;) {
    const { mayOrder, delivery } = attempt;
    if (!mayOrder || delivery.delivered) return outcomeWithoutOrdering(deps, delivery);
    const step =
      delivery.packageType === 'BASE'
        ? await orderStep(deps, delivery, orderNo)
        : await topUpStep(deps, delivery);
    if (step.outcome !== 'again') return step;
    if (orderNo === null && step.orderNo !== null) await keepOrderNo(deps.db, delivery, step.orderNo);
    orderNo ??= step.orderNo;
    const waitMs = Math.max(pauseMs, step.retryAfterMs ?? 0, MIN_PAUSE_MS);
    if (deps.clock.now().getTime() + waitMs >= endsAtMs) {
      return {
        outcome: 'unknown',
        reason: orderNo === null ? 'SUPPLIER_OUTCOME_UNKNOWN' : 'SUPPLIER_NEVER_ALLOCATED',
      };
    }
    await sleep(waitMs);
    pauseMs = Math.min(pauseMs * 2, request.lookMaxMs);
    if (orderNo === null) attempt = await countOrderAttempt(deps.db, transactionId, deps.clock.now());
  }
}

/** Already delivered, closed, or being withdrawn: the row decides, and the supplier is not asked. */
async function outcomeWithoutOrdering(deps: ActivityDeps, delivery: Delivery): Promise<DeliverOutcome> {
  if (delivery.withdrawingSince !== null && delivery.status === 'PROCESSING')
    return { outcome: 'withdrawing' };
  if (delivery.status === 'FAILED') {
    const refusal: Refusal = { reason: delivery.reason ?? 'SUPPLIER_REFUSED', detail: 'closed before' };
    const { orderAttempts: asks } = delivery;
    return { outcome: 'refused', refusal, catalogueIsOld: false, afterDoubt: false, asks };
  }
  if (delivery.delivered) return settle(deps, delivery.transactionId, delivery.iccid);
  // Our workflows deliver only what is paid.
  if (delivery.status === 'PENDING') {
    const { transactionId } = delivery;
    deps.events.unverifiedRequest({ what: 'delivery', transactionId, detail: 'it is not paid' });
  }
  return { outcome: 'unknown', reason: 'DELIVERY_STEP_FAILED' };
}

/** The supplier's request, under the id that this order has there. */
export function orderOf(delivery: Delivery): TopUpRequest {
  const { supplierId: transactionId, packageCode, costUsdE4, esimTranNo, lastAskedAt } = delivery;
  return {
    transactionId,
    packageCode,
    costUsdE4,
    esimTranNo,
    ...(lastAskedAt ? { sendBefore: new Date(lastAskedAt.getTime() + SEND_WITHIN_MS) } : {}),
  };
}

async function orderStep(
  deps: ActivityDeps,
  delivery: Delivery,
  knownOrderNo: string | null,
): Promise<AttemptResult> {
  let orderNo = knownOrderNo;
  if (orderNo === null) {
    const ordered = await deps.supplier.order(orderOf(delivery));
    if (ordered.outcome === 'unknown') return again(null, ordered.retryAfterMs);
    if (ordered.outcome === 'refused') {
      const isFirst = delivery.orderAttempts === 1;
      const held = isFirst ? null : await findOrder(deps, delivery);
      // Refused credentials say nothing about earlier attempts.
      const isKnown = isFirst || held !== null || ordered.reason !== 'CREDENTIALS_REFUSED';
      if (held === undefined || !isKnown) return again(null);
      if (held === null) return refuse(deps, delivery, ordered, isFinalRefusal(delivery));
      orderNo = held.orderNo;
    } else {
      orderNo = ordered.value.orderNo;
    }
  }
  const answer = await deps.supplier.profile({ orderNo });
  if (answer.outcome !== 'done')
    return again(orderNo, answer.outcome === 'unknown' ? answer.retryAfterMs : undefined);
  if (answer.value.state === 'allocating') return again(orderNo);
  // It can no longer be installed. The query used our order number, so this answer is final.
  if (answer.value.profile.status === 'CANCELLED') {
    const detail = 'the order was cancelled at the supplier';
    return refuse(deps, delivery, { reason: 'REQUEST_REFUSED', detail }, true);
  }
  return deliverProfile(deps, delivery, answer.value.profile);
}

/** Whether no attempt before the last one can still be accepted, or be accepted and not yet listed. */
function isFinalRefusal({ orderAttempts, previousAskedAt, lastAskedAt, graceMs }: Delivery): boolean {
  if (orderAttempts === 1) return true;
  if (previousAskedAt === null || lastAskedAt === null) return false;
  return lastAskedAt.getTime() - previousAskedAt.getTime() >= graceMs;
}

/**
 * Searches the supplier's list from the first order attempt on; null: not listed, undefined: not known. Progress is kept, so the next search continues
 * from there.
 */
export async function findOrder(
  deps: ActivityDeps,
  delivery: Delivery,
): Promise<{ readonly orderNo: string; readonly esimTranNo: string } | null | undefined> {
  const until = delivery.lastAskedAt ?? deps.clock.now();
  const held = await deps.supplier.findOrder({
    transactionId: delivery.supplierId,
    from: delivery.searchedUntil ?? delivery.firstAskedAt ?? delivery.createdAt,
    until,
  });
  if (held.outcome !== 'done') return undefined;
  if (held.value.state === 'found') return held.value;
  const searchedUntil = held.value.state === 'searching' ? held.value.searchedUntil : until;
  // The list shows an order under the time it was made, but only once it is allocated.
  const searchedSafelyUntilMs = Math.min(
    searchedUntil.getTime(),
    deps.clock.now().getTime() - LISTED_WITHIN_MS,
  );
  if (searchedSafelyUntilMs > (delivery.firstAskedAt ?? delivery.createdAt).getTime())
    await keepSearched(deps.db, delivery, new Date(searchedSafelyUntilMs));
  return held.value.state === 'searching' ? undefined : null;
}

export async function deliverProfile(
  deps: ActivityDeps,
  delivery: Delivery,
  profile: SupplierProfile,
): Promise<DeliverOutcome> {
  const install = deps.installData.columns(delivery.esimId, profile);
  const item = profileItem(profile, deps.clock.now(), install);
  return settle(deps, delivery.transactionId, profile.iccid, { ...item, supplierId: delivery.supplierId });
}

/**
 * Settles and keeps what was delivered in one statement. If settling fails for good, the delivery is kept alone for the operator, and later attempts do
 * not ask the supplier. If the database is unavailable, the step fails and is retried.
 */
export async function settle(
  deps: ActivityDeps,
  transactionId: string,
  iccid: string,
  item: DeliveredItem = KEPT_BEFORE,
): Promise<DeliverOutcome> {
  const pending = newPendingMessages();
  try {
    const settled = await settlePurchase(deps.db, transactionId, item, pending);
    if (settled === 'settled') deps.events.purchaseDelivered({ transactionId });
  } catch (error) {
    if (isPassing(error)) throw error;
    const { withdrawingSince, status } = await loadDelivery(deps.db, transactionId);
    if (withdrawingSince !== null && status === 'PROCESSING') return { outcome: 'withdrawing' };
    deps.events.settleFailed({
      transactionId,
      detail: error instanceof Error ? error.message : String(error),
    });
    await saveDeliveredItem(deps.db, transactionId, item);
    return { outcome: 'unknown', reason: 'SETTLE_FAILED' };
  }
  return { outcome: 'delivered', iccid, ...messagesOf(pending) };
}

async function topUpStep(deps: ActivityDeps, delivery: Delivery): Promise<AttemptResult> {
  const topUp = await deps.supplier.topUp(orderOf(delivery));
  if (topUp.outcome === 'unknown') return again(null, topUp.retryAfterMs);
  if (topUp.outcome === 'done') return deliverTopUp(deps, delivery, topUp.value);
  if (delivery.orderAttempts > 1) {
    const held = await deps.supplier.findTopUp(topUpOf(delivery));
    if (held.outcome !== 'done' || held.value.found) return again(null);
  }
  return refuse(deps, delivery, topUp, isFinalRefusal(delivery));
}

export const topUpOf = ({ supplierId, esimTranNo }: Delivery) => ({ transactionId: supplierId, esimTranNo });

export async function deliverTopUp(
  deps: ActivityDeps,
  delivery: Delivery,
  totals: TopUpTotals,
): Promise<DeliverOutcome> {
  const item = { ...topUpItem(totals, deps.clock.now()), supplierId: delivery.supplierId };
  return settle(deps, delivery.transactionId, totals.iccid, item);
}

const again = (orderNo: string | null, retryAfterMs?: number): AttemptResult => ({
  outcome: 'again',
  orderNo,
  retryAfterMs,
});

const REASONS: Record<SupplierRefusal, FailureReason> = {
  OUT_OF_STOCK: 'OUT_OF_STOCK',
  PRICE_CHANGED: 'PRICE_CHANGED',
  BALANCE_TOO_LOW: 'SUPPLIER_BALANCE_TOO_LOW',
  PACKAGE_UNKNOWN: 'PACKAGE_WITHDRAWN',
  NOT_ALLOWED_IN_STATE: 'ESIM_NOT_ACTIVE',
  CREDENTIALS_REFUSED: 'SUPPLIER_REFUSED',
  REQUEST_REFUSED: 'SUPPLIER_REFUSED',
};

/** A final refusal is written to the row before it is answered, because the row decides whether the money goes back. */
async function refuse(
  deps: ActivityDeps,
  delivery: Delivery,
  { reason, detail }: { readonly reason: SupplierRefusal; readonly detail: string },
  isLast: boolean,
): Promise<AttemptResult> {
  const { transactionId, packageType, orderAttempts: asks } = delivery;
  deps.events.supplierRefused({ transactionId, reason, detail });
  // For a new eSIM there is no eSIM whose state could be wrong.
  const known = packageType === 'BASE' && reason === 'NOT_ALLOWED_IN_STATE' ? 'REQUEST_REFUSED' : reason;
  const refusal: Refusal = { reason: REASONS[known], detail };
  if (isLast) await keepRefusal(deps.db, delivery, refusal);
  const catalogueIsOld = reason === 'PRICE_CHANGED' || reason === 'PACKAGE_UNKNOWN';
  return { outcome: 'refused', refusal, catalogueIsOld, afterDoubt: !isLast, asks };
}
