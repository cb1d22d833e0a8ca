/**
 * Closes payments 72 hours after expiry. Most are closed without a request. The others get one last check;
 * one that the gateway still leaves open needs a person. Starts workflows for refunds that were never sent
 * and for open disputes. Reads pages of PAGE rows, so memory does not grow with their number.
 */
import type { GatewayCharge } from '../../src/payments/port.ts';
import {
  closePayment,
  closeExpiredPayments,
  findDisputedOrders,
  findPayment,
  findPaymentsToClose,
  flagMoney,
  isKnownToGateway,
  type ClosedPayment,
  type PaymentRow,
} from '../../src/payments/store/payments.ts';
import { findUnsentRefundsOlderThan } from '../../src/payments/store/refunds.ts';
import type { ActivityDeps } from '../deps.ts';

/** How long money may come late. */
const LATE_FOR_MS = 72 * 3_600_000;
const PAGE = 500;
const AT_ONCE = 4;
/** Within the activity's two minutes, even if the gateway does not answer. The next run continues. */
const RUNS_FOR_MS = 90_000;
/** A refund that a workflow carries is sent within seconds. */
const FORGOTTEN_AFTER_MS = 3_600_000;

/**
 * Wakes the workflow of each purchase or funding that has late money, a refund that was not sent, or a
 * dispute. Answers with one line.
 */
export async function followLateMoney(deps: ActivityDeps): Promise<string> {
  const endsAtMs = performance.now() + RUNS_FOR_MS;
  const isOver = (): boolean => performance.now() >= endsAtMs;
  const woken = new Set<string>();
  const wake = async ({ transactionId, purpose }: ClosedPayment): Promise<void> => {
    if (woken.has(transactionId)) return;
    woken.add(transactionId);
    await deps.engine.checkSoon({ transactionId, purpose });
  };
  await closeOverdue(deps, wake, isOver);
  for (let afterKey = ''; !isOver();) {
    const refunds = await findUnsentRefundsOlderThan(deps.db, {
      ms: FORGOTTEN_AFTER_MS,
      afterKey,
      limit: PAGE,
    });
    for (const refund of refunds) {
      const payment = await findPayment(deps.db, refund.reference);
      if (payment) await wake({ transactionId: payment.transaction_id, purpose: payment.purpose });
    }
    afterKey = refunds.at(-1)?.refund_key ?? '';
    if (refunds.length < PAGE) break;
  }
  for (let afterId = ''; !isOver();) {
    const disputes = await findDisputedOrders(deps.db, { afterId, limit: PAGE });
    for (const dispute of disputes) await wake(dispute);
    afterId = disputes.at(-1)?.transactionId ?? '';
    if (disputes.length < PAGE) break;
  }
  return `${woken.size} payments followed${isOver() ? ', more in the next run' : ''}`;
}

type Wake = (payment: ClosedPayment) => Promise<void>;

/** Wakes those that have brought something that is not booked; closes the others. */
async function closeOverdue(deps: ActivityDeps, wake: Wake, isOver: () => boolean): Promise<void> {
  const which = { expiredForMs: LATE_FOR_MS, limit: PAGE };
  while ((await closeExpiredPayments(deps.db, which)) === PAGE) if (isOver()) return;
  const seen = new Set<string>();
  while (!isOver()) {
    const payments = (await findPaymentsToClose(deps.db, which)).filter(
      ({ reference }) => !seen.has(reference),
    );
    if (payments.length === 0) return;
    for (const { reference } of payments) seen.add(reference);
    for (let from = 0; from < payments.length && !isOver(); from += AT_ONCE)
      await Promise.all(
        payments.slice(from, from + AT_ONCE).map((payment) => checkForTheLastTime(deps, payment, wake)),
      );
  }
}

async function checkForTheLastTime(deps: ActivityDeps, payment: PaymentRow, wake: Wake): Promise<void> {
  const { db, events } = deps;
  const { reference, transaction_id: transactionId, purpose } = payment;
  const found = await deps.gateway.forAccount(payment.account_id).findCharge(reference);
  // Our own rate limit held it back: the next run asks.
  if (found.outcome === 'unknown' && found.notSent) return;
  const charge = found.outcome === 'done' ? found.value : undefined;
  const isNotFound = charge === null && isKnownToGateway(payment);
  if (isNotFound) events.gatewayChargeNotFound({ transactionId, reference });
  if (charge && hasMoney(charge)) return wake({ transactionId, purpose });
  const isOpenAtTheEnd =
    charge === undefined || isNotFound || (charge !== null && ['waiting', 'unknown'].includes(charge.state));
  if (isOpenAtTheEnd) {
    await flagMoney(db, transactionId, 'PAYMENT_STILL_OPEN');
    events.purchaseNeedsAttention({ transactionId, reason: 'PAYMENT_STILL_OPEN' });
  }
  await closePayment(db, reference);
}

/** Of a payment that has brought nothing yet. */
function hasMoney({ state, received, feesOnTopMinor }: GatewayCharge): boolean {
  return (state === 'paid' || state === 'reversed') && received.amountMinor > feesOnTopMinor;
}
