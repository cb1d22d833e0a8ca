/**
 * Collects the money, one step after another, and ends only with a known outcome. Gateway events, callers' confirmations and the payment monitor only
 * trigger a payment check; the check itself asks the gateway.
 */
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { PaymentTimings } from '../../src/payments/rules.ts';
import type { FailureReason, Refusal } from '../../src/domain/refusals.ts';
import type { AttentionReason, PaymentPurpose } from '../../src/domain/states.ts';
import { pauseUntil } from '../continue-as-new.ts';
import type { PaymentPoller } from '../payments/payment-poller.ts';
import { GATEWAY_REFERENCE } from '../search-attributes.ts';
import type { Outbox } from '../webhooks/start-deliveries.ts';
import { collectPayment } from '../steps.ts';

export type PaymentResult =
  | { readonly outcome: 'paid' }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'ended'; readonly reason: FailureReason };

export interface AwaitPayment {
  readonly request: { readonly transactionId: string; readonly purpose: PaymentPurpose };
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

/** Returns once it is paid or cannot be paid any more. */
export async function awaitPayment(wait: AwaitPayment): Promise<PaymentResult> {
  const { poller, timings, request } = wait;
  let shown: string | undefined;
  let budgetMs = Math.max(0, timings.answerWithinMs - (Date.now() - wait.startedAtMs) - OPENING_MARGIN_MS);
  for (;;) {
    const step = await collectPayment({ ...request, budgetMs, timings });
    budgetMs = 0;
    wait.outbox.add(step.messages);
    if (step.reference !== undefined && step.reference !== shown)
      upsertSearchAttributes([{ key: GATEWAY_REFERENCE, value: step.reference }]);
    shown = step.reference ?? shown;
    if (step.state === 'done') return { outcome: 'paid' };
    if (step.state === 'failed')
      return { outcome: 'refused', refusal: { reason: step.reason, detail: step.detail } };
    await wait.onWaiting();
    if (step.attention) await wait.raiseAttention(step.attention);
    else setCurrentDetails(`Waiting ${step.why}.`);
    await wait.beforePause();
    const seen = poller.count();
    const isNews = (): boolean => poller.isSettled() || poller.isOverridden() || poller.count() !== seen;
    if (!poller.isSettled()) await pauseUntil(step.waitMs, step.why, isNews);
  }
}
