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
import { startChild } from '../../src/dev/child.ts';
import { ORDERS_QUEUE, firstAnswer } from '../../workflows/contract.ts';
import { purchaseInput } from '../../test/support/money/facts.ts';
import {
  ACCOUNT_ID,
  NEEDS_ATTENTION,
  PAYMENT_METHOD,
  PURCHASE_STATUS,
  TRANSACTION_ID,
} from '../../workflows/search-attributes.ts';
import type { BenchOptions } from '../support/options.ts';
import type { Servers } from '../support/servers.ts';

export type Floors = Awaited<ReturnType<typeof startFloors>>;

type FloorName = 'sameShape' | 'empty';

const CHECKOUT = join(import.meta.dirname, '..', '..');
const DEADLINE_MS = 30_000;
const MAX_ATTEMPTS = 3;

export async function startFloors(servers: Servers, { log }: Pick<BenchOptions, 'log'>) {
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
  /** Starts one and waits for its answer; returns its workflow id. */
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
function inputOf() {
  const random = (): string => randomBytes(16).toString('hex');
  return purchaseInput({
    transactionId: makeId('transaction', random()),
    accountId: makeId('account', random()),
    esimId: makeId('esim', random()),
    requestId: random(),
  });
}
