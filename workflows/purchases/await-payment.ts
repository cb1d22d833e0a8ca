/**
 * Opens the payment at the gateway, waits while money can come, and ends only with a known outcome. Gateway events, callers' confirmations and the
 * payment monitor only trigger a payment check; the check itself asks the gateway.
 */
import { patched, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { nextPollMs, takesMoneyForMs, type PaymentTimings } from '../../src/payments/rules.ts';
import type { FailureReason, Refusal } from '../../src/domain/refusals.ts';
import type { AttentionReason } from '../../src/domain/states.ts';
import type { PaymentRequest } from '../contract.ts';
import { pauseUntil, sleepUntil } from '../continue-as-new.ts';
import type { PaymentPoller } from '../payments/payment-poller.ts';
import { GATEWAY_REFERENCE } from '../search-attributes.ts';
import type { Outbox } from '../webhooks/start-deliveries.ts';
import { closeUnpaid, openPayment } from '../steps.ts';

export type PaymentResult =
  | { readonly outcome: 'paid' }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'ended'; readonly reason: FailureReason };

export interface AwaitPayment {
  readonly request: Omit<PaymentRequest, 'expiresAtMs'>;
  readonly poller: PaymentPoller;
  readonly startedAtMs: number;
  readonly timings: PaymentTimings & { readonly answerWithinMs: number; readonly slowLookMs: number };
  /** The buyer can now be answered: with how to pay, or at least with PENDING. */
  readonly onWaiting: () => Promise<void>;
  readonly raiseAttention: (reason: AttentionReason) => Promise<void>;
  /** Receives the webhooks of closing the payment. */
  readonly outbox: Outbox;
  /** May continue as new. */
  readonly beforePause: () => Promise<void>;
}

/** Time for the last try to end, half a second, and for the step's result to come back over its queue, a second. */
const OPENING_MARGIN_MS = 1_500;

/** Opens the payment and returns once it is paid or cannot be paid any more. While the gateway does not say which, it waits. */
export async function awaitPayment(wait: AwaitPayment): Promise<PaymentResult> {
  const { poller, timings } = wait;
  const { transactionId, purpose } = wait.request;
  const opened = await openUntilKnown(wait);
  if ('refusal' in opened) return opened;
  if (opened.reference !== undefined)
    upsertSearchAttributes([{ key: GATEWAY_REFERENCE, value: opened.reference }]);
  await wait.onWaiting();

  let isFlagged = false;
  for (;;) {
    const payment = poller.latest();
    if (payment.state === 'paid') return { outcome: 'paid' };
    if (payment.state === 'ended') return { outcome: 'ended', reason: payment.reason };
    const leftMs = opened.expiresAtMs - Date.now();
    const isLast = leftMs <= 0 && poller.startedSince(opened.expiresAtMs);
    if (isLast && payment.state === 'waiting') {
      if ((await closeUnpaid(transactionId, purpose, 'PAYMENT_EXPIRED', wait.outbox)) === 'closed')
        return { outcome: 'ended', reason: 'PAYMENT_EXPIRED' };
      return { outcome: 'paid' };
    }
    if (isLast) {
      // Money may have come: the purchase is not closed while the gateway does not say. If we could not ask yet, no person is needed.
      if (!isFlagged && payment.isHeldBack !== true) {
        await wait.raiseAttention('GATEWAY_OUTCOME_UNKNOWN');
        isFlagged = true;
      }
      await wait.beforePause();
      await pauseUntil(
        timings.slowLookMs,
        'before asking again whether it was paid in time',
        poller.isSettled,
      );
    } else if (leftMs > 0) {
      setCurrentDetails(`Waiting for money until ${new Date(opened.expiresAtMs).toISOString()}.`);
      await wait.beforePause();
      await pauseUntil(pollPauseMs(wait, leftMs), 'until the time to pay is over', poller.isSettled);
    }
    if (!poller.isSettled()) await poller.check();
  }
}

/** Events, callers and the payment monitor trigger payment checks. Earlier builds polled instead. */
function pollPauseMs({ request, timings, startedAtMs }: AwaitPayment, leftMs: number): number {
  if (patched('list-watched')) return leftMs;
  return Math.min(nextPollMs(Date.now() - startedAtMs, request.method, timings), leftMs);
}

/** Tries until the gateway accepts or refuses. After the limit the payment is closed: without instructions it cannot be paid. */
async function openUntilKnown(
  wait: AwaitPayment,
): Promise<{ expiresAtMs: number; reference?: string } | Extract<PaymentResult, { outcome: 'refused' }>> {
  const { timings, request, startedAtMs, poller } = wait;
  const expiresAtMs = startedAtMs + takesMoneyForMs(request.method, timings);
  for (let attempt = 0; ; attempt += 1) {
    const elapsedMs = Date.now() - startedAtMs;
    const budgetMs = attempt === 0 ? Math.max(0, timings.answerWithinMs - elapsedMs - OPENING_MARGIN_MS) : 0;
    const opened = await openPayment({ ...request, expiresAtMs }, budgetMs);
    if (opened.outcome === 'open') return opened;
    if (poller.isOverridden()) return { expiresAtMs };
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
    await sleepUntil(pauseMs, 'before asking again to open the payment', poller.isOverridden);
    if (poller.isOverridden()) return { expiresAtMs };
  }
}
