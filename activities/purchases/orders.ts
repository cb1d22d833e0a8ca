/** The purchase's database steps. Each is one transaction keyed by the purchase, so running it twice changes nothing. */
import { LRUCache } from 'lru-cache';
import { reopenDelivery } from '../../src/purchases/store/deliveries.ts';
import { CLAIMS } from '../../src/payments/rules.ts';
import { closeFundingUnpaid, findPayableUntil, flagMoney } from '../../src/payments/store/payments.ts';
import { asFailureReason } from '../../src/domain/refusals.ts';
import { enqueueStatus } from '../../src/purchases/store/messages.ts';
import { closeUnpaid, failRefused, flagAttention } from '../../src/purchases/store/purchases.ts';
import { messagesOf, newPendingMessages } from '../../src/webhooks/store/messages.ts';
import type { DeliverOutcome, OrderActivities } from '../../workflows/contract.ts';
import { ATTENTION_REASONS, type AttentionReason } from '../../src/domain/states.ts';
import type { ActivityDeps } from '../deps.ts';
import { createActionActivities } from '../operations/actions.ts';
import { deliver } from './deliver.ts';
import { CLOCKS_DIFFER_MS, createOpeningActivities } from './opening.ts';

/** Only an open purchase can need attention for these. The other reasons are about money, also after the purchase is closed. */
const OPEN_PURCHASES_ONLY = new Set<AttentionReason>([
  'SUPPLIER_NEVER_ALLOCATED',
  'SUPPLIER_OUTCOME_UNKNOWN',
  'DELIVERY_STEP_FAILED',
  'SETTLE_FAILED',
  'UNDO_FAILED',
]);

/** Our clocks never differ by this much: the workflow has another expiry than the payment's row. */
const CLOSED_EARLY_MS = 60_000;
/** Payments whose alert is remembered, so that retries of a step do not count it again. */
const ALERTS_KEPT = 1_000;

export function createOrderActivities(deps: ActivityDeps): OrderActivities {
  const { db, clock, events } = deps;
  return {
    tryDelivering: createInlineAttempt(deps),
    ...createOpeningActivities(deps),
    failPurchase: async (transactionId, said) => {
      const pending = newPendingMessages();
      const refusal = await failRefused(db, transactionId, pending);
      if (refusal === 'never-refused') {
        const detail = `the supplier has not refused it for good, and not with ${said.reason}`;
        events.unverifiedRequest({ what: 'refusal', transactionId, detail });
      }
      if (typeof refusal === 'string') return 'open';
      events.purchaseFailed({ transactionId, ...refusal });
      return messagesOf(pending).messages;
    },
    reopenDelivery: (transactionId) => reopenDelivery(db, transactionId, clock.now()),
    tellProcessing: async (transactionId) => {
      const pending = newPendingMessages();
      await enqueueStatus(db, transactionId, 'PROCESSING', pending);
      return messagesOf(pending).messages;
    },
    flagAttention: async (transactionId, reason) => {
      // Only a booking may say that money is claimed back.
      if (!ATTENTION_REASONS.includes(reason) || CLAIMS.some((claim) => claim === reason)) return;
      if (OPEN_PURCHASES_ONLY.has(reason)) await flagAttention(db, transactionId, reason);
      else await flagMoney(db, transactionId, reason);
      events.purchaseNeedsAttention({ transactionId, reason });
    },
    closeUnpaid: createCloseUnpaid(deps),
    ...createActionActivities(deps),
  };
}

/** Closes what was not paid, once its time is over. */
function createCloseUnpaid({ db, clock, events }: ActivityDeps): OrderActivities['closeUnpaid'] {
  const alerted = new LRUCache<string, true>({ max: ALERTS_KEPT });
  return async (transactionId, purpose, reason) => {
    const until = await findPayableUntil(db, transactionId);
    const leftMs = (until?.getTime() ?? 0) - clock.now().getTime();
    // Retried until its time is over, or it is paid. Workers' clocks differ a little.
    if (leftMs > CLOCKS_DIFFER_MS) {
      // For other reasons it may be ours: no worker for the gateway answered while the payment was opened.
      const isEarly = reason === 'PAYMENT_EXPIRED' && leftMs > CLOSED_EARLY_MS;
      if (isEarly && !alerted.has(transactionId)) {
        alerted.set(transactionId, true);
        const detail = 'to be closed as unpaid while it can still be paid';
        events.unverifiedRequest({ what: 'payment', transactionId, detail });
      }
      throw new Error(`${transactionId} can still be paid`);
    }
    const pending = newPendingMessages();
    const closed =
      purpose === 'purchase'
        ? await closeUnpaid(db, transactionId, asFailureReason(reason), pending)
        : await closeFundingUnpaid(db, transactionId, asFailureReason(reason));
    if (closed !== 'closed') return closed;
    events.purchaseFailed({ transactionId, reason, detail: `unpaid ${purpose}` });
    const { messages } = messagesOf(pending);
    return messages ? { closed: messages } : closed;
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
  return async (transactionId) => {
    const startedAtMs = deps.clock.now().getTime();
    if (startedAtMs < restsUntilMs) return NOT_ASKED;
    try {
      return await deliver(deps, { transactionId, budgetMs: 0, lookFirstMs: 0, lookMaxMs: 0 });
    } finally {
      const endedAtMs = deps.clock.now().getTime();
      if (endedAtMs - startedAtMs > SLOW_MS) restsUntilMs = endedAtMs + REST_MS;
    }
  };
}
