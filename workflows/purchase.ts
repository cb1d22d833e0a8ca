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
import { freshHistory, pauseUntil } from './fresh-history.ts';
import { listenForLooks, type Looker } from './looker.ts';
import { returnMoney } from './return-money.ts';
import { ICCID, NEEDS_ATTENTION, PURCHASE_STATUS, REASON } from './search-attributes.ts';
import {
  deliverOnce,
  deliverWhileBuyerWaits,
  failPurchase,
  openPurchase,
  syncCatalogue,
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
  const buyer = waitingBuyer(input);
  const outside = paidFromOutside(input);
  const undo = createUndo<Refusal>();

  const opened = await openPurchase(input, workflowInfo().startTime.toISOString());
  if (!opened.opened) return refuse(input, buyer, outside, opened.refusal);
  if (outside) {
    const payment = await awaitPayment(paymentOf(input, buyer, outside));
    if (payment.outcome === 'refused') return refuse(input, buyer, outside, payment.refusal);
    if (payment.outcome === 'ended')
      return refuse(input, buyer, outside, { reason: payment.reason, detail: '' });
    upsertSearchAttributes([{ key: PURCHASE_STATUS, value: 'PROCESSING' }]);
  }
  undo.before((refusal) => failPurchase(transactionId, refusal).then(() => true));
  undo.before(() => withdrawOrder(transactionId));

  const deliversSinceMs = outside ? Date.now() : workflowInfo().startTime.getTime();
  for (;;) {
    const delivery = await deliver(input, buyer, deliversSinceMs);
    if (delivery.outcome === 'delivered') {
      await buyer.answer('SUCCESS');
      return end('SUCCESS', { iccid: delivery.iccid });
    }
    if (delivery.afterDoubt) await letDoubtPass(input, buyer);
    if (await undo.run(delivery.refusal)) {
      await buyer.refuse(delivery.refusal);
      if (delivery.catalogueIsOld) await syncCatalogueOnce();
      return refuse(input, buyer, outside, delivery.refusal);
    }
    // The supplier refused and yet holds something that cannot be cancelled: deliver what it holds, with a person watching.
    await callPersonFor(input, 'UNDO_FAILED');
    await pause(input, input.timings.slowLookMs, 'before looking again at what the supplier holds');
  }
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
async function refuse(
  input: PurchaseInput,
  buyer: Buyer,
  outside: Outside | undefined,
  refusal: Refusal,
): Promise<{ status: PurchaseStatus; reason?: string }> {
  await buyer.refuse(refusal);
  if (outside) await returnMoney(input.transactionId, input.timings, outside.look, callerOf(input));
  return end('FAILED', { reason: refusal.reason });
}

function paymentOf(input: PurchaseInput, buyer: Buyer, { charge, look }: Outside): AwaitPayment {
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
    ...callerOf(input),
  };
}

function callerOf(input: PurchaseInput) {
  return {
    callPerson: (reason: AttentionReason) => callPersonFor(input, reason),
    beforePause: () => beginAnew(input),
  };
}

/** Delivers while the buyer waits, and goes on asking after telling the buyer PROCESSING; ends only with a known outcome. */
async function deliver(input: PurchaseInput, buyer: Buyer, sinceMs: number): Promise<Delivered | Refused> {
  let outcome = await tryDelivering(input);
  if (outcome.outcome === 'unknown') outcome = await deliverWhileBuyerWaits(input, Date.now() - sinceMs);
  let slowLooks = 0;
  while (outcome.outcome === 'unknown') {
    await buyer.answer('PROCESSING');
    const next = nextLook(Date.now() - sinceMs, slowLooks, input.timings);
    const needsPerson = next.needsAttention || outcome.reason === 'SETTLE_FAILED';
    if (needsPerson && slowLooks === 0) await callPersonFor(input, outcome.reason);
    if (needsPerson) slowLooks += 1;
    else setCurrentDetails(`Money is held. Waiting for the supplier to deliver: ${outcome.reason}.`);
    await pause(input, next.delayMs, 'before looking again at the supplier');
    outcome = await deliverOnce(input);
  }
  return outcome;
}

/** A refusal says nothing about what was sent earlier and given up: it counts once none of that can still arrive. */
async function letDoubtPass(input: PurchaseInput, buyer: Buyer): Promise<void> {
  await buyer.answer('PROCESSING');
  await sleep(input.timings.doubtMs, { summary: 'until nothing sent earlier can still arrive' });
}

/** Every pause of a parked purchase is a chance to start a fresh history: every step may run twice, so nothing needs to be carried over. */
async function pause(input: PurchaseInput, delayMs: number, summary: string): Promise<void> {
  // Nobody asks for looks at a purchase from the wallet, so its history does not grow meanwhile.
  if (input.charge === undefined) await sleep(delayMs, { summary });
  else await pauseUntil(delayMs, summary);
  await beginAnew(input);
}

const beginAnew = (input: PurchaseInput): Promise<void> =>
  freshHistory(() => continueAsNew<typeof purchase>(input));

interface Buyer {
  answer(status: 'SUCCESS' | 'PROCESSING' | 'PENDING'): Promise<void>;
  refuse(refusal: Refusal): Promise<void>;
}

/** The buyer hears one answer, the first; everyone who asks under the same id hears the same. */
function waitingBuyer(input: PurchaseInput): Buyer {
  let answer: PurchaseAnswer | undefined;
  const fingerprint = input.idempotency ? { fingerprint: input.idempotency.fingerprint } : {};
  setHandler(defineUpdate<PurchaseAnswer>(ACCEPT_UPDATE), async () => {
    await condition(() => answer !== undefined);
    return answer as PurchaseAnswer;
  });
  const give = async (first: PurchaseAnswer): Promise<void> => {
    answer ??= first;
    await condition(allHandlersFinished);
  };
  return {
    answer: (status) => give({ status, ...fingerprint }),
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
  upsertSearchAttributes([
    { key: PURCHASE_STATUS, value: status },
    { key: NEEDS_ATTENTION, value: false },
    ...(reason === undefined ? [] : [{ key: REASON, value: reason }]),
    ...(iccid === undefined ? [] : [{ key: ICCID, value: iccid }]),
  ]);
  return { status, ...(reason === undefined ? {} : { reason }) };
}
