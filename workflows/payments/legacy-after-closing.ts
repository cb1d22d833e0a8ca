/** Open workflows of earlier builds, which had one for late money and one for each operator action. New ones are `afterClosing`. */
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
  const poller = listenForPaymentChecks(input.transactionId, input.purpose);
  await checkUntilKnown(input, poller);
  await followUntilDone({ ...input, isFromOutside: true }, poller, NO_MOVES, () =>
    continueAsNew<typeof latePayment>(input),
  );
  return poller.latest();
}

export async function repair(input: RepairInput): Promise<EndedMove> {
  const { wish, purpose, isFromOutside, timings } = input;
  const { transactionId } = wish;
  const poller = listenForPaymentChecks(transactionId, purpose);
  const handle = actionsAfterClosing(transactionId, isFromOutside ? poller : undefined);
  // A repeat of an action that is under way gets the same answer.
  const started = new Map<string, Promise<EndedMove>>();
  const once = (asked: ActionRequest): Promise<EndedMove> => {
    const made = started.get(asked.moveId) ?? make(asked, handle);
    started.set(asked.moveId, made);
    return made;
  };
  setHandler(defineUpdate<EndedMove, [ActionRequest]>(MOVE_UPDATE), once, {
    validator: (asked: ActionRequest) => classify(asked),
  });
  const outcome = await once(wish);
  await followUntilDone({ transactionId, purpose, isFromOutside, timings }, poller, NO_MOVES, () =>
    continueAsNew<typeof repair>(input),
  );
  return outcome;
}

async function make(wish: ActionRequest, handle: ActionHandler): Promise<EndedMove> {
  const begun = await beginMove(wish);
  if (begun.outcome !== 'go') return begun;
  const made = await handle({ request: wish, moveId: begun.moveId });
  return made.outcome === 'not-now' ? closeMove(begun.moveId, { refusal: 'DOES_NOT_FIT' }) : made;
}
