/**
 * A purchase: open it and hold or collect the money, deliver, then settle or give back. It never ends while money is held: a purchase that cannot go
 * on stays open, keeps trying and needs attention.
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
import type { Refusal } from '../../src/domain/refusals.ts';
import type { AttentionReason, PurchaseStatus } from '../../src/domain/states.ts';
import type { PurchaseAnswer } from '../../src/payments/engine.ts';
import type { ChargeQuote } from '../../src/payments/rules.ts';
import { nextSupplierCheck, type PurchaseInput } from '../../src/purchases/purchase.ts';
import { continueAsNewIfSuggested, pauseUntil, sleepUntil } from '../continue-as-new.ts';
import { ACCEPT_UPDATE, type DeliverOutcome } from '../contract.ts';
import { raiseAttention } from '../operations/needs-attention.ts';
import {
  closedPurchaseActions,
  awaitingPaymentActions,
  handleActions,
  type ActionHandlers,
} from '../operations/operator-actions.ts';
import { followClaim } from '../payments/after-closing.ts';
import { listenForPaymentChecks, type PaymentPoller } from '../payments/payment-poller.ts';
import { sendRefunds } from '../payments/send-refunds.ts';
import { ICCID, NEEDS_ATTENTION, PURCHASE_STATUS, REASON } from '../search-attributes.ts';
import {
  deliverOnce,
  deliverWhileBuyerWaits,
  openPurchase,
  reopenDelivery,
  syncCatalogue,
  tellProcessing,
  tryDelivering,
} from '../steps.ts';
import { createOutbox } from '../webhooks/start-deliveries.ts';
import { awaitPayment, type AwaitPayment } from './await-payment.ts';
import { performAction, type DeliveryChange } from './delivery-actions.ts';
import { giveBack, giveBackLegacy, type Refused } from './refused.ts';

type Delivered = Extract<DeliverOutcome, { outcome: 'delivered' }>;

/** Ends SUCCESS or FAILED; `reason` says why. */
export async function purchase(input: PurchaseInput): Promise<PurchaseResult> {
  const actions = handleActions(
    input.transactionId,
    input.charge === undefined ? 'delivering' : 'awaiting-money',
  );
  const buyer = waitingBuyer(input, actions);
  const gatewayPayment = listenForPayment(input);
  const context: PurchaseContext = { input, buyer, gatewayPayment, actions };

  const opened = await openPurchase(input, workflowInfo().startTime.toISOString());
  buyer.outbox.add(opened.messages);
  if (!opened.opened) return endFailed(context, opened.refusal);
  if (gatewayPayment) {
    const unpaid = await collectPayment(context, gatewayPayment);
    if (unpaid) return endFailed(context, unpaid);
  }
  let sinceMs = gatewayPayment ? Date.now() : workflowInfo().startTime.getTime();
  let delivery = await deliver(context, sinceMs);
  for (;;) {
    if (delivery.outcome === 'delivered') {
      buyer.outbox.add(delivery.messages);
      await buyer.answer('SUCCESS');
      await serveClosedActions(context, 'delivered');
      return end('SUCCESS', { iccid: delivery.iccid });
    }
    if (delivery.outcome === 'given-back') {
      buyer.outbox.add(delivery.messages);
      return endFailed(context, delivery.refusal);
    }
    const ended = await giveBackAfterRefusal(context, delivery);
    if (ended === 'given-back') {
      await buyer.refuse(delivery.refusal);
      if (delivery.catalogueIsOld) await syncCatalogueOnce();
      return endFailed(context, delivery.refusal);
    }
    const hadUnknownOutcome = ended === 'not-yet';
    if (ended === 'failed') await needAttention(input, 'UNDO_FAILED');
    // Earlier builds answered the buyer only with the next outcome.
    if (hadUnknownOutcome || patched('last-word')) await buyer.answer('PROCESSING');
    const { slowLookMs, doubtMs: inFlightGraceMs } = input.timings;
    const waitMs = ended === 'failed' ? slowLookMs : inFlightGraceMs;
    const changed = await pause(context, waitMs, 'before asking the supplier again, after it refused');
    if (changed === 'replaced') sinceMs = Date.now();
    delivery =
      changed && changed !== 'replaced' ? changed : await deliver(context, sinceMs, hadUnknownOutcome);
  }
}

interface PurchaseResult {
  readonly status: PurchaseStatus;
  readonly reason?: string;
}

interface PurchaseContext {
  readonly input: PurchaseInput;
  readonly buyer: Buyer;
  /** Absent for a purchase from the wallet. */
  readonly gatewayPayment: GatewayPayment | undefined;
  readonly actions: ActionHandlers;
}

/** A payment through a gateway. Payment checks are answered from the first moment to the last. */
interface GatewayPayment {
  readonly charge: ChargeQuote;
  readonly poller: PaymentPoller;
}

function listenForPayment({ transactionId, charge, timings }: PurchaseInput): GatewayPayment | undefined {
  const onClaim = () => followClaim(transactionId, 'purchase', timings);
  return charge && { charge, poller: listenForPaymentChecks(transactionId, 'purchase', onClaim) };
}

/** Waits for the money. Answers why the purchase ends where none came. */
async function collectPayment(
  context: PurchaseContext,
  payment: GatewayPayment,
): Promise<Refusal | undefined> {
  const { input, actions } = context;
  actions.serve('awaiting-money', awaitingPaymentActions(input.transactionId, payment.poller));
  const result = await awaitPayment(paymentOf(context, payment));
  if (result.outcome === 'refused') return result.refusal;
  if (result.outcome === 'ended') return { reason: result.reason, detail: '' };
  upsertSearchAttributes([{ key: PURCHASE_STATUS, value: 'PROCESSING' }]);
  setCurrentDetails('Paid. The eSIM is being delivered.');
  actions.hold('delivering');
  return undefined;
}

function giveBackAfterRefusal(
  { input, buyer }: PurchaseContext,
  refused: Refused,
): Promise<'given-back' | 'not-yet' | 'failed'> {
  const { outbox } = buyer;
  if (patched('last-word')) return giveBack(input, refused, outbox);
  return giveBackLegacy(input, refused, { outbox, onUnknownOutcome: () => buyer.answer('PROCESSING') });
}

/** Ends without a delivery. Money that came through a gateway has been sent back before this ends. */
async function endFailed(context: PurchaseContext, refusal: Refusal): Promise<PurchaseResult> {
  await context.buyer.refuse(refusal);
  const { reason } = refusal;
  // The purchase is FAILED already while the money is still on its way back.
  const showFailed = () =>
    upsertSearchAttributes([
      { key: PURCHASE_STATUS, value: 'FAILED' },
      { key: REASON, value: reason },
    ]);
  await serveClosedActions(context, 'ended', showFailed);
  return end('FAILED', { reason });
}

/**
 * Answers every open operator action before the purchase ends. Refunds are followed until they are sent: after a purchase without delivery, and
 * after a delivered one that an operator refunds.
 */
async function serveClosedActions(
  context: PurchaseContext,
  state: 'delivered' | 'ended',
  onReturning?: () => void,
): Promise<void> {
  const { input, gatewayPayment, actions } = context;
  actions.serve(state, closedPurchaseActions(input.transactionId, gatewayPayment?.poller));
  if (state === 'delivered' || !gatewayPayment) {
    await condition(allHandlersFinished);
    if (actions.count() === 0) return;
  }
  const watch = { ...pauseHooks(context), ...(onReturning ? { onReturning } : {}) };
  if (gatewayPayment) await sendRefunds(input.transactionId, input.timings, gatewayPayment.poller, watch);
}

function paymentOf(context: PurchaseContext, { poller }: GatewayPayment): AwaitPayment {
  const { input, buyer } = context;
  return {
    request: { transactionId: input.transactionId, purpose: 'purchase' },
    poller,
    startedAtMs: workflowInfo().startTime.getTime(),
    timings: input.timings,
    onWaiting: () => buyer.answer('PENDING'),
    outbox: buyer.outbox,
    ...pauseHooks(context),
  };
}

function pauseHooks(context: PurchaseContext) {
  return {
    raiseAttention: (reason: AttentionReason) => needAttention(context.input, reason),
    beforePause: () => continueAsNewIfDue(context),
    moves: () => context.actions.count(),
  };
}

/**
 * Delivers while the buyer waits, then answers PROCESSING and continues. Ends only with a known outcome. `hadUnknownOutcome`: an earlier order may
 * still arrive, so exactly one attempt with time enough for its answer is made. A second one would make the next refusal uncertain again.
 */
async function deliver(
  context: PurchaseContext,
  beganAtMs: number,
  hadUnknownOutcome = false,
): Promise<Delivered | Refused | GivenBack> {
  const { input, buyer } = context;
  let sinceMs = beganAtMs;
  let outcome: DeliverOutcome | GivenBack = await (hadUnknownOutcome
    ? deliverOnce(input)
    : tryDelivering(input));
  if (outcome.outcome === 'unknown' && !hadUnknownOutcome)
    outcome = await deliverWhileBuyerWaits(input, Date.now() - sinceMs);
  let slowChecks = 0;
  while (outcome.outcome === 'unknown' || outcome.outcome === 'withdrawing') {
    if (outcome.outcome === 'withdrawing') {
      await reopenDelivery(input);
      outcome = await deliverOnce(input);
      continue;
    }
    await buyer.answer('PROCESSING');
    const next = nextSupplierCheck(Date.now() - sinceMs, slowChecks, input.timings);
    const needsPerson = next.needsAttention || outcome.reason === 'SETTLE_FAILED';
    if (needsPerson && slowChecks === 0) await needAttention(input, outcome.reason);
    if (needsPerson) slowChecks += 1;
    else setCurrentDetails(`Money is held. Waiting for the supplier to deliver: ${outcome.reason}.`);
    const changed = await pause(context, next.delayMs, 'before the next check at the supplier');
    if (changed === 'replaced') [sinceMs, slowChecks] = [Date.now(), 0];
    outcome = changed && changed !== 'replaced' ? changed : await deliverOnce(input);
  }
  return outcome;
}

/** An operator has ended the purchase. */
type GivenBack = Omit<Extract<DeliveryChange, { way: 'given-back' }>, 'way'> & {
  readonly outcome: 'given-back';
};

/**
 * An operator's action interrupts the pause; what it settles is the answer. Every pause may continue as new: every step may run twice, so nothing
 * is carried over.
 */
async function pause(
  context: PurchaseContext,
  delayMs: number,
  summary: string,
): Promise<Delivered | Refused | GivenBack | 'replaced' | undefined> {
  const { input, gatewayPayment, actions } = context;
  const endsAtMs = Date.now() + delayMs;
  for (let leftMs = delayMs; leftMs > 0; leftMs = endsAtMs - Date.now()) {
    // A wallet purchase gets no payment checks, so its history does not grow meanwhile.
    if (input.charge === undefined) await sleepUntil(leftMs, summary, actions.isWaiting);
    else await pauseUntil(leftMs, summary, actions.isWaiting);
    const action = actions.take();
    if (!action) break;
    const made = await performAction(input, gatewayPayment?.poller, action);
    if (made.way === 'given-back') {
      const { refusal, messages } = made;
      return { outcome: 'given-back', refusal, ...(messages ? { messages } : {}) };
    }
    if (made.way === 'replaced') return 'replaced';
    if (made.way === 'asked' && (made.outcome.outcome === 'delivered' || made.outcome.outcome === 'refused'))
      return made.outcome;
  }
  await continueAsNewIfDue(context);
  return undefined;
}

const continueAsNewIfDue = ({ input, actions }: PurchaseContext): Promise<void> =>
  continueAsNewIfSuggested(() => continueAsNew<typeof purchase>(input), actions.isBlocked);

type Buyer = ReturnType<typeof waitingBuyer>;

/** The first answer counts: every caller with the same transaction id gets the same. */
function waitingBuyer(input: PurchaseInput, actions: ActionHandlers) {
  let answer: PurchaseAnswer | undefined;
  let callers = 0;
  const fingerprint = input.idempotency ? { fingerprint: input.idempotency.fingerprint } : {};
  setHandler(defineUpdate<PurchaseAnswer>(ACCEPT_UPDATE), async () => {
    callers += 1;
    await condition(() => answer !== undefined);
    callers -= 1;
    return answer as PurchaseAnswer;
  });
  const outbox = createOutbox(input.transactionId);
  const give = async (first: PurchaseAnswer): Promise<void> => {
    answer ??= first;
    await condition(() => callers === 0);
    // Earlier builds waited for all handlers, and so for callers who ask again and again.
    if (!allHandlersFinished() && !patched('answered-alone'))
      await condition(() => allHandlersFinished() || actions.isBlocked());
    await outbox.send();
  };
  return {
    /** Webhooks that wait until the buyer has been answered. */
    outbox,
    answer: async (status: 'SUCCESS' | 'PROCESSING' | 'PENDING'): Promise<void> => {
      const isNews = answer === undefined && status === 'PROCESSING' && input.charge === undefined;
      // Purchases of 0.1.0 sent no such webhook.
      if (isNews && patched('processing-told')) outbox.add(await tellProcessing(input.transactionId));
      await give({ status, ...fingerprint });
    },
    refuse: (refusal: Refusal) => give({ status: 'REFUSED', refusal, ...fingerprint }),
  };
}

async function needAttention(input: PurchaseInput, reason: AttentionReason): Promise<void> {
  await raiseAttention(input.transactionId, reason);
  setCurrentDetails(`Needs attention: ${reason}. We keep checking automatically.`);
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
): PurchaseResult {
  setCurrentDetails(
    status === 'SUCCESS'
      ? 'Delivered and settled.'
      : `Ended without delivery: ${reason ?? ''}. No money is kept.`,
  );
  upsertSearchAttributes([
    { key: PURCHASE_STATUS, value: status },
    { key: NEEDS_ATTENTION, value: false },
    ...(reason === undefined ? [] : [{ key: REASON, value: reason }]),
    ...(iccid === undefined ? [] : [{ key: ICCID, value: iccid }]),
  ]);
  return { status, ...(reason === undefined ? {} : { reason }) };
}
