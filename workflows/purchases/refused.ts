/**
 * Gives the money back after the supplier refused. Only a final refusal counts, and only while our row agrees: no order was sent since, and nothing
 * was delivered. Never cancelled, and safe to run twice.
 */
import { sleep, TemporalFailure } from '@temporalio/workflow';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import type { DeliverOutcome } from '../contract.ts';
import type { Outbox } from '../webhooks/start-deliveries.ts';
import { failPurchase, withdrawOrder } from '../steps.ts';

export type Refused = Extract<DeliverOutcome, { outcome: 'refused' }>;

/**
 * `not-yet`: an earlier order may still arrive, so the supplier must be asked again after the grace period. `failed`: our ledger does not allow it,
 * and a person must find out why.
 */
export async function giveBack(
  { transactionId }: PurchaseInput,
  { refusal, afterDoubt: mayStillArrive, asks: orderAttempts }: Refused,
  outbox: Outbox,
): Promise<'given-back' | 'not-yet' | 'failed'> {
  if (mayStillArrive) return 'not-yet';
  try {
    const closed = await failPurchase(transactionId, refusal, orderAttempts);
    if (closed === 'open') return 'not-yet';
    outbox.add(closed);
    return 'given-back';
  } catch (error) {
    if (error instanceof TemporalFailure) return 'failed';
    throw error;
  }
}

/** How earlier builds ended a refusal. Histories of open purchases hold these steps. */
export async function giveBackLegacy(
  { transactionId, timings }: PurchaseInput,
  { refusal, afterDoubt: hadUnknownOutcome }: Refused,
  { outbox, onUnknownOutcome }: { readonly outbox: Outbox; readonly onUnknownOutcome: () => Promise<void> },
): Promise<'given-back' | 'failed'> {
  if (hadUnknownOutcome) {
    await onUnknownOutcome();
    await sleep(timings.doubtMs, { summary: 'until nothing sent earlier can still arrive' });
  }
  try {
    if (!(await withdrawOrder(transactionId))) return 'failed';
    const closed = await failPurchase(transactionId, refusal);
    // Nothing was given back: the refusal is not on the purchase's row.
    if (closed === 'open') return 'failed';
    outbox.add(closed);
    return 'given-back';
  } catch (error) {
    if (error instanceof TemporalFailure) return 'failed';
    throw error;
  }
}
