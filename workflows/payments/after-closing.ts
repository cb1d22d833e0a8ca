/**
 * What happens after a purchase or funding is closed: late money, refunds that an operator sends, claims that a person must settle. One workflow for
 * each purchase or funding; it ends when all refunds are sent and no claim is left.
 */
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  setCurrentDetails,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { PaymentPurpose } from '../../src/domain/states.ts';
import { refundTimingsOf, type RefundTimings } from '../../src/payments/rules.ts';
import { continueAsNewIfSuggested, pauseUntil } from '../continue-as-new.ts';
import { ORDERS_QUEUE, type AfterClosingInput, type PaymentCheckState } from '../contract.ts';
import { raiseAttention, showAttention } from '../operations/needs-attention.ts';
import { actionsAfterClosing, handleActions, type ActionHandlers } from '../operations/operator-actions.ts';
import { NEEDS_ATTENTION, TRANSACTION_ID } from '../search-attributes.ts';
import { startBeside } from '../start-beside.ts';
import { listenForPaymentChecks, type PaymentPoller } from './payment-poller.ts';
import { sendRefunds } from './send-refunds.ts';

/** While the gateway does not answer. After that the payment monitor takes over. */
const MAX_CHECKS = 10;
/** The update or signal that started this workflow arrives with its first task. */
const REQUEST_WITHIN_MS = 30_000;
/** An operator's action ends the wait. A claim that was settled in another way is noticed within a day. */
const CLAIM_CHECK_MS = 24 * 3_600_000;

/** Ends without a check if nothing was requested of it. Returns the last known state of the payment. */
export async function afterClosing(input: AfterClosingInput): Promise<PaymentCheckState> {
  const { transactionId, purpose, isFromOutside } = input;
  const poller = listenForPaymentChecks(transactionId, purpose);
  const actions = handleActions(transactionId, 'any');
  actions.serve('any', actionsAfterClosing(transactionId, isFromOutside ? poller : undefined));
  if (input.looks !== true) await condition(() => poller.count() + actions.count() > 0, REQUEST_WITHIN_MS);
  const isUnknown = poller.count() > 0 && !poller.latest().isKnown;
  if (input.looks === true || isUnknown) await checkUntilKnown(input, poller);
  await followUntilDone(input, poller, actions, () =>
    continueAsNew<typeof afterClosing>({ ...input, looks: true }),
  );
  return poller.latest();
}

/** Ends when all refunds are sent, no claim is left and all callers are answered. */
export async function followUntilDone(
  { transactionId, isFromOutside, timings }: Omit<AfterClosingInput, 'looks'>,
  poller: PaymentPoller,
  actions: Pick<ActionHandlers, 'count'>,
  again: () => Promise<unknown>,
): Promise<void> {
  let isCalled = false;
  const beforePause = (): Promise<void> => continueAsNewIfSuggested(again);
  for (;;) {
    const seen = poller.count() + actions.count();
    const hasChanged = (): boolean => poller.count() + actions.count() !== seen;
    if (!isFromOutside) {
      await condition(allHandlersFinished);
      if (hasChanged()) continue;
      break;
    }
    const claim = await sendRefunds(transactionId, timings, poller, {
      raiseAttention: (reason) => {
        isCalled = true;
        return raiseAttention(transactionId, reason);
      },
      beforePause,
      moves: actions.count,
    });
    if (claim === null) break;
    isCalled = true;
    showAttention(claim);
    setCurrentDetails(`Needs a person: ${claim}. It waits until the claim is settled.`);
    await beforePause();
    await pauseUntil(CLAIM_CHECK_MS, 'Wait until a person has settled the claim', hasChanged);
  }
  if (isCalled) upsertSearchAttributes([{ key: NEEDS_ATTENTION, value: false }]);
  setCurrentDetails('What the gateway has is booked, and what had to go back is sent.');
}

/** Repeats the check until the gateway has answered. */
export async function checkUntilKnown(
  { timings }: Pick<AfterClosingInput, 'timings'>,
  poller: PaymentPoller,
): Promise<void> {
  setCurrentDetails('Checking the gateway for money that came after closing.');
  let pauseMs = timings.refundLookFirstMs;
  for (let checks = 1; ; checks += 1) {
    const { isKnown } = await poller.check();
    if (isKnown || checks === MAX_CHECKS) return;
    await pauseUntil(pauseMs, 'Wait before checking the gateway again', () => poller.latest().isKnown);
    pauseMs = Math.min(pauseMs * 2, timings.refundLookMaxMs);
  }
}

export const afterClosingId = (transactionId: string): string => `after-${transactionId}`;

/** The started workflow outlives the caller. `false`: it is running already. */
export function startAfterClosing(input: AfterClosingInput): Promise<boolean> {
  return startBeside(afterClosing, input, {
    workflowId: afterClosingId(input.transactionId),
    taskQueue: ORDERS_QUEUE,
    staticSummary: 'After closing: late money, refunds and claims',
    typedSearchAttributes: [
      { key: TRANSACTION_ID, value: input.transactionId },
      { key: NEEDS_ATTENTION, value: false },
    ],
  });
}

/** A claim on money outlives the workflow that saw it. */
export function followClaim(
  transactionId: string,
  purpose: PaymentPurpose,
  timings: RefundTimings,
): Promise<boolean> {
  return startAfterClosing({
    transactionId,
    purpose,
    isFromOutside: true,
    timings: refundTimingsOf(timings),
    looks: true,
  });
}
