/**
 * Purchases and fundings over Temporal: starting them, checking their payments, and operator actions on them.
 */
import { WithStartWorkflowOperation, type Client, type WorkflowStartOptions } from '@temporalio/client';
import {
  TypedSearchAttributes,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  type Priority,
  type SignalDefinition,
} from '@temporalio/common';
import { formatMinor } from '../../domain/money.ts';
import type { ClosedSubject, OperatorEngine } from '../../operations/engine.ts';
import type { EngineAnswer, PaymentEngine, PaymentSubject, Unanswered } from '../../payments/engine.ts';
import {
  refundTimingsOf,
  type FundingInput,
  type PaymentTimings,
  type RefundTimings,
} from '../../payments/rules.ts';
import type { PurchaseEngine } from '../../purchases/engine.ts';
import type { PurchaseInput } from '../../purchases/purchase.ts';
import { EngineUnavailable } from '../../domain/outcome.ts';
import {
  AFTER_CLOSING_WORKFLOW,
  FUND_WALLET_WORKFLOW,
  ORDERS_QUEUE,
  PURCHASE_WORKFLOW,
  type AfterClosingInput,
  checkPayment,
  checkPaymentSoon,
  firstAnswer,
  performActions,
  supplierAnnounced,
} from '../../../workflows/contract.ts';
import {
  ACCOUNT_ID,
  NEEDS_ATTENTION,
  PAYMENT_METHOD,
  PURCHASE_STATUS,
  TITLE,
  TRANSACTION_ID,
} from '../../../workflows/search-attributes.ts';
import { currentRequestId } from '../../platform/telemetry/subject.ts';
import { requireConnection, type TemporalClient } from '../../platform/temporal/connect.ts';
import { rethrow, temporalFailure, updateFailureType } from '../../platform/temporal/errors.ts';

/**
 * How long a purchase waits for a connection to Temporal. After that nothing is started, and the caller may
 * retry.
 */
const CONNECT_WITHIN_MS = 1_500;
/** How long to ask, once the deadline has passed, whether anything was started at all. */
const DESCRIBE_WITHIN_MS = 1_000;
/** How long a request without a waiting caller may take to reach Temporal. */
const REQUEST_WITHIN_MS = 3_000;
/**
 * A worker that dies inside the first task costs the buyer this long; workflows/steps.ts keeps local
 * activities under 80 % of it.
 */
const WORKFLOW_TASK_TIMEOUT_MS = 5_000;

/** Attaches to a workflow that runs; one that has ended does not keep another from starting. */
const ATTACHED = {
  taskQueue: ORDERS_QUEUE,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
} as const;

type Carrier = (input: PurchaseInput | FundingInput) => Promise<unknown>;

/**
 * The priority of purchases of batches and replacements. When tasks queue up, Temporal starts those with a
 * lower number first; 3 is the default. Server 1.29 ignores it.
 */
export const BEHIND_OTHERS: Priority = { priorityKey: 4 };

/** Update-with-Start under the purchase's own id, so that starting, retrying and attaching are one call. */
export function createPurchaseEngine(
  temporal: TemporalClient,
  timings: PaymentTimings,
  priority?: Priority,
): PurchaseEngine {
  const shown = (title: string) => (temporal.showsTitles ? title : undefined);
  return {
    purchase: (input, deadlineMs, title = `${input.packageType} ${input.packageCode}`, buyer) => {
      const summary = summaryOf(buyer === undefined ? title : `${title} for ${buyer}`, input);
      const options = { ...startOptions(input, summary, shown(title)), ...(priority && { priority }) };
      return startAndAsk(temporal, deadlineMs, PURCHASE_WORKFLOW, options);
    },
    fundWallet: (input, deadlineMs) => {
      const amount = `${input.currency} ${formatMinor(BigInt(input.amountMinor))}`;
      const summary = `Wallet funded with ${amount}, ${input.paymentMethod}`;
      const options = startOptions(input, summary, shown('Wallet funding'));
      return startAndAsk(temporal, deadlineMs, FUND_WALLET_WORKFLOW, options);
    },
    supplierAnnounced: async (transactionId) => {
      await wake(temporal.client, transactionId, supplierAnnounced);
    },
    firstAnswer: (transactionId, deadlineMs) => askRunning(temporal, transactionId, deadlineMs),
    ...createPaymentChecks(temporal.client, timings),
  };
}

/** Asks the workflow that runs under this id for its first answer, and starts none. */
async function askRunning(
  temporal: TemporalClient,
  transactionId: string,
  deadlineMs: number,
): Promise<EngineAnswer | 'no-workflow'> {
  const { client } = temporal;
  await requireConnection(temporal, CONNECT_WITHIN_MS);
  try {
    return await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.getHandle(transactionId).executeUpdate(firstAnswer, { updateId: firstAnswer.name }),
    );
  } catch (error) {
    const failure = temporalFailure(error);
    if (failure === undefined) throw error;
    // Its rows say what it came to.
    if (failure === 'not-found' || updateFailureType(error) === ENDED_MEANWHILE) return 'no-workflow';
    return (await findStarted(client, transactionId)) ?? 'no-workflow';
  }
}

/** Of the request that starts the workflow. Other requests under its key find it before an answer exists. */
function fingerprintOf({ idempotency }: PurchaseInput | FundingInput): { readonly fingerprint?: string } {
  return idempotency ? { fingerprint: idempotency.fingerprint } : {};
}

/** How the workflow of a purchase or a funding is started. */
function startOptions(input: PurchaseInput | FundingInput, staticSummary: string, title?: string) {
  return {
    ...ATTACHED,
    workflowId: input.transactionId,
    args: [input] as [typeof input],
    staticSummary,
    memo: { requestId: input.requestId, ...fingerprintOf(input) },
    typedSearchAttributes: new TypedSearchAttributes([
      { key: TRANSACTION_ID, value: input.transactionId },
      ...(title === undefined ? [] : [{ key: TITLE, value: cutTo(MAX_SUMMARY_BYTES, title) }]),
      { key: ACCOUNT_ID, value: input.accountId },
      { key: PAYMENT_METHOD, value: input.paymentMethod },
      { key: PURCHASE_STATUS, value: input.paymentMethod === 'WALLET' ? 'PROCESSING' : 'PENDING' },
      { key: NEEDS_ATTENTION, value: false },
    ]),
  } satisfies WorkflowStartOptions<Carrier>;
}

async function startAndAsk(
  temporal: TemporalClient,
  deadlineMs: number,
  workflowType: string,
  options: ReturnType<typeof startOptions>,
): Promise<EngineAnswer> {
  const { client } = temporal;
  await requireConnection(temporal, CONNECT_WITHIN_MS);
  const startWorkflowOperation = new WithStartWorkflowOperation<Carrier>(workflowType, {
    ...options,
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
  });
  try {
    return await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.executeUpdateWithStart(firstAnswer, {
        updateId: firstAnswer.name,
        startWorkflowOperation,
      }),
    );
  } catch (error) {
    // The purchase may run. One that ended long ago, its answer forgotten by Temporal, has its answer in its
    // rows.
    if (temporalFailure(error) === undefined) throw error;
    // Payloads of a request without a key need not be read.
    const isKeyed = options.args[0].idempotency !== undefined;
    const started = await findStarted(isKeyed ? client : temporal.states, options.workflowId, isKeyed);
    if (!started) throw new EngineUnavailable('Temporal took no purchase', { cause: error });
    return started;
  }
}

/**
 * The workflow of this id, with the fingerprint of the request that started it; undefined where there is
 * none, `unknown` when Temporal does not say.
 */
async function findStarted(
  client: Client,
  transactionId: string,
  isKeyed = true,
): Promise<Unanswered | 'unknown' | undefined> {
  try {
    const { memo } = await client.withDeadline(Date.now() + DESCRIBE_WITHIN_MS, () =>
      client.workflow.getHandle(transactionId).describe(),
    );
    const { fingerprint } = (isKeyed ? (memo ?? {}) : {}) as { readonly fingerprint?: string };
    return { status: 'UNANSWERED', ...(fingerprint === undefined ? {} : { fingerprint }) };
  } catch (error) {
    return temporalFailure(error) === 'not-found' ? undefined : 'unknown';
  }
}

/** What Temporal takes for a summary; of a search attribute it takes 255 letters. */
const MAX_SUMMARY_BYTES = 200;

/** The title is cut where it is too long, never the price. */
function summaryOf(title: string, { quote, paymentMethod }: PurchaseInput): string {
  const price = `, ${quote.currency} ${formatMinor(BigInt(quote.priceMinor))}, ${paymentMethod}`;
  return cutTo(MAX_SUMMARY_BYTES - Buffer.byteLength(price), title) + price;
}

function cutTo(bytes: number, text: string): string {
  let fitting = text;
  while (Buffer.byteLength(fitting) > bytes) fitting = fitting.slice(0, -1);
  return fitting;
}

type AfterClosing = (input: AfterClosingInput) => Promise<unknown>;

/**
 * How the workflow for what comes after closing is started, in the same call as the message that asks it.
 * Many callers share one.
 */
function afterClosingOptions(
  { transactionId, purpose, isThroughGateway }: ClosedSubject,
  timings: RefundTimings,
) {
  const requestId = currentRequestId();
  return {
    ...ATTACHED,
    memo: requestId === undefined ? undefined : { requestId },
    workflowId: `after-${transactionId}`,
    staticSummary: 'After closing: late money, refunds and disputes',
    typedSearchAttributes: new TypedSearchAttributes([
      { key: TRANSACTION_ID, value: transactionId },
      { key: NEEDS_ATTENTION, value: false },
    ]),
    args: [{ transactionId, purpose, isThroughGateway, timings: refundTimingsOf(timings) }] as [
      AfterClosingInput,
    ],
  };
}

/** Signals a workflow, within REQUEST_WITHIN_MS. False: none runs under this id. Throws EngineUnavailable. */
async function wake(client: Client, transactionId: string, signal: SignalDefinition): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + REQUEST_WITHIN_MS, () =>
      client.workflow.getHandle(transactionId).signal(signal),
    );
    return true;
  } catch (error) {
    if (temporalFailure(error) === 'not-found') return false;
    return rethrow(error);
  }
}

/** Signal-with-start: a workflow that runs may have done the work a moment before the request. */
async function wakeAfterClosing(
  client: Client,
  closed: ClosedSubject,
  signal: SignalDefinition,
  timings: RefundTimings,
): Promise<void> {
  const options = { ...afterClosingOptions(closed, timings), signal };
  await inTime(client, () => client.workflow.signalWithStart<AfterClosing>(AFTER_CLOSING_WORKFLOW, options));
}

const inTime = <T>(client: Client, request: () => Promise<T>): Promise<T> =>
  client.withDeadline(Date.now() + REQUEST_WITHIN_MS, request).catch(rethrow);

/**
 * Payment checks, by the workflow that waits for the money or, once it has ended, by the one for what comes
 * after closing.
 */
export function createPaymentChecks(
  client: Client,
  timings: PaymentTimings,
): Pick<PaymentEngine, 'check' | 'checkSoon'> {
  const closedOf = (payment: PaymentSubject): ClosedSubject => ({ ...payment, isThroughGateway: true });
  const checkClosed = (payment: PaymentSubject) =>
    client.workflow.executeUpdateWithStart(checkPayment, {
      startWorkflowOperation: new WithStartWorkflowOperation<AfterClosing>(
        AFTER_CLOSING_WORKFLOW,
        afterClosingOptions(closedOf(payment), timings),
      ),
    });
  return {
    check: async (payment, deadlineMs) => {
      try {
        await client.withDeadline(Date.now() + deadlineMs, () =>
          client.workflow
            .getHandle(payment.transactionId)
            .executeUpdate(checkPayment)
            .catch((error: unknown) => {
              if (isGone(error)) return checkClosed(payment);
              throw error;
            }),
        );
      } catch (error) {
        // A deadline that passes is no failure: the request was accepted, and its result will be in the rows.
        if (temporalFailure(error) !== 'no-answer') rethrow(error);
      }
    },
    checkSoon: async (payment) => {
      if (await wake(client, payment.transactionId, checkPaymentSoon)) return;
      await wakeAfterClosing(client, closedOf(payment), checkPaymentSoon, timings);
    },
  };
}

/** No workflow runs, or it ended before it served the update. */
const isGone = (error: unknown): boolean =>
  temporalFailure(error) === 'not-found' || updateFailureType(error) === ENDED_MEANWHILE;

/** Temporal reports this if the workflow ended, or began a new run, before it handled the update. */
const ENDED_MEANWHILE = 'AcceptedUpdateCompletedWorkflow';

/** Operator actions: their rows say what is to be done, so a message that wakes the workflow is enough. */
export function createOperatorEngine(client: Client, timings: RefundTimings): OperatorEngine {
  return {
    perform: (transactionId) => wake(client, transactionId, performActions),
    restartAndPerform: async ({ purpose, input }) => {
      const type = purpose === 'purchase' ? PURCHASE_WORKFLOW : FUND_WALLET_WORKFLOW;
      const summary = `Restarted by an operator: ${purpose} of ${input.paymentMethod}`;
      const options = { ...startOptions(input, summary), signal: performActions };
      await inTime(client, () => client.workflow.signalWithStart<Carrier>(type, options));
    },
    performAfterClose: (closed) => wakeAfterClosing(client, closed, performActions, timings),
  };
}
