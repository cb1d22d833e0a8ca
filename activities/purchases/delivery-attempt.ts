/**
 * One attempt to deliver. Reads the rows. Writes an order before sending it, and does not send it after its
 * fence. After an unknown outcome, searches before sending again, unless a repeat is the same request. A
 * refusal is final only if nothing sent earlier can still succeed; then it refunds in the same transaction.
 */
import type { Fence } from '../../src/domain/fence.ts';
import { createFence } from '../../src/platform/fence.ts';
import { forBuyer, type FailureReason, type Refusal } from '../../src/domain/refusals.ts';
import { keepShortage } from '../../src/catalogue/store/shortages.ts';
import type { AttentionReason, ShortageReason } from '../../src/domain/states.ts';
import type { EsimSupplier, SupplierProfile, SupplierRefusal, TopUpRequest } from '../../src/esims/port.ts';
import type { TopUpTotals } from '../../src/esims/rules.ts';
import { isPassing } from '../../src/platform/database/errors.ts';
import { searchOrder } from '../../src/purchases/order-judgement.ts';
import { failRefused, profileItem, refuseOrder, topUpItem } from '../../src/purchases/store/purchases.ts';
import {
  beginAttempt,
  loadDelivery,
  recordAccepted,
  recordNoEffect,
  recordSearched,
  reopenDelivery,
  SEND_WITHIN_MS,
  type Delivery,
  type SupplierOrder,
} from '../../src/purchases/store/supplier-orders.ts';
import type { ActivityDeps } from '../deps.ts';
import {
  again,
  closedBefore,
  settle,
  type Accepted,
  type Again,
  type Ended,
  type Ordered,
} from './settle.ts';

/** `accepted`: by an earlier attempt of this step, so that only its profile is asked for. */
export async function attemptDelivery(
  deps: ActivityDeps,
  transactionId: string,
  accepted?: Accepted,
): Promise<Ended | Again> {
  if (accepted) return checkAccepted(deps, accepted);
  const begun = await begin(deps, transactionId, false);
  if (begun) return send(deps, begun);
  const delivery = await loadDelivery(deps.db, transactionId);
  if (delivery.status !== 'PROCESSING' || delivery.order?.withdrawingSince == null)
    return goOn(deps, delivery);
  // An operator's action has stopped on its way.
  const leftMs = await reopenDelivery(deps.db, transactionId);
  if (leftMs > 0)
    return again(delivery, 'a cancellation that was sent may still reach the supplier', {
      waitAtLeastMs: leftMs,
    });
  const reopened = await begin(deps, transactionId, false);
  return reopened ? send(deps, reopened) : goOn(deps, await loadDelivery(deps.db, transactionId));
}

interface Begun {
  readonly delivery: Ordered;
  readonly fence: Fence;
}

/**
 * Writes the attempt, if something may be sent now. The fence begins before, so that it is over no later than
 * its row says.
 */
async function begin(
  { db, supplier }: ActivityDeps,
  transactionId: string,
  isSearched: boolean,
): Promise<Begun | undefined> {
  const fence = createFence(SEND_WITHIN_MS);
  const delivery = await beginAttempt(db, transactionId, {
    supplier: supplier.name,
    timeLimitMs: supplier.effectTimeLimitMs,
    mayRepeat: {
      BASE: supplier.repeats.order === 'same-request',
      TOPUP: supplier.repeats.topUp === 'same-request',
    },
    isSearched,
  });
  return delivery && isOrdered(delivery) ? { delivery, fence } : undefined;
}

export const NOT_CONNECTED = 'this worker has no connection to its supplier';

/** Another supplier's word about an order says nothing. */
export const isOfSupplier = (
  { supplier }: { readonly supplier: Pick<EsimSupplier, 'name'> },
  order: SupplierOrder,
): boolean => order.supplier === supplier.name;

const isOrdered = (delivery: Delivery): delivery is Ordered => delivery.order !== null;

/** Nothing may be sent now: the rows say what is left to do. */
async function goOn(deps: ActivityDeps, delivery: Delivery): Promise<Ended | Again> {
  const { transactionId } = delivery;
  switch (delivery.status) {
    case 'FAILED':
      return closedBefore(delivery);
    case 'SUCCESS':
      return settle(deps, delivery);
    case 'PENDING':
      // Our workflows deliver only what is paid.
      deps.events.unverifiedRequest({ what: 'delivery', transactionId, detail: 'it is not paid' });
      return again(delivery, 'it is not paid', { reason: 'DELIVERY_STEP_FAILED' });
    case 'PROCESSING':
      break;
  }
  if (delivery.disputeReason !== null)
    return again(delivery, 'its payment is disputed or reversed, so nothing is delivered', {
      reason: delivery.disputeReason,
      isStuck: true,
    });
  if (!delivery.isHeld)
    return again(delivery, 'no money is held for it', { reason: 'DELIVERY_STEP_FAILED', isStuck: true });
  if (!isOrdered(delivery)) return again(delivery, 'no order is planned for it', { isStuck: true });
  // The worker of its supplier delivers it: a person is asked only once that takes too long.
  if (!isOfSupplier(deps, delivery.order)) return again(delivery, NOT_CONNECTED);
  switch (delivery.order.state) {
    case 'delivered':
      return settle(deps, delivery);
    case 'refused':
      return failByRefusal(deps, delivery);
    case 'withdrawn':
      return again(delivery, 'its order is withdrawn, and the action for that is not over', {
        reason: 'UNDO_FAILED',
      });
    case 'planned':
    case 'sent':
    case 'accepted': {
      const { orderNo } = delivery.order;
      return orderNo === null ? searchThenSend(deps, delivery) : attemptAccepted(deps, delivery, orderNo);
    }
  }
}

/** Asks for the profile of an order whose number is known. */
export const attemptAccepted = (
  deps: ActivityDeps,
  delivery: Ordered,
  orderNo: string,
): Promise<Ended | Again> => checkAccepted(deps, { delivery, orderNo, readAtMs: performance.now() });

/** It was refused for good while its payment was disputed or reversed. */
function failByRefusal(deps: ActivityDeps, delivery: Ordered): Promise<Ended | Again> {
  return giveBack(deps, delivery, async () => {
    const refusal = await failRefused(deps.db, delivery.transactionId);
    return refusal === 'open' ? again(delivery, 'the supplier has refused it') : refusal;
  });
}

/** The money goes back with the end. Where our ledger does not allow that, a person must find out why. */
async function giveBack(
  deps: ActivityDeps,
  delivery: Ordered,
  close: () => Promise<Refusal | Again | Ended>,
): Promise<Ended | Again> {
  const { transactionId } = delivery;
  try {
    const closed = await close();
    if ('state' in closed) return closed;
    deps.events.purchaseFailed({ transactionId, ...closed });
    return { state: 'failed', ...closed };
  } catch (error) {
    if (isPassing(error)) throw error;
    deps.events.refundFailed({
      transactionId,
      detail: error instanceof Error ? error.message : String(error),
    });
    return again(delivery, 'refused, and the money could not be given back', {
      reason: 'UNDO_FAILED',
      isStuck: true,
    });
  }
}

/** In doubt, and a repeat might be a second order. */
async function searchThenSend(deps: ActivityDeps, delivery: Ordered): Promise<Ended | Again> {
  const found = await findHeld(deps, delivery);
  if (found === undefined) return again(delivery, 'the supplier does not say whether it has the order');
  if (found !== null) return found();
  const begun = await begin(deps, delivery.transactionId, true);
  if (begun) return send(deps, begun);
  return again(delivery, 'not listed at the supplier; an earlier request may still arrive', {
    waitAtMostMs: Math.max(delivery.order.settlesInMs, 0),
  });
}

/** The supplier's request, under the id that this order has there. */
const requestOf = ({ id, accountId, packageCode, costUsdE4, esimTranNo }: SupplierOrder): TopUpRequest => ({
  transactionId: id,
  accountId,
  packageCode,
  costUsdE4,
  esimTranNo,
});

async function send(deps: ActivityDeps, { delivery, fence }: Begun): Promise<Ended | Again> {
  const { order } = delivery;
  const isTopUp = order.kind === 'TOPUP';
  const sent = isTopUp
    ? await deps.supplier.topUp(requestOf(order), fence)
    : await deps.supplier.order(requestOf(order), fence);
  switch (sent.outcome) {
    case 'unknown':
      if (sent.notSent) await recordNoEffect(deps.db, order);
      return again(delivery, 'the supplier gave no answer to the order', {
        waitAtLeastMs: sent.retryAfterMs,
      });
    case 'refused':
      return refused(deps, delivery, sent);
    case 'done':
      return 'orderNo' in sent.value
        ? attemptAccepted(deps, delivery, sent.value.orderNo)
        : deliverTopUp(deps, delivery, { totals: sent.value, packageCode: '' });
  }
}

/** Asks for the profile of an order that the supplier has. */
async function checkAccepted(deps: ActivityDeps, accepted: Accepted): Promise<Ended | Again> {
  const { delivery, orderNo } = accepted;
  const answer = await deps.supplier.profile({ orderNo, accountId: delivery.order.accountId });
  const keep = async (why: string, waitAtLeastMs?: number): Promise<Again> => {
    if (delivery.order.orderNo === null) await recordAccepted(deps.db, delivery.order, orderNo);
    const reason: AttentionReason = 'SUPPLIER_NEVER_ALLOCATED';
    return again(delivery, why, { reason, accepted, readAtMs: accepted.readAtMs, waitAtLeastMs });
  };
  if (answer.outcome !== 'done') {
    const retryAfterMs = answer.outcome === 'unknown' ? answer.retryAfterMs : undefined;
    return keep(`the supplier does not say how order ${orderNo} stands`, retryAfterMs);
  }
  if (answer.value.state === 'allocating') return keep(`order ${orderNo} is still being allocated`);
  // It can no longer be installed. The query used our order number, so this answer is final.
  if (answer.value.profile.status === 'CANCELLED') {
    const detail = 'the order was cancelled at the supplier';
    return refuse(deps, delivery, { reason: 'REQUEST_REFUSED', detail }, true);
  }
  return deliverProfile(deps, delivery, answer.value.profile);
}

interface SaidNo {
  readonly reason: SupplierRefusal;
  readonly detail: string;
}

/**
 * An earlier attempt may have been accepted, and be listed by now. Refused credentials say nothing about it.
 */
async function refused(deps: ActivityDeps, delivery: Ordered, no: SaidNo): Promise<Ended | Again> {
  const { order } = delivery;
  await rememberShortage(deps, order, no.reason);
  const isFirst = order.attempts === 1;
  const found = isFirst ? null : await findHeld(deps, delivery);
  if (found) return found();
  const isKnown = found === null && (isFirst || no.reason !== 'CREDENTIALS_REFUSED');
  if (isKnown && order.isAloneInFlight) return refuse(deps, delivery, no, false);
  reportRefusal(deps, delivery, no);
  await recordNoEffect(deps.db, order);
  return again(delivery, 'refused, but an earlier attempt may still succeed', {
    waitAtLeastMs: isKnown ? order.earlierSettlesInMs : undefined,
  });
}

const SHORTAGES: Partial<Record<SupplierRefusal, ShortageReason>> = {
  OUT_OF_STOCK: 'OUT_OF_STOCK',
  BALANCE_TOO_LOW: 'BALANCE_TOO_LOW',
};

/** Before the money goes back, so that no other buyer pays for it meanwhile. */
async function rememberShortage(
  { db, forgetsShortageOf }: ActivityDeps,
  { id, packageCode }: SupplierOrder,
  reason: SupplierRefusal,
): Promise<void> {
  const shortage = SHORTAGES[reason];
  if (shortage && !forgetsShortageOf?.(packageCode)) await keepShortage(db, id, shortage);
}

function reportRefusal(
  { events }: ActivityDeps,
  { transactionId }: Ordered,
  { reason, detail }: SaidNo,
): void {
  events.supplierRefused({ transactionId, reason, detail });
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

/** For good: written to the order's row, and the money goes back with it. */
async function refuse(
  deps: ActivityDeps,
  delivery: Ordered,
  no: SaidNo,
  isCancelled: boolean,
): Promise<Ended | Again> {
  const { transactionId, order } = delivery;
  reportRefusal(deps, delivery, no);
  // For a new eSIM there is no eSIM whose state could be wrong.
  const isOdd = order.kind === 'BASE' && no.reason === 'NOT_ALLOWED_IN_STATE';
  const refusal: Refusal = { reason: REASONS[isOdd ? 'REQUEST_REFUSED' : no.reason], detail: no.detail };
  const ended = await giveBack(deps, delivery, async () => {
    const recorded = await refuseOrder(deps.db, order, refusal, { isCancelled });
    if (recorded === 'failed') return forBuyer(refusal);
    const now = await loadDelivery(deps.db, transactionId);
    return recorded === 'disputed' || now.status !== 'PROCESSING'
      ? goOn(deps, now)
      : again(now, 'refused, and another attempt was begun meanwhile');
  });
  const isCatalogueOutdated = no.reason === 'PRICE_CHANGED' || no.reason === 'PACKAGE_UNKNOWN';
  return ended.state === 'failed' && isCatalogueOutdated ? { ...ended, isCatalogueOutdated } : ended;
}

/**
 * Finds the order at the supplier; the returned function delivers it. null: not found. undefined: unknown.
 */
export async function findHeld(
  deps: ActivityDeps,
  delivery: Ordered,
): Promise<(() => Promise<Ended | Again>) | null | undefined> {
  const { order } = delivery;
  if (order.kind === 'TOPUP') {
    const { id: transactionId, esimTranNo, accountId } = order;
    const held = await deps.supplier.findTopUp({ transactionId, esimTranNo, accountId });
    if (held.outcome !== 'done') return undefined;
    const top = held.value;
    return top.found ? () => deliverTopUp(deps, delivery, top) : null;
  }
  const { orderNo } = await findOrder(deps, order);
  return orderNo ? () => attemptAccepted(deps, delivery, orderNo) : (orderNo as null | undefined);
}

/**
 * Searches the supplier's list from the first attempt on. Progress is kept, so the next search continues from
 * there.
 */
export async function findOrder(
  { db, supplier }: { readonly db: ActivityDeps['db']; readonly supplier: Pick<EsimSupplier, 'findOrder'> },
  order: SupplierOrder,
): ReturnType<typeof searchOrder> {
  const found = await searchOrder(supplier, order);
  if (found.searchedUntil) await recordSearched(db, order, found.searchedUntil);
  return found;
}

/** The vendor's word for "so much in all": other plans count their volume by the day. */
const WHOLE_VOLUME = 1;

function deliverProfile(
  deps: ActivityDeps,
  delivery: Ordered,
  profile: SupplierProfile,
): Promise<Ended | Again> {
  const { order, esimId } = delivery;
  const { packageCode, totalVolumeBytes, dataType } = profile;
  if (profile.status === null)
    deps.events.unknownSupplierState({ esimId, supplierStatus: profile.supplierStatus });
  const volumeBytes = BigInt(totalVolumeBytes);
  const isOther =
    (packageCode !== '' && packageCode !== order.packageCode) ||
    (dataType === WHOLE_VOLUME && volumeBytes !== order.volumeBytes);
  const item = profileItem(profile, deps.clock.now(), deps.installData.columns(esimId, profile));
  const other = isOther ? { packageCode, volumeBytes } : undefined;
  return settle(deps, delivery, profile.iccid, { ...item, orderId: order.id, other });
}

function deliverTopUp(
  deps: ActivityDeps,
  delivery: Ordered,
  { totals, packageCode }: { readonly totals: TopUpTotals; readonly packageCode: string },
): Promise<Ended | Again> {
  const { order } = delivery;
  const isOther = packageCode !== '' && packageCode !== order.packageCode;
  const other = isOther ? { packageCode, volumeBytes: null } : undefined;
  const item = topUpItem(totals, deps.clock.now());
  return settle(deps, delivery, totals.iccid, { ...item, orderId: order.id, other });
}
