/**
 * Collects the money of a purchase or a funding: opens the payment at the gateway or checks it, as its row
 * says. Closes it unpaid only after a check that began after expiry is booked; silence never closes it.
 */
import { sleep } from '@temporalio/activity';
import type { FailureReason } from '../../src/domain/refusals.ts';
import type { GatewayRefusal } from '../../src/payments/port.ts';
import { allowedReturnUrl } from '../../src/accounts/return-urls.ts';
import { nextPollMs } from '../../src/payments/rules.ts';
import { findBuyer } from '../../src/payments/store/buyer-details.ts';
import {
  beginCharge,
  closeFundingUnpaid,
  findCollection,
  flagMoney,
  markPaymentRefused,
  nextPaymentAttempt,
  saveInstructions,
  type Collection,
  type PaymentRow,
} from '../../src/payments/store/payments.ts';
import { closeUnpaid } from '../../src/purchases/store/purchases.ts';
import type { CollectRequest, CollectResult } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';
import { checkAttempts } from './payments.ts';

/**
 * Attempts that the gateway may hold without instructions; more than a few means that something else is
 * wrong.
 */
const MAX_ATTEMPTS = 5;
const RETRY_PAUSE_MS = 300;
/** No buyer waits longer. */
const MAX_BUDGET_MS = 60_000;

interface Collecting {
  readonly deps: ActivityDeps;
  readonly request: CollectRequest;
}

/** `done`: paid. `failed`: closed, with the reason. `waiting`: as long as nothing else wakes it. */
export async function collectPayment(deps: ActivityDeps, request: CollectRequest): Promise<CollectResult> {
  return collect({ deps, request });
}

async function collect(collecting: Collecting): Promise<CollectResult> {
  const { deps, request } = collecting;
  const { transactionId } = request;
  const found = await findCollection(deps.db, transactionId);
  if (!found) {
    deps.events.unverifiedRequest({ what: 'payment', transactionId, detail: 'no such payment was opened' });
    return { state: 'failed', reason: 'PAYMENT_NOT_OPENED', detail: 'no such payment' };
  }
  const ended = endOf(found);
  if (ended) return ended;
  if (found.payment.status === 'OPEN') return check(collecting, found);
  // Tried at least once, and for long enough: nothing more is sent.
  const isOver = found.ageMs >= request.timings.openChargeForMs && found.payment.send_before !== null;
  if (isOver && found.payment.status === 'ASKED') return check(collecting, found);
  // No buyer pays for what would only be refunded.
  if (found.isSoldOut) return close(collecting, 'PACKAGE_UNAVAILABLE', 'refused before anything was charged');
  const opened = await openWithin(collecting, found);
  if (opened === 'open') {
    const { payment, leftMs } = (await findCollection(deps.db, transactionId)) ?? found;
    return waitingForMoney(payment, leftMs);
  }
  if (opened !== 'unknown') return close(collecting, opened.reason, opened.detail);
  const pauseMs = nextPollMs(found.ageMs, found.payment.method, request.timings);
  return waiting(undefined, pauseMs, 'to ask the gateway again how to pay');
}

/** A purchase that does not wait for money any more. */
function endOf({ status, reason, payment, isMoneyOpen }: Collection): CollectResult | undefined {
  if (status === 'FAILED')
    return { state: 'failed', reason: reason ?? 'PAYMENT_NOT_OPENED', detail: 'closed before' };
  if (status === 'PENDING') return undefined;
  return { state: 'done', reference: payment.reference, ...(isMoneyOpen ? { isMoneyOpen } : {}) };
}

const waiting = (payment: PaymentRow | undefined, waitMs: number, why: string): CollectResult => ({
  state: 'waiting',
  waitMs: Math.max(1, Math.trunc(waitMs)),
  why,
  ...(payment ? { reference: payment.reference } : {}),
});

const waitingForMoney = (payment: PaymentRow, leftMs: number): CollectResult =>
  waiting(payment, leftMs, `for money until ${payment.expires_at.toISOString()}`);

/** Asks the gateway first. Only its answer, booked, ends the wait. */
async function check(collecting: Collecting, before: Collection): Promise<CollectResult> {
  const { deps, request } = collecting;
  const { transactionId, timings } = request;
  const checked = await checkAttempts(deps, transactionId);
  const found = (await findCollection(deps.db, transactionId)) ?? before;
  const ended = endOf(found);
  if (ended) return ended;
  const isOpen = found.payment.status === 'OPEN';
  const opened = isOpen ? found.payment : undefined;
  if (checked.isKnown) {
    if (checked.wasExpired) return close(collecting, 'PAYMENT_EXPIRED', `unpaid ${request.purpose}`);
    if (isOpen) return waitingForMoney(found.payment, found.leftMs);
    // No charge that was sent before the check began can arrive after it.
    if (before.settlesInMs <= 0)
      return close(collecting, 'PAYMENT_NOT_OPENED', 'the gateway never said how to pay');
    return waiting(opened, before.settlesInMs, 'until no charge can arrive any more');
  }
  const pollMs = nextPollMs(found.ageMs, found.payment.method, timings);
  if (found.leftMs > 0) return waiting(opened, pollMs, 'to ask the gateway again, which did not answer');
  // Money may have come: nothing is closed while the gateway does not say. If we could not ask yet, no person
  // is needed.
  const attention = checked.isHeldBack ? undefined : ('GATEWAY_OUTCOME_UNKNOWN' as const);
  if (attention && (await flagMoney(deps.db, transactionId, attention)))
    deps.events.purchaseNeedsAttention({ transactionId, reason: attention });
  const pauseMs = attention ? timings.slowCheckMs : pollMs;
  return {
    ...waiting(opened, pauseMs, 'to ask again whether it was paid in time'),
    ...(attention ? { attention } : {}),
  };
}

/** Closes the order as unpaid, unless money came first. */
async function close(
  { deps, request }: Collecting,
  reason: FailureReason,
  detail: string,
): Promise<CollectResult> {
  const { transactionId, purpose } = request;
  const closed =
    purpose === 'purchase'
      ? await closeUnpaid(deps.db, transactionId, reason)
      : await closeFundingUnpaid(deps.db, transactionId, reason);
  if (closed === 'paid') return { state: 'done', isMoneyOpen: true };
  deps.events.purchaseFailed({ transactionId, reason, detail });
  return { state: 'failed', reason, detail };
}

type Opening = 'open' | 'unknown' | { readonly reason: FailureReason; readonly detail: string };

/** Tries until the gateway says how to pay, or the budget is spent. */
async function openWithin({ deps, request }: Collecting, found: Collection): Promise<Opening> {
  const endsAtMs = performance.now() + Math.min(request.budgetMs, MAX_BUDGET_MS);
  const scenario = found.packageCode === null ? undefined : deps.scenarioOf?.(found.packageCode);
  let { payment } = found;
  for (;;) {
    const tried = await tryToOpen(deps, payment, scenario);
    if (tried === 'taken') {
      if (payment.attempt >= MAX_ATTEMPTS) return 'unknown';
      payment = await nextPaymentAttempt(deps.db, payment);
      continue;
    }
    if (typeof tried === 'string' || 'reason' in tried) return tried;
    const pauseMs = Math.max(RETRY_PAUSE_MS, tried.retryAfterMs);
    if (performance.now() + pauseMs >= endsAtMs) return 'unknown';
    await sleep(pauseMs);
  }
}

type Try =
  | Opening
  /** The gateway holds this attempt and does not repeat how to pay it. */
  | 'taken'
  | { readonly retryAfterMs: number };

/** What to charge, and for whom, is in the rows that opening wrote. */
async function tryToOpen(
  { db, gateway, events, returnUrl, notices }: ActivityDeps,
  payment: PaymentRow,
  scenario: string | undefined,
): Promise<Try> {
  const { reference } = payment;
  // Only its own gateway is asked for it.
  if (payment.gateway !== gateway.name) return 'unknown';
  if (payment.status === 'REFUSED') return refused('REQUEST_REFUSED', 'refused before');
  const { email, shop, cancelUrl, returnHosts: hosts } = await findBuyer(db, payment);
  const { transaction_id: transactionId } = payment;
  const { environment } = notices;
  const fence = await beginCharge(db, reference);
  if (!fence) return 'unknown';
  const charged = await gateway.forAccount(payment.account_id).charge({
    reference,
    method: payment.method,
    amount: { amountMinor: payment.charge_minor, currency: payment.charge_currency },
    email,
    shop: shop ?? undefined,
    returnUrl: returnUrl(reference),
    cancelUrl: allowedReturnUrl(cancelUrl, { transactionId, environment, hosts }),
    accountExpiresAt: payment.expires_at,
    ...(scenario === undefined ? {} : { scenario }),
    fence,
  });
  if (charged.outcome === 'done') {
    await saveInstructions(db, reference, charged.value);
    return 'open';
  }
  if (charged.outcome === 'unknown') return { retryAfterMs: charged.retryAfterMs ?? 0 };
  const { reason, detail } = charged;
  if (reason === 'REFERENCE_TAKEN') return 'taken';
  events.gatewayRefused({ reference, reason, detail });
  await markPaymentRefused(db, reference);
  return refused(reason, detail);
}

const NOT_SERVED: readonly GatewayRefusal[] = [
  'AMOUNT_NOT_SERVED',
  'CURRENCY_NOT_SERVED',
  'METHOD_NOT_SERVED',
];

const refused = (reason: GatewayRefusal, detail: string): Opening => ({
  reason: NOT_SERVED.includes(reason) ? 'PAYMENT_NOT_SERVED' : 'PAYMENT_NOT_OPENED',
  detail,
});
