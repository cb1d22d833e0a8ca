/**
 * Delivery: each attempt reads the row first, asks the supplier, and writes what it learnt
 * (delivery-attempt.ts). This sets the pace: often while the buyer may wait, then less and less often, and a
 * person is asked.
 */
import { sleep } from '@temporalio/activity';
import { nextSupplierCheck, type PurchaseTimings } from '../../src/purchases/purchase.ts';
import { flagAttention } from '../../src/purchases/store/purchases.ts';
import type { DeliverRequest, DeliveryResult, Waiting } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptDelivery } from './delivery-attempt.ts';
import type { Again } from './settle.ts';

/** No step is given longer, and none asks the supplier more often than this. */
const MAX_BUDGET_MS = 60_000;
const MIN_PAUSE_MS = 20;

/**
 * Orders where needed, checks for the result and settles, repeatedly within the budget; a budget of 0 is one
 * attempt. What to order, and what may be in flight, is on the rows: the request only sets the pace.
 */
export async function deliver(
  deps: ActivityDeps,
  { transactionId, budgetMs, timings }: DeliverRequest,
): Promise<DeliveryResult> {
  const endsAtMs = performance.now() + Math.min(budgetMs, MAX_BUDGET_MS);
  let pauseMs = timings.checkFirstMs;
  let attempt = await attemptDelivery(deps, transactionId);
  for (;;) {
    if (attempt.state !== 'again') return attempt;
    const waitMs = Math.max(pauseMs, attempt.waitAtLeastMs ?? 0, MIN_PAUSE_MS);
    if (attempt.isStuck || performance.now() + waitMs >= endsAtMs) return wait(deps, attempt, timings);
    await sleep(waitMs);
    pauseMs = Math.min(pauseMs * 2, timings.checkMaxMs);
    attempt = await attemptDelivery(deps, transactionId, attempt.accepted);
  }
}

async function wait(deps: ActivityDeps, attempt: Again, timings: PurchaseTimings): Promise<Waiting> {
  const { delivery, reason, isStuck = false, waitAtLeastMs = 0, waitAtMostMs = Infinity } = attempt;
  const why = `for the delivery: ${attempt.why}`;
  const elapsedMs = delivery.elapsedMs + performance.now() - attempt.readAtMs;
  const { delayMs, needsAttention } = nextSupplierCheck(elapsedMs, timings);
  const waitMs = Math.trunc(Math.max(Math.min(delayMs, waitAtMostMs), waitAtLeastMs, MIN_PAUSE_MS));
  if (!isStuck && !needsAttention) return { state: 'waiting', waitMs, why };
  const { transactionId } = delivery;
  if (!delivery.needsAttention && (await flagAttention(deps.db, transactionId, reason)))
    deps.events.purchaseNeedsAttention({ transactionId, reason });
  return { state: 'waiting', waitMs, why, attention: reason };
}
