/** The purchase's database steps. Each is one transaction keyed by the purchase, so running it twice changes nothing. */
import { isDeepStrictEqual } from 'node:util';
import { reopenDelivery } from '../../src/purchases/store/deliveries.ts';
import { CLAIMS, type FundingInput } from '../../src/payments/rules.ts';
import {
  findFunding,
  flagMoney,
  openFunding,
  TOO_MANY_UNPAID,
} from '../../src/payments/store/payments.ts';
import { asFailureReason, type Refusal } from '../../src/domain/refusals.ts';
import type { Opened, PurchaseInput } from '../../src/purchases/purchase.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import { findPurchase } from '../../src/purchases/store/reads.ts';
import { enqueueStatus } from '../../src/purchases/store/messages.ts';
import { failRefused, flagAttention } from '../../src/purchases/store/purchases.ts';
import { messagesOf, newPendingMessages } from '../../src/webhooks/store/messages.ts';
import type { DeliverOutcome, OrderActivities } from '../../workflows/contract.ts';
import { ATTENTION_REASONS, type AttentionReason } from '../../src/domain/states.ts';
import type { ActivityDeps } from '../deps.ts';
import { createActionActivities } from '../operations/actions.ts';
import { deliver } from './deliver.ts';

/** Only an open purchase can need attention for these. The other reasons are about money, also after the purchase is closed. */
const OPEN_PURCHASES_ONLY = new Set<AttentionReason>([
  'SUPPLIER_NEVER_ALLOCATED',
  'SUPPLIER_OUTCOME_UNKNOWN',
  'DELIVERY_STEP_FAILED',
  'SETTLE_FAILED',
  'UNDO_FAILED',
]);

/** Tolerance for the clocks of two machines. */
const CLOCKS_DIFFER_MS = 1_000;
export function createOrderActivities(deps: ActivityDeps): OrderActivities {
  const { db, supplier, clock, events, unpaidLimits } = deps;
  return {
    tryDelivering: createInlineAttempt(deps),
    openPurchase: async (input, startedAt) => {
      const verdict = deps.terms.verify('purchase', input, clock.now());
      if (verdict === 'not-ours') return refuseUnsigned(deps, input);
      const pending = newPendingMessages();
      const options = {
        now: clock.now(),
        supplier: supplier.name,
        gateway: deps.gateway.name,
        unpaidLimits,
        keepRefusal: () => isLate(deps, startedAt, input),
        refusal: verdict === 'too-old' ? TOO_OLD : undefined,
        onRefusedBefore: (at: Date) =>
          alertIfSentAgain(deps, { what: 'purchase', transactionId: input.transactionId, startedAt, at }),
      };
      const opened = await openPurchase(db, input, options, pending);
      if (!opened.opened) countIfUnpaid(deps, input, opened.refusal);
      return { ...opened, ...messagesOf(pending) };
    },
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
    openFunding: (input, startedAt) => openSignedFunding(deps, input, startedAt),
    ...createActionActivities(deps),
  };
}

const UNSIGNED = 'our API has not signed it';
const NOT_AS_ON_RECORD = 'its account, payment method or price is not the one on record, which stays';
const NOT_VERIFIED: Refusal = { reason: 'NOT_VERIFIED', detail: UNSIGNED };
const TOO_OLD: Refusal = { reason: 'PRICE_CHANGED', detail: 'its price was frozen more than a day ago' };
const FUNDING_TOO_OLD: Refusal = { ...TOO_OLD, reason: 'PAYMENT_NOT_OPENED' };

/** The row decides where there is one: earlier builds signed nothing, and operators start workflows again from rows. Otherwise nothing is written. */
async function refuseUnsigned(
  { db, events }: ActivityDeps,
  input: Partial<PurchaseInput> & Pick<PurchaseInput, 'transactionId'>,
): Promise<Opened> {
  const { transactionId, accountId, paymentMethod, quote } = input;
  const found = await findPurchase(db, transactionId);
  if (!found) {
    events.unverifiedRequest({ what: 'purchase', transactionId, detail: UNSIGNED });
    return { opened: false, refusal: NOT_VERIFIED };
  }
  const { account_id, payment_method, price_minor, currency, reason } = found.purchase;
  const onRecord = [account_id, payment_method, String(price_minor), currency];
  if (!isDeepStrictEqual([accountId, paymentMethod, quote?.priceMinor, quote?.currency], onRecord))
    events.unverifiedRequest({ what: 'purchase', transactionId, detail: NOT_AS_ON_RECORD });
  return reason === null
    ? { opened: true }
    : { opened: false, refusal: { reason: asFailureReason(reason), detail: '' } };
}

function countIfUnpaid(
  { events }: ActivityDeps,
  { accountId }: { readonly accountId: string },
  { reason }: Refusal,
): void {
  if (reason === TOO_MANY_UNPAID.reason) events.unpaidRefused({ accountId });
}

interface RefusedBefore {
  readonly what: 'purchase' | 'funding';
  readonly transactionId: string;
  /** Of the workflow; absent in histories of earlier builds. */
  readonly startedAt: string | undefined;
  readonly at: Date;
}

/** A step that runs twice finds the refusal of its first run. Our API starts no workflow under an id that was refused. */
function alertIfSentAgain(
  { events }: ActivityDeps,
  { what, transactionId, startedAt, at }: RefusedBefore,
): void {
  if (startedAt === undefined || Date.parse(startedAt) <= at.getTime() + CLOCKS_DIFFER_MS) return;
  const detail = `it was refused at ${at.toISOString()}, and sent again`;
  events.unverifiedRequest({ what, transactionId, detail });
}

/** Overloaded: a quarter of the buyer's wait is over, and the rest may pass before the answer arrives. */
function isLate(
  { clock }: ActivityDeps,
  startedAt: string,
  { timings }: { readonly timings: { readonly answerWithinMs: number } },
): boolean {
  return (clock.now().getTime() - Date.parse(startedAt)) * 4 >= timings.answerWithinMs;
}

async function openSignedFunding(
  deps: ActivityDeps,
  input: FundingInput,
  startedAt: string | undefined,
): Promise<Refusal | undefined> {
  const { db, clock, events, unpaidLimits } = deps;
  const { transactionId } = input;
  const verdict = deps.terms.verify('funding', input, clock.now());
  if (verdict !== 'not-ours') {
    const refusal = await openFunding(db, input, clock.now(), {
      gateway: deps.gateway.name,
      unpaidLimits,
      keepRefusal: () => startedAt !== undefined && isLate(deps, startedAt, input),
      refusal: verdict === 'too-old' ? FUNDING_TOO_OLD : undefined,
      onRefusedBefore: (at) => alertIfSentAgain(deps, { what: 'funding', transactionId, startedAt, at }),
    });
    if (refusal) countIfUnpaid(deps, input, refusal);
    return refusal;
  }
  const funding = await findFunding(db, transactionId);
  if (!funding) {
    events.unverifiedRequest({ what: 'funding', transactionId, detail: UNSIGNED });
    return NOT_VERIFIED;
  }
  const { account_id, payment_method, amount_minor, currency } = funding;
  const onRecord = [account_id, payment_method, String(amount_minor), currency];
  if (!isDeepStrictEqual([input.accountId, input.paymentMethod, input.amountMinor, input.currency], onRecord))
    events.unverifiedRequest({ what: 'funding', transactionId, detail: NOT_AS_ON_RECORD });
  return undefined;
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
