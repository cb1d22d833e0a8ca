/**
 * Steps at the payment gateway. Every reference is on record before the gateway is asked; what it has is booked by the one resolver,
 * lookAtPayment, whoever asked for the look. Bank details and e-mail addresses stay in rows: workflows hear ids and outcomes.
 */
import { sleep } from '@temporalio/activity';
import type { FailureReason } from '../../src/domain/refusals.ts';
import { asFailureReason } from '../../src/domain/refusals.ts';
import type { GatewayCharge, GatewayRefusal, PaymentInstructions } from '../../src/payments/port.ts';
import { bookSeen, type SeenCharge } from '../../src/purchases/store/payment-bookings.ts';
import {
  beginPayment,
  CLAIMS,
  findEmail,
  findPayments,
  saveInstructions,
  markPaymentRefused,
  nextPaymentTry,
  recordCheck,
  isKnownToGateway,
  findFunding,
  type NewPayment,
  type PaymentRow,
} from '../../src/payments/store/payments.ts';
import { asksForDisputes, saveDisputes } from '../../src/payments/store/disputes.ts';
import { findPurchase } from '../../src/purchases/store/reads.ts';
import type { StoredInstructions } from '../../src/payments/store/tables.ts';
import { messagesOf, newPendingMessages, type PendingMessages } from '../../src/webhooks/store/messages.ts';
import type {
  GatewayActivities,
  OpenedPayment,
  PaymentRequest,
  PaymentStand,
} from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';
import { followRefunds } from './refunds.ts';
import type { OutsideMethod, PaymentPurpose } from '../../src/domain/states.ts';

/** Tries that the gateway may hold without telling how to pay; more than a few means that something else is wrong. */
const MAX_TRIES = 5;
const RETRY_PAUSE_MS = 300;

export function createGatewayActivities(deps: ActivityDeps): GatewayActivities {
  return {
    openPayment: (request, budgetMs) => openPayment(deps, request, budgetMs),
    lookAtPayment: (transactionId, purpose) => lookAtPayment(deps, transactionId, purpose),
    moveRefunds: (transactionId) => followRefunds(deps, transactionId),
  };
}

async function openPayment(
  deps: ActivityDeps,
  request: PaymentRequest,
  budgetMs: number,
): Promise<OpenedPayment> {
  const endsAtMs = deps.clock.now().getTime() + budgetMs;
  const wanted = toNewPayment(request);
  const scenario = request.packageCode === undefined ? undefined : deps.scenarioOf?.(request.packageCode);
  let payment = await beginPayment(deps.db, wanted);
  for (;;) {
    const step = await tryToOpen(deps, payment, scenario);
    if (step === 'taken') {
      if (payment.attempt >= MAX_TRIES) return { outcome: 'unknown' };
      payment = await nextPaymentTry(deps.db, wanted, payment);
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
  /** The gateway holds this try and does not tell again how to pay it. */
  | 'taken';

async function tryToOpen(
  deps: ActivityDeps,
  payment: PaymentRow,
  scenario: string | undefined,
): Promise<Try> {
  if (payment.status === 'REFUSED') return refused('REQUEST_REFUSED', 'refused before');
  if (payment.instructions || payment.paid_hold) return opened(payment.reference, payment.expires_at);
  const charged = await deps.gateway.charge({
    reference: payment.reference,
    method: payment.method,
    amount: { amountMinor: payment.charge_minor, currency: payment.charge_currency },
    email: await findEmail(deps.db, payment.account_id),
    returnUrl: deps.returnUrl,
    accountExpiresAt: payment.expires_at,
    ...(scenario === undefined ? {} : { scenario }),
  });
  if (charged.outcome === 'done') {
    const expiresAt = charged.value.kind === 'bank-transfer' ? charged.value.expiresAt : undefined;
    await saveInstructions(deps.db, payment.reference, toStored(charged.value), expiresAt);
    return opened(payment.reference, expiresAt ?? payment.expires_at);
  }
  if (charged.outcome === 'unknown') return charged;
  if (charged.reason === 'REFERENCE_TAKEN') return 'taken';
  deps.events.gatewayRefused({
    reference: payment.reference,
    reason: charged.reason,
    detail: charged.detail,
  });
  await markPaymentRefused(deps.db, payment.reference);
  return refused(charged.reason, charged.detail);
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

function toNewPayment(request: PaymentRequest): NewPayment {
  return {
    transactionId: request.transactionId,
    purpose: request.purpose,
    accountId: request.accountId,
    method: request.method satisfies OutsideMethod,
    charge: request.charge,
    price: { amountMinor: BigInt(request.priceMinor), currency: request.priceCurrency },
    expiresAt: new Date(request.expiresAtMs),
  };
}

function toStored(instructions: PaymentInstructions): StoredInstructions {
  return instructions.kind === 'redirect'
    ? instructions
    : { ...instructions, expiresAt: instructions.expiresAt.toISOString() };
}

/** Looks at every try of a payment, books what it has, and tells how the payment then stands. */
export async function lookAtPayment(
  deps: ActivityDeps,
  transactionId: string,
  purpose: PaymentPurpose,
): Promise<PaymentStand> {
  let isKnown = true;
  const written = newPendingMessages();
  for (const payment of await findPayments(deps.db, transactionId)) {
    if (payment.status !== 'REFUSED') isKnown = (await checkAttempt(deps, payment, written)) && isKnown;
  }
  const { status, reason, attention_reason: attentionReason } = await findStand(deps, transactionId, purpose);
  const claim = CLAIMS.find((each) => each === attentionReason);
  const told = { isKnown, ...(claim ? { claim } : {}), ...messagesOf(written) };
  if (status === 'FAILED') return { state: 'ended', reason: asFailureReason(reason ?? ''), ...told };
  if (status !== 'PENDING') return { state: 'paid', ...told };
  return { state: isKnown ? 'waiting' : 'unknown', ...told };
}

/** Whether the gateway said what it has. */
async function checkAttempt(
  deps: ActivityDeps,
  payment: PaymentRow,
  written: PendingMessages,
): Promise<boolean> {
  const askedAt = deps.clock.now();
  const found = await deps.gateway.findCharge(payment.reference);
  if (found.outcome !== 'done') {
    deps.events.gatewayCheckFailed({ reference: payment.reference, detail: found.detail });
    return false;
  }
  if (found.value === null) {
    if (isKnownToGateway(payment)) {
      deps.events.gatewayChargeNotFound({
        transactionId: payment.transaction_id,
        reference: payment.reference,
      });
      return false;
    }
    await recordCheck(deps.db, payment.reference, askedAt);
    return true;
  }
  if (found.value.state === 'unknown') {
    deps.events.unknownGatewayStatus({
      reference: payment.reference,
      gatewayStatus: found.value.gatewayStatus,
    });
    return false;
  }
  const seen = toSeen(found.value);
  const booked = await bookSeen(deps.db, payment.reference, seen, askedAt, written);
  if (booked.what !== undefined) {
    deps.events.paymentBooked({
      transactionId: payment.transaction_id,
      reference: payment.reference,
      what: booked.what,
    });
  }
  return (await checkDisputes(deps, payment)) && booked.isOutdated !== true;
}

/** What was disputed once is asked about with every look: it may be over, or there may be another. An operator's look always asks. */
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

function toSeen(look: GatewayCharge): SeenCharge {
  return {
    state: look.state === 'paid' || look.state === 'reversed' ? look.state : 'other',
    netMinor: look.received.amountMinor - look.feesOnTopMinor,
    currency: look.received.currency,
    gatewayId: look.gatewayId,
    gatewayStatus: look.gatewayStatus,
  };
}

async function findStand(
  { db }: ActivityDeps,
  transactionId: string,
  purpose: PaymentPurpose,
): Promise<{ status: string; reason: string | null; attention_reason: string | null }> {
  const row =
    purpose === 'funding'
      ? await findFunding(db, transactionId)
      : (await findPurchase(db, transactionId))?.purchase;
  if (!row) throw new Error(`no ${purpose} ${transactionId}`);
  return row;
}
