/**
 * How each step of a purchase is run: our own Postgres as local activities, everything across the network on its vendor's queue. Every
 * time limit stands here with its reason.
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
} from '@temporalio/workflow';
import { nextOwnTryMs } from '../src/purchases/supplier-checks.ts';
import type { PurchaseInput } from '../src/purchases/purchase.ts';
import type { FailureReason } from '../src/domain/refusals.ts';
import {
  GATEWAY_QUEUE,
  OPS_QUEUE,
  SUPPLIER_QUEUE,
  type DeliverOutcome,
  type GatewayActivities,
  type MadeMove,
  type MoveStage,
  type OpsActivities,
  type OpenedPayment,
  type OrderActivities,
  type PaymentRequest,
  type PaymentStand,
  type RefundStand,
  type SupplierActivities,
  type SupplierCheck,
  type Withdrawal,
} from './contract.ts';
import { NEEDS_ATTENTION, REASON } from './search-attributes.ts';
import { startDeliveries, type Outbox } from './webhooks/start-deliveries.ts';
import type { PaymentPurpose } from '../src/domain/states.ts';

/**
 * Our own Postgres. An attempt may take longer than Postgres's own statement timeout (2 s), and all of them together stay under 80 % of the purchase's
 * workflow task timeout (5 s): a step that goes on in its task for longer writes three events every four seconds.
 */
const OWN_DATABASE = {
  startToCloseTimeout: '2500ms',
  scheduleToCloseTimeout: '3500ms',
  // Five attempts that fail at once are over in 1.5 s. The SDK does not hold failing attempts to the limit above, only slow ones.
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumAttempts: 5 },
} as const;

/** A person should know by then that our database does not take a step. */
const ATTENTION_AFTER_MS = 60_000;

type Step = (...args: never[]) => Promise<unknown>;

/** A step in our own Postgres, as part of a workflow task. It is tried until it wins, unless the books refuse it for good. */
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
      setCurrentDetails(`Our database does not take this step, which is tried again: ${what}.`);
      const failsForMs = Date.now() - beganAtMs;
      if (failsForMs >= ATTENTION_AFTER_MS && !shownBefore) {
        // A person may be needed for something else as well.
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
      await sleep(nextOwnTryMs(failsForMs), { summary: `before trying again: ${what}` });
    }
  }
}

/** A failure read from the history may lack the wrapping that it had when it happened, so all of them are looked through. */
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
export const flagAttention = databaseStep('flagAttention', 'Call a person');
export const tellProcessing = databaseStep('tellProcessing', 'Tell the merchant that it goes on');
const closeUnpaidStep = databaseStep('closeUnpaid', 'Close unpaid: no money came, or not as agreed');

/** Closes what nobody paid; what that has to tell goes into the outbox. */
export async function closeUnpaid(
  transactionId: string,
  purpose: PaymentPurpose,
  reason: FailureReason,
  outbox: Outbox,
): Promise<'closed' | 'paid'> {
  const closed = await closeUnpaidStep(transactionId, purpose, reason);
  if (typeof closed === 'string') return closed;
  outbox.add(closed.closed);
  return 'closed';
}

export const openFunding = databaseStep('openFunding', 'Open: the wallet is to be funded');
export const beginMove = databaseStep('beginMove', 'Operator: put the move on record');
export const closeMove = databaseStep('closeMove', 'Operator: tell what came of the move');
const makeMoveStep = databaseStep('makeMove', 'Operator: make the move');

/** What the books refuse for good is refused to the operator. */
export async function makeMove(moveId: string, stage: MoveStage): Promise<MadeMove> {
  try {
    return await makeMoveStep(moveId, stage);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    return closeMove(moveId, { refusal: 'DOES_NOT_FIT', detail: 'the books refuse it' });
  }
}

/** With the 2.5 s of opening it stays under the heartbeat of the 5 s workflow task. */
const INLINE_ATTEMPT_MS = 1_200;
/** The last half second before the buyer's answer is due is ours. */
const ANSWER_MARGIN_MS = 500;
/** One look or order and its find-twin, each at most 5 s at the transport. */
const SUPPLIER_CHECK_MS = 15_000;
/** Supplier steps beat every second or two: a task that was lost, or whose worker died, is taken up again after this. */
const HEARTBEAT_TIMEOUT_MS = 5_000;

/**
 * One ask inside the purchase's own task: a supplier that answers at once saves the round trip over its queue, half of what a purchase
 * costs. Safe to lose: the ask is on record before it is made, and a repeat under the same id is the same order.
 */
export function tryDelivering(input: PurchaseInput): Promise<DeliverOutcome> {
  const { tryDelivering: tryOnce } = proxyLocalActivities<OrderActivities>({
    startToCloseTimeout: Math.min(INLINE_ATTEMPT_MS, Math.trunc(input.timings.answerWithinMs / 4)),
    retry: { maximumAttempts: 1 },
    summary: 'Deliver and settle: one quick ask at the supplier',
  });
  return unknownOnFailure(tryOnce(input.transactionId, input.timings.doubtMs));
}

/** As many looks as fit before the buyer must be answered. Whatever goes wrong in it is unknown. */
export function deliverWhileBuyerWaits(input: PurchaseInput, elapsedMs: number): Promise<DeliverOutcome> {
  const { answerWithinMs, lookFirstMs, lookMaxMs } = input.timings;
  const limitMs = Math.max(ANSWER_MARGIN_MS, answerWithinMs - elapsedMs - ANSWER_MARGIN_MS);
  const { deliver } = proxyActivities<SupplierActivities>({
    taskQueue: SUPPLIER_QUEUE,
    scheduleToCloseTimeout: limitMs,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    retry: { initialInterval: '250ms', backoffCoefficient: 2, maximumInterval: '2s' },
    summary: 'Deliver and settle: order at the supplier and look for the profile',
  });
  return unknownOnFailure(
    deliver({
      transactionId: input.transactionId,
      budgetMs: Math.max(0, limitMs - ANSWER_MARGIN_MS),
      lookFirstMs,
      lookMaxMs,
      graceMs: input.timings.doubtMs,
    }),
  );
}

/** One later look, ordering again under the same id where the order itself is in doubt. */
export function deliverOnce(input: PurchaseInput): Promise<DeliverOutcome> {
  const { deliver } = proxyActivities<SupplierActivities>({
    taskQueue: SUPPLIER_QUEUE,
    startToCloseTimeout: SUPPLIER_CHECK_MS,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    retry: { maximumAttempts: 1 },
    summary: 'Look again at the supplier, and settle',
  });
  const { lookFirstMs, lookMaxMs, doubtMs: graceMs } = input.timings;
  return unknownOnFailure(
    deliver({ transactionId: input.transactionId, budgetMs: 0, lookFirstMs, lookMaxMs, graceMs }),
  );
}

/** How purchases were undone that were refused under a build of before. */
export const { withdrawOrder } = proxyActivities<SupplierActivities>({
  taskQueue: SUPPLIER_QUEUE,
  startToCloseTimeout: '5m',
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m', maximumAttempts: 3 },
  summary: 'Undo: make sure that the supplier holds no order',
});

/** Only asks; nobody knows more where it fails. */
export function lookAtSupplier(transactionId: string): Promise<SupplierCheck> {
  const steps = proxyActivities<SupplierActivities>({
    taskQueue: SUPPLIER_QUEUE,
    startToCloseTimeout: SUPPLIER_CHECK_MS,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    retry: { maximumAttempts: 1 },
    summary: 'Look at the supplier, as an operator asked',
  });
  return orElse(steps.lookAtSupplier(transactionId), { did: 'the supplier does not say' });
}

/**
 * Takes back what may have been ordered. It waits until nothing sent earlier can still arrive; a step that fails for good has taken nothing back,
 * and the purchase is open again.
 */
export async function withdrawForMove(input: PurchaseInput, isVouchedFor: boolean): Promise<Withdrawal> {
  const { doubtMs: graceMs } = input.timings;
  const steps = proxyActivities<SupplierActivities>({
    taskQueue: SUPPLIER_QUEUE,
    // For the last order, and for a cancellation of its own that nobody answered.
    startToCloseTimeout: 2 * graceMs + 2 * SUPPLIER_CHECK_MS,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 3 },
    summary: 'Operator: make sure that nothing of the order can come',
  });
  try {
    return await steps.withdrawForMove(input.transactionId, isVouchedFor, graceMs);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    await reopenDelivery(input);
    return { left: 'perhaps-something', detail: 'the supplier could not be asked' };
  }
}

/** Opens a purchase again whose withdrawal took nothing back, once a cancellation that was given up cannot arrive any more. */
export async function reopenDelivery({ transactionId, timings }: PurchaseInput): Promise<void> {
  for (;;) {
    const waitMs = await reopenStep(transactionId, timings.doubtMs);
    if (waitMs === 0) return;
    await sleep(waitMs, { summary: 'until a cancellation that was given up cannot arrive any more' });
  }
}

/** One answer of the gateway and what is booked of it, at most 5 s at the transport for each try of the payment. */
const GATEWAY_CHECK_MS = 20_000;

const gatewaySteps = (summary: string, startToCloseTimeout: number): GatewayActivities =>
  proxyActivities<GatewayActivities>({
    taskQueue: GATEWAY_QUEUE,
    startToCloseTimeout,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    retry: { maximumAttempts: 1 },
    summary,
  });

/** Opens the payment at the gateway, trying again within the budget. Whatever goes wrong in it is unknown: its row says which try is out. */
export async function openPayment(request: PaymentRequest, budgetMs: number): Promise<OpenedPayment> {
  const steps = gatewaySteps('Charge: open the payment at the gateway', budgetMs + GATEWAY_CHECK_MS);
  return orElse(steps.openPayment(request, budgetMs), { outcome: 'unknown' });
}

/** Asks the gateway and books what it has. */
export async function lookAtPayment(transactionId: string, purpose: PaymentPurpose): Promise<PaymentStand> {
  const steps = gatewaySteps('Look at the gateway for the money', GATEWAY_CHECK_MS);
  const stand = await orElse(steps.lookAtPayment(transactionId, purpose), {
    state: 'unknown',
    isKnown: false,
  });
  await startDeliveries(stand.messages, transactionId);
  return stand;
}

/** Asks the gateway to send money back, or how far it is. */
export async function moveRefunds(transactionId: string): Promise<RefundStand> {
  const steps = gatewaySteps('Refund: send the money back, or look how far it is', GATEWAY_CHECK_MS);
  const stand = await orElse(steps.moveRefunds(transactionId), { open: 1, needsPerson: null });
  await startDeliveries(stand.messages, transactionId);
  return stand;
}

/** Asked for after a sale that an old catalogue caused; the hourly schedule would catch up anyway, so it may give up. */
export const { syncCatalogue } = proxyActivities<OpsActivities>({
  taskQueue: OPS_QUEUE,
  startToCloseTimeout: '1m',
  scheduleToCloseTimeout: '2m',
  retry: { initialInterval: '5s', maximumAttempts: 3 },
  summary: 'Sync the catalogue, since this sale showed it to be old',
});

function unknownOnFailure(outcome: Promise<DeliverOutcome>): Promise<DeliverOutcome> {
  return orElse(outcome, { outcome: 'unknown', reason: 'DELIVERY_STEP_FAILED' });
}

async function orElse<T>(step: Promise<T>, failed: T): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof TemporalFailure) return failed;
    throw error;
  }
}
