import { WithStartWorkflowOperation, type Client, type WorkflowStartOptions } from '@temporalio/client';
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { formatMinor } from '../../domain/money.ts';
import type { PaymentTimings, FundingInput } from '../../payments/rules.ts';
import type { PurchaseInput } from '../../purchases/purchase.ts';
import type { PurchaseStatus } from '../../domain/states.ts';
import type { TemporalClient } from './connect.ts';
import { temporalFailure } from './errors.ts';
import { createPaymentChecks } from './payment-engine.ts';
import { WORKFLOW_TASK_TIMEOUT_MS } from './task-timeout.ts';
import {
  ACCEPT_UPDATE,
  FUND_WALLET_WORKFLOW,
  ORDERS_QUEUE,
  PURCHASE_WORKFLOW,
} from '../../../workflows/contract.ts';
import {
  ACCOUNT_ID,
  NEEDS_ATTENTION,
  PAYMENT_METHOD,
  PURCHASE_STATUS,
  TRANSACTION_ID,
} from '../../../workflows/search-attributes.ts';
import { EngineUnavailable } from '../../domain/outcome.ts';
import type { EngineAnswer, PurchaseAnswer } from '../../payments/engine.ts';
import type { PurchaseEngine } from '../../purchases/deps.ts';

/** How long a purchase waits for a connection to Temporal before its caller is told to come back: nothing is started then. */
const CONNECT_WITHIN_MS = 1_500;
/** How long to ask, once the deadline has passed, whether anything was started at all. */
const DESCRIBE_WITHIN_MS = 1_000;

/** The purchase engine on Temporal: Update-with-Start under the purchase's own id, so that starting, retrying and attaching are one call. */
export function createPurchaseEngine(temporal: TemporalClient, timings: PaymentTimings): PurchaseEngine {
  return {
    purchase: (input, deadlineMs, title = `${input.packageType} ${input.packageCode}`) =>
      startAndAsk(temporal, input.transactionId, deadlineMs, PURCHASE_WORKFLOW, {
        args: [input],
        staticSummary: summaryOf(title, input),
        memo: { requestId: input.requestId },
        typedSearchAttributes: attributesOf(input, input.charge === undefined ? 'PROCESSING' : 'PENDING'),
      }),
    fundWallet: (input, deadlineMs) =>
      startAndAsk(temporal, input.transactionId, deadlineMs, FUND_WALLET_WORKFLOW, {
        args: [input],
        staticSummary: `Wallet funded with ${input.currency} ${formatMinor(BigInt(input.amountMinor))}, ${input.paymentMethod}`,
        memo: { requestId: input.requestId },
        typedSearchAttributes: attributesOf(input, 'PENDING'),
      }),
    ...createPaymentChecks(temporal.client, timings),
  };
}

type StartOptions = Pick<
  WorkflowStartOptions<(input: PurchaseInput | FundingInput) => Promise<unknown>>,
  'args' | 'staticSummary' | 'memo' | 'typedSearchAttributes'
>;

async function startAndAsk(
  temporal: TemporalClient,
  transactionId: string,
  deadlineMs: number,
  workflowType: string,
  options: StartOptions,
): Promise<EngineAnswer> {
  const { client } = temporal;
  if (!(await temporal.isConnected(CONNECT_WITHIN_MS)))
    throw new EngineUnavailable('no connection to Temporal');
  const startWorkflowOperation = new WithStartWorkflowOperation(workflowType, {
    ...options,
    workflowId: transactionId,
    taskQueue: ORDERS_QUEUE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
  });
  try {
    return await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.executeUpdateWithStart<() => Promise<unknown>, PurchaseAnswer, []>(ACCEPT_UPDATE, {
        updateId: ACCEPT_UPDATE,
        startWorkflowOperation,
      }),
    );
  } catch (error) {
    // The purchase may run. One that ended long ago, its answer forgotten by Temporal, has its answer in its rows.
    if (temporalFailure(error) === undefined) throw error;
    const known = await isStarted(client, transactionId);
    if (known === false) throw new EngineUnavailable('Temporal took no purchase', { cause: error });
    return known === undefined ? 'in-doubt' : 'no-answer-yet';
  }
}

/** The search attributes of a purchase or a funding. */
export function attributesOf(
  input: Pick<PurchaseInput, 'transactionId' | 'accountId' | 'paymentMethod'>,
  status: PurchaseStatus,
): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: TRANSACTION_ID, value: input.transactionId },
    { key: ACCOUNT_ID, value: input.accountId },
    { key: PAYMENT_METHOD, value: input.paymentMethod },
    { key: PURCHASE_STATUS, value: status },
    { key: NEEDS_ATTENTION, value: false },
  ]);
}

/** Whether there is such a workflow; undefined when Temporal does not answer. */
async function isStarted(client: Client, transactionId: string): Promise<boolean | undefined> {
  try {
    await client.withDeadline(Date.now() + DESCRIBE_WITHIN_MS, () =>
      client.workflow.getHandle(transactionId).describe(),
    );
    return true;
  } catch (error) {
    return temporalFailure(error) === 'not-found' ? false : undefined;
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
