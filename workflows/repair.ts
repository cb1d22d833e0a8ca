/**
 * An operator's move on a purchase or a funding that is closed: made from its input, so that nothing is lost where nobody waits for it, and
 * followed until the money that it sends back has gone.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineUpdate,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { MoveWish } from '../src/domain/moves.ts';
import { callPerson } from './call-person.ts';
import { MOVE_UPDATE, type AttentionReason, type EndedMove, type RepairInput } from './contract.ts';
import { freshHistory } from './fresh-history.ts';
import { listenForLooks } from './looker.ts';
import { handsWhenClosed, judge, type Hands } from './operator-moves.ts';
import { returnMoney } from './return-money.ts';
import { NEEDS_ATTENTION } from './search-attributes.ts';
import { startDeliveries } from './start-deliveries.ts';
import { beginMove, closeMove, makeMove } from './steps.ts';

/** Ends with the move's outcome; cancelling it from outside changes nothing: money may be on its way. */
export function repair(input: RepairInput): Promise<EndedMove> {
  return CancellationScope.nonCancellable(() => carry(input));
}

async function carry(input: RepairInput): Promise<EndedMove> {
  const { wish, purpose, isFromOutside, timings } = input;
  const { transactionId } = wish;
  const look = listenForLooks(transactionId, purpose);
  const hands = handsFor(transactionId, handsWhenClosed(transactionId, isFromOutside ? look : undefined));
  // Whoever sends the same while it is made hears of the same.
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
  const calls: AttentionReason[] = [];
  if (isFromOutside)
    await returnMoney(transactionId, timings, look, {
      callPerson: async (reason) => {
        calls.push(reason);
        await callPerson(transactionId, reason);
      },
      beforePause: () => freshHistory(() => continueAsNew<typeof repair>(input)),
    });
  await condition(allHandlersFinished);
  if (calls.length > 0) upsertSearchAttributes([{ key: NEEDS_ATTENTION, value: false }]);
  return outcome;
}

async function make(wish: MoveWish, hands: Hands): Promise<EndedMove> {
  const begun = await beginMove(wish);
  if (begun.outcome !== 'go') return begun;
  const made = await hands({ wish, moveId: begun.moveId });
  return made.outcome === 'not-now' ? closeMove(begun.moveId, { refusal: 'DOES_NOT_FIT' }) : made;
}

/** One that was opened and never came to be paid, and that no workflow carries, is cancelled here. */
function handsFor(transactionId: string, whenClosed: Hands): Hands {
  return async (asked) => {
    if (asked.wish.move !== 'cancel') return whenClosed(asked);
    const made = await makeMove(asked.moveId, 'awaiting-money');
    if (made.outcome === 'not-now') return whenClosed(asked);
    await startDeliveries(made.messages, transactionId);
    return made;
  };
}
