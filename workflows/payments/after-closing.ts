/**
 * What comes for a purchase or a funding that is closed: money that is late, a refund that an operator sends, a claim that a person must settle.
 * One workflow for each of them, whoever starts it. It stays until everything that goes back to the buyer has gone and no claim is left.
 */
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  setCurrentDetails,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { refundTimingsOf, type RefundTimings } from '../../src/payments/rules.ts';
import { callPerson, showPersonNeeded } from '../operations/needs-attention.ts';
import { ORDERS_QUEUE, type AfterClosingInput, type PaymentStand } from '../contract.ts';
import { freshHistory, pauseUntil } from '../continue-as-new.ts';
import { listenForPaymentChecks, type PaymentPoller } from './payment-poller.ts';
import { actionsAfterClosing, handleActions, type ActionHandlers } from '../operations/operator-actions.ts';
import { sendRefunds } from './send-refunds.ts';
import { NEEDS_ATTENTION, TRANSACTION_ID } from '../search-attributes.ts';
import { startBeside } from '../start-beside.ts';
import type { PaymentPurpose } from '../../src/domain/states.ts';

/** A gateway that is away is asked so often, at a slowing pace; the reader of its list goes on after that. */
const MAX_CHECKS = 10;
/** The update or the signal that started this is there with the first task. */
const REQUEST_WITHIN_MS = 30_000;
/** A claim that was settled elsewhere is noticed after a day; else a person's action ends the wait. */
const CLAIM_CHECK_MS = 24 * 3_600_000;

export async function afterClosing(input: AfterClosingInput): Promise<PaymentStand> {
  const { transactionId, purpose, isFromOutside } = input;
  const look = listenForPaymentChecks(transactionId, purpose);
  const desk = handleActions('any');
  desk.serve('any', actionsAfterClosing(transactionId, isFromOutside ? look : undefined));
  if (input.looks !== true) await condition(() => look.count() + desk.count() > 0, REQUEST_WITHIN_MS);
  const isInDoubt = look.count() > 0 && !look.latest().isKnown;
  if (input.looks === true || isInDoubt) await checkUntilKnown(input, look);
  await followUntilDone(input, look, desk, () =>
    continueAsNew<typeof afterClosing>({ ...input, looks: true }),
  );
  return look.latest();
}

/** Ends when nothing goes back any more, no claim is left, and everybody who asked is answered. */
export async function followUntilDone(
  { transactionId, isFromOutside, timings }: Omit<AfterClosingInput, 'looks'>,
  look: PaymentPoller,
  desk: Pick<ActionHandlers, 'count'>,
  again: () => Promise<unknown>,
): Promise<void> {
  let isCalled = false;
  const beforePause = (): Promise<void> => freshHistory(again);
  for (;;) {
    const seen = look.count() + desk.count();
    const isNews = (): boolean => look.count() + desk.count() !== seen;
    if (!isFromOutside) {
      await condition(allHandlersFinished);
      if (isNews()) continue;
      break;
    }
    const claim = await sendRefunds(transactionId, timings, look, {
      callPerson: async (reason) => {
        isCalled = true;
        await callPerson(transactionId, reason);
      },
      beforePause,
      moves: () => desk.count(),
    });
    if (claim === null) break;
    isCalled = true;
    showPersonNeeded(claim);
    setCurrentDetails(`Needs a person: ${claim}. Nothing moves until the claim is settled.`);
    await beforePause();
    await pauseUntil(CLAIM_CHECK_MS, 'until a person has settled the claim', isNews);
  }
  if (isCalled) upsertSearchAttributes([{ key: NEEDS_ATTENTION, value: false }]);
  setCurrentDetails('What the gateway has is booked, and what had to go back is sent.');
}

/** Looks once, and again for everyone who asks while it runs. */
export async function checkUntilKnown(
  { timings }: Pick<AfterClosingInput, 'timings'>,
  look: PaymentPoller,
): Promise<void> {
  setCurrentDetails('Looking at the gateway for money that came when all was over.');
  let pauseMs = timings.refundLookFirstMs;
  for (let looks = 1; ; looks += 1) {
    const { isKnown } = await look.check();
    if (isKnown || looks === MAX_CHECKS) return;
    await pauseUntil(pauseMs, 'before looking at the gateway again', () => look.latest().isKnown);
    pauseMs = Math.min(pauseMs * 2, timings.refundLookMaxMs);
  }
}

export const afterClosingId = (transactionId: string): string => `after-${transactionId}`;

/** Starts it beside the caller, which it outlives. `false`: it is running already. */
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

/** A claim on money goes on when the workflow that saw it has ended. */
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
