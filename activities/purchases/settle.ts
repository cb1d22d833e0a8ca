/** Keeps what a supplier has delivered, and settles it with the money, in one statement. */
import type { AttentionReason } from '../../src/domain/states.ts';
import { isPassing } from '../../src/platform/database/errors.ts';
import {
  ALREADY_SAVED,
  saveDeliveredItem,
  settlePurchase,
  type DeliveredItem,
} from '../../src/purchases/store/purchases.ts';
import {
  loadDelivery,
  type Delivery,
  type SupplierOrder,
} from '../../src/purchases/store/supplier-orders.ts';
import type { DeliveryResult, Waiting } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';

/** A delivery whose order exists. */
export type Ordered = Delivery & { readonly order: SupplierOrder };
/** An order that the supplier has accepted, under its number. */
export interface Accepted {
  readonly delivery: Ordered;
  readonly orderNo: string;
  readonly readAtMs: number;
}

export type Ended = Exclude<DeliveryResult, Waiting>;

/** Not ended: to be tried again at the purchase's pace. */
export interface Again {
  readonly state: 'again';
  readonly delivery: Delivery;
  /** For people. */
  readonly why: string;
  /** What a person is asked about, once it takes too long. */
  readonly reason: AttentionReason;
  /** A person is asked at once. */
  readonly isStuck?: boolean;
  /** Limits of the pause until the next attempt. */
  readonly waitAtLeastMs?: number | undefined;
  readonly waitAtMostMs?: number | undefined;
  /** The supplier has the order: the next attempt only asks for its profile. */
  readonly accepted?: Accepted;
  /** When the rows were read, by `performance.now()`. */
  readonly readAtMs: number;
}

export const again = (
  delivery: Delivery,
  why: string,
  more: Partial<Omit<Again, 'state' | 'delivery' | 'why'>> = {},
): Again => ({
  state: 'again',
  delivery,
  why,
  reason: more.isStuck ? 'DELIVERY_STEP_FAILED' : 'SUPPLIER_OUTCOME_UNKNOWN',
  readAtMs: performance.now(),
  ...more,
});

export const closedBefore = ({ reason }: Delivery): Ended => ({
  state: 'failed',
  reason: reason ?? 'SUPPLIER_REFUSED',
  detail: 'closed before',
});

/** For people. */
export const describeEnd = (ended: Ended): string =>
  ended.state === 'done' ? 'delivered' : `the supplier refuses: ${ended.reason}`;

/**
 * If settling fails for good, the delivery is kept alone for the operator, and later attempts do not ask the
 * supplier. If the database is unavailable, the step fails and is retried.
 */
export async function settle(
  deps: ActivityDeps,
  { transactionId, iccid: knownIccid }: Delivery,
  iccid: string = knownIccid,
  item: DeliveredItem = ALREADY_SAVED,
): Promise<Ended | Again> {
  try {
    const { isFirst, isMoneyOpen } = await settlePurchase(deps.db, transactionId, item);
    if (isFirst) deps.events.purchaseDelivered({ transactionId });
    return { state: 'done', iccid, ...(isMoneyOpen ? { isMoneyOpen } : {}) };
  } catch (error) {
    if (isPassing(error)) throw error;
    return keepUnsettled(deps, transactionId, item, error);
  }
}

/** The row says why it was not settled: it may not be delivered now, or the ledger refuses it. */
async function keepUnsettled(
  deps: ActivityDeps,
  transactionId: string,
  item: DeliveredItem,
  error: unknown,
): Promise<Ended | Again> {
  const now = await loadDelivery(deps.db, transactionId);
  if (now.status === 'FAILED') return closedBefore(now);
  if (now.disputeReason !== null)
    return again(now, 'its payment is disputed or reversed, so it is not settled', {
      reason: now.disputeReason,
      isStuck: true,
    });
  const { order } = now;
  if (order?.withdrawingSince != null) return again(now, 'its order is being withdrawn');
  if (item.orderId !== undefined && (order?.id !== item.orderId || !order.isLive))
    return again(now, 'its order was withdrawn meanwhile');
  deps.events.settleFailed({
    transactionId,
    detail: error instanceof Error ? error.message : String(error),
  });
  await saveDeliveredItem(deps.db, transactionId, item);
  return again(now, 'delivered, and the ledger refuses to settle it', {
    reason: 'SETTLE_FAILED',
    isStuck: true,
  });
}
