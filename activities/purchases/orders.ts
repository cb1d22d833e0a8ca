/**
 * The purchase's database steps. Each is one transaction keyed by the purchase, so running it twice changes
 * nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import { enqueueStatus } from '../../src/purchases/store/purchases.ts';
import { nextAction } from '../../src/operations/store/actions.ts';
import { findVendors, findPurchase } from '../../src/purchases/store/reads.ts';
import type { DeliveryResult, OrderActivities } from '../../workflows/contract.ts';
import type { Refusal } from '../../src/domain/refusals.ts';
import { openedAs, type Opened, type OpenedFunding } from '../../src/payments/opened.ts';
import type { FundingInput } from '../../src/payments/rules.ts';
import { openOwnDetails } from '../../src/payments/own-details.ts';
import { openFunding, type OpeningOptions } from '../../src/payments/store/opening.ts';
import { findFunding, TOO_MANY_UNPAID } from '../../src/payments/store/payments.ts';
import type { FrozenKind, TermsVerdict } from '../../src/platform/frozen-terms.ts';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { openPurchase } from '../../src/purchases/store/opening.ts';
import type { ActivityDeps } from '../deps.ts';
import { performAction } from '../operations/perform-action.ts';
import { deliver } from './deliver.ts';

export function createOrderActivities(deps: ActivityDeps): OrderActivities {
  const { db } = deps;
  return {
    tryDelivering: createInlineAttempt(deps),
    ...createOpeningActivities(deps),
    enqueueProcessingWebhook: (transactionId) => enqueueStatus(db, transactionId, 'PROCESSING'),
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

/** Tolerance for the clocks of two machines. */
const CLOCKS_DIFFER_MS = 1_000;

const UNSIGNED = 'our API has not signed it';
const NOT_AS_ON_RECORD = 'its account, payment method or price is not the one on record, which stays';
const NOT_VERIFIED: Refusal = { reason: 'NOT_VERIFIED', detail: UNSIGNED };
const TOO_OLD: Readonly<Record<FrozenKind, Refusal>> = {
  purchase: { reason: 'PRICE_CHANGED', detail: 'its price was frozen more than a day ago' },
  funding: { reason: 'PAYMENT_NOT_OPENED', detail: 'its price was frozen more than a day ago' },
};

/** The first step of every workflow: opens or finds its row, and returns the row's stage. */
function createOpeningActivities(deps: ActivityDeps): Pick<OrderActivities, 'openPurchase' | 'openFunding'> {
  const { db, clock, terms } = deps;
  return {
    openPurchase: async (input, startedAt) => {
      const verdict = terms.verify('purchase', input, clock.now());
      if (verdict === 'not-ours') return findUnsignedPurchase(deps, input);
      const common = optionsOf(deps, { kind: 'purchase', input, startedAt, verdict });
      const options = { ...common, now: clock.now() };
      const opened = await openPurchase(db, input, options);
      countIfUnpaid(deps, input, opened);
      return opened;
    },
    openFunding: async (input, startedAt) => {
      const verdict = terms.verify('funding', input, clock.now());
      if (verdict === 'not-ours') return findUnsignedFunding(deps, input);
      const options = optionsOf(deps, { kind: 'funding', input, startedAt, verdict });
      const opened = await openFunding(db, input, clock.now(), options);
      countIfUnpaid(deps, input, opened);
      return opened;
    },
  };
}

interface Opening {
  readonly kind: FrozenKind;
  readonly input: PurchaseInput | FundingInput;
  /** Of the workflow. */
  readonly startedAt: string;
  readonly verdict: TermsVerdict;
}

function optionsOf(
  { clock, events, unpaidLimits, webhooks }: ActivityDeps,
  { kind, input, startedAt, verdict }: Opening,
): OpeningOptions & { readonly keepRefusal: () => boolean } {
  const { transactionId, timings } = input;
  const startedAtMs = Date.parse(startedAt);
  return {
    unpaidLimits,
    ownDetails: openOwnDetails(webhooks.secretBox, input),
    // Overloaded: a quarter of the buyer's wait is over, and the rest may pass before the answer arrives.
    keepRefusal: () => (clock.now().getTime() - startedAtMs) * 4 >= timings.answerWithinMs,
    refusal: verdict === 'too-old' ? TOO_OLD[kind] : undefined,
    // A step that runs twice finds its own refusal. Our API starts no workflow under a refused id.
    onRefusedBefore: (at) => {
      if (startedAtMs <= at.getTime() + CLOCKS_DIFFER_MS) return;
      const detail = `it was refused at ${at.toISOString()}, and sent again`;
      events.unverifiedRequest({ what: kind, transactionId, detail });
    },
    onNotRecorded: (detail) => events.rowRefused({ step: OPENING_STEPS[kind], transactionId, detail }),
  };
}

const OPENING_STEPS = { purchase: 'openPurchase', funding: 'openFunding' } as const satisfies Record<
  FrozenKind,
  keyof OrderActivities
>;

function countIfUnpaid(
  { events }: ActivityDeps,
  { accountId }: { readonly accountId: string },
  opened: Opened,
): void {
  if (opened.stage === 'failed' && opened.refusal.reason === TOO_MANY_UNPAID.reason)
    events.unpaidRefused({ accountId });
}

/** Operators restart workflows from rows, unsigned: the row decides. Without a row, writes nothing. */
async function findUnsignedPurchase(
  { db, events }: ActivityDeps,
  {
    transactionId,
    accountId,
    paymentMethod,
    quote,
  }: Partial<PurchaseInput> & Pick<PurchaseInput, 'transactionId'>,
): Promise<Opened> {
  const found = await findPurchase(db, transactionId);
  if (!found) {
    events.unverifiedRequest({ what: 'purchase', transactionId, detail: UNSIGNED });
    return { stage: 'failed', refusal: NOT_VERIFIED };
  }
  const { account_id, payment_method, price_minor, currency, status, reason } = found.purchase;
  const onRecord = [account_id, payment_method, String(price_minor), currency];
  if (!isDeepStrictEqual([accountId, paymentMethod, quote?.priceMinor, quote?.currency], onRecord))
    events.unverifiedRequest({ what: 'purchase', transactionId, detail: NOT_AS_ON_RECORD });
  return openedAs(status, reason);
}

async function findUnsignedFunding(
  { db, events }: ActivityDeps,
  { transactionId, accountId, paymentMethod, amountMinor, currency }: FundingInput,
): Promise<OpenedFunding> {
  const funding = await findFunding(db, transactionId);
  if (!funding) {
    events.unverifiedRequest({ what: 'funding', transactionId, detail: UNSIGNED });
    return { stage: 'failed', refusal: NOT_VERIFIED };
  }
  const onRecord = [
    funding.account_id,
    funding.payment_method,
    String(funding.amount_minor),
    funding.currency,
  ];
  if (!isDeepStrictEqual([accountId, paymentMethod, amountMinor, currency], onRecord))
    events.unverifiedRequest({ what: 'funding', transactionId, detail: NOT_AS_ON_RECORD });
  return openedAs(funding.status, funding.reason);
}
