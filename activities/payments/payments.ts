/** Steps at the payment gateway. Bank details and e-mail addresses stay in rows: workflows get ids and outcomes. */
import { sleep } from '@temporalio/activity';
import { asFailureReason, type FailureReason } from '../../src/domain/refusals.ts';
import type { GatewayRefusal } from '../../src/payments/port.ts';
import { bookSeen } from '../../src/purchases/store/payment-bookings.ts';
import { CLAIMS } from '../../src/payments/rules.ts';
import {
  findPaymentToOpen,
  findEmail,
  findPayments,
  saveInstructions,
  markPaymentRefused,
  nextPaymentAttempt,
  recordCheck,
  isKnownToGateway,
  findFunding,
  type PaymentRow,
} from '../../src/payments/store/payments.ts';
import { asksForDisputes, saveDisputes } from '../../src/payments/store/disputes.ts';
import { findPurchase } from '../../src/purchases/store/reads.ts';
import { messagesOf, newPendingMessages, type PendingMessages } from '../../src/webhooks/store/messages.ts';
import type { GatewayActivities, OpenedPayment, PaymentCheckState } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';
import { followRefunds } from './refunds.ts';
import type { PaymentPurpose } from '../../src/domain/states.ts';

/** Attempts that the gateway may hold without instructions; more than a few means that something else is wrong. */
const MAX_ATTEMPTS = 5;
const RETRY_PAUSE_MS = 300;
/** No buyer waits longer. */
const MAX_BUDGET_MS = 60_000;

export function createGatewayActivities(deps: ActivityDeps): GatewayActivities {
  return {
    openPayment: ({ transactionId }, budgetMs) => openPayment(deps, transactionId, budgetMs),
    lookAtPayment: (transactionId, purpose) => checkPayment(deps, transactionId, purpose),
    moveRefunds: (transactionId) => followRefunds(deps, transactionId),
  };
}

/** What to charge, and for whom, is in the rows that opening wrote: of the request only the id counts. */
async function openPayment(
  deps: ActivityDeps,
  transactionId: string,
  budgetMs: number,
): Promise<OpenedPayment> {
  const endsAtMs = deps.clock.now().getTime() + Math.min(budgetMs, MAX_BUDGET_MS);
  const found = await findPaymentToOpen(deps.db, transactionId);
  if (!found) {
    deps.events.unverifiedRequest({ what: 'payment', transactionId, detail: 'no such payment was opened' });
    return { outcome: 'refused', refusal: { reason: 'PAYMENT_NOT_OPENED', detail: 'no such payment' } };
  }
  const { isAwaited, packageCode } = found;
  const scenario = packageCode === null ? undefined : deps.scenarioOf?.(packageCode);
  let { payment } = found;
  for (;;) {
    const step = await tryToOpen(deps, payment, { isAwaited, scenario });
    if (step === 'taken') {
      if (payment.attempt >= MAX_ATTEMPTS) return { outcome: 'unknown' };
      payment = await nextPaymentAttempt(deps.db, payment);
      continue;
    }
    if (step.outcome !== 'unknown') return step;
    const waitMs = Math.max(RETRY_PAUSE_MS, step.retryAfterMs ?? 0);
    if (deps.clock.now().getTime() + waitMs >= endsAtMs) return { outcome: 'unknown' };
    await sleep(waitMs);
  }
}

type Try =
  | Exclude<OpenedPayment, { outcome: 'unknown' }>
  | { readonly outcome: 'unknown'; readonly retryAfterMs?: number }
  /** The gateway holds this attempt and does not repeat how to pay it. */
  | 'taken';

async function tryToOpen(
  { db, gateway, events, returnUrl }: ActivityDeps,
  payment: PaymentRow,
  { isAwaited, scenario }: { readonly isAwaited: boolean; readonly scenario: string | undefined },
): Promise<Try> {
  const { reference } = payment;
  if (payment.status === 'REFUSED') return refused('REQUEST_REFUSED', 'refused before');
  if (payment.instructions || payment.paid_hold) return opened(reference, payment.expires_at);
  // The order is closed, so no new charge is opened for it.
  if (!isAwaited) return { outcome: 'unknown', retryAfterMs: MAX_BUDGET_MS };
  const charged = await gateway.forAccount(payment.account_id).charge({
    reference,
    method: payment.method,
    amount: { amountMinor: payment.charge_minor, currency: payment.charge_currency },
    email: await findEmail(db, payment.account_id),
    returnUrl,
    accountExpiresAt: payment.expires_at,
    scenario,
  });
  if (charged.outcome === 'done') {
    await saveInstructions(db, reference, charged.value);
    return opened(
      reference,
      charged.value.kind === 'bank-transfer' ? charged.value.expiresAt : payment.expires_at,
    );
  }
  if (charged.outcome === 'unknown') return charged;
  const { reason, detail } = charged;
  if (reason === 'REFERENCE_TAKEN') return 'taken';
  events.gatewayRefused({ reference, reason, detail });
  await markPaymentRefused(db, reference);
  return refused(reason, detail);
}

function opened(reference: string, expiresAt: Date): Try {
  return { outcome: 'open', reference, expiresAtMs: expiresAt.getTime() };
}

const NOT_SERVED: readonly GatewayRefusal[] = [
  'AMOUNT_NOT_SERVED',
  'CURRENCY_NOT_SERVED',
  'METHOD_NOT_SERVED',
];

function refused(reason: GatewayRefusal, detail: string): Try {
  const known: FailureReason = NOT_SERVED.includes(reason) ? 'PAYMENT_NOT_SERVED' : 'PAYMENT_NOT_OPENED';
  return { outcome: 'refused', refusal: { reason: known, detail } };
}

/** Checks every attempt of a payment, books what the gateway has, and returns the payment's state after that. */
export async function checkPayment(
  deps: ActivityDeps,
  transactionId: string,
  purpose: PaymentPurpose,
): Promise<PaymentCheckState> {
  const answers: CheckAnswer[] = [];
  const pending = newPendingMessages();
  for (const payment of await findPayments(deps.db, transactionId)) {
    if (payment.status === 'REFUSED') continue;
    const gateway = deps.gateway.forAccount(payment.account_id);
    answers.push(await checkAttempt({ ...deps, gateway }, payment, pending));
  }
  const isKnown = answers.every((answer) => answer === 'known');
  const isHeldBack = !isKnown && !answers.includes('unknown');
  const order =
    purpose === 'funding'
      ? await findFunding(deps.db, transactionId)
      : (await findPurchase(deps.db, transactionId))?.purchase;
  if (!order) throw new Error(`no ${purpose} ${transactionId}`);
  const claim = CLAIMS.find((each) => each === order.attention_reason);
  const found = {
    isKnown,
    ...(isHeldBack ? { isHeldBack } : {}),
    ...(claim ? { claim } : {}),
    ...messagesOf(pending),
  };
  if (order.status === 'FAILED')
    return { state: 'ended', reason: asFailureReason(order.reason ?? ''), ...found };
  if (order.status !== 'PENDING') return { state: 'paid', ...found };
  return { state: isKnown ? 'waiting' : 'unknown', ...found };
}

/** `known`: the gateway said what it has. `held-back`: our own rate limit kept us from asking. */
type CheckAnswer = 'known' | 'unknown' | 'held-back';

async function checkAttempt(
  deps: ActivityDeps,
  payment: PaymentRow,
  pending: PendingMessages,
): Promise<CheckAnswer> {
  const { db, events } = deps;
  const { reference, transaction_id: transactionId } = payment;
  const askedAt = deps.clock.now();
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
    await recordCheck(db, reference, askedAt);
    return 'known';
  }
  const { state, received, gatewayId, gatewayStatus } = charge;
  if (state === 'unknown') {
    events.unknownGatewayStatus({ reference, gatewayStatus });
    return 'unknown';
  }
  const seen = {
    state: state === 'paid' || state === 'reversed' ? state : ('other' as const),
    netMinor: received.amountMinor - charge.feesOnTopMinor,
    currency: received.currency,
    gatewayId,
    gatewayStatus,
  };
  const { what, isOutdated } = await bookSeen(db, reference, seen, askedAt, pending);
  if (what !== undefined) events.paymentBooked({ transactionId, reference, what });
  return (await checkDisputes(deps, payment)) && isOutdated !== true ? 'known' : 'unknown';
}

/** A known dispute is checked each time: it may be over, or there may be another. An operator's check always asks. */
async function checkDisputes(
  { db, gateway, clock, events }: ActivityDeps,
  payment: PaymentRow,
): Promise<boolean> {
  const { reference } = payment;
  if (!(await asksForDisputes(db, payment))) return true;
  const askedAt = clock.now();
  const found = await gateway.findDisputes(reference);
  if (found.outcome === 'done') await saveDisputes(db, reference, found.value, askedAt);
  else events.gatewayCheckFailed({ reference, detail: found.detail });
  return found.outcome === 'done';
}
