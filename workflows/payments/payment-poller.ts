/**
 * "Look at the gateway": every door into a workflow that has to do with a payment says just that, and all who ask at one time share one look.
 * What a look finds is booked by the activity; here it only decides how to go on.
 */
import { defineSignal, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import { LOOK_SIGNAL, LOOK_UPDATE, type PaymentStand } from '../contract.ts';
import { lookAtPayment } from '../steps.ts';
import type { PaymentPurpose } from '../../src/domain/states.ts';

export interface PaymentPoller {
  /** A look that began no earlier than this was called; the one under way where the history is about to end. */
  check(): Promise<PaymentStand>;
  latest(): PaymentStand;
  /** What is known without a look: an operator has settled it. Later looks change nothing of that. */
  override(stand: PaymentStand): void;
  readonly isOverridden: () => boolean;
  /** Looks that have ended. */
  count(): number;
  /** Paid or ended: nothing more is awaited. */
  readonly isSettled: () => boolean;
  /** Whether the newest look began at or after a time. */
  startedSince(timeMs: number): boolean;
}

/**
 * Answers everybody who asks for a look, from now until the workflow ends. `onClaim`: a look has shown that somebody claims the money back, which
 * goes on when this workflow has ended.
 */
export function listenForPaymentChecks(
  transactionId: string,
  purpose: PaymentPurpose,
  onClaim: () => Promise<unknown> = () => Promise.resolve(),
): PaymentPoller {
  const look = createPoller(async () => {
    const stand = await lookAtPayment(transactionId, purpose);
    if (stand.claim !== undefined) await onClaim();
    return stand;
  });
  setHandler(defineUpdate<PaymentStand>(LOOK_UPDATE), () => look.check());
  setHandler(defineSignal(LOOK_SIGNAL), async () => {
    await look.check();
  });
  return look;
}

/** One look at a time, however many ask. */
function createPoller(look: () => Promise<PaymentStand>): PaymentPoller {
  let latest: PaymentStand = { state: 'waiting', isKnown: false };
  let told: PaymentStand | undefined;
  let ended = 0;
  let beganAtMs = 0;
  let current: { readonly startsAtMs: number; readonly stand: Promise<PaymentStand> } | undefined;
  let next: Promise<PaymentStand> | undefined;
  const begin = (): Promise<PaymentStand> => {
    const startsAtMs = Date.now();
    const stand = look().then((seen) => {
      latest = told ?? seen;
      ended += 1;
      beganAtMs = startsAtMs;
      current = undefined;
      return seen;
    });
    current = { startsAtMs, stand };
    return stand;
  };
  return {
    check: () => {
      if (!current) return begin();
      // A workflow's clock stands still within a task, and what a task asks for goes out at its end: this look has not begun yet.
      if (current.startsAtMs === Date.now()) return current.stand;
      // Everybody must be answered before a fresh history begins, which looks again soon: nobody is kept for another look.
      if (workflowInfo().continueAsNewSuggested) return current.stand;
      next ??= current.stand.then(() => {
        next = undefined;
        return begin();
      });
      return next;
    },
    latest: () => latest,
    override: (stand) => {
      told = stand;
      latest = stand;
    },
    isOverridden: () => told !== undefined,
    count: () => ended,
    isSettled: () => latest.state === 'paid' || latest.state === 'ended',
    startedSince: (timeMs) => beganAtMs >= timeMs,
  };
}
