/**
 * The floors' worker, a process of its own: the service's worker settings, the floors' workflows, steps that do nothing. Its threads are
 * the SDK's as they come, unless `--prepared-threads` gives them what the service gives its own.
 */
import { parseArgs } from 'node:util';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { installRuntime } from '../../src/platform/temporal/runtime.ts';
import {
  startWorkers,
  workerOptions,
  type Workers,
  type WorkersOptions,
} from '../../src/platform/temporal/workers.ts';
import type { OrderActivities } from '../../workflows/contract.ts';

const MAX_CACHED_WORKFLOWS = 600;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      address: { type: 'string', default: '' },
      namespace: { type: 'string', default: '' },
      'prepared-threads': { type: 'boolean', default: false },
    },
  });
  const noop = (): void => undefined;
  const warn = (fields: object, message: string): void => console.error(message, fields);
  installRuntime({ info: noop, warn, error: warn });
  const bundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./floor-workflows.ts', import.meta.url)),
    logger: { trace: noop, debug: noop, info: noop, warn: noop, error: noop, log: noop },
  });
  const orders: Pick<OrderActivities, 'openPurchase' | 'tryDelivering'> = {
    openPurchase: () => Promise.resolve({ opened: true }),
    tryDelivering: () => Promise.resolve({ outcome: 'delivered', iccid: '8944000000000000000' }),
  };
  const options: WorkersOptions = {
    address: values.address,
    namespace: values.namespace,
    activities: { orders, supplier: {}, gateway: {}, webhooks: {}, ops: {} },
    // The second for the children of `emptyWithChild`.
    queues: ['orders', 'webhooks'],
    bundle,
    identity: `bench-floor-${process.pid}`,
    shutdownGraceMs: 1_000,
    maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
    webhookAttempts: 1,
  };
  const workers = values['prepared-threads'] ? await startWorkers(options) : await startPlain(options);
  process.once('SIGTERM', () => void workers.stop());
  process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
  await workers.finished;
}

async function startPlain(options: WorkersOptions): Promise<Omit<Workers, 'arePolling'>> {
  const connection = await NativeConnection.connect({ address: options.address });
  const workers = await Promise.all(
    options.queues.map((queue) => Worker.create({ connection, ...workerOptions(options, queue) })),
  );
  const finished = Promise.all(workers.map((worker) => worker.run())).then(() => connection.close());
  return {
    finished,
    stop: () => {
      for (const worker of workers) worker.shutdown();
      return finished;
    },
  };
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
