/** Whether an order can still arrive, by what its supplier says now. Asks only: changes nothing, anywhere. */
import type { EsimSupplier } from '../esims/port.ts';
import type { SupplierOrder } from './store/supplier-orders.ts';

/** Twenty times the expected allocation time: an older order is listed by now, or never will be. */
const LISTED_WITHIN_MS = 600_000;

/** `cancellable`: the eSIM is there, and only the attempt to cancel it shows whether the supplier lets it. */
export type OrderJudgement =
  | { readonly outcome: 'withdrawn' }
  | { readonly outcome: 'uncertain'; readonly detail: string; readonly notSent?: true }
  | { readonly outcome: 'cancellable'; readonly esimTranNo: string };

/** Our own requests have used up what the supplier takes from us. */
export const NOT_ASKED = 'the supplier could not be asked at this moment';

export interface JudgeOptions {
  /**
   * The operator has the supplier's word that nothing is delivered. Used only where the supplier's API was
   * asked and does not say.
   */
  readonly supplierConfirmedUndelivered: boolean;
}

/** Why the supplier has not said it: asking again may be all that it takes. */
interface Silence {
  /** Our own pace held the question back. */
  readonly notSent?: true;
  /** The list is long, and was not read to its end. */
  readonly isPartial?: true;
}

/** As the supplier lists it; null: not listed, undefined: not known. */
interface Found extends Silence {
  readonly orderNo: string | null | undefined;
  /** Nothing of it is listed before this: the next search begins here. */
  readonly searchedUntil?: Date;
}

/** Searches the supplier's list from the first attempt on, or from where the last search ended. */
export async function searchOrder(
  supplier: Pick<EsimSupplier, 'findOrder'>,
  order: SupplierOrder,
): Promise<Found> {
  const firstSentAt = order.firstSentAt ?? order.plannedAt;
  const until = order.lastSentAt ?? order.now;
  const from = order.searchedUntil ?? firstSentAt;
  const held = await supplier.findOrder({ transactionId: order.id, accountId: order.accountId, from, until });
  if (held.outcome !== 'done') return { orderNo: undefined, ...notSentOf(held) };
  if (held.value.state === 'found') return { orderNo: held.value.orderNo };
  const isPartial = held.value.state === 'searching';
  const searchedUntil = isPartial ? held.value.searchedUntil : until;
  // The list shows an order under the time it was made, but only once it is allocated.
  const safelyUntilMs = Math.min(searchedUntil.getTime(), order.now.getTime() - LISTED_WITHIN_MS);
  return {
    ...(isPartial ? { orderNo: undefined, isPartial } : { orderNo: null }),
    ...(safelyUntilMs > firstSentAt.getTime() && { searchedUntil: new Date(safelyUntilMs) }),
  };
}

/**
 * By our order number where it is known. An order that is not listed may still be allocating, so only the
 * supplier's word to an operator rules it out. An order that is there and cannot be cancelled counts as
 * deliverable in any case. `find`: how to find the number where it is not known.
 */
export async function judgeOrder(
  supplier: Pick<EsimSupplier, 'findOrder' | 'findTopUp' | 'profile'>,
  order: SupplierOrder,
  { supplierConfirmedUndelivered }: JudgeOptions,
  find: () => Promise<Found> = () => searchOrder(supplier, order),
): Promise<OrderJudgement> {
  const unlessConfirmed = (detail: string, { notSent, isPartial }: Silence = {}): OrderJudgement => {
    if (notSent) return { outcome: 'uncertain', detail: NOT_ASKED, notSent };
    if (isPartial) return { outcome: 'uncertain', detail: 'the search of the supplier’s list goes on' };
    return supplierConfirmedUndelivered ? { outcome: 'withdrawn' } : { outcome: 'uncertain', detail };
  };
  if (order.kind === 'TOPUP') {
    const { id: transactionId, esimTranNo, accountId } = order;
    const held = await supplier.findTopUp({ transactionId, esimTranNo, accountId });
    if (held.outcome !== 'done')
      return unlessConfirmed('the supplier does not say whether it has the top-up', notSentOf(held));
    if (!held.value.found) return { outcome: 'withdrawn' };
    return { outcome: 'uncertain', detail: 'the top-up is there, and cannot be taken back' };
  }
  const { orderNo, ...silence } = order.orderNo === null ? await find() : { orderNo: order.orderNo };
  if (orderNo === undefined)
    return unlessConfirmed('the supplier does not say whether it has the order', silence);
  // It refused the order, and lists nothing of it.
  if (orderNo === null && order.state === 'refused') return { outcome: 'withdrawn' };
  if (orderNo === null)
    return unlessConfirmed('the supplier lists nothing of it, and may still be allocating it');
  const answer = await supplier.profile({ orderNo, accountId: order.accountId });
  if (answer.outcome !== 'done')
    return unlessConfirmed(`the supplier does not say how order ${orderNo} stands`, notSentOf(answer));
  if (answer.value.state === 'allocating')
    return unlessConfirmed(`order ${orderNo} is still being allocated`);
  const { status, esimTranNo } = answer.value.profile;
  return status === 'CANCELLED' ? { outcome: 'withdrawn' } : { outcome: 'cancellable', esimTranNo };
}

const notSentOf = (silent: Silence | object): Silence =>
  'notSent' in silent && silent.notSent === true ? { notSent: true } : {};
