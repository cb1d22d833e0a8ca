/** The purchase's database steps. Each is one transaction keyed by the purchase, so running it twice changes nothing. */
import { reopenDelivery } from '../../src/purchases/store/deliveries.ts';
import { flagMoney, closeFundingUnpaid, openFunding } from '../../src/payments/store/payments.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { enqueueStatus } from '../../src/purchases/store/messages.ts';
import { closeUnpaid, failPurchase, flagAttention } from '../../src/purchases/store/purchases.ts';
import { messagesOf, newPendingMessages } from '../../src/webhooks/store/messages.ts';
import type { DeliverOutcome, OrderActivities } from '../../workflows/contract.ts';
import type { AttentionReason } from '../../src/domain/states.ts';
import type { ActivityDeps } from '../deps.ts';
import { createActionActivities } from '../operations/actions.ts';
import { DEFAULT_GRACE_MS, deliver } from './deliver.ts';

/** Only an open purchase can need attention for these. The other reasons are about money, also after the purchase is closed. */
const OPEN_PURCHASES_ONLY = new Set<AttentionReason>([
  'SUPPLIER_NEVER_ALLOCATED',
  'SUPPLIER_OUTCOME_UNKNOWN',
  'DELIVERY_STEP_FAILED',
  'SETTLE_FAILED',
  'UNDO_FAILED',
]);

export function createOrderActivities(deps: ActivityDeps): OrderActivities {
  const { db, supplier, clock, events } = deps;
  return {
    tryDelivering: createInlineAttempt(deps),
    openPurchase: async (input, startedAt) => {
      const written = newPendingMessages();
      const options = {
        now: clock.now(),
        supplier: supplier.name,
        // Overloaded: a quarter of the buyer's wait is over, and the rest may pass before the answer arrives.
        keepRefusal: () =>
          (clock.now().getTime() - Date.parse(startedAt)) * 4 >= input.timings.answerWithinMs,
      };
      return { ...(await openPurchase(db, input, options, written)), ...messagesOf(written) };
    },
    failPurchase: async (transactionId, refusal, asks) => {
      const written = newPendingMessages();
      if ((await failPurchase(db, transactionId, refusal, written, asks)) === 'open') return 'open';
      events.purchaseFailed({ transactionId, ...refusal });
      return messagesOf(written).messages;
    },
    reopenDelivery: (transactionId, graceMs) =>
      reopenDelivery(db, transactionId, { now: clock.now(), graceMs }),
    tellProcessing: async (transactionId) => {
      const written = newPendingMessages();
      await enqueueStatus(db, transactionId, 'PROCESSING', written);
      return messagesOf(written).messages;
    },
    flagAttention: async (transactionId, reason) => {
      if (OPEN_PURCHASES_ONLY.has(reason)) await flagAttention(db, transactionId, reason);
      else await flagMoney(db, transactionId, reason);
      events.purchaseNeedsAttention({ transactionId, reason });
    },
    closeUnpaid: async (transactionId, purpose, reason) => {
      const written = newPendingMessages();
      const closed =
        purpose === 'purchase'
          ? await closeUnpaid(db, transactionId, reason, written)
          : await closeFundingUnpaid(db, transactionId, reason);
      if (closed !== 'closed') return closed;
      events.purchaseFailed({ transactionId, reason, detail: `unpaid ${purpose}` });
      const { messages } = messagesOf(written);
      return messages ? { closed: messages } : closed;
    },
    openFunding: (input) => openFunding(db, input, clock.now()),
    ...createActionActivities(deps),
  };
}

/** A fast supplier answers the order and the profile query well within this. */
const SLOW_MS = 800;
const REST_MS = 10_000;

const NOT_ASKED: DeliverOutcome = { outcome: 'unknown', reason: 'SUPPLIER_OUTCOME_UNKNOWN' };

/**
 * The delivery attempt inside a purchase's workflow task. Task slots are few and shared by all purchases, so after a slow answer the supplier is only
 * asked over its own queue for a while, and this answers `unknown`.
 */
function createInlineAttempt(deps: ActivityDeps): OrderActivities['tryDelivering'] {
  let restsUntilMs = 0;
  return async (transactionId, graceMs = DEFAULT_GRACE_MS) => {
    const startedAtMs = deps.clock.now().getTime();
    if (startedAtMs < restsUntilMs) return NOT_ASKED;
    try {
      return await deliver(deps, { transactionId, budgetMs: 0, lookFirstMs: 0, lookMaxMs: 0, graceMs });
    } finally {
      const endedAtMs = deps.clock.now().getTime();
      if (endedAtMs - startedAtMs > SLOW_MS) restsUntilMs = endedAtMs + REST_MS;
    }
  };
}
