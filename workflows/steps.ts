/**
 * How workflows run their steps: our database as local activities, network calls as activities on their vendor's queue. The options and time limits of every step are here,
 * with its reason.
 */
import {
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  sleep,
  TemporalFailure,
  upsertSearchAttributes,
  workflowInfo,
  type ActivityOptions,
} from '@temporalio/workflow';
import { databaseRetryDelayMs, type PurchaseInput } from '../src/purchases/purchase.ts';
import type { ActionStage } from '../src/operations/rules.ts';
import {
  GATEWAY_QUEUE,
  OPS_QUEUE,
  SUPPLIER_QUEUE,
  type BegunAction,
  type DeliverOutcome,
  type DeliverRequest,
  type GatewayActivities,
  type CarriedOutAction,
  type OpsActivities,
  type CollectRequest,
  type CollectStep,
  type FollowMoneyRequest,
  type OrderActivities,
  type PaymentCheckState,
  type StepResult,
  type SupplierActivities,
  type SupplierCheck,
  type Withdrawal,
} from './contract.ts';
import { NEEDS_ATTENTION, REASON } from './search-attributes.ts';
import { startDeliveries } from './webhooks/start-deliveries.ts';
import type { PaymentPurpose } from '../src/domain/states.ts';

/**
 * One attempt may outlast Postgres's statement timeout (2 s). All attempts together stay under 80 % of the purchase's workflow task timeout (5 s):
 * past that, the SDK writes three events every four seconds.
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

/** A step in our database, run inside the workflow task. Retried until it succeeds, unless its error is permanent. */
function databaseStep<Name extends keyof OrderActivities>(
  name: Name,
  summary: string,
): OrderActivities[Name] {
  const step = proxyLocalActivities<OrderActivities>({ ...OWN_DATABASE, summary })[name] as Step;
  return ((...args: never[]) => retryUntilDone(summary, () => step(...args))) as OrderActivities[Name];
}

async function retryUntilDone<T>(what: string, step: () => Promise<T>): Promise<T> {
  const beganAtMs = Date.now();
  let shownBefore: Parameters<typeof upsertSearchAttributes>[0] | undefined;
  for (;;) {
    try {
      const done = await step();
      if (shownBefore) upsertSearchAttributes(shownBefore);
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
        upsertSearchAttributes([
          { key: NEEDS_ATTENTION, value: true },
          { key: REASON, value: 'OWN_STEP_FAILS' },
        ]);
      }
      await sleep(databaseRetryDelayMs(failsForMs), { summary: `before trying again: ${what}` });
    }
  }
}

/** A failure replayed from history may have fewer wrappers than when it happened, so the whole chain is searched. */
function isPermanent(failure: TemporalFailure): boolean {
  for (let error: unknown = failure; error instanceof TemporalFailure; error = error.cause)
    if (error instanceof ApplicationFailure && error.nonRetryable === true) return true;
  return false;
}

export const openPurchase = databaseStep(
  'openPurchase',
  'Open: purchase, eSIM order and wallet hold in one transaction',
);
export const failPurchase = databaseStep('failPurchase', 'Give back: void the hold, close as FAILED');
const reopenStep = databaseStep('reopenDelivery', 'Deliver: open again, since nothing was taken back');
export const flagAttention = databaseStep('flagAttention', 'Flag: needs attention');
export const tellProcessing = databaseStep('tellProcessing', 'Enqueue the PROCESSING webhook');
export const openFunding = databaseStep('openFunding', 'Open: the wallet is to be funded');
export const beginMove = databaseStep('beginMove', 'Operator: record the action');
export const closeMove = databaseStep('closeMove', 'Operator: record the result');
const makeMoveStep = databaseStep('makeMove', 'Operator: perform the action');

/** A permanent database error becomes a refusal for the operator. */
export async function makeMove(moveId: string, stage: ActionStage): Promise<CarriedOutAction> {
  const made = await orElse(makeMoveStep(moveId, stage), undefined);
  return made ?? closeMove(moveId, { refusal: 'DOES_NOT_FIT', detail: 'the ledger refuses it' });
}

/** Opening (2.5 s) and this attempt end before the SDK must extend the 5 s workflow task. */
const INLINE_ATTEMPT_MS = 1_200;
/** Time for our own steps between the supplier's last answer and the moment the buyer must be answered. */
const ANSWER_MARGIN_MS = 500;
/** An order, the search for it and a profile query take up to 5 s each; waiting for the supplier's rate limit counts too. What is late is retried. */
const SUPPLIER_CHECK_MS = 15_000;
/** Steps send a heartbeat every second or two: a lost task, or one whose worker died, is retried after this. */
const HEARTBEAT_TIMEOUT_MS = 5_000;

/**
 * One attempt inside the purchase's own workflow task. A fast supplier saves the round trip over its queue, half of what a purchase costs. Safe to
 * lose: the order attempt is counted before it is sent, and a repeat under the same id is the same order.
 */
export function tryDelivering(input: PurchaseInput): Promise<DeliverOutcome> {
  const { tryDelivering: tryOnce } = proxyLocalActivities<OrderActivities>({
    startToCloseTimeout: Math.min(INLINE_ATTEMPT_MS, Math.trunc(input.timings.answerWithinMs / 4)),
    retry: { maximumAttempts: 1 },
    summary: 'Deliver and settle: one inline attempt at the supplier',
  });
  return unknownOnFailure(tryOnce(input.transactionId, input.timings.doubtMs));
}

const supplierSteps = (options: ActivityOptions): SupplierActivities =>
  proxyActivities<SupplierActivities>({
    taskQueue: SUPPLIER_QUEUE,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    ...options,
  });

function requestOf({ transactionId, timings }: PurchaseInput, budgetMs: number): DeliverRequest {
  const { lookFirstMs, lookMaxMs, doubtMs: graceMs } = timings;
  return { transactionId, budgetMs, lookFirstMs, lookMaxMs, graceMs };
}

/** As many attempts as fit before the buyer must be answered. Every failure means: outcome unknown. */
export function deliverWhileBuyerWaits(input: PurchaseInput, elapsedMs: number): Promise<DeliverOutcome> {
  const leftMs = input.timings.answerWithinMs - elapsedMs - ANSWER_MARGIN_MS;
  const limitMs = Math.max(ANSWER_MARGIN_MS, leftMs);
  const { deliver } = supplierSteps({
    scheduleToCloseTimeout: limitMs,
    retry: { initialInterval: '250ms', backoffCoefficient: 2, maximumInterval: '2s' },
    summary: 'Deliver and settle: order at the supplier and fetch the profile',
  });
  return unknownOnFailure(deliver(requestOf(input, Math.max(0, limitMs - ANSWER_MARGIN_MS))));
}

const ONE_CHECK = { startToCloseTimeout: SUPPLIER_CHECK_MS, retry: { maximumAttempts: 1 } } as const;

/** One later attempt; it orders again under the same id where the order's outcome is unknown. */
export function deliverOnce(input: PurchaseInput): Promise<DeliverOutcome> {
  const { deliver } = supplierSteps({ ...ONE_CHECK, summary: 'Check the supplier again, and settle' });
  return unknownOnFailure(deliver(requestOf(input, 0)));
}

/** For purchases that were refused under an earlier build. */
export const { withdrawOrder } = supplierSteps({
  startToCloseTimeout: '5m',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m', maximumAttempts: 3 },
  summary: 'Undo: make sure that the supplier holds no order',
});

/** Only reads at the supplier; orders nothing. */
export function checkSupplier(transactionId: string): Promise<SupplierCheck> {
  const steps = supplierSteps({ ...ONE_CHECK, summary: 'Check the supplier, for an operator' });
  return orElse(steps.lookAtSupplier(transactionId), { did: 'the supplier does not say' });
}

/**
 * Cancels what may have been ordered, after waiting until no earlier order can still arrive. If the step fails for good, nothing was cancelled and
 * the purchase is opened again.
 */
export async function withdrawForMove(
  input: PurchaseInput,
  { moveId, request }: BegunAction,
): Promise<Withdrawal> {
  const { doubtMs: graceMs } = input.timings;
  const steps = supplierSteps({
    // Waits for the last order, and for a cancellation of its own without an answer.
    startToCloseTimeout: 2 * graceMs + 2 * SUPPLIER_CHECK_MS,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 3 },
    summary: 'Operator: make sure that the order can no longer arrive',
  });
  const withdrawal = await orElse(
    steps.withdrawForMove(input.transactionId, request.evidence !== undefined, graceMs, moveId),
    undefined,
  );
  if (withdrawal) return withdrawal;
  await reopenDelivery(input);
  return { left: 'perhaps-something', detail: 'the supplier could not be asked' };
}

/** Opens a purchase again after a withdrawal that cancelled nothing, once a cancellation that timed out can no longer arrive. */
export async function reopenDelivery({ transactionId, timings }: PurchaseInput): Promise<void> {
  for (;;) {
    const waitMs = await reopenStep(transactionId, timings.doubtMs);
    if (waitMs === 0) return;
    await sleep(waitMs, { summary: 'until a cancellation that timed out can no longer arrive' });
  }
}

/** One gateway check and its bookings, at most 5 s in the HTTP client for each try of the payment. */
const GATEWAY_CHECK_MS = 20_000;

const gatewaySteps = (summary: string, startToCloseTimeout: number): GatewayActivities =>
  proxyActivities<GatewayActivities>({
    taskQueue: GATEWAY_QUEUE,
    startToCloseTimeout,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    retry: { maximumAttempts: 1 },
    summary,
  });

/** Opens the payment at the gateway, with retries within the budget, or checks it. Its row decides; a step that failed is asked again soon. */
export function collectPayment(request: CollectRequest): Promise<CollectStep> {
  const { budgetMs, timings } = request;
  const steps = gatewaySteps('Collect: open the payment, or check it', budgetMs + GATEWAY_CHECK_MS);
  const again = { state: 'waiting', waitMs: timings.pollFirstMs, why: 'to try again, after the step failed' } as const;
  return orElse(steps.collectPayment(request), again);
}

/** Checks the payment at the gateway and books the result. */
export async function checkPayment(
  transactionId: string,
  purpose: PaymentPurpose,
): Promise<PaymentCheckState> {
  const steps = gatewaySteps('Check the payment at the gateway', GATEWAY_CHECK_MS);
  const unknown: PaymentCheckState = { state: 'unknown', isKnown: false };
  const stand = await orElse(steps.checkPayment(transactionId, purpose), unknown);
  await startDeliveries(stand.messages, transactionId);
  return stand;
}

/** Sends refunds to the gateway, or checks their progress, and says whether a dispute needs a person. */
export async function followMoney(request: FollowMoneyRequest): Promise<StepResult> {
  const steps = gatewaySteps('Refund: send the money back, or check its progress', GATEWAY_CHECK_MS);
  const waitMs = request.timings.refundLookMaxMs;
  const again: StepResult = { state: 'waiting', waitMs, why: 'to try again, after the step failed' };
  const step = await orElse(steps.followMoney(request), again);
  await startDeliveries(step.messages, request.transactionId);
  return step;
}

/** After a sale that showed the catalogue to be out of date. It may give up: the hourly schedule catches up. */
export const { syncCatalogue } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '1m',
  scheduleToCloseTimeout: '2m',
  retry: { initialInterval: '5s', maximumAttempts: 3 },
  summary: 'Sync the catalogue, which this sale showed to be out of date',
});

function unknownOnFailure(outcome: Promise<DeliverOutcome>): Promise<DeliverOutcome> {
  return orElse(outcome, { outcome: 'unknown', reason: 'DELIVERY_STEP_FAILED' });
}

async function orElse<T, F extends T | undefined>(step: Promise<T>, failed: F): Promise<T | F> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof TemporalFailure) return failed;
    throw error;
  }
}
