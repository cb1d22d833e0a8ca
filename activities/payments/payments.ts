/**
 * Checks of payments at the gateway. Bank details and e-mail addresses stay in rows: workflows get ids and
 * outcomes.
 */
import { asFailureReason } from '../../src/domain/refusals.ts';
import type { GatewayCharge, PaymentGateway, GatewayOutcome, ListedRefund } from '../../src/payments/port.ts';
import { bookSeen, type SeenCharge } from '../../src/purchases/store/payment-bookings.ts';
import {
  beginChecks,
  recordCheck,
  isKnownToGateway,
  findFunding,
  type PaymentToCheck,
} from '../../src/payments/store/payments.ts';
import { asksForDisputes, saveDisputes } from '../../src/payments/store/disputes.ts';
import { isOurKey } from '../../src/payments/store/refunds.ts';
import { findPurchase } from '../../src/purchases/store/reads.ts';
import type { PaymentCheckState } from '../../workflows/contract.ts';
import type { PaymentPurpose } from '../../src/domain/states.ts';
import type { ActivityDeps } from '../deps.ts';

/**
 * Checks every attempt of a payment, books what the gateway has, and returns the payment's state after that.
 */
export async function checkPayment(
  deps: ActivityDeps,
  transactionId: string,
  purpose: PaymentPurpose,
): Promise<PaymentCheckState> {
  const { isKnown, isHeldBack } = await checkAttempts(deps, transactionId);
  const order =
    purpose === 'funding'
      ? await findFunding(deps.db, transactionId)
      : (await findPurchase(deps.db, transactionId))?.purchase;
  if (!order) throw new Error(`no ${purpose} ${transactionId}`);
  const found = { isKnown, ...(isHeldBack ? { isHeldBack } : {}) };
  if (order.status === 'FAILED')
    return { state: 'ended', reason: asFailureReason(order.reason ?? ''), ...found };
  if (order.status !== 'PENDING') return { state: 'paid', ...found };
  return { state: isKnown ? 'waiting' : 'unknown', ...found };
}

/** What one check of all attempts of a payment came to. */
interface Checked {
  /** The gateway answered about each, and everything it has is booked. */
  readonly isKnown: boolean;
  /** Not known, since our own rate limit kept us from asking. */
  readonly isHeldBack: boolean;
  /** Its time to pay was over when the check began. */
  readonly wasExpired: boolean;
}

/** Asks the gateway about every attempt that it may hold, and books what it has. */
export async function checkAttempts(deps: ActivityDeps, transactionId: string): Promise<Checked> {
  const answers: CheckAnswer[] = [];
  const payments = await beginChecks(deps.db, transactionId);
  for (const payment of payments) {
    const gateway = deps.gateway.forAccount(payment.account_id);
    answers.push(await checkAttempt({ ...deps, gateway }, payment));
  }
  const isKnown = answers.every((answer) => answer === 'known');
  return {
    isKnown,
    isHeldBack: !isKnown && !answers.includes('unknown'),
    wasExpired: payments.every((payment) => payment.wasExpired),
  };
}

/**
 * `known`: the gateway said what it has, and it is booked. `held-back`: our own rate limit kept us from
 * asking.
 */
type CheckAnswer = 'known' | 'unknown' | 'held-back';

async function checkAttempt(deps: ActivityDeps, payment: PaymentToCheck): Promise<CheckAnswer> {
  const { db, events } = deps;
  const { reference, transaction_id: transactionId, checkNumber } = payment;
  // Another gateway's silence says nothing.
  if (payment.gateway !== deps.gateway.name) return 'unknown';
  const found = await deps.gateway.findCharge(reference);
  if (found.outcome !== 'done') {
    if (found.outcome === 'unknown' && found.notSent) return 'held-back';
    events.gatewayCheckFailed({ reference, detail: found.detail });
    return 'unknown';
  }
  const charge = found.value;
  if (charge === null) {
    if (isKnownToGateway(payment)) {
      events.gatewayChargeNotFound({ transactionId, reference });
      return 'unknown';
    }
    await recordCheck(db, reference);
    return 'known';
  }
  if (charge.state === 'unknown') {
    events.unknownGatewayStatus({ reference, gatewayStatus: charge.gatewayStatus });
    return 'unknown';
  }
  const seen = await seenOf(deps.gateway, charge);
  if ('unknown' in seen) {
    events.gatewayCheckFailed({ reference, detail: seen.unknown });
    return 'unknown';
  }
  const { what } = await bookSeen(db, reference, seen, checkNumber);
  if (what !== undefined) events.paymentBooked({ transactionId, reference, what });
  return (await checkDisputes(deps, payment)) ? 'known' : 'unknown';
}

/** A charge as it is booked. What `reversed` means, only the list of refunds can tell. */
async function seenOf(
  gateway: Pick<PaymentGateway, 'refundsOf'>,
  charge: GatewayCharge,
): Promise<SeenCharge | { readonly unknown: string }> {
  const { state, received, gatewayId, gatewayStatus, reference } = charge;
  const seen: SeenCharge = {
    state: state === 'paid' || state === 'reversed' ? state : 'other',
    netMinor: received.amountMinor - charge.feesOnTopMinor,
    currency: received.currency,
    gatewayId,
    gatewayStatus,
  };
  if (state !== 'reversed') return seen;
  const sent = await findSent(gateway, reference);
  if (sent.outcome !== 'done') return { unknown: sent.detail };
  if (sent.value.length === 0) return seen;
  const of = (isOurs: boolean) =>
    sumOf(sent.value.filter(({ refundKey }) => isOurKey(reference, refundKey) === isOurs));
  return { ...seen, refunds: { oursMinor: of(true), othersMinor: of(false) } };
}

/**
 * A known dispute is checked each time: it may be over, or there may be another. An operator's check always
 * asks.
 */
async function checkDisputes(
  { db, gateway, events }: ActivityDeps,
  payment: PaymentToCheck,
): Promise<boolean> {
  const { reference, checkNumber } = payment;
  if (!(await asksForDisputes(db, payment))) return true;
  const found = await gateway.findDisputes(reference);
  if (found.outcome === 'done') await saveDisputes(db, reference, found.value, checkNumber);
  else events.gatewayCheckFailed({ reference, detail: found.detail });
  return found.outcome === 'done';
}

/** All refunds of a payment that have not failed, by whomever they were requested. */
export async function findSent(
  gateway: Pick<PaymentGateway, 'refundsOf'>,
  reference: string,
): Promise<GatewayOutcome<readonly ListedRefund[]>> {
  const listed = await gateway.refundsOf(reference);
  if (listed.outcome !== 'done') return listed;
  return { ...listed, value: listed.value.filter(({ state }) => state !== 'failed') };
}

export const sumOf = (refunds: readonly ListedRefund[]): bigint =>
  refunds.reduce((sum, { amount }) => sum + amount.amountMinor, 0n);
