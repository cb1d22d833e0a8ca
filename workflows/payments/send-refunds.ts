/** Sends refunds and waits until the gateway has sent them, or the money is in the wallet. */
import { allHandlersFinished, condition, patched, setCurrentDetails } from '@temporalio/workflow';
import type { RefundTimings } from '../../src/payments/rules.ts';
import type { Claim } from '../../src/payments/rules.ts';
import type { AttentionReason } from '../../src/domain/states.ts';
import { pauseUntil } from '../continue-as-new.ts';
import type { PaymentPoller } from './payment-poller.ts';
import { moveRefunds } from '../steps.ts';

/** Pauses between checks of a refund that needs attention: first and longest. */
const ATTENTION_FIRST_MS = 60_000;
const ATTENTION_MAX_MS = 15 * 60_000;

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
    const claim = await moveUntilDone(transactionId, timings, poller, watch);
    await condition(allHandlersFinished);
    if (poller.count() === seen && moves() === made) return claim;
  }
}

/** A refund that cannot end by itself needs attention; its checks continue. */
async function moveUntilDone(
  transactionId: string,
  timings: RefundTimings,
  poller: PaymentPoller,
  { raiseAttention, beforePause, moves = () => 0, onReturning }: MoneyWatch,
): Promise<Claim | null> {
  let pauseMs = timings.refundLookFirstMs;
  let attention: AttentionReason | null = null;
  let isShown = false;
  for (;;) {
    const seen = poller.count();
    const made = moves();
    const { open, needsPerson, claim = null } = await moveRefunds(transactionId);
    if (open === 0) return claim;
    // Earlier builds did not report this and kept one pace.
    const isFollowed = patched('refund-followed');
    if (isFollowed && !isShown) onReturning?.();
    isShown = true;
    const isNewlyFlagged = needsPerson !== null && attention === null;
    if (needsPerson !== null && needsPerson !== attention) await raiseAttention(needsPerson);
    attention = needsPerson ?? attention;
    if (attention === null) setCurrentDetails('Money is on its way back to where it came from.');
    if (isFollowed && isNewlyFlagged) pauseMs = Math.max(pauseMs, ATTENTION_FIRST_MS);
    await beforePause();
    // A gateway event about a refund triggers a check: the refund may have changed.
    const hasChanged = (): boolean => moves() !== made || (isFollowed && poller.count() !== seen);
    await pauseUntil(pauseMs, 'Wait before checking the refund', hasChanged);
    const longestMs = isFollowed && attention !== null ? ATTENTION_MAX_MS : timings.refundLookMaxMs;
    pauseMs = Math.min(pauseMs * 2, Math.max(longestMs, timings.refundLookMaxMs));
  }
}
