/**
 * A purchase, told as its business: open it and hold the money or wait for it, deliver and settle, or give back. It answers its buyer as
 * soon as it can and never ends while money is held: what cannot go on by itself stays open, asks on and calls a person.
 */
import {
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  patched,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
  defineUpdate,
} from '@temporalio/workflow';
import { nextLook } from '../src/domain/looks.ts';
import type { ChargeQuote, OutsideMethod } from '../src/domain/payment.ts';
import type { PurchaseAnswer, PurchaseInput } from '../src/domain/purchase.ts';
import type { Refusal } from '../src/domain/refusals.ts';
import type { PurchaseStatus } from '../src/domain/states.ts';
import { awaitPayment, type AwaitPayment } from './await-payment.ts';
import { callPerson } from './call-person.ts';
import { ACCEPT_UPDATE, type AttentionReason, type DeliverOutcome } from './contract.ts';
import { makeAtPause, type Way } from './delivery-moves.ts';
import { freshHistory, pauseUntil, sleepUntil } from './fresh-history.ts';
import { listenForLooks, type Looker } from './looker.ts';
import { handsWhenClosed, handsWhileAwaiting, listenForMoves, type MoveDesk } from './operator-moves.ts';
import { returnMoney } from './return-money.ts';
import { ICCID, NEEDS_ATTENTION, PURCHASE_STATUS, REASON } from './search-attributes.ts';
import { createOutbox, type Outbox } from './start-deliveries.ts';
import {
  deliverOnce,
  deliverWhileBuyerWaits,
  failPurchase,
  openPurchase,
  syncCatalogue,
  tellProcessing,
  tryDelivering,
  withdrawOrder,
} from './steps.ts';
import { createUndo } from './undo.ts';

type Delivered = Extract<DeliverOutcome, { outcome: 'delivered' }>;
type Refused = Extract<DeliverOutcome, { outcome: 'refused' }>;

/** Ends SUCCESS or FAILED; `reason` says why. Cancelling it from outside changes nothing: money is held. */
export function purchase(input: PurchaseInput): Promise<{ status: PurchaseStatus; reason?: string }> {
  return CancellationScope.nonCancellable(() => carry(input));
}

async function carry(input: PurchaseInput): Promise<{ status: PurchaseStatus; reason?: string }> {
  const { transactionId } = input;
  const desk = listenForMoves(input.charge === undefined ? 'delivering' : 'awaiting-money');
  const buyer = waitingBuyer(input, desk);
  const outside = paidFromOutside(input);
  const story: Story = { input, buyer, outside, desk };
  const undo = createUndo<Refusal>();

  const opened = await openPurchase(input, workflowInfo().startTime.toISOString());
  buyer.outbox.add(opened.messages);
  if (!opened.opened) return refuse(story, opened.refusal);
  if (outside) {
    desk.serve('awaiting-money', handsWhileAwaiting(transactionId, outside.look));
    const payment = await awaitPayment(paymentOf(story, outside));
    if (payment.outcome === 'refused') return refuse(story, payment.refusal);
    if (payment.outcome === 'ended') return refuse(story, { reason: payment.reason, detail: '' });
    upsertSearchAttributes([{ key: PURCHASE_STATUS, value: 'PROCESSING' }]);
    setCurrentDetails('Paid. The eSIM is being delivered.');
    desk.hold('delivering');
  }
  undo.before(async (refusal) => {
    buyer.outbox.add(await failPurchase(transactionId, refusal));
    return true;
  });
  undo.before(() => withdrawOrder(transactionId));

  let sinceMs = outside ? Date.now() : workflowInfo().startTime.getTime();
  let delivery = await deliver(story, sinceMs);
  for (;;) {
    if (delivery.outcome === 'delivered') {
      buyer.outbox.add(delivery.messages);
      await buyer.answer('SUCCESS');
      await closeDesk(story, 'delivered');
      return end('SUCCESS', { iccid: delivery.iccid });
    }
    if (delivery.outcome === 'given-back') {
      buyer.outbox.add(delivery.messages);
      return refuse(story, delivery.refusal);
    }
    if (delivery.afterDoubt) await letDoubtPass(input, buyer);
    if (await undo.run(delivery.refusal)) {
      await buyer.refuse(delivery.refusal);
      if (delivery.catalogueIsOld) await syncCatalogueOnce();
      return refuse(story, delivery.refusal);
    }
    // The supplier refused and yet holds something that cannot be cancelled: deliver what it holds, with a person watching.
    await callPersonFor(input, 'UNDO_FAILED');
    const looksAgainMs = input.timings.slowLookMs;
    const moved = await pause(story, looksAgainMs, 'before looking again at what the supplier holds');
    if (moved === 'anew') sinceMs = Date.now();
    delivery = moved && moved !== 'anew' ? moved : await deliver(story, sinceMs);
  }
}

/** What all parts of the story share. */
interface Story {
  readonly input: PurchaseInput;
  readonly buyer: Buyer;
  readonly outside: Outside | undefined;
  readonly desk: MoveDesk;
}

/** A purchase whose money comes through a gateway, which is looked at for whoever asks from its first to its last moment. */
interface Outside {
  readonly charge: ChargeQuote;
  readonly look: Looker;
}

function paidFromOutside({ transactionId, charge }: PurchaseInput): Outside | undefined {
  return charge && { charge, look: listenForLooks(transactionId, 'purchase') };
}

/** Ends without goods. What was paid from outside, and is not spent, goes back to where it came from before this ends. */
async function refuse(story: Story, refusal: Refusal): Promise<{ status: PurchaseStatus; reason?: string }> {
  await story.buyer.refuse(refusal);
  await closeDesk(story, 'ended');
  return end('FAILED', { reason: refusal.reason });
}

/**
 * From here on moves meet a closed purchase, and whoever asked is answered before it ends. Money on its way back is followed until it has gone:
 * where nothing was delivered, and where a move sends some of it.
 */
async function closeDesk(story: Story, state: 'delivered' | 'ended'): Promise<void> {
  const { input, outside, desk } = story;
  desk.serve(state, handsWhenClosed(input.transactionId, outside?.look));
  if (state === 'delivered' || !outside) {
    await condition(allHandlersFinished);
    if (desk.count() === 0) return;
  }
  if (outside) await returnMoney(input.transactionId, input.timings, outside.look, callerOf(story));
}

function paymentOf(story: Story, { charge, look }: Outside): AwaitPayment {
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
    ...callerOf(story),
  };
}

function callerOf(story: Story) {
  return {
    callPerson: (reason: AttentionReason) => callPersonFor(story.input, reason),
    beforePause: () => beginAnew(story),
    moves: () => story.desk.count(),
  };
}

/** Delivers while the buyer waits, and goes on asking after telling the buyer PROCESSING; ends only with a known outcome. */
async function deliver(story: Story, beganAtMs: number): Promise<Delivered | Refused | GivenBack> {
  const { input, buyer } = story;
  let sinceMs = beganAtMs;
  let outcome: DeliverOutcome | GivenBack = await tryDelivering(input);
  if (outcome.outcome === 'unknown') outcome = await deliverWhileBuyerWaits(input, Date.now() - sinceMs);
  let slowLooks = 0;
  while (outcome.outcome === 'unknown') {
    await buyer.answer('PROCESSING');
    const next = nextLook(Date.now() - sinceMs, slowLooks, input.timings);
    const needsPerson = next.needsAttention || outcome.reason === 'SETTLE_FAILED';
    if (needsPerson && slowLooks === 0) await callPersonFor(input, outcome.reason);
    if (needsPerson) slowLooks += 1;
    else setCurrentDetails(`Money is held. Waiting for the supplier to deliver: ${outcome.reason}.`);
    const moved = await pause(story, next.delayMs, 'before looking again at the supplier');
    if (moved === 'anew') [sinceMs, slowLooks] = [Date.now(), 0];
    outcome = moved && moved !== 'anew' ? moved : await deliverOnce(input);
  }
  return outcome;
}

/** A refusal says nothing about what was sent earlier and given up: it counts once none of that can still arrive. */
async function letDoubtPass(input: PurchaseInput, buyer: Buyer): Promise<void> {
  await buyer.answer('PROCESSING');
  await sleep(input.timings.doubtMs, { summary: 'until nothing sent earlier can still arrive' });
}

/** An operator has ended it. */
type GivenBack = Omit<Extract<Way, { way: 'given-back' }>, 'way'> & { readonly outcome: 'given-back' };

/**
 * Every pause of a parked purchase is a chance to start a fresh history: every step may run twice, so nothing needs to be carried over. An
 * operator's move ends the pause; where that settles how it goes on, it is the answer.
 */
async function pause(
  story: Story,
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
    const made = await makeAtPause(input, outside?.look, move);
    if (made.way === 'given-back') {
      const { refusal, messages } = made;
      return { outcome: 'given-back', refusal, ...(messages ? { messages } : {}) };
    }
    if (made.way === 'anew') return 'anew';
    if (made.way === 'asked' && made.outcome.outcome !== 'unknown') return made.outcome;
  }
  await beginAnew(story);
  return undefined;
}

const beginAnew = ({ input, desk }: Story): Promise<void> =>
  freshHistory(() => continueAsNew<typeof purchase>(input), desk.isBlocked);

interface Buyer {
  /** What is to be told to others; it goes out whenever the buyer has been answered, never before. */
  readonly outbox: Outbox;
  answer(status: 'SUCCESS' | 'PROCESSING' | 'PENDING'): Promise<void>;
  refuse(refusal: Refusal): Promise<void>;
}

/** The buyer hears one answer, the first; everyone who asks under the same id hears the same. */
function waitingBuyer(input: PurchaseInput, desk: MoveDesk): Buyer {
  let answer: PurchaseAnswer | undefined;
  const fingerprint = input.idempotency ? { fingerprint: input.idempotency.fingerprint } : {};
  setHandler(defineUpdate<PurchaseAnswer>(ACCEPT_UPDATE), async () => {
    await condition(() => answer !== undefined);
    return answer as PurchaseAnswer;
  });
  const outbox = createOutbox(input.transactionId);
  const give = async (first: PurchaseAnswer): Promise<void> => {
    answer ??= first;
    // Who waits for the story to go on must not keep it.
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

async function callPersonFor(input: PurchaseInput, reason: AttentionReason): Promise<void> {
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
