/**
 * How each step of a purchase is run: our own Postgres as local activities, everything across the network on its vendor's queue. Every
 * time limit stands here with its reason.
 */
import { proxyActivities, proxyLocalActivities, TemporalFailure } from '@temporalio/workflow';
import type { PaymentPurpose } from '../src/domain/payment.ts';
import type { PurchaseInput } from '../src/domain/purchase.ts';
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
  type SupplierLook,
} from './contract.ts';
import { startDeliveries, type Outbox } from './start-deliveries.ts';

/** Under 60 % of the purchase's workflow task timeout (5 s), over Postgres's own statement timeout (2 s); retried until it wins. */
const OWN_DATABASE = {
  startToCloseTimeout: '2500ms',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '5s' },
} as const;

const local = (summary: string): OrderActivities =>
  proxyLocalActivities<OrderActivities>({ ...OWN_DATABASE, summary });

export const { openPurchase } = local('Open: purchase, eSIM order and wallet hold in one transaction');
export const { failPurchase } = local('Give back: void the hold, close as FAILED');
export const { flagAttention } = local('Call a person');
export const { tellProcessing } = local('Tell the merchant that it goes on');

const { closeUnpaid: closeUnpaidStep } = local('Close unpaid: no money came, or not as agreed');

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

export const { openFunding } = local('Open: the wallet is to be funded');
export const { beginMove } = local('Operator: put the move on record');
export const { closeMove } = local('Operator: tell what came of the move');

const { makeMove: makeMoveStep } = local('Operator: make the move');

/** What the books refuse for good is refused to whoever asked. */
export async function makeMove(moveId: string, stage: MoveStage): Promise<MadeMove> {
  try {
    return await makeMoveStep(moveId, stage);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    return closeMove(moveId, { refusal: 'DOES_NOT_FIT', detail: 'the books refuse it' });
  }
}

/** With the 2.5 s of opening it stays under the heartbeat of the 5 s workflow task. */
const QUICK_TRY_MS = 1_200;
/** The last half second before the buyer's answer is due is ours. */
const ANSWER_MARGIN_MS = 500;
/** One look or order and its find-twin, each at most 5 s at the transport. */
const ONE_LOOK_MS = 15_000;
/** Supplier steps beat every second or two: a task that was lost, or whose worker died, is taken up again after this. */
const NO_SIGN_OF_LIFE_MS = 5_000;

/**
 * One ask inside the purchase's own task: a supplier that answers at once saves the round trip over its queue, half of what a purchase
 * costs. Safe to lose: the ask is on record before it is made, and a repeat under the same id is the same order.
 */
export function tryDelivering(input: PurchaseInput): Promise<DeliverOutcome> {
  const { tryDelivering: tryOnce } = proxyLocalActivities<OrderActivities>({
    startToCloseTimeout: Math.min(QUICK_TRY_MS, Math.trunc(input.timings.answerWithinMs / 4)),
    retry: { maximumAttempts: 1 },
    summary: 'Deliver and settle: one quick ask at the supplier',
  });
  return unknownOnFailure(tryOnce(input.transactionId));
}

/** As many looks as fit before the buyer must be answered. Whatever goes wrong in it is unknown. */
export function deliverWhileBuyerWaits(input: PurchaseInput, elapsedMs: number): Promise<DeliverOutcome> {
  const { answerWithinMs, lookFirstMs, lookMaxMs } = input.timings;
  const limitMs = Math.max(ANSWER_MARGIN_MS, answerWithinMs - elapsedMs - ANSWER_MARGIN_MS);
  const { deliver } = proxyActivities<SupplierActivities>({
    taskQueue: SUPPLIER_QUEUE,
    scheduleToCloseTimeout: limitMs,
    heartbeatTimeout: NO_SIGN_OF_LIFE_MS,
    retry: { initialInterval: '250ms', backoffCoefficient: 2, maximumInterval: '2s' },
    summary: 'Deliver and settle: order at the supplier and look for the profile',
  });
  return unknownOnFailure(
    deliver({
      transactionId: input.transactionId,
      budgetMs: Math.max(0, limitMs - ANSWER_MARGIN_MS),
      lookFirstMs,
      lookMaxMs,
    }),
  );
}

/** One later look, ordering again under the same id where the order itself is in doubt. */
export function deliverOnce(input: PurchaseInput): Promise<DeliverOutcome> {
  const { deliver } = proxyActivities<SupplierActivities>({
    taskQueue: SUPPLIER_QUEUE,
    startToCloseTimeout: ONE_LOOK_MS,
    heartbeatTimeout: NO_SIGN_OF_LIFE_MS,
    retry: { maximumAttempts: 1 },
    summary: 'Look again at the supplier, and settle',
  });
  const { lookFirstMs, lookMaxMs } = input.timings;
  return unknownOnFailure(
    deliver({ transactionId: input.transactionId, budgetMs: 0, lookFirstMs, lookMaxMs }),
  );
}

/** An undo retries until the supplier says what it holds. */
export const { withdrawOrder } = proxyActivities<SupplierActivities>({
  taskQueue: SUPPLIER_QUEUE,
  startToCloseTimeout: ONE_LOOK_MS,
  heartbeatTimeout: NO_SIGN_OF_LIFE_MS,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  summary: 'Undo: make sure that the supplier holds no order',
});

/** Only asks; nobody knows more where it fails. */
export function lookAtSupplier(transactionId: string): Promise<SupplierLook> {
  const steps = proxyActivities<SupplierActivities>({
    taskQueue: SUPPLIER_QUEUE,
    startToCloseTimeout: ONE_LOOK_MS,
    heartbeatTimeout: NO_SIGN_OF_LIFE_MS,
    retry: { maximumAttempts: 1 },
    summary: 'Look at the supplier, as an operator asked',
  });
  return orElse(steps.lookAtSupplier(transactionId), { did: 'the supplier does not say' });
}

/** Cancels what may have been ordered, and asks until it is known whether it was. */
export const { withdrawForMove } = proxyActivities<SupplierActivities>({
  taskQueue: SUPPLIER_QUEUE,
  startToCloseTimeout: ONE_LOOK_MS,
  heartbeatTimeout: NO_SIGN_OF_LIFE_MS,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  summary: 'Operator: make sure that nothing of the order can come',
});

/** One answer of the gateway and what is booked of it, at most 5 s at the transport for each try of the payment. */
const ONE_GATEWAY_LOOK_MS = 20_000;

const gateway = (summary: string, startToCloseTimeout: number): GatewayActivities =>
  proxyActivities<GatewayActivities>({
    taskQueue: GATEWAY_QUEUE,
    startToCloseTimeout,
    heartbeatTimeout: NO_SIGN_OF_LIFE_MS,
    retry: { maximumAttempts: 1 },
    summary,
  });

/** Opens the payment at the gateway, trying again within the budget. Whatever goes wrong in it is unknown: its row says which try is out. */
export async function openPayment(request: PaymentRequest, budgetMs: number): Promise<OpenedPayment> {
  const steps = gateway('Charge: open the payment at the gateway', budgetMs + ONE_GATEWAY_LOOK_MS);
  return orElse(steps.openPayment(request, budgetMs), { outcome: 'unknown' });
}

/** Asks the gateway and books what it has. */
export async function lookAtPayment(transactionId: string, purpose: PaymentPurpose): Promise<PaymentStand> {
  const steps = gateway('Look at the gateway for the money', ONE_GATEWAY_LOOK_MS);
  const stand = await orElse(steps.lookAtPayment(transactionId, purpose), {
    state: 'unknown',
    isKnown: false,
  });
  await startDeliveries(stand.messages, transactionId);
  return stand;
}

/** Asks the gateway to send money back, or how far it is. */
export async function moveRefunds(transactionId: string): Promise<RefundStand> {
  const steps = gateway('Refund: send the money back, or look how far it is', ONE_GATEWAY_LOOK_MS);
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
