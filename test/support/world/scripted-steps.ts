// Workers of one namespace whose steps answer what a test says: for tests of what a workflow makes of its
// steps' answers. The workflows and the Temporal server are real.
import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { readBundle } from '../../../src/platform/temporal/bundle.ts';
import { prepareNamespaces } from '../../../src/app/temporal/namespaces.ts';
import { installRuntime } from '../../../src/platform/temporal/runtime.ts';
import { createOperatorEngine, createPurchaseEngine } from '../../../src/app/temporal/purchase-engine.ts';
import type { PurchaseInput } from '../../../src/purchases/purchase.ts';
import { gatewayQueue, OPS_QUEUE, ORDERS_QUEUE, supplierQueue } from '../../../workflows/contract.ts';
import { purchaseInput } from '../money/facts.ts';
import { LONG_ANSWER_TIMINGS } from './workflow-harness.ts';

/** Throw it from a step: its answer is lost. */
export const lost = (): never => {
  throw ApplicationFailure.nonRetryable('the answer is lost');
};

/** Of every purchase, unless the test has its own `findVendors`. A supplier `third` has a worker too. */
const VENDORS = { supplier: 'another', gateway: 'another' } as const;

type Script = Readonly<Record<string, (...args: never[]) => unknown>>;

/** What a step answers where a test does not say: a purchase that is paid and waits for its supplier. */
const USUALLY: Script = {
  findVendors: () => VENDORS,
  openPurchase: () => ({ stage: 'paid' }),
  tryDelivering: () => ({ state: 'waiting', waitMs: 20, why: 'a test waits' }),
  enqueueProcessingWebhook: () => undefined,
  nextAction: () => null,
  followMoney: () => ({ state: 'done' }),
};

const noop = (): void => undefined;
const silent = { log: noop, trace: noop, debug: noop, info: noop, warn: noop, error: noop };

export async function startScripted() {
  installRuntime(silent);
  const address = inject('temporalAddress');
  const namespace = `scripted-${randomBytes(4).toString('hex')}`;
  await prepareNamespaces({ address, namespaces: [namespace], retentionDays: 1 });
  const native = await NativeConnection.connect({ address });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const workflowBundle = await readBundle(inject('workflowBundle'));
  const calls: string[] = [];
  const queues = new Map<string, string>();
  let script = USUALLY;
  const names = [
    ...['openPurchase', 'openFunding', 'tryDelivering', 'deliver', 'enqueueProcessingWebhook', 'nextAction'],
    ...['performAction', 'collectPayment', 'checkPayment', 'followMoney', 'syncCatalogue'],
  ];
  const activities = Object.fromEntries(
    names.map((name) => [
      name,
      async (...args: unknown[]) => {
        calls.push(name);
        queues.set(name, Context.current().info.taskQueue);
        const answer = script[name];
        if (!answer) throw ApplicationFailure.nonRetryable(`the test has no answer for ${name}`);
        return await (answer as (...given: unknown[]) => unknown)(...args);
      },
    ]),
  );
  const findVendors = () => Promise.resolve(script['findVendors']?.());
  const vendorQueues = [
    supplierQueue(VENDORS.supplier),
    supplierQueue('third'),
    gatewayQueue(VENDORS.gateway),
  ];
  const workers = await Promise.all(
    [ORDERS_QUEUE, ...vendorQueues, OPS_QUEUE].map((taskQueue) =>
      Worker.create({
        connection: native,
        namespace,
        taskQueue,
        activities: { ...activities, findVendors },
        ...(taskQueue === ORDERS_QUEUE ? { workflowBundle } : {}),
      }),
    ),
  );
  const running = Promise.all(workers.map((worker) => worker.run()));
  const temporal = { client, states: client } as Parameters<typeof createPurchaseEngine>[0];
  return {
    client,
    engine: createPurchaseEngine(temporal, LONG_ANSWER_TIMINGS),
    operators: createOperatorEngine(client, LONG_ANSWER_TIMINGS),
    /** Names of the steps that ran, in order. */
    calls,
    /** Where a step ran last. */
    queueOf: (name: string): string | undefined => queues.get(name),
    follow: (answers: Script): void => {
      calls.length = 0;
      queues.clear();
      script = { ...USUALLY, ...answers };
    },
    /** Starts a purchase, or a funding; through the gateway with `charge`. */
    start: (more: Partial<PurchaseInput> = {}, workflow: 'purchase' | 'fundWallet' = 'purchase') => {
      const transactionId = `txn-${randomBytes(16).toString('hex')}`;
      const input = purchaseInput({
        transactionId,
        paymentMethod: more.charge ? 'CARD' : 'WALLET',
        timings: { ...LONG_ANSWER_TIMINGS, answerWithinMs: 2_000 },
        ...more,
      });
      return client.workflow.start(workflow, {
        workflowId: transactionId,
        taskQueue: ORDERS_QUEUE,
        args: [input],
        workflowTaskTimeout: '5s',
      });
    },
    close: async () => {
      for (const worker of workers) worker.shutdown();
      await running;
      await native.close();
      await connection.close();
    },
  };
}
