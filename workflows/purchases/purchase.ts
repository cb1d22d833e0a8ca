/**
 * A purchase, told as its business: open it and hold the money or wait for it, deliver and settle, or give back. It answers its buyer as
 * soon as it can and never ends while money is held: what cannot go on by itself stays open, asks on and calls a person.
 */
import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  patched,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
  defineUpdate,
} from '@temporalio/workflow';
import { nextCheck } from '../../src/purchases/supplier-checks.ts';
import type { ChargeQuote } from '../../src/payments/rules.ts';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import type { Refusal } from '../../src/domain/refusals.ts';
import type { PurchaseStatus, OutsideMethod } from '../../src/domain/states.ts';
import { followClaim } from '../payments/after-closing.ts';
import { awaitPayment, type AwaitPayment } from './await-payment.ts';
import { callPerson } from '../operations/needs-attention.ts';
import { ACCEPT_UPDATE, type AttentionReason, type DeliverOutcome } from '../contract.ts';
import { performAction, type ActionEffect } from './delivery-actions.ts';
import { continueAsNewIfSuggested, pauseUntil, sleepUntil } from '../continue-as-new.ts';
import { listenForPaymentChecks, type PaymentPoller } from '../payments/payment-poller.ts';
import {
  closedPurchaseActions,
  awaitingPaymentActions,
  handleActions,
  type ActionHandlers,
} from '../operations/operator-actions.ts';
import { giveBack, giveBackLegacy, type Refused } from './refused.ts';
import { sendRefunds } from '../payments/send-refunds.ts';
import { ICCID, NEEDS_ATTENTION, PURCHASE_STATUS, REASON } from '../search-attributes.ts';
import { createOutbox, type Outbox } from '../webhooks/start-deliveries.ts';
import {
  deliverOnce,
  deliverWhileBuyerWaits,
  openPurchase,
  reopenDelivery,
  syncCatalogue,
  tellProcessing,
  tryDelivering,
} from '../steps.ts';
import type { PurchaseAnswer } from '../../src/payments/engine.ts';

type Delivered = Extract<DeliverOutcome, { outcome: 'delivered' }>;

/** Ends SUCCESS or FAILED; `reason` says why. */
export async function purchase(input: PurchaseInput): Promise<{ status: PurchaseStatus; reason?: string }> {
  const { transactionId } = input;
  const desk = handleActions(input.charge === undefined ? 'delivering' : 'awaiting-money');
  const buyer = waitingBuyer(input, desk);
  const outside = listenForPayment(input);
  const story: PurchaseContext = { input, buyer, outside, desk };

  const opened = await openPurchase(input, workflowInfo().startTime.toISOString());
  buyer.outbox.add(opened.messages);
  if (!opened.opened) return refuse(story, opened.refusal);
  if (outside) {
    desk.serve('awaiting-money', awaitingPaymentActions(transactionId, outside.look));
    const payment = await awaitPayment(paymentOf(story, outside));
    if (payment.outcome === 'refused') return refuse(story, payment.refusal);
    if (payment.outcome === 'ended') return refuse(story, { reason: payment.reason, detail: '' });
    upsertSearchAttributes([{ key: PURCHASE_STATUS, value: 'PROCESSING' }]);
    setCurrentDetails('Paid. The eSIM is being delivered.');
    desk.hold('delivering');
  }
  let sinceMs = outside ? Date.now() : workflowInfo().startTime.getTime();
  let delivery = await deliver(story, sinceMs);
  for (;;) {
    if (delivery.outcome === 'delivered') {
      buyer.outbox.add(delivery.messages);
      await buyer.answer('SUCCESS');
      await serveClosedActions(story, 'delivered');
      return end('SUCCESS', { iccid: delivery.iccid });
    }
    if (delivery.outcome === 'given-back') {
      buyer.outbox.add(delivery.messages);
      return refuse(story, delivery.refusal);
    }
    const ended = await endRefused(story, delivery);
    if (ended === 'given-back') {
      await buyer.refuse(delivery.refusal);
      if (delivery.catalogueIsOld) await syncCatalogueOnce();
      return refuse(story, delivery.refusal);
    }
    if (ended === 'failed') await needAttention(input, 'UNDO_FAILED');
    // The older way to end a refusal left the first answer to what comes next.
    if (ended === 'not-yet' || patched('last-word')) await buyer.answer('PROCESSING');
    const { slowLookMs, doubtMs } = input.timings;
    const waitMs = ended === 'failed' ? slowLookMs : doubtMs;
    const moved = await pause(story, waitMs, 'before asking the supplier again, after it refused');
    if (moved === 'anew') sinceMs = Date.now();
    delivery = moved && moved !== 'anew' ? moved : await deliver(story, sinceMs, ended === 'not-yet');
  }
}

function endRefused(
  { input, buyer }: PurchaseContext,
  refused: Refused,
): Promise<'given-back' | 'not-yet' | 'failed'> {
  const { outbox } = buyer;
  if (patched('last-word')) return giveBack(input, refused, outbox);
  return giveBackLegacy(input, refused, { outbox, onDoubt: () => buyer.answer('PROCESSING') });
}

/** What all parts of the story share. */
interface PurchaseContext {
  readonly input: PurchaseInput;
  readonly buyer: Buyer;
  readonly outside: GatewayPayment | undefined;
  readonly desk: ActionHandlers;
}

/** A purchase whose money comes through a gateway, which is looked at for whoever asks from its first to its last moment. */
interface GatewayPayment {
  readonly charge: ChargeQuote;
  readonly look: PaymentPoller;
}

function listenForPayment({ transactionId, charge, timings }: PurchaseInput): GatewayPayment | undefined {
  const onClaim = () => followClaim(transactionId, 'purchase', timings);
  return charge && { charge, look: listenForPaymentChecks(transactionId, 'purchase', onClaim) };
}

/** Ends without goods. What was paid from outside, and is not spent, goes back to where it came from before this ends. */
async function refuse(
  story: PurchaseContext,
  refusal: Refusal,
): Promise<{ status: PurchaseStatus; reason?: string }> {
  await story.buyer.refuse(refusal);
  await serveClosedActions(story, 'ended', () => showFailed(refusal.reason));
  return end('FAILED', { reason: refusal.reason });
}

/**
 * From here on moves meet a closed purchase, and whoever asked is answered before it ends. Money on its way back is followed until it has gone:
 * where nothing was delivered, and where a move sends some of it.
 */
async function serveClosedActions(
  story: PurchaseContext,
  state: 'delivered' | 'ended',
  onReturning?: () => void,
): Promise<void> {
  const { input, outside, desk } = story;
  desk.serve(state, closedPurchaseActions(input.transactionId, outside?.look));
  if (state === 'delivered' || !outside) {
    await condition(allHandlersFinished);
    if (desk.count() === 0) return;
  }
  const watch = { ...pauseHooks(story), ...(onReturning ? { onReturning } : {}) };
  if (outside) await sendRefunds(input.transactionId, input.timings, outside.look, watch);
}

/** The row says so from here on, while the money is still on its way back. */
function showFailed(reason: string): void {
  upsertSearchAttributes([
    { key: PURCHASE_STATUS, value: 'FAILED' },
    { key: REASON, value: reason },
  ]);
}

function paymentOf(story: PurchaseContext, { charge, look }: GatewayPayment): AwaitPayment {
  const { input, buyer } = story;
  return {
    request: {
      transactionId: input.transactionId,
      purpose: 'purchase',
      accountId: input.accountId,
      packageCode: input.packageCode,
      // A charge is asked for only where the method goes through a gateway.
      method: input.paymentMethod as OutsideMethod,
      charge,
      priceMinor: input.quote.priceMinor,
      priceCurrency: input.quote.currency,
    },
    look,
    startedAtMs: workflowInfo().startTime.getTime(),
    timings: input.timings,
    onWaiting: () => buyer.answer('PENDING'),
    outbox: buyer.outbox,
    ...pauseHooks(story),
  };
}

function pauseHooks(story: PurchaseContext) {
  return {
    callPerson: (reason: AttentionReason) => needAttention(story.input, reason),
    beforePause: () => continueAsNewIfDue(story),
    moves: () => story.desk.count(),
  };
}

/**
 * Delivers while the buyer waits, and goes on asking after telling the buyer PROCESSING; ends only with a known outcome. `isAfterDoubt`: the buyer does
 * not wait, and one ask with time enough for its answer decides: two in a row would put the last word in doubt again.
 */
async function deliver(
  story: PurchaseContext,
  beganAtMs: number,
  isAfterDoubt = false,
): Promise<Delivered | Refused | GivenBack> {
  const { input, buyer } = story;
  let sinceMs = beganAtMs;
  let outcome: DeliverOutcome | GivenBack = await (isAfterDoubt ? deliverOnce(input) : tryDelivering(input));
  if (outcome.outcome === 'unknown' && !isAfterDoubt)
    outcome = await deliverWhileBuyerWaits(input, Date.now() - sinceMs);
  let slowLooks = 0;
  while (outcome.outcome === 'unknown' || outcome.outcome === 'withdrawing') {
    if (outcome.outcome === 'withdrawing') {
      await reopenDelivery(input);
      outcome = await deliverOnce(input);
      continue;
    }
    await buyer.answer('PROCESSING');
    const next = nextCheck(Date.now() - sinceMs, slowLooks, input.timings);
    const needsPerson = next.needsAttention || outcome.reason === 'SETTLE_FAILED';
    if (needsPerson && slowLooks === 0) await needAttention(input, outcome.reason);
    if (needsPerson) slowLooks += 1;
    else setCurrentDetails(`Money is held. Waiting for the supplier to deliver: ${outcome.reason}.`);
    const moved = await pause(story, next.delayMs, 'before looking again at the supplier');
    if (moved === 'anew') [sinceMs, slowLooks] = [Date.now(), 0];
    outcome = moved && moved !== 'anew' ? moved : await deliverOnce(input);
  }
  return outcome;
}

/** An operator has ended it. */
type GivenBack = Omit<Extract<ActionEffect, { way: 'given-back' }>, 'way'> & {
  readonly outcome: 'given-back';
};

/**
 * Every pause of a parked purchase is a chance to start a fresh history: every step may run twice, so nothing needs to be carried over. An
 * operator's move ends the pause; where that settles how it goes on, it is the answer.
 */
async function pause(
  story: PurchaseContext,
  delayMs: number,
  summary: string,
): Promise<Delivered | Refused | GivenBack | 'anew' | undefined> {
  const { input, outside, desk } = story;
  const endsAtMs = Date.now() + delayMs;
  for (let leftMs = delayMs; leftMs > 0; leftMs = endsAtMs - Date.now()) {
    // Nobody asks for looks at a purchase from the wallet, so its history does not grow meanwhile.
    if (input.charge === undefined) await sleepUntil(leftMs, summary, desk.isWaiting);
    else await pauseUntil(leftMs, summary, desk.isWaiting);
    const move = desk.take();
    if (!move) break;
    const made = await performAction(input, outside?.look, move);
    if (made.way === 'given-back') {
      const { refusal, messages } = made;
      return { outcome: 'given-back', refusal, ...(messages ? { messages } : {}) };
    }
    if (made.way === 'anew') return 'anew';
    if (made.way === 'asked' && (made.outcome.outcome === 'delivered' || made.outcome.outcome === 'refused'))
      return made.outcome;
  }
  await continueAsNewIfDue(story);
  return undefined;
}

const continueAsNewIfDue = ({ input, desk }: PurchaseContext): Promise<void> =>
  continueAsNewIfSuggested(() => continueAsNew<typeof purchase>(input), desk.isBlocked);

interface Buyer {
  /** What is to be told to others; it goes out whenever the buyer has been answered, never before. */
  readonly outbox: Outbox;
  answer(status: 'SUCCESS' | 'PROCESSING' | 'PENDING'): Promise<void>;
  refuse(refusal: Refusal): Promise<void>;
}

/** The buyer hears one answer, the first; everyone who asks under the same id hears the same. */
function waitingBuyer(input: PurchaseInput, desk: ActionHandlers): Buyer {
  let answer: PurchaseAnswer | undefined;
  let asking = 0;
  const fingerprint = input.idempotency ? { fingerprint: input.idempotency.fingerprint } : {};
  setHandler(defineUpdate<PurchaseAnswer>(ACCEPT_UPDATE), async () => {
    asking += 1;
    await condition(() => answer !== undefined);
    asking -= 1;
    return answer as PurchaseAnswer;
  });
  const outbox = createOutbox(input.transactionId);
  const give = async (first: PurchaseAnswer): Promise<void> => {
    answer ??= first;
    await condition(() => asking === 0);
    // Builds of before waited for everybody who asked anything, and so for callers who ask again and again.
    if (!allHandlersFinished() && !patched('answered-alone'))
      await condition(() => allHandlersFinished() || desk.isBlocked());
    await outbox.send();
  };
  return {
    outbox,
    answer: async (status) => {
      const isNews = answer === undefined && status === 'PROCESSING' && input.charge === undefined;
      // Purchases of 0.1.0 told nobody.
      if (isNews && patched('processing-told')) outbox.add(await tellProcessing(input.transactionId));
      await give({ status, ...fingerprint });
    },
    refuse: (refusal) => give({ status: 'REFUSED', refusal, ...fingerprint }),
  };
}

async function needAttention(input: PurchaseInput, reason: AttentionReason): Promise<void> {
  await callPerson(input.transactionId, reason);
  setCurrentDetails(
    `Needs a person: ${reason}. The money is held and nothing is lost; looking again by itself goes on slowly.`,
  );
}

async function syncCatalogueOnce(): Promise<void> {
  try {
    await syncCatalogue({ unlessSyncedWithinMs: 60_000 });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
  }
}

function end(
  status: 'SUCCESS' | 'FAILED',
  { reason, iccid }: { readonly reason?: string; readonly iccid?: string },
): { status: PurchaseStatus; reason?: string } {
  setCurrentDetails(
    status === 'SUCCESS'
      ? 'Delivered and settled.'
      : `Ended without goods: ${reason ?? ''}. No money is kept.`,
  );
  upsertSearchAttributes([
    { key: PURCHASE_STATUS, value: status },
    { key: NEEDS_ATTENTION, value: false },
    ...(reason === undefined ? [] : [{ key: REASON, value: reason }]),
    ...(iccid === undefined ? [] : [{ key: ICCID, value: iccid }]),
  ]);
  return { status, ...(reason === undefined ? {} : { reason }) };
}
