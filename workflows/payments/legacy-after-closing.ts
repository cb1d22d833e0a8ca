/**
 * Workflows of builds that had two of them for what comes after closing, one for late money and one for each operator's action: those that are open
 * go on here. New ones are `afterClosing`.
 */
import { continueAsNew, defineUpdate, setHandler } from '@temporalio/workflow';
import type { ActionRequest } from '../../src/operations/rules.ts';
import { followUntilDone, checkUntilKnown } from './after-closing.ts';
import {
  MOVE_UPDATE,
  type EndedMove,
  type LatePaymentInput,
  type PaymentStand,
  type RepairInput,
} from '../contract.ts';
import { listenForPaymentChecks } from './payment-poller.ts';
import { actionsAfterClosing, classify, type ActionHandler } from '../operations/operator-actions.ts';
import { beginMove, closeMove } from '../steps.ts';

const NO_MOVES = { count: () => 0 };

export async function latePayment(input: LatePaymentInput): Promise<PaymentStand> {
  const look = listenForPaymentChecks(input.transactionId, input.purpose);
  await checkUntilKnown(input, look);
  await followUntilDone({ ...input, isFromOutside: true }, look, NO_MOVES, () =>
    continueAsNew<typeof latePayment>(input),
  );
  return look.latest();
}

export async function repair(input: RepairInput): Promise<EndedMove> {
  const { wish, purpose, isFromOutside, timings } = input;
  const { transactionId } = wish;
  const look = listenForPaymentChecks(transactionId, purpose);
  const hands = actionsAfterClosing(transactionId, isFromOutside ? look : undefined);
  // A caller who sends the same while it is made hears of the same.
  const tries = new Map<string, Promise<EndedMove>>();
  const once = (asked: ActionRequest): Promise<EndedMove> => {
    const made = tries.get(asked.moveId) ?? make(asked, hands);
    tries.set(asked.moveId, made);
    return made;
  };
  setHandler(defineUpdate<EndedMove, [ActionRequest]>(MOVE_UPDATE), once, {
    validator: (asked: ActionRequest) => classify(asked),
  });
  const outcome = await once(wish);
  await followUntilDone({ transactionId, purpose, isFromOutside, timings }, look, NO_MOVES, () =>
    continueAsNew<typeof repair>(input),
  );
  return outcome;
}

async function make(wish: ActionRequest, hands: ActionHandler): Promise<EndedMove> {
  const begun = await beginMove(wish);
  if (begun.outcome !== 'go') return begun;
  const made = await hands({ request: wish, moveId: begun.moveId });
  return made.outcome === 'not-now' ? closeMove(begun.moveId, { refusal: 'DOES_NOT_FIT' }) : made;
}
