/** The purchase's steps in our own Postgres. Each is one transaction keyed by the purchase, so running it twice is running it once. */
import { closeFundingUnpaid, openFunding } from '../src/store/fundings.ts';
import { flagMoney } from '../src/store/payments.ts';
import { closeUnpaid, failPurchase, flagAttention, openPurchase } from '../src/store/purchases.ts';
import type { AttentionReason, OrderActivities } from '../workflows/contract.ts';
import type { ActivityDeps } from './deps.ts';
import { createQuickTry } from './quick-try.ts';

/** What only an open purchase can be stuck in; all else is about money, which may be stuck after the purchase is closed. */
const OPEN_PURCHASES_ONLY = new Set<AttentionReason>([
  'SUPPLIER_NEVER_ALLOCATED',
  'SUPPLIER_OUTCOME_UNKNOWN',
  'DELIVERY_STEP_FAILED',
  'SETTLE_FAILED',
  'UNDO_FAILED',
]);

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
      if (OPEN_PURCHASES_ONLY.has(reason)) await flagAttention(db, transactionId, reason);
      else await flagMoney(db, transactionId, reason);
      events.purchaseNeedsAttention({ transactionId, reason });
    },
    closeUnpaid: async (transactionId, purpose, reason) => {
      const close = purpose === 'purchase' ? closeUnpaid : closeFundingUnpaid;
      const closed = await close(db, transactionId, reason);
      if (closed === 'closed') events.purchaseFailed({ transactionId, reason, detail: `unpaid ${purpose}` });
      return closed;
    },
    openFunding: (input) => openFunding(db, input, clock.now()),
  };
}
