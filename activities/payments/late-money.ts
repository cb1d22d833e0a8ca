/**
 * Stops watching payments 72 hours after their time to pay. Most are closed by what we know already. The others get one last look; if the gateway
 * still leaves one open, a person is called. Refunds that were never begun, and open claims, get a workflow.
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

/** decisions.md: how long money may come late. */
const LATE_FOR_MS = 72 * 3_600_000;
/** Per run and at one time, so that the gateway is not stormed. */
const MAX_PER_RUN = 5_000;
const AT_ONCE = 4;
/** Within the activity's two minutes, also where the gateway answers nothing. The next run goes on. */
const RUNS_FOR_MS = 90_000;
/** A refund that a workflow carries is begun within seconds. */
const FORGOTTEN_AFTER_MS = 3_600_000;

/** What needs a workflow of its own, each purchase or funding once. */
export async function findLateMoney(deps: ActivityDeps): Promise<readonly LateMoney[]> {
  const now = deps.clock.now();
  const late = new Map<string, LateMoney>();
  const add = (transactionId: string, purpose: PaymentPurpose) =>
    late.set(transactionId, { transactionId, purpose, timings: deps.refundTimings });
  for (const { transactionId, purpose } of await findClaims(deps.db, MAX_PER_RUN))
    late.set(transactionId, { transactionId, purpose, timings: deps.refundTimings, isClaim: true });
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
  const found = await deps.gateway.findCharge(payment.reference);
  const look = found.outcome === 'done' ? found.value : undefined;
  const isNotFound = look === null && isKnownToGateway(payment);
  if (isNotFound)
    deps.events.gatewayChargeNotFound({
      transactionId: payment.transaction_id,
      reference: payment.reference,
    });
  if (look && (await hasUnbookedMoney(deps, payment, look))) return true;
  const isOpenAtTheEnd =
    look === undefined || isNotFound || (look !== null && ['waiting', 'unknown'].includes(look.state));
  if (isOpenAtTheEnd) {
    await flagMoney(deps.db, payment.transaction_id, 'PAYMENT_STILL_OPEN');
    deps.events.purchaseNeedsAttention({
      transactionId: payment.transaction_id,
      reason: 'PAYMENT_STILL_OPEN',
    });
  }
  await closePayment(deps.db, payment.reference, now);
  return false;
}

/** Of a payment that has brought nothing yet. */
async function hasUnbookedMoney(
  { db }: ActivityDeps,
  payment: PaymentRow,
  look: GatewayCharge,
): Promise<boolean> {
  const netMinor = look.received.amountMinor - look.feesOnTopMinor;
  if (look.state === 'paid') return netMinor > 0n;
  if (look.state !== 'reversed') return false;
  return netMinor > 0n && !(await wasReceivedAndReversed(db, payment.reference, look.received.currency));
}
