/**
 * Stops watching payments 72 hours after they expired. Most are closed by what we know already. The others get one last check; one that the
 * gateway still leaves open needs a person. Refunds that were never begun, and open claims, get a workflow.
 */
import type { GatewayCharge } from '../../src/payments/port.ts';
import {
  closePayment,
  closeExpiredPayments,
  findClaims,
  findPayment,
  findPaymentsToClose,
  flagMoney,
  wasReceivedAndReversed,
  isKnownToGateway,
  type PaymentRow,
} from '../../src/payments/store/payments.ts';
import { findUnstartedRefunds } from '../../src/payments/store/refunds.ts';
import type { LateMoney } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';
import type { PaymentPurpose } from '../../src/domain/states.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';

/** How long money may come late. */
const LATE_FOR_MS = 72 * 3_600_000;
/** Limits the load on the gateway. */
const MAX_PER_RUN = 5_000;
const AT_ONCE = 4;
/** Within the activity's two minutes, even if the gateway does not answer. The next run continues. */
const RUNS_FOR_MS = 90_000;
/** A refund that a workflow carries is begun within seconds. */
const FORGOTTEN_AFTER_MS = 3_600_000;

/** What needs a workflow of its own, each purchase or funding once. */
export async function findLateMoney(deps: ActivityDeps): Promise<readonly LateMoney[]> {
  const now = deps.clock.now();
  const late = new Map<string, LateMoney>();
  const add = (transactionId: string, purpose: PaymentPurpose, isClaim?: true) => {
    const claim = isClaim ? { isClaim } : {};
    late.set(transactionId, { transactionId, purpose, timings: deps.refundTimings, ...claim });
  };
  for (const claim of await findClaims(deps.db, MAX_PER_RUN)) add(claim.transactionId, claim.purpose, true);
  for (const payment of await closeOverdue(deps, now)) add(payment.transaction_id, payment.purpose);
  const madeBefore = new Date(now.getTime() - FORGOTTEN_AFTER_MS);
  for (const refund of await findUnstartedRefunds(deps.db, { madeBefore, limit: MAX_PER_RUN })) {
    const payment = await findPayment(deps.db, refund.reference);
    if (payment) add(payment.transaction_id, payment.purpose);
  }
  return [...late.values()];
}

/** Those that have brought something that is not booked. */
async function closeOverdue(deps: ActivityDeps, now: Date): Promise<readonly PaymentRow[]> {
  const expiredBefore = new Date(now.getTime() - LATE_FOR_MS);
  const isTimeLeft = (): boolean => deps.clock.now().getTime() - now.getTime() < RUNS_FOR_MS;
  while ((await closeExpiredPayments(deps.db, { expiredBefore, limit: MAX_PER_RUN })) === MAX_PER_RUN)
    if (!isTimeLeft()) return [];
  const payments = await findPaymentsToClose(deps.db, { expiredBefore, limit: MAX_PER_RUN });
  const found: PaymentRow[] = [];
  for (let from = 0; from < payments.length && isTimeLeft(); from += AT_ONCE) {
    const batch = payments.slice(from, from + AT_ONCE);
    const news = await Promise.all(batch.map((payment) => checkForTheLastTime(deps, payment, now)));
    found.push(...batch.filter((_, index) => news[index]));
  }
  return found;
}

/** Whether there is something to book; closed otherwise. */
async function checkForTheLastTime(deps: ActivityDeps, payment: PaymentRow, now: Date): Promise<boolean> {
  const { db, events } = deps;
  const { reference, transaction_id: transactionId } = payment;
  const found = await deps.gateway.forAccount(payment.account_id).findCharge(reference);
  // Our own rate limit held it back: the next run asks.
  if (found.outcome === 'unknown' && found.notSent) return false;
  const charge = found.outcome === 'done' ? found.value : undefined;
  const isNotFound = charge === null && isKnownToGateway(payment);
  if (isNotFound) events.gatewayChargeNotFound({ transactionId, reference });
  if (charge && (await hasUnbookedMoney(db, charge))) return true;
  const isOpenAtTheEnd =
    charge === undefined || isNotFound || (charge !== null && ['waiting', 'unknown'].includes(charge.state));
  if (isOpenAtTheEnd) {
    await flagMoney(db, transactionId, 'PAYMENT_STILL_OPEN');
    events.purchaseNeedsAttention({ transactionId, reason: 'PAYMENT_STILL_OPEN' });
  }
  await closePayment(db, reference, now);
  return false;
}

/** Of a payment that has brought nothing yet. */
async function hasUnbookedMoney(db: WorldDb, charge: GatewayCharge): Promise<boolean> {
  const { state, received, reference } = charge;
  if ((state !== 'paid' && state !== 'reversed') || received.amountMinor <= charge.feesOnTopMinor)
    return false;
  return state === 'paid' || !(await wasReceivedAndReversed(db, reference, received.currency));
}
