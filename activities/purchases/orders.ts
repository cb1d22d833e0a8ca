/** The purchase's database steps. Each is one transaction keyed by the purchase, so running it twice changes nothing. */
import { reopenDelivery } from '../../src/purchases/store/deliveries.ts';
import { flagMoney, closeFundingUnpaid, openFunding } from '../../src/payments/store/payments.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import {
  closeUnpaid,
  failPurchase,
  flagAttention,
  enqueueProcessing,
} from '../../src/purchases/store/purchases.ts';
import { messagesOf, newPendingMessages } from '../../src/webhooks/store/messages.ts';
import type { OrderActivities } from '../../workflows/contract.ts';
import type { AttentionReason } from '../../src/domain/states.ts';
import type { ActivityDeps } from '../deps.ts';
import { createActionActivities } from '../operations/actions.ts';
import { createInlineAttempt } from './inline-attempt.ts';

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
  const inlineAttempt = createInlineAttempt(deps);
  return {
    tryDelivering: inlineAttempt,
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
      await enqueueProcessing(db, transactionId, written);
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
      if (closed === 'closed') events.purchaseFailed({ transactionId, reason, detail: `unpaid ${purpose}` });
      const { messages } = messagesOf(written);
      return closed === 'closed' && messages ? { closed: messages } : closed;
    },
    openFunding: (input) => openFunding(db, input, clock.now()),
    ...createActionActivities(deps),
  };
}
