/**
 * Money from outside: opens the payment, waits for it as long as it can come, and ends only with a known outcome. The gateway's event, the
 * caller's confirmation and the watch over the gateway's list all say just "look again"; one resolver asks the gateway for the truth.
 */
import { patched, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { nextPollMs, takesMoneyForMs, type PaymentTimings } from '../../src/payments/rules.ts';
import type { FailureReason, Refusal } from '../../src/domain/refusals.ts';
import type { AttentionReason, PaymentRequest } from '../contract.ts';
import { pauseUntil, sleepUntil } from '../continue-as-new.ts';
import type { PaymentPoller } from '../payments/payment-poller.ts';
import { GATEWAY_REFERENCE } from '../search-attributes.ts';
import type { Outbox } from '../webhooks/start-deliveries.ts';
import { closeUnpaid, openPayment } from '../steps.ts';

export type Payment =
  | { readonly outcome: 'paid' }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'ended'; readonly reason: FailureReason };

export interface AwaitPayment {
  readonly request: Omit<PaymentRequest, 'expiresAtMs'>;
  readonly look: PaymentPoller;
  readonly startedAtMs: number;
  readonly timings: PaymentTimings & { readonly answerWithinMs: number; readonly slowLookMs: number };
  /** The buyer can be told how to pay, or at least that it is waited for. */
  readonly onWaiting: () => Promise<void>;
  readonly callPerson: (reason: AttentionReason) => Promise<void>;
  /** Takes what closing it tells. */
  readonly outbox: Outbox;
  /** Every pause is a chance to start a fresh history. */
  readonly beforePause: () => Promise<void>;
}

/** The last half second before the buyer's answer is due is ours, as in steps.ts; so is what the way back takes. */
const ANSWER_MARGIN_MS = 1_500;

export async function awaitPayment(wait: AwaitPayment): Promise<Payment> {
  const { look, timings } = wait;
  const { transactionId, purpose } = wait.request;
  const opened = await openUntilKnown(wait);
  if ('refusal' in opened) return opened;
  if (opened.reference !== undefined)
    upsertSearchAttributes([{ key: GATEWAY_REFERENCE, value: opened.reference }]);
  await wait.onWaiting();

  let isCalled = false;
  for (;;) {
    const stand = look.latest();
    if (stand.state === 'paid') return { outcome: 'paid' };
    if (stand.state === 'ended') return { outcome: 'ended', reason: stand.reason };
    const leftMs = opened.expiresAtMs - Date.now();
    const isLast = leftMs <= 0 && look.startedSince(opened.expiresAtMs);
    if (isLast && stand.state === 'waiting') {
      if ((await closeUnpaid(transactionId, purpose, 'PAYMENT_EXPIRED', wait.outbox)) === 'closed')
        return { outcome: 'ended', reason: 'PAYMENT_EXPIRED' };
      return { outcome: 'paid' };
    }
    if (isLast) {
      // Money may have come: never given up for lost while the gateway does not say.
      if (!isCalled) await wait.callPerson('GATEWAY_OUTCOME_UNKNOWN');
      isCalled = true;
      await wait.beforePause();
      await pauseUntil(timings.slowLookMs, 'before asking again whether it was paid in time', look.isSettled);
    } else if (leftMs > 0) {
      setCurrentDetails(`Waiting for money until ${new Date(opened.expiresAtMs).toISOString()}.`);
      await wait.beforePause();
      await pauseUntil(ownPauseMs(wait, leftMs), 'until the time to pay is over', look.isSettled);
    }
    if (!look.isSettled()) await look.check();
  }
}

/** Whoever hears of money asks for a look: an event, a caller, the watch over the gateway's list. Builds of before looked by themselves. */
function ownPauseMs({ request, timings, startedAtMs }: AwaitPayment, leftMs: number): number {
  if (patched('list-watched')) return leftMs;
  return Math.min(nextPollMs(Date.now() - startedAtMs, request.method, timings), leftMs);
}

/** Tries until the gateway has said yes or no; past the limit nobody can pay what was never told how. */
async function openUntilKnown(
  wait: AwaitPayment,
): Promise<
  { readonly expiresAtMs: number; readonly reference?: string } | Extract<Payment, { outcome: 'refused' }>
> {
  const { timings, request, startedAtMs, look } = wait;
  const expiresAtMs = startedAtMs + takesMoneyForMs(request.method, timings);
  for (let attempt = 0; ; attempt += 1) {
    const elapsedMs = Date.now() - startedAtMs;
    const budgetMs = attempt === 0 ? Math.max(0, timings.answerWithinMs - elapsedMs - ANSWER_MARGIN_MS) : 0;
    const opened = await openPayment({ ...request, expiresAtMs }, budgetMs);
    if (opened.outcome === 'open') return opened;
    if (look.isOverridden()) return { expiresAtMs };
    const isOver = Date.now() - startedAtMs >= timings.openChargeForMs;
    if (opened.outcome === 'refused' || isOver) {
      const refusal: Refusal =
        opened.outcome === 'refused'
          ? opened.refusal
          : { reason: 'PAYMENT_NOT_OPENED', detail: 'the gateway never said how to pay' };
      const closed = await closeUnpaid(request.transactionId, request.purpose, refusal.reason, wait.outbox);
      return closed === 'paid' ? { expiresAtMs } : { outcome: 'refused', refusal };
    }
    await wait.onWaiting();
    setCurrentDetails('The gateway has not said yet how to pay.');
    const pauseMs = nextPollMs(Date.now() - startedAtMs, request.method, timings);
    await sleepUntil(pauseMs, 'before asking again to open the payment', look.isOverridden);
    if (look.isOverridden()) return { expiresAtMs };
  }
}
