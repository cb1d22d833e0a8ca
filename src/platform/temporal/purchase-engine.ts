/** Purchases and fundings over Temporal: starting them, checking their payments, and operator actions on them. */
import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation, type Client, type WorkflowStartOptions } from '@temporalio/client';
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { formatMinor } from '../../domain/money.ts';
import type { EngineOutcome, OperatorEngine, WorkflowStart } from '../../operations/engine.ts';
import { ACTION_REFUSALS, type ActionRequest } from '../../operations/rules.ts';
import type {
  EngineAnswer,
  PaymentEngine,
  PaymentSubject,
  PurchaseAnswer,
  Unanswered,
} from '../../payments/engine.ts';
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
  ACCEPT_UPDATE,
  AFTER_CLOSING_WORKFLOW,
  FUND_WALLET_WORKFLOW,
  CHECK_SIGNAL,
  CHECK_UPDATE,
  MOVE_UPDATE,
  ORDERS_QUEUE,
  PURCHASE_WORKFLOW,
  type AfterClosingInput,
  type PaymentCheckState,
} from '../../../workflows/contract.ts';
import {
  ACCOUNT_ID,
  NEEDS_ATTENTION,
  PAYMENT_METHOD,
  PURCHASE_STATUS,
  TRANSACTION_ID,
} from '../../../workflows/search-attributes.ts';
import { currentRequestId } from '../telemetry/subject.ts';
import { requireConnection, type TemporalClient } from './connect.ts';
import { rethrow, temporalFailure, updateFailureType } from './errors.ts';

/** How long a purchase waits for a connection to Temporal. After that nothing is started, and the caller may retry. */
const CONNECT_WITHIN_MS = 1_500;
/** How long to ask, once the deadline has passed, whether anything was started at all. */
const DESCRIBE_WITHIN_MS = 1_000;
/** How long a request without a waiting caller may take to reach Temporal. */
const REQUEST_WITHIN_MS = 3_000;
/** A worker that dies inside the first task costs the buyer this long; workflows/steps.ts keeps local activities under 80 % of it. */
const WORKFLOW_TASK_TIMEOUT_MS = 5_000;

/** Attaches to a workflow that runs; one that has ended does not keep another from starting. */
const ATTACHED = {
  taskQueue: ORDERS_QUEUE,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
} as const;

type Carrier = (input: PurchaseInput | FundingInput) => Promise<unknown>;

/** Update-with-Start under the purchase's own id, so that starting, retrying and attaching are one call. */
export function createPurchaseEngine(temporal: TemporalClient, timings: PaymentTimings): PurchaseEngine {
  return {
    purchase: (input, deadlineMs, title = `${input.packageType} ${input.packageCode}`) =>
      startAndAsk(temporal, deadlineMs, PURCHASE_WORKFLOW, startOptions(input, summaryOf(title, input))),
    fundWallet: (input, deadlineMs) => {
      const amount = `${input.currency} ${formatMinor(BigInt(input.amountMinor))}`;
      const options = startOptions(input, `Wallet funded with ${amount}, ${input.paymentMethod}`);
      return startAndAsk(temporal, deadlineMs, FUND_WALLET_WORKFLOW, options);
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
      client.workflow
        .getHandle(transactionId)
        .executeUpdate<PurchaseAnswer, []>(ACCEPT_UPDATE, { updateId: ACCEPT_UPDATE, args: [] }),
    );
  } catch (error) {
    const failure = temporalFailure(error);
    if (failure === undefined) throw error;
    // Its rows say what it came to.
    if (failure === 'not-found' || updateFailureType(error) === ENDED_MEANWHILE) return 'no-workflow';
    return (await findStarted(client, transactionId)) ?? 'no-workflow';
  }
}

/** Of the request that starts the workflow: another request under the same key finds it while there is no answer. */
function fingerprintOf({ idempotency }: PurchaseInput | FundingInput): { readonly fingerprint?: string } {
  return idempotency ? { fingerprint: idempotency.fingerprint } : {};
}

/** How the workflow of a purchase or a funding is started. */
function startOptions(input: PurchaseInput | FundingInput, staticSummary: string) {
  return {
    ...ATTACHED,
    workflowId: input.transactionId,
    args: [input] as [typeof input],
    staticSummary,
    memo: { requestId: input.requestId, ...fingerprintOf(input) },
    typedSearchAttributes: new TypedSearchAttributes([
      { key: TRANSACTION_ID, value: input.transactionId },
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
      client.workflow.executeUpdateWithStart<Carrier, PurchaseAnswer, []>(ACCEPT_UPDATE, {
        updateId: ACCEPT_UPDATE,
        startWorkflowOperation,
      }),
    );
  } catch (error) {
    // The purchase may run. One that ended long ago, its answer forgotten by Temporal, has its answer in its rows.
    if (temporalFailure(error) === undefined) throw error;
    // Payloads of a request without a key need not be read.
    const isKeyed = options.args[0].idempotency !== undefined;
    const started = await findStarted(isKeyed ? client : temporal.states, options.workflowId, isKeyed);
    if (!started) throw new EngineUnavailable('Temporal took no purchase', { cause: error });
    return started;
  }
}

/** The workflow of this id, with the fingerprint of the request that started it; undefined where there is none, `unknown` when Temporal does not say. */
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

/** What Temporal takes. */
const MAX_SUMMARY_BYTES = 200;

/** The title is cut where it is too long, never the price. */
function summaryOf(title: string, { quote, paymentMethod }: PurchaseInput): string {
  const price = `, ${quote.currency} ${formatMinor(BigInt(quote.priceMinor))}, ${paymentMethod}`;
  let fitting = title;
  while (Buffer.byteLength(fitting + price) > MAX_SUMMARY_BYTES) fitting = fitting.slice(0, -1);
  return fitting + price;
}

type AfterClosing = (input: AfterClosingInput) => Promise<unknown>;

interface ClosedPayment extends PaymentSubject {
  readonly isFromOutside: boolean;
}

/** The workflow for what comes after closing: started where it does not run, and asked in the same call, so that many callers share one. */
function createAfterClosing({ workflow }: Client, timings: RefundTimings) {
  const optionsFor = ({ transactionId, purpose, isFromOutside }: ClosedPayment) => {
    const requestId = currentRequestId();
    return {
      ...ATTACHED,
      memo: requestId === undefined ? undefined : { requestId },
      workflowId: `after-${transactionId}`,
      staticSummary: 'After closing: late money, refunds and claims',
      typedSearchAttributes: new TypedSearchAttributes([
        { key: TRANSACTION_ID, value: transactionId },
        { key: NEEDS_ATTENTION, value: false },
      ]),
      args: [{ transactionId, purpose, isFromOutside, timings: refundTimingsOf(timings) }] as [
        AfterClosingInput,
      ],
    };
  };
  return {
    update: <Answer>(
      closed: ClosedPayment,
      name: string,
      options: { readonly args: unknown[]; readonly updateId?: string },
    ): Promise<Answer> =>
      workflow.executeUpdateWithStart<AfterClosing, Answer, unknown[]>(name, {
        ...options,
        startWorkflowOperation: new WithStartWorkflowOperation<AfterClosing>(
          AFTER_CLOSING_WORKFLOW,
          optionsFor(closed),
        ),
      }),
    /** Signal-with-start: a workflow that runs may have done the work a moment before the request. */
    signal: (closed: ClosedPayment, signal: string): Promise<unknown> =>
      workflow.signalWithStart<AfterClosing>(AFTER_CLOSING_WORKFLOW, { ...optionsFor(closed), signal }),
  };
}

/** Payment checks, by the workflow that waits for the money or, once it has ended, by the one for what comes after closing. */
export function createPaymentChecks(
  client: Client,
  timings: PaymentTimings,
): Pick<PaymentEngine, 'check' | 'checkSoon'> {
  const afterClosing = createAfterClosing(client, timings);
  const handleOf = ({ transactionId }: PaymentSubject) => client.workflow.getHandle(transactionId);
  /** A deadline that passes is no failure: the request was accepted, and its result will be in the rows. */
  const orClosed = async (
    deadlineMs: number,
    ask: () => Promise<unknown>,
    askClosed: () => Promise<unknown>,
  ): Promise<void> => {
    const orAskClosed = (error: unknown): Promise<unknown> => {
      if (temporalFailure(error) === 'not-found') return askClosed();
      throw error;
    };
    try {
      await client.withDeadline(Date.now() + deadlineMs, () => ask().catch(orAskClosed));
    } catch (error) {
      if (temporalFailure(error) !== 'no-answer') rethrow(error);
    }
  };
  return {
    check: (payment, deadlineMs) =>
      orClosed(
        deadlineMs,
        () => handleOf(payment).executeUpdate<PaymentCheckState, []>(CHECK_UPDATE, { args: [] }),
        () => afterClosing.update({ ...payment, isFromOutside: true }, CHECK_UPDATE, { args: [] }),
      ),
    checkSoon: (payment) =>
      orClosed(
        REQUEST_WITHIN_MS,
        () => handleOf(payment).signal(CHECK_SIGNAL),
        () => afterClosing.signal({ ...payment, isFromOutside: true }, CHECK_SIGNAL),
      ),
  };
}

/** Temporal reports this if the workflow ended before it handled the update. */
const ENDED_MEANWHILE = 'AcceptedUpdateCompletedWorkflow';

/**
 * Operator actions: an update on the workflow that carries the purchase or, where that has ended, on the one for what comes after closing. A
 * deadline that passes is no failure: the action may still be carried out.
 */
export function createOperatorEngine(client: Client, timings: RefundTimings): OperatorEngine {
  const afterClosing = createAfterClosing(client, timings);
  const updateOf = (request: ActionRequest) => ({
    // Of this attempt: an action is sent again when it was approved, or its first answer was lost.
    updateId: randomUUID(),
    args: [request] as [ActionRequest],
  });
  return {
    move: (request, deadlineMs) =>
      outcomeOf(client, deadlineMs, () =>
        client.workflow
          .getHandle(request.transactionId)
          .executeUpdate<EngineOutcome, [ActionRequest]>(MOVE_UPDATE, updateOf(request)),
      ),
    carryOn: (carried, request, deadlineMs) =>
      outcomeOf(client, deadlineMs, () =>
        client.workflow.executeUpdateWithStart<Carrier, EngineOutcome, [ActionRequest]>(MOVE_UPDATE, {
          ...updateOf(request),
          startWorkflowOperation: carrierOf(carried),
        }),
      ),
    repair: async (request, { purpose, isFromOutside }, deadlineMs) => {
      const closed = { transactionId: request.transactionId, purpose, isFromOutside };
      const repair = (): Promise<EngineOutcome> =>
        outcomeOf(client, deadlineMs, () => afterClosing.update(closed, MOVE_UPDATE, updateOf(request)));
      const made = await repair();
      // It was just ending: the next call starts another.
      return made.outcome === 'no-workflow' ? repair() : made;
    },
  };
}

function carrierOf({ purpose, input }: WorkflowStart): WithStartWorkflowOperation<Carrier> {
  const summary = `Carried on by an operator: ${purpose} of ${input.paymentMethod}`;
  const type = purpose === 'purchase' ? PURCHASE_WORKFLOW : FUND_WALLET_WORKFLOW;
  return new WithStartWorkflowOperation<Carrier>(type, startOptions(input, summary));
}

async function outcomeOf(
  client: Client,
  deadlineMs: number,
  ask: () => Promise<EngineOutcome>,
): Promise<EngineOutcome> {
  try {
    return await client.withDeadline(Date.now() + deadlineMs, ask);
  } catch (error) {
    const failure = updateFailureType(error);
    const failed = temporalFailure(error);
    if (failed === 'not-found' || failure === ENDED_MEANWHILE) return { outcome: 'no-workflow' };
    const refusal = ACTION_REFUSALS.find((code) => code === failure);
    if (refusal !== undefined) return { outcome: 'rejected', code: refusal };
    if (failed === 'no-answer')
      return { outcome: 'unknown', detail: 'no answer in time; repeat the same action to see its outcome' };
    return rethrow(error);
  }
}
