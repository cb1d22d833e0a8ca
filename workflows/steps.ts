/**
 * How workflows run their steps: our database as local activities, network calls as activities on their
 * vendor's queue. The options and time limits of every step are here, with its reason.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  sleep,
  TemporalFailure,
  workflowInfo,
  type ActivityOptions,
} from '@temporalio/workflow';
import { databaseRetryDelayMs, type PurchaseInput } from '../src/purchases/purchase.ts';
import type { PaymentPurpose } from '../src/domain/states.ts';
import type { Vendors } from '../src/payments/opened.ts';
import { continueAsNewIfSuggested } from './runs.ts';
import {
  gatewayQueue,
  OPS_QUEUE,
  supplierQueue,
  type CollectRequest,
  type CollectResult,
  type DeliveryResult,
  type DeliverRequest,
  type FollowMoneyRequest,
  type FollowStep,
  type GatewayActivities,
  type OpenAction,
  type OpsActivities,
  type OrderActivities,
  type PaymentCheckState,
  type PerformedAction,
  type ReplacementInput,
  type ReturnInput,
  type StepResult,
  type SupplierActivities,
} from './contract.ts';
import { NEEDS_ATTENTION, REASON, show } from './search-attributes.ts';

/**
 * One attempt may outlast Postgres's statement timeout (2 s). All attempts together stay under 80 % of the
 * purchase's workflow task timeout (5 s): past that, the SDK writes three events every four seconds.
 */
const OWN_DATABASE = {
  startToCloseTimeout: '2500ms',
  scheduleToCloseTimeout: '3500ms',
  // Five attempts that fail immediately take 1.5 s. The SDK applies the limit above to slow attempts only.
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumAttempts: 5 },
} as const;

/** After this long without our database, the alert fires. */
const ATTENTION_AFTER_MS = 60_000;

type Step = (...args: never[]) => Promise<unknown>;

/**
 * A step in our database, run inside the workflow task. Retried until it succeeds, unless its error is
 * permanent.
 */
function databaseStep<Name extends keyof OrderActivities>(
  name: Name,
  summary: string,
): OrderActivities[Name] {
  const step = proxyLocalActivities<OrderActivities>({ ...OWN_DATABASE, summary })[name] as Step;
  return ((...args: never[]) => retryUntilDone(summary, () => step(...args))) as OrderActivities[Name];
}

async function retryUntilDone<T>(what: string, step: () => Promise<T>): Promise<T> {
  const beganAtMs = Date.now();
  let shownBefore: Parameters<typeof show>[0] | undefined;
  for (;;) {
    try {
      const done = await step();
      if (shownBefore) show(shownBefore);
      return done;
    } catch (error) {
      if (!(error instanceof TemporalFailure) || isPermanent(error)) throw error;
      setCurrentDetails(`Our database fails in this step, which is retried: ${what}.`);
      const failsForMs = Date.now() - beganAtMs;
      if (failsForMs >= ATTENTION_AFTER_MS && !shownBefore) {
        // Attention may be needed for something else as well.
        const { typedSearchAttributes: shown } = workflowInfo();
        shownBefore = [
          { key: NEEDS_ATTENTION, value: shown.get(NEEDS_ATTENTION) ?? false },
          { key: REASON, value: shown.get(REASON) ?? null },
        ];
        show([
          { key: NEEDS_ATTENTION, value: true },
          { key: REASON, value: 'OWN_STEP_FAILS' },
        ]);
      }
      // The rows say where the next run begins. Callers have been answered by their deadlines by then.
      continueAsNewIfSuggested();
      await sleep(databaseRetryDelayMs(failsForMs), { summary: `before trying again: ${what}` });
    }
  }
}

/**
 * A failure replayed from history may have fewer wrappers than when it happened, so the whole chain is
 * searched.
 */
function isPermanent(failure: TemporalFailure): boolean {
  for (let error: unknown = failure; error instanceof TemporalFailure; error = error.cause)
    if (error instanceof ApplicationFailure && error.nonRetryable === true) return true;
  return false;
}

export const openPurchase = databaseStep('openPurchase', 'Open: purchase, order and hold in one transaction');
export const openFunding = databaseStep('openFunding', 'Open: the wallet is to be funded');
const enqueueProcessing = databaseStep('enqueueProcessingWebhook', 'Enqueue the PROCESSING webhook');

/** A message that our database refuses is on record there; the purchase goes on without it. */
export const enqueueProcessingWebhook = (transactionId: string): Promise<void> =>
  orLost(enqueueProcessing(transactionId));

export const nextAction = databaseStep('nextAction', 'Operator: the next open action');
const inDatabase = { performAction: databaseStep('performAction', 'Operator: perform the action') };

/** Opening (2.5 s) and this attempt end before the SDK must extend the 5 s workflow task. */
const INLINE_ATTEMPT_MS = 1_200;
/** Time for our own steps between the supplier's last answer and the moment the buyer must be answered. */
const ANSWER_MARGIN_MS = 500;
/**
 * An order, the search for it and a profile query take up to 5 s each; waiting for the supplier's rate limit
 * counts too. What is late is retried.
 */
const SUPPLIER_CHECK_MS = 15_000;
/**
 * Steps send a heartbeat every second or two: a lost task, or one whose worker died, is retried after this.
 */
const HEARTBEAT_TIMEOUT_MS = 5_000;

const deliverRequest = ({ transactionId, timings }: PurchaseInput, budgetMs: number): DeliverRequest => ({
  transactionId,
  budgetMs,
  timings,
});

/**
 * One attempt inside the purchase's own workflow task. A fast supplier saves the round trip over its queue,
 * half of what a purchase costs. Safe to lose: the order attempt is counted before it is sent, and a repeat
 * under the same id is the same order.
 */
export function tryDelivering({
  transactionId,
  timings,
}: PurchaseInput): Promise<DeliveryResult | undefined> {
  const { tryDelivering: tryOnce } = proxyLocalActivities<OrderActivities>({
    startToCloseTimeout: Math.min(INLINE_ATTEMPT_MS, Math.trunc(timings.answerWithinMs / 4)),
    retry: { maximumAttempts: 1 },
    summary: 'Deliver and settle: one inline attempt at the supplier',
  });
  return orLost(tryOnce({ transactionId, timings }));
}

export const findVendors = databaseStep('findVendors', 'Find its supplier and its gateway');

/** On the queue of its supplier. Undefined where no row names one. */
const supplierSteps = ({ supplier }: Vendors, options: ActivityOptions): SupplierActivities | undefined =>
  supplier
    ? proxyActivities<SupplierActivities>({
        taskQueue: supplierQueue(supplier),
        heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
        ...options,
      })
    : undefined;

/** As many attempts as fit before the buyer must be answered. */
export function deliverWhileBuyerWaits(
  vendors: Vendors,
  input: PurchaseInput,
  elapsedMs: number,
): Promise<DeliveryResult | undefined> {
  const leftMs = input.timings.answerWithinMs - elapsedMs - ANSWER_MARGIN_MS;
  const limitMs = Math.max(ANSWER_MARGIN_MS, leftMs);
  const supplier = supplierSteps(vendors, {
    scheduleToCloseTimeout: limitMs,
    retry: { initialInterval: '250ms', backoffCoefficient: 2, maximumInterval: '2s' },
    summary: 'Deliver and settle: order at the supplier and fetch the profile',
  });
  return orLost(supplier?.deliver(deliverRequest(input, Math.max(0, limitMs - ANSWER_MARGIN_MS))));
}

/** One later attempt. */
export function deliverOnce(vendors: Vendors, input: PurchaseInput): Promise<DeliveryResult | undefined> {
  const supplier = supplierSteps(vendors, {
    startToCloseTimeout: SUPPLIER_CHECK_MS,
    retry: { maximumAttempts: 1 },
    summary: 'Check the supplier again, and settle',
  });
  return orLost(supplier?.deliver(deliverRequest(input, 0)));
}

/** Two looks at the profile and a cancellation: up to 5 s each, behind the supplier's rate limit. */
const RETURN_STEP_MS = 25_000;

/** The steps of a return, or of a replacement. */
const followSteps = (supplier: string, startToCloseTimeout: number, summary: string) =>
  proxyActivities<SupplierActivities>({
    taskQueue: supplierQueue(supplier),
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    startToCloseTimeout,
    retry: { maximumAttempts: 1 },
    summary,
  });

/** One step of a return. Undefined: its answer was lost. */
export function followReturn({ supplier, returnId }: ReturnInput): Promise<FollowStep | undefined> {
  const summary = 'Ask the supplier, cancel there, and give the money back';
  return orLost(followSteps(supplier, RETURN_STEP_MS, summary).followReturn(returnId));
}

/** A look at the profile, a purchase that is waited for and a revocation with its look. */
const REPLACEMENT_STEP_MS = 35_000;

/** One step of a replacement. Undefined: its answer was lost. */
export function followReplacement({
  supplier,
  replacementId,
}: ReplacementInput): Promise<FollowStep | undefined> {
  const summary = 'Ask the supplier, have the new eSIM bought, and revoke the old one';
  return orLost(followSteps(supplier, REPLACEMENT_STEP_MS, summary).followReplacement(replacementId));
}

/** One gateway check and its bookings, at most 5 s in the HTTP client for each try of the payment. */
const GATEWAY_CHECK_MS = 20_000;

/** On the queue of the gateway of its payment. Undefined where there is no payment. */
const gatewaySteps = (
  { gateway }: Vendors,
  summary: string,
  startToCloseTimeout = GATEWAY_CHECK_MS,
  maximumAttempts = 1,
): GatewayActivities | undefined =>
  gateway
    ? proxyActivities<GatewayActivities>({
        taskQueue: gatewayQueue(gateway),
        startToCloseTimeout,
        heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
        retry: { maximumAttempts },
        summary,
      })
    : undefined;

/** Opens the payment with retries within the budget, or checks it. */
export function collectPayment(
  vendors: Vendors,
  request: CollectRequest,
): Promise<CollectResult | undefined> {
  const summary = 'Collect: open the payment at the gateway, or check it';
  const gateway = gatewaySteps(vendors, summary, request.budgetMs + GATEWAY_CHECK_MS);
  return orLost(gateway?.collectPayment(request));
}

/**
 * Checks the payment at the gateway and books the result. Undefined: its answer was lost, and the rows say
 * what it booked.
 */
export async function checkPayment(
  vendors: Vendors,
  transactionId: string,
  purpose: PaymentPurpose,
): Promise<PaymentCheckState | undefined> {
  const gateway = gatewaySteps(vendors, 'Check the payment at the gateway');
  return orLost(gateway?.checkPayment(transactionId, purpose));
}

/** Sends refunds, or checks them and disputes. Done where there is no payment. */
export async function followMoney(
  vendors: Vendors,
  request: FollowMoneyRequest,
): Promise<StepResult | undefined> {
  const gateway = gatewaySteps(vendors, 'Money: send refunds, check refunds and disputes');
  return gateway ? orLost(gateway.followMoney(request)) : { state: 'done' };
}

/** Waits until nothing that was sent earlier can still arrive, and asks several times. */
const WITHDRAW_MS = 180_000;
const ACTION_ATTEMPTS = 3;

/**
 * Undefined: no worker performed it, or its answer was lost. The row says which. Our database performs it
 * where no row names a vendor.
 */
export function performAction(
  vendors: Vendors,
  { actionId, runsOn }: OpenAction,
): Promise<PerformedAction | undefined> {
  const summary = 'Operator: perform the action';
  const perform = (step: Pick<OrderActivities, 'performAction'> = inDatabase) =>
    orLost(step.performAction(actionId));
  switch (runsOn) {
    case 'orders':
      return perform();
    case 'supplier':
      return perform(
        supplierSteps(vendors, {
          startToCloseTimeout: WITHDRAW_MS,
          retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: ACTION_ATTEMPTS },
          summary,
        }),
      );
    case 'gateway':
      return perform(gatewaySteps(vendors, summary, GATEWAY_CHECK_MS, ACTION_ATTEMPTS));
  }
}

const { syncCatalogue } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '1m',
  scheduleToCloseTimeout: '2m',
  retry: { initialInterval: '5s', maximumAttempts: 3 },
  summary: 'Sync the catalogue, which this sale showed to be out of date',
});

/**
 * After a sale that showed the catalogue to be out of date. It may give up: the hourly schedule catches up.
 */
export async function syncCatalogueOnce(): Promise<void> {
  try {
    await syncCatalogue({ unlessSyncedWithinMs: 60_000 });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
  }
}

/**
 * Undefined: the step ended without an answer. It may have taken effect, so its next run reads the rows
 * first.
 */
async function orLost<T>(step: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof TemporalFailure) return undefined;
    throw error;
  }
}
