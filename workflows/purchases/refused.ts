/**
 * Gives the money back for a purchase that its supplier has refused. Only the supplier's last word counts, and only while our row agrees: no order
 * was sent since, and nothing was delivered. Never cancelled, and safe to run twice.
 */
import { sleep, TemporalFailure } from '@temporalio/workflow';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import type { DeliverOutcome } from '../contract.ts';
import type { Outbox } from '../webhooks/start-deliveries.ts';
import { failPurchase, withdrawOrder } from '../steps.ts';

export type Refused = Extract<DeliverOutcome, { outcome: 'refused' }>;

/**
 * `not-yet`: what was sent before may still be taken, so the supplier is to be asked again after the grace period. `failed`: our books do not
 * allow it, for a person to find out why.
 */
export async function giveBack(
  { transactionId }: PurchaseInput,
  { refusal, afterDoubt, asks }: Refused,
  outbox: Outbox,
): Promise<'given-back' | 'not-yet' | 'failed'> {
  if (afterDoubt) return 'not-yet';
  try {
    const closed = await failPurchase(transactionId, refusal, asks);
    if (closed === 'open') return 'not-yet';
    outbox.add(closed);
    return 'given-back';
  } catch (error) {
    if (error instanceof TemporalFailure) return 'failed';
    throw error;
  }
}

/** How builds of before ended a refusal, for purchases that had come to it by then: their histories hold these steps. */
export async function giveBackLegacy(
  { transactionId, timings }: PurchaseInput,
  { refusal, afterDoubt }: Refused,
  { outbox, onDoubt }: { readonly outbox: Outbox; readonly onDoubt: () => Promise<void> },
): Promise<'given-back' | 'failed'> {
  if (afterDoubt) {
    await onDoubt();
    await sleep(timings.doubtMs, { summary: 'until nothing sent earlier can still arrive' });
  }
  try {
    if (!(await withdrawOrder(transactionId))) return 'failed';
    const closed = await failPurchase(transactionId, refusal);
    if (closed !== 'open') outbox.add(closed);
    return 'given-back';
  } catch (error) {
    if (error instanceof TemporalFailure) return 'failed';
    throw error;
  }
}
