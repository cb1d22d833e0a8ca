// Purchases started directly in the engine, each with its own timings: workflow tests choose how long a
// purchase waits without a stack for every pace. Real engine, worker, Postgres and supplier; only HTTP is
// left out.
import { connectClient } from '../../../src/platform/temporal/connect.ts';
import { createTermsSigner } from '../../../src/platform/frozen-terms.ts';
import { createPurchaseEngine } from '../../../src/app/temporal/purchase-engine.ts';
import { newEsimId, newTransactionId } from '../../../src/platform/idempotency/identify-request.ts';
import type { ChargeQuote } from '../../../src/payments/rules.ts';
import type { PurchaseInput, PurchaseTimings } from '../../../src/purchases/purchase.ts';
import { type AccountOptions, type Stack, type StackOptions, type TestAccount } from './stack.ts';
import { forFile } from './for-file.ts';
import { soundStack } from './sound-stack.ts';
import { until } from '../time/until.ts';
import { findPurchaseRow, newBuyer, type Buyer, type PurchaseRow } from '../people/buyer.ts';
import type { EngineAnswer } from '../../../src/payments/engine.ts';
import type { GatewayMethod } from '../../../src/domain/states.ts';

/** Waits long for the eSIM and polls often: SUCCESS at once even on a busy machine. */
export const LONG_ANSWER_TIMINGS: PurchaseTimings = {
  answerWithinMs: 15_000,
  checkFirstMs: 50,
  checkMaxMs: 200,
  attentionAfterMs: 60_000,
  slowCheckMs: 200,
  inFlightGraceMs: 300,
  openChargeForMs: 10_000,
  checkoutMs: 60_000,
  transferMs: 60_000,
  pollFirstMs: 200,
  pollMaxMs: 1_000,
  refundCheckFirstMs: 100,
  refundCheckMaxMs: 400,
};
/** The workflow's answer is under test, not the caller's deadline: a busy machine may be late with it. */
const SLACK_MS = 10_000;
/** Answers PROCESSING soon if the eSIM is not ready. */
export const SHORT_ANSWER_TIMINGS: PurchaseTimings = { ...LONG_ANSWER_TIMINGS, answerWithinMs: 1_500 };
/** Checks so seldom that nothing happens without a request for a long time. */
export const RARE_CHECK_TIMINGS: PurchaseTimings = {
  ...SHORT_ANSWER_TIMINGS,
  attentionAfterMs: 600_000,
  checkFirstMs: 300_000,
  checkMaxMs: 300_000,
  pollFirstMs: 300_000,
  pollMaxMs: 300_000,
};
/** Needs attention soon after that. */
export const EARLY_ATTENTION_TIMINGS: PurchaseTimings = { ...SHORT_ANSWER_TIMINGS, attentionAfterMs: 1_800 };

export interface Order {
  /** The buyer's of `startWorkflows` without. */
  readonly account?: TestAccount;
  readonly packageCode?: string;
  /** TOPUP of this eSIM; BASE without. */
  readonly esimId?: string;
  /** Paid through the gateway by this method; from the wallet without. */
  readonly paidBy?: GatewayMethod;
  /** The amount to be paid at the gateway; the price without. */
  readonly chargeMinor?: string;
  readonly timings?: PurchaseTimings;
  readonly priceMinor?: string;
  readonly idempotency?: PurchaseInput['idempotency'];
}

export type WorkflowHarness = Awaited<ReturnType<typeof createWorkflowHarness>>;

/**
 * A stack, the harness on it and a buyer, for the whole test file. At its end the books must be sound; in any
 * case everything is closed.
 */
export async function startWorkflows(
  options: StackOptions = {},
  account: AccountOptions = {},
): Promise<{ readonly stack: Stack; readonly harness: WorkflowHarness; readonly buyer: Buyer }> {
  const stack = await soundStack(options);
  const buyer = await newBuyer(stack, account);
  const harness = await forFile(createWorkflowHarness(stack, buyer.account));
  return { stack, harness, buyer };
}

/** The harness on a running stack; close it before the stack. */
export async function createWorkflowHarness(stack: Stack, buyer?: TestAccount) {
  const temporal = connectClient({
    address: stack.env['TEMPORAL_ADDRESS'] ?? '',
    namespace: stack.namespace,
  });
  const engine = createPurchaseEngine(temporal, LONG_ANSWER_TIMINGS);
  await learnTopUps(stack);
  const terms = createTermsSigner(Buffer.from(stack.env['SIMWAY_ID_SECRET'] ?? ''), 'test');
  const ask = (input: PurchaseInput): Promise<EngineAnswer> => {
    const signed = terms.sign('purchase', input, new Date());
    return engine.purchase(signed, input.timings.answerWithinMs + SLACK_MS);
  };
  const inputOf = (order: Order = {}): PurchaseInput => {
    const account = order.account ?? buyer;
    if (!account) throw new Error('nobody buys');
    return inputFor(order, account);
  };
  return {
    inputFor: inputOf,
    /** What the API does: start or attach, and wait for the first answer. */
    ask,
    /** A new purchase and its first answer. */
    purchase: async (order?: Order) => {
      const input = inputOf(order);
      return { input, transactionId: input.transactionId, answer: await ask(input) };
    },
    /** A new eSIM in use, also in our own rows, since nothing before the engine reads it again. */
    topUpTarget: async (buyer: Buyer) => {
      const esim = await buyer.activeEsim();
      await until(
        () => buyer.read(`/api/esim/${esim.esimId}`),
        (answer) => answer.body.esimStatus === 'ACTIVE',
        { what: 'the eSIM active in our rows' },
      );
      return esim;
    },
    /** Whether the workflow only waits for a timer. */
    isParked: async (transactionId: string) => {
      const { raw } = await stack.temporal.workflow.getHandle(transactionId).describe();
      return (raw.pendingActivities ?? []).length === 0 && (raw.pendingWorkflowTask ?? null) === null;
    },
    /** The workflow's result, once it has ended. */
    result: (transactionId: string) =>
      stack.temporal.workflow
        .getHandle<() => Promise<{ status: string; reason?: string }>>(transactionId)
        .result(),
    close: () => temporal.close(),
  };
}

/** The charge for a purchase's $2.30: a transfer in naira, others in dollars. */
function chargeFor(method: GatewayMethod, amountMinor: string | undefined): ChargeQuote {
  return method === 'BANK_TRANSFER'
    ? { gateway: 'paystack', amountMinor: amountMinor ?? '368000', currency: 'NGN', rateIds: [] }
    : { gateway: 'paystack', amountMinor: amountMinor ?? '230', currency: 'USD', rateIds: [] };
}

function inputFor(order: Order, { accountId }: TestAccount): PurchaseInput {
  const { packageCode = order.esimId === undefined ? 'SIM-OK' : 'TOPUP_SIM-OK' } = order;
  return {
    transactionId: newTransactionId(),
    accountId,
    packageType: order.esimId === undefined ? 'BASE' : 'TOPUP',
    packageCode,
    paymentMethod: order.paidBy ?? 'WALLET',
    esimId: order.esimId ?? newEsimId(),
    quote: {
      priceMinor: order.priceMinor ?? '230',
      currency: 'USD',
      priceUsdMinor: order.priceMinor ?? '230',
      costUsdE4: '20000',
      settingsId: 'initial',
    },
    ...(order.paidBy === undefined ? {} : { charge: chargeFor(order.paidBy, order.chargeMinor) }),
    requestId: 'workflow-test',
    timings: order.timings ?? LONG_ANSWER_TIMINGS,
    ...(order.idempotency ? { idempotency: order.idempotency } : {}),
  };
}

/** Top-up packages are known once they have been requested. */
async function learnTopUps(stack: Stack): Promise<void> {
  const { apiKey } = await stack.account({ fundsMinor: 0n });
  const path = '/api/esim/packages?type=TOPUP&regionCode=ZZ&packageCode=SIM-OK';
  const answer = await stack.call('GET', path, { key: apiKey });
  if (answer.status !== 200) throw new Error(`no top-ups: ${answer.text}`);
}

/** The purchase's row once it is so. */
export async function untilRow(
  stack: Stack,
  transactionId: string,
  good: (row: PurchaseRow) => boolean,
  what: string,
): Promise<PurchaseRow> {
  const row = await until(
    () => findPurchaseRow(stack, transactionId),
    (found) => found !== undefined && good(found),
    { what: `${transactionId} ${what}` },
  );
  return row!;
}

/**
 * Ids of this namespace's workflows that a visibility query finds, once `good` accepts them: visibility lags
 * behind.
 */
export function untilListed(
  stack: Stack,
  query: string,
  good: (workflowIds: readonly string[]) => boolean,
): Promise<string[]> {
  return until(
    async () => {
      const found: string[] = [];
      for await (const workflow of stack.temporal.workflow.list({ query })) found.push(workflow.workflowId);
      return found;
    },
    good,
    { what: `workflows with ${query}` },
  );
}
