/**
 * The floors from the caller's side: the same Update-with-Start as src/app/temporal/purchase-engine.ts makes,
 * straight from the bench's process.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { connectClient } from '../../src/platform/temporal/connect.ts';
import { makeId } from '../../src/domain/ids.ts';
import type { PurchaseInput } from '../../src/purchases/purchase.ts';
import { startChild } from '../../src/dev/child.ts';
import { ORDERS_QUEUE } from '../../workflows/contract.ts';
import { firstAnswer } from '../../workflows/messages.ts';
import {
  ACCOUNT_ID,
  NEEDS_ATTENTION,
  PAYMENT_METHOD,
  PURCHASE_STATUS,
  TRANSACTION_ID,
} from '../../workflows/search-attributes.ts';
import type { BenchOptions } from '../support/options.ts';
import type { Servers } from '../support/servers.ts';

export interface Floors {
  readonly namespace: string;
  /** Starts one and waits for its answer; returns its workflow id. */
  run(workflow: FloorName): Promise<string>;
}

type FloorName = 'sameShape' | 'empty' | 'emptyWithChild';

const CHECKOUT = join(import.meta.dirname, '..', '..');
const DEADLINE_MS = 30_000;
const MAX_ATTEMPTS = 3;

export async function startFloors(servers: Servers, { log }: Pick<BenchOptions, 'log'>): Promise<Floors> {
  const namespace = `floor-${randomBytes(4).toString('hex')}-test`;
  const address = await servers.prepareNamespaces([namespace]);
  const worker = await startChild({
    name: 'floor worker',
    command: process.execPath,
    args: ['bench/l2/floor-worker.ts', '--address', address, '--namespace', namespace],
    cwd: CHECKOUT,
    env: { PATH: '/usr/bin:/bin' },
    log,
    logFile: join(servers.folder, 'floor-worker.log'),
    stopDeadlineMs: 20_000,
  });
  servers.onClose(() => worker.stop());
  await worker.untilReady({ line: /^\{"ready":true/, deadlineMs: 60_000 });
  const temporal = connectClient({ address, namespace });
  servers.onClose(() => temporal.close());
  const run = async (workflow: FloorName): Promise<string> => {
    const input = inputOf();
    const operation = () =>
      new WithStartWorkflowOperation(workflow, {
        workflowId: input.transactionId,
        taskQueue: ORDERS_QUEUE,
        args: [input],
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        workflowTaskTimeout: 5_000,
        staticSummary: 'BASE NG-5GB-30D for USD 1234 (minor units), WALLET',
        memo: { requestId: input.requestId },
        typedSearchAttributes: [
          { key: TRANSACTION_ID, value: input.transactionId },
          { key: ACCOUNT_ID, value: input.accountId },
          { key: PAYMENT_METHOD, value: input.paymentMethod },
          { key: PURCHASE_STATUS, value: 'PROCESSING' },
          { key: NEEDS_ATTENTION, value: false },
        ],
      });
    const answer = await insist(() =>
      temporal.client.withDeadline(Date.now() + DEADLINE_MS, () =>
        temporal.client.workflow.executeUpdateWithStart(firstAnswer, {
          updateId: firstAnswer.name,
          startWorkflowOperation: operation(),
        }),
      ),
    );
    if (answer.status !== 'SUCCESS') throw new Error(`the floor answered ${answer.status}`);
    return input.transactionId;
  };
  return { namespace, run };
}

/**
 * An overloaded server says UNAVAILABLE now and then; asking again under the same id is the same purchase,
 * and its time counts.
 */
async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** As large as a purchase's. */
function inputOf(): PurchaseInput {
  const random = (): string => randomBytes(16).toString('hex');
  return {
    transactionId: makeId('transaction', random()),
    accountId: makeId('account', random()),
    packageType: 'BASE',
    packageCode: 'NG-5GB-30D',
    paymentMethod: 'WALLET',
    esimId: makeId('esim', random()),
    quote: {
      priceMinor: '1234',
      currency: 'USD',
      priceUsdMinor: '1234',
      costUsdE4: '100000',
      settingsId: 'settings-0001',
    },
    requestId: random(),
    timings: {
      answerWithinMs: 8_000,
      checkFirstMs: 250,
      checkMaxMs: 3_000,
      attentionAfterMs: 120_000,
      slowCheckMs: 10_000,
      inFlightGraceMs: 5_000,
      openChargeForMs: 600_000,
      checkoutMs: 86_400_000,
      transferMs: 1_800_000,
      pollFirstMs: 2_000,
      pollMaxMs: 600_000,
      refundCheckFirstMs: 500,
      refundCheckMaxMs: 10_000,
    },
  };
}
