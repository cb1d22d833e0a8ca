/**
 * A purchase: open it and hold or collect the money, deliver, close. The row says how far it is, on the first
 * run and on every later one. It never ends while money is held: a purchase that cannot go on stays open,
 * keeps asking and needs attention.
 */
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { Refusal } from '../../src/domain/refusals.ts';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { carry, type Carrier } from '../carrier.ts';
import { fromRows, isContinued } from '../runs.ts';
import { collect } from '../payments/collect.ts';
import { ICCID, NEEDS_ATTENTION, PURCHASE_STATUS, REASON, show } from '../search-attributes.ts';
import * as steps from '../steps.ts';

interface PurchaseResult {
  readonly status: 'SUCCESS' | 'FAILED';
  readonly reason?: string;
}

type Delivered = { readonly stage: 'delivered'; readonly iccid?: string; readonly isMoneyOpen?: boolean };
type Failed = { readonly stage: 'failed'; readonly refusal: Refusal; readonly isCatalogueOutdated?: boolean };

/** Ends SUCCESS or FAILED; `reason` says why. */
export const purchase = (input: PurchaseInput): Promise<PurchaseResult> =>
  fromRows(input, async () => {
    const carrier = carry({
      transactionId: input.transactionId,
      purpose: 'purchase',
      isThroughGateway: input.charge !== undefined,
      timings: input.timings,
      fingerprint: input.idempotency?.fingerprint,
    });
    const opened = await steps.openPurchase(input, workflowInfo().startTime.toISOString());
    carrier.vendors.know(opened.vendors);
    const collected = opened.stage === 'awaiting-payment' ? await collectPrice(input, carrier) : opened;
    const ended: Delivered | Failed = collected.stage === 'paid' ? await deliver(input, carrier) : collected;
    await tell(carrier, ended);
    // Refunds or disputes may be under way: it was closed before this run, or by a step whose answer was
    // lost.
    const followsMoney =
      ended.stage === 'failed' || opened.stage === 'delivered' || ended.isMoneyOpen === true;
    // While its money goes back, it is FAILED in Temporal too.
    if (followsMoney && input.charge) showEnd(ended);
    await carrier.close({ followsMoney });
    return showEnd(ended);
  });

async function collectPrice(
  { transactionId, timings }: PurchaseInput,
  carrier: Carrier,
): Promise<{ readonly stage: 'paid' } | Failed> {
  const paid = await collect(carrier, { transactionId, purpose: 'purchase', timings });
  if (paid.state === 'failed') return { stage: 'failed', refusal: paid };
  show([{ key: PURCHASE_STATUS, value: 'PROCESSING' }]);
  setCurrentDetails('Paid. The eSIM is being delivered.');
  return { stage: 'paid' };
}

/**
 * One attempt inside this task, then attempts over the queue while the buyer waits; after that, whenever the
 * step is due.
 */
async function deliver(input: PurchaseInput, carrier: Carrier): Promise<Delivered | Failed> {
  const { transactionId, timings } = input;
  const beganAtMs = input.charge ? Date.now() : workflowInfo().startTime.getTime();
  let hasBuyer = !isContinued();
  const ask = async () => {
    if (!hasBuyer) return steps.deliverOnce(await carrier.vendors.find(), input);
    hasBuyer = false;
    const inline = await steps.tryDelivering(input);
    if (inline && inline.state !== 'waiting') return inline;
    return steps.deliverWhileBuyerWaits(await carrier.vendors.find(), input, Date.now() - beganAtMs);
  };
  const delivery = await carrier.follow(ask, {
    onWaiting: async () => {
      const isNews = !carrier.isAnswered() && input.charge === undefined;
      if (isNews) await steps.enqueueProcessingWebhook(transactionId);
      await carrier.answer({ status: 'PROCESSING' });
    },
    // Other money of a payment changes nothing of a delivery under way.
    endsWith: (check) => check.state === 'ended',
    lost: { afterMs: timings.attentionAfterMs, reason: 'DELIVERY_STEP_FAILED' },
  });
  if (delivery.state === 'done') return { ...delivery, stage: 'delivered' };
  return { stage: 'failed', refusal: delivery, isCatalogueOutdated: delivery.isCatalogueOutdated === true };
}

/** Answers the buyer and shows the end, also while money is still on its way back. */
async function tell(carrier: Carrier, ended: Delivered | Failed): Promise<void> {
  if (ended.stage === 'delivered') return carrier.answer({ status: 'SUCCESS' });
  await carrier.refuse(ended.refusal);
  if (ended.isCatalogueOutdated) await steps.syncCatalogueOnce();
}

/** The end, in the Temporal UI. */
function showEnd(ended: Delivered | Failed): PurchaseResult {
  const isDelivered = ended.stage === 'delivered';
  const status = isDelivered ? 'SUCCESS' : 'FAILED';
  const reason = isDelivered ? undefined : ended.refusal.reason;
  setCurrentDetails(
    isDelivered ? 'Delivered and settled.' : `Ended without delivery: ${reason}. No money is kept.`,
  );
  show([
    { key: PURCHASE_STATUS, value: status },
    { key: NEEDS_ATTENTION, value: false },
    { key: REASON, value: reason ?? null },
    ...(isDelivered && ended.iccid !== undefined ? [{ key: ICCID, value: ended.iccid }] : []),
  ]);
  return { status, ...(reason === undefined ? {} : { reason }) };
}
