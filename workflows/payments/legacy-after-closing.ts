/**
 * Workflows of builds that had two of them for what comes after closing, one for late money and one for each operator's action: those that are open
 * go on here. New ones are `afterClosing`.
 */
import { continueAsNew, defineUpdate, setHandler } from '@temporalio/workflow';
import type { MoveWish } from '../../src/operations/rules.ts';
import { followUntilDone, lookUntilKnown } from './after-closing.ts';
import {
  MOVE_UPDATE,
  type EndedMove,
  type LatePaymentInput,
  type PaymentStand,
  type RepairInput,
} from '../contract.ts';
import { listenForLooks } from './payment-poller.ts';
import { handsAfterClosing, judge, type Hands } from '../operations/operator-actions.ts';
import { beginMove, closeMove } from '../steps.ts';

const NO_MOVES = { count: () => 0 };

export async function latePayment(input: LatePaymentInput): Promise<PaymentStand> {
  const look = listenForLooks(input.transactionId, input.purpose);
  await lookUntilKnown(input, look);
  await followUntilDone({ ...input, isFromOutside: true }, look, NO_MOVES, () =>
    continueAsNew<typeof latePayment>(input),
  );
  return look.latest();
}

export async function repair(input: RepairInput): Promise<EndedMove> {
  const { wish, purpose, isFromOutside, timings } = input;
  const { transactionId } = wish;
  const look = listenForLooks(transactionId, purpose);
  const hands = handsAfterClosing(transactionId, isFromOutside ? look : undefined);
  // A caller who sends the same while it is made hears of the same.
  const tries = new Map<string, Promise<EndedMove>>();
  const once = (asked: MoveWish): Promise<EndedMove> => {
    const made = tries.get(asked.moveId) ?? make(asked, hands);
    tries.set(asked.moveId, made);
    return made;
  };
  setHandler(defineUpdate<EndedMove, [MoveWish]>(MOVE_UPDATE), once, {
    validator: (asked: MoveWish) => judge(asked),
  });
  const outcome = await once(wish);
  await followUntilDone({ transactionId, purpose, isFromOutside, timings }, look, NO_MOVES, () =>
    continueAsNew<typeof repair>(input),
  );
  return outcome;
}

async function make(wish: MoveWish, hands: Hands): Promise<EndedMove> {
  const begun = await beginMove(wish);
  if (begun.outcome !== 'go') return begun;
  const made = await hands({ wish, moveId: begun.moveId });
  return made.outcome === 'not-now' ? closeMove(begun.moveId, { refusal: 'DOES_NOT_FIT' }) : made;
}
