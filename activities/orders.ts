/** The purchase's steps in our own Postgres. Each is one transaction keyed by the purchase, so running it twice is running it once. */
import { failPurchase, flagAttention, openPurchase } from '../src/store/purchases.ts';
import type { OrderActivities } from '../workflows/contract.ts';
import type { ActivityDeps } from './deps.ts';
import { createQuickTry } from './quick-try.ts';

export function createOrderActivities(deps: ActivityDeps): OrderActivities {
  const { db, supplier, clock, events } = deps;
  const quickTry = createQuickTry(deps);
  return {
    tryDelivering: quickTry,
    openPurchase: (input, startedAt) =>
      openPurchase(db, input, {
        now: clock.now(),
        supplier: supplier.name,
        // The last quarter of the buyer's wait is left for the answer's own way back.
        keepRefusal: () =>
          (clock.now().getTime() - Date.parse(startedAt)) * 4 >= input.timings.answerWithinMs * 3,
      }),
    failPurchase: async (transactionId, refusal) => {
      await failPurchase(db, transactionId, refusal);
      events.purchaseFailed({ transactionId, ...refusal });
    },
    flagAttention: async (transactionId, reason) => {
      await flagAttention(db, transactionId, reason);
      events.purchaseNeedsAttention({ transactionId, reason });
    },
  };
}
