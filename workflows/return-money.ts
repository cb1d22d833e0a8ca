/** Sends money back to where it came from and stays until the gateway says that it is done, or it is in the wallet. */
import { allHandlersFinished, condition, setCurrentDetails } from '@temporalio/workflow';
import type { RefundTimings } from '../src/domain/payment.ts';
import type { AttentionReason } from './contract.ts';
import { pauseUntil } from './fresh-history.ts';
import type { Looker } from './looker.ts';
import { moveRefunds } from './steps.ts';

export interface MoneyWatch {
  readonly callPerson: (reason: AttentionReason) => Promise<void>;
  /** Every pause is a chance to start a fresh history. */
  readonly beforePause: () => Promise<void>;
  /** Operator's moves that have ended: each may change what there is to do. */
  readonly moves?: () => number;
}

/**
 * Ends at once where nothing is to go back, and not before everybody who asked for a look is answered: what they find may have to go back too.
 */
export async function returnMoney(
  transactionId: string,
  timings: RefundTimings,
  look: Looker,
  watch: MoneyWatch,
): Promise<void> {
  for (;;) {
    const seen = look.count();
    const { moves = () => 0 } = watch;
    const made = moves();
    await moveUntilDone(transactionId, timings, watch);
    await condition(allHandlersFinished);
    if (look.count() === seen && moves() === made) return;
  }
}

/** A refund that cannot end by itself calls a person and is asked about on and on. */
async function moveUntilDone(
  transactionId: string,
  timings: RefundTimings,
  { callPerson, beforePause, moves = () => 0 }: MoneyWatch,
): Promise<void> {
  let pauseMs = timings.refundLookFirstMs;
  let called: AttentionReason | null = null;
  for (;;) {
    const made = moves();
    const { open, needsPerson } = await moveRefunds(transactionId);
    if (open === 0) return;
    if (needsPerson !== null && needsPerson !== called) await callPerson(needsPerson);
    called = needsPerson ?? called;
    if (called === null) setCurrentDetails('Money is on its way back to where it came from.');
    await beforePause();
    await pauseUntil(pauseMs, 'before looking how far the refund is', () => moves() !== made);
    pauseMs = Math.min(pauseMs * 2, timings.refundLookMaxMs);
  }
}
