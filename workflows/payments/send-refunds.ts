/** Sends money back to where it came from and stays until the gateway says that it is done, or it is in the wallet. */
import { allHandlersFinished, condition, patched, setCurrentDetails } from '@temporalio/workflow';
import type { RefundTimings } from '../../src/payments/rules.ts';
import type { Claim } from '../contract.ts';
import type { AttentionReason } from '../../src/domain/states.ts';
import { pauseUntil } from '../continue-as-new.ts';
import type { PaymentPoller } from './payment-poller.ts';
import { moveRefunds } from '../steps.ts';

/** Once a person is called, the gateway is asked once a minute and then more and more rarely, up to a quarter of an hour or the longest pause between looks. */
const CALLED_FIRST_MS = 60_000;
const CALLED_MAX_MS = 15 * 60_000;

export interface MoneyWatch {
  readonly callPerson: (reason: AttentionReason) => Promise<void>;
  /** Every pause is a chance to start a fresh history. */
  readonly beforePause: () => Promise<void>;
  /** Operator's actions that have ended: each may change what there is to do. */
  readonly moves?: () => number;
  /** Money is on its way back: from here on the purchase is shown as it stands in our rows. */
  readonly onReturning?: () => void;
}

/**
 * Ends at once where nothing is to go back, and not before everybody who asked for a look is answered: what they find may have to go back too.
 * Answers with the claim that is open on it, if any.
 */
export async function sendRefunds(
  transactionId: string,
  timings: RefundTimings,
  look: PaymentPoller,
  watch: MoneyWatch,
): Promise<Claim | null> {
  for (;;) {
    const seen = look.count();
    const { moves = () => 0 } = watch;
    const made = moves();
    const claim = await moveUntilDone(transactionId, timings, look, watch);
    await condition(allHandlersFinished);
    if (look.count() === seen && moves() === made) return claim;
  }
}

/** A refund that cannot end by itself calls a person and is asked about on and on. */
async function moveUntilDone(
  transactionId: string,
  timings: RefundTimings,
  look: PaymentPoller,
  { callPerson, beforePause, moves = () => 0, onReturning }: MoneyWatch,
): Promise<Claim | null> {
  let pauseMs = timings.refundLookFirstMs;
  let called: AttentionReason | null = null;
  let isShown = false;
  for (;;) {
    const seen = look.count();
    const made = moves();
    const { open, needsPerson, claim = null } = await moveRefunds(transactionId);
    if (open === 0) return claim;
    // Builds of before showed nothing here, and asked on at one pace.
    const isFollowed = patched('refund-followed');
    if (isFollowed && !isShown) onReturning?.();
    isShown = true;
    const isFirstCall = needsPerson !== null && called === null;
    if (needsPerson !== null && needsPerson !== called) await callPerson(needsPerson);
    called = needsPerson ?? called;
    if (called === null) setCurrentDetails('Money is on its way back to where it came from.');
    if (isFollowed && isFirstCall) pauseMs = Math.max(pauseMs, CALLED_FIRST_MS);
    await beforePause();
    // An event of the gateway about a refund is a look: it may have moved.
    const isNews = (): boolean => moves() !== made || (isFollowed && look.count() !== seen);
    await pauseUntil(pauseMs, 'before looking how far the refund is', isNews);
    const longestMs = isFollowed && called !== null ? CALLED_MAX_MS : timings.refundLookMaxMs;
    pauseMs = Math.min(pauseMs * 2, Math.max(longestMs, timings.refundLookMaxMs));
  }
}
