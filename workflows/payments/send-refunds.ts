/** Sends refunds and waits until the gateway has sent them, or the money is in the wallet. */
import { allHandlersFinished, condition, setCurrentDetails } from '@temporalio/workflow';
import { CLAIMS, refundTimingsOf, type Claim, type RefundTimings } from '../../src/payments/rules.ts';
import type { AttentionReason } from '../../src/domain/states.ts';
import { pauseUntil } from '../continue-as-new.ts';
import type { PaymentPoller } from './payment-poller.ts';
import { followMoney } from '../steps.ts';

export interface MoneyWatch {
  readonly raiseAttention: (reason: AttentionReason) => Promise<void>;
  /** Every pause is a chance to continue as new. */
  readonly beforePause: () => Promise<void>;
  /** How many operator actions have ended: each may change what there is to do. */
  readonly moves?: () => number;
  /** A refund is under way: from here on the purchase is shown as it stands in our rows. */
  readonly onReturning?: () => void;
}

/** Ends when nothing is left to refund and all callers of a check are answered: a check may find more. Returns the open claim, if any. */
export async function sendRefunds(
  transactionId: string,
  timings: RefundTimings,
  poller: PaymentPoller,
  watch: MoneyWatch,
): Promise<Claim | null> {
  for (;;) {
    const seen = poller.count();
    const { moves = () => 0 } = watch;
    const made = moves();
    const claim = await followUntilAtRest(transactionId, timings, poller, watch);
    await condition(allHandlersFinished);
    if (poller.count() === seen && moves() === made) return claim;
  }
}

/** A refund that cannot end by itself needs attention; its checks continue. Returns the dispute that is left, if any. */
async function followUntilAtRest(
  transactionId: string,
  timings: RefundTimings,
  poller: PaymentPoller,
  { raiseAttention, beforePause, moves = () => 0, onReturning }: MoneyWatch,
): Promise<Claim | null> {
  let attention: AttentionReason | null = null;
  let isShown = false;
  for (;;) {
    const seen = poller.count();
    const made = moves();
    const step = await followMoney({ transactionId, timings: refundTimingsOf(timings) });
    if (step.state !== 'waiting') return null;
    const claim = CLAIMS.find((each) => each === step.attention);
    if (claim) return claim;
    if (!isShown) onReturning?.();
    isShown = true;
    if (step.attention && step.attention !== attention) await raiseAttention(step.attention);
    attention = step.attention ?? attention;
    if (attention === null) setCurrentDetails('Money is on its way back to where it came from.');
    await beforePause();
    // A gateway event about a refund triggers a check: the refund may have changed.
    await pauseUntil(step.waitMs, step.why, () => moves() !== made || poller.count() !== seen);
  }
}
