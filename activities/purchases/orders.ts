/**
 * The purchase's database steps. Each is one transaction keyed by the purchase, so running it twice changes
 * nothing.
 */
import { enqueueStatus } from '../../src/purchases/store/purchases.ts';
import { nextAction } from '../../src/operations/store/actions.ts';
import { findVendors } from '../../src/purchases/store/reads.ts';
import { messagesOf, newPendingMessages } from '../../src/webhooks/store/messages.ts';
import type { DeliveryResult, OrderActivities } from '../../workflows/contract.ts';
import type { ActivityDeps } from '../deps.ts';
import { performAction } from '../operations/perform-action.ts';
import { deliver } from './deliver.ts';
import { createOpeningActivities } from './opening.ts';

export function createOrderActivities(deps: ActivityDeps): OrderActivities {
  const { db } = deps;
  return {
    tryDelivering: createInlineAttempt(deps),
    ...createOpeningActivities(deps),
    enqueueProcessingWebhook: async (transactionId) => {
      const pending = newPendingMessages();
      await enqueueStatus(db, transactionId, 'PROCESSING', pending);
      return messagesOf(pending).messages;
    },
    findVendors: (transactionId) => findVendors(db, transactionId),
    nextAction: (transactionId) => nextAction(db, transactionId),
    performAction: (actionId) => performAction(deps, actionId),
  };
}

/** A fast supplier answers the order and the profile query well within this. */
const SLOW_MS = 800;
const REST_MS = 10_000;

const USE_QUEUE: DeliveryResult = {
  state: 'waiting',
  waitMs: 0,
  why: 'for the supplier, which is slow and is asked over its queue',
};

/**
 * The delivery attempt inside a purchase's workflow task. Task slots are few and shared by all purchases, so
 * after a slow answer the supplier is only asked over its own queue for a while, and nothing is sent here.
 */
function createInlineAttempt(deps: ActivityDeps): OrderActivities['tryDelivering'] {
  let restsUntilMs = 0;
  return async (request) => {
    const startedAtMs = performance.now();
    if (startedAtMs < restsUntilMs) return USE_QUEUE;
    try {
      return await deliver(deps, { ...request, budgetMs: 0 });
    } finally {
      const endedAtMs = performance.now();
      if (endedAtMs - startedAtMs > SLOW_MS) restsUntilMs = endedAtMs + REST_MS;
    }
  };
}
