/** A check of the supplier, for an operator. It orders nothing; what the supplier has is delivered. */
import { checkEsim } from '../../src/esims/refresh.ts';
import { findEsim } from '../../src/esims/store/esims.ts';
import { acceptOtherPackage } from '../../src/purchases/store/purchases.ts';
import { loadDelivery, type Delivery } from '../../src/purchases/store/supplier-orders.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptAccepted, findHeld, isOfSupplier, NOT_CONNECTED } from '../purchases/delivery-attempt.ts';
import { describeEnd, settle, type Again, type Ended, type Ordered } from '../purchases/settle.ts';
import { cancelGivenUp } from '../purchases/withdraw.ts';

/** What it found, in a sentence. Nothing that was given up is left there, after a refund or a replacement. */
export async function checkSupplier(deps: ActivityDeps, transactionId: string): Promise<string> {
  const delivery = await loadDelivery(deps.db, transactionId);
  const said = delivery.status === 'FAILED' ? [] : [await checkNewest(deps, delivery)];
  said.push(...(await cancelGivenUp(deps, transactionId)));
  return said.join('; ') || 'the supplier has nothing of it';
}

async function checkNewest(deps: ActivityDeps, delivery: Delivery): Promise<string> {
  const { order } = delivery;
  if (delivery.status === 'SUCCESS') return refreshDelivered(deps, delivery);
  if (order === null || order.attempts === 0) return 'nothing was ordered yet';
  if (delivery.isDelivered) return describe(await settle(deps, delivery));
  if (!order.isLive) return `its order is ${order.state}`;
  return isOfSupplier(deps, order) ? checkOrder(deps, { ...delivery, order }) : NOT_CONNECTED;
}

async function checkOrder(deps: ActivityDeps, delivery: Ordered): Promise<string> {
  const { kind, orderNo } = delivery.order;
  const it = kind === 'TOPUP' ? 'top-up' : 'order';
  if (orderNo !== null) return describe(await attemptAccepted(deps, delivery, orderNo));
  const found = await findHeld(deps, delivery);
  if (found === undefined) return `the supplier does not say whether it has the ${it}`;
  if (found === null) return `the supplier lists no such ${it}`;
  return describe(await found());
}

const describe = (attempt: Ended | Again): string =>
  attempt.state === 'again' ? attempt.why : describeEnd(attempt);

/**
 * Updates the state of a delivered eSIM. A person who sees that another package was delivered has been told.
 */
async function refreshDelivered(deps: ActivityDeps, delivery: Delivery): Promise<string> {
  const before = await findEsim(deps.db, delivery.esimId);
  if (!before) throw new Error(`no eSIM ${delivery.esimId}`);
  const { row, isAnswered } = await checkEsim(deps, before);
  const other = await acceptOtherPackage(deps.db, delivery.transactionId);
  const seen = isAnswered ? `the eSIM is ${row.status}` : 'the supplier does not say how the eSIM stands';
  return other ? `${seen}; the supplier delivered ${other}` : seen;
}
