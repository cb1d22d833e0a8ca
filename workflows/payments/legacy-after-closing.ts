/** Open workflows of earlier builds, which had one for late money and one for each operator action. New ones are `afterClosing`. */
import { continueAsNew, defineUpdate, setHandler } from '@temporalio/workflow';
import type { ActionRequest } from '../../src/operations/rules.ts';
import {
  MOVE_UPDATE,
  type EndedAction,
  type LatePaymentInput,
  type PaymentCheckState,
  type RepairInput,
} from '../contract.ts';
import { actionsAfterClosing, classify, type ActionHandler } from '../operations/operator-actions.ts';
import { beginMove, closeMove } from '../steps.ts';
import { followUntilDone, checkUntilKnown } from './after-closing.ts';
import { listenForPaymentChecks } from './payment-poller.ts';

const NO_ACTIONS = { count: () => 0 };

/** A check of a closed payment. */
export async function latePayment(input: LatePaymentInput): Promise<PaymentCheckState> {
  const poller = listenForPaymentChecks(input.transactionId, input.purpose);
  await checkUntilKnown(input, poller);
  await followUntilDone({ ...input, isFromOutside: true }, poller, NO_ACTIONS, () =>
    continueAsNew<typeof latePayment>(input),
  );
  return poller.latest();
}

/** An operator action on a closed purchase or funding, and any that follow it. */
export async function repair(input: RepairInput): Promise<EndedAction> {
  const { wish: request, purpose, isFromOutside, timings } = input;
  const { transactionId } = request;
  const poller = listenForPaymentChecks(transactionId, purpose);
  const handle = actionsAfterClosing(transactionId, isFromOutside ? poller : undefined);
  // A repeat of an action that is under way gets the same answer.
  const started = new Map<string, Promise<EndedAction>>();
  const performOnce = (asked: ActionRequest): Promise<EndedAction> => {
    const made = started.get(asked.moveId) ?? perform({ ...asked, transactionId }, handle);
    started.set(asked.moveId, made);
    return made;
  };
  setHandler(defineUpdate<EndedAction, [ActionRequest]>(MOVE_UPDATE), performOnce, {
    validator: (asked: ActionRequest) => classify(asked),
  });
  const outcome = await performOnce(request);
  await followUntilDone({ transactionId, purpose, isFromOutside, timings }, poller, NO_ACTIONS, () =>
    continueAsNew<typeof repair>(input),
  );
  return outcome;
}

async function perform(request: ActionRequest, handle: ActionHandler): Promise<EndedAction> {
  const begun = await beginMove(request);
  if (begun.outcome !== 'go') return begun;
  const made = await handle({ request: begun.request ?? request, moveId: begun.moveId });
  return made.outcome === 'not-now' ? closeMove(begun.moveId, { refusal: 'DOES_NOT_FIT' }) : made;
}
