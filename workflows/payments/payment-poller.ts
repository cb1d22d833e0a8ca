/** Checks a payment at the gateway. Callers at one time share one check. The activity books what a check finds; the workflow only decides by it. */
import { defineSignal, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import { CHECK_SIGNAL, CHECK_UPDATE, type PaymentCheckState } from '../contract.ts';
import { checkPayment } from '../steps.ts';
import type { PaymentPurpose } from '../../src/domain/states.ts';

export interface PaymentPoller {
  /** A check that began after this call; the one under way if the history is about to end. */
  check(): Promise<PaymentCheckState>;
  latest(): PaymentCheckState;
  /** An operator has settled the payment: later checks no longer change `latest`. */
  override(stand: PaymentCheckState): void;
  readonly isOverridden: () => boolean;
  /** Checks that have ended. */
  count(): number;
  readonly isSettled: () => boolean;
  /** Whether the newest check began at or after a time. */
  startedSince(timeMs: number): boolean;
}

/** Serves check requests until the workflow ends. `onClaim` runs when a check shows a claim on the money, which outlives this workflow. */
export function listenForPaymentChecks(
  transactionId: string,
  purpose: PaymentPurpose,
  onClaim: () => Promise<unknown> = () => Promise.resolve(),
): PaymentPoller {
  const poller = createPoller(async () => {
    const stand = await checkPayment(transactionId, purpose);
    if (stand.claim !== undefined) await onClaim();
    return stand;
  });
  setHandler(defineUpdate<PaymentCheckState>(CHECK_UPDATE), () => poller.check());
  setHandler(defineSignal(CHECK_SIGNAL), async () => {
    await poller.check();
  });
  return poller;
}

/** One check at a time, however many callers. */
function createPoller(checkNow: () => Promise<PaymentCheckState>): PaymentPoller {
  let latest: PaymentCheckState = { state: 'waiting', isKnown: false };
  let overridden: PaymentCheckState | undefined;
  let ended = 0;
  let beganAtMs = 0;
  let current: { readonly startsAtMs: number; readonly stand: Promise<PaymentCheckState> } | undefined;
  let next: Promise<PaymentCheckState> | undefined;
  const begin = (): Promise<PaymentCheckState> => {
    const startsAtMs = Date.now();
    const stand = checkNow().then((seen) => {
      latest = overridden ?? seen;
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
      // Workflow time does not advance within a task, and activities are scheduled at its end: this check has not begun yet.
      if (current.startsAtMs === Date.now()) return current.stand;
      // All callers must be answered before continue-as-new, and the new run checks again soon.
      if (workflowInfo().continueAsNewSuggested) return current.stand;
      next ??= current.stand.then(() => {
        next = undefined;
        return begin();
      });
      return next;
    },
    latest: () => latest,
    override: (stand) => {
      overridden = stand;
      latest = stand;
    },
    isOverridden: () => overridden !== undefined,
    count: () => ended,
    isSettled: () => latest.state === 'paid' || latest.state === 'ended',
    startedSince: (timeMs) => beganAtMs >= timeMs,
  };
}
