/**
 * The floors' worker, a process of its own: started as the service starts its workers, with workflows whose
 * steps do nothing.
 */
import { parseArgs } from 'node:util';
import { bundleWorkflowCode } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { installRuntime } from '../../src/platform/temporal/runtime.ts';
import { startWorkers, type WorkersOptions } from '../../src/app/temporal/workers.ts';
import type { OrderActivities } from '../../workflows/contract.ts';

const MAX_CACHED_WORKFLOWS = 600;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      address: { type: 'string', default: '' },
      namespace: { type: 'string', default: '' },
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
    openPurchase: () => Promise.resolve({ stage: 'paid' }),
    tryDelivering: () => Promise.resolve({ state: 'done', iccid: '8944000000000000000' }),
  };
  const options: WorkersOptions = {
    address: values.address,
    namespace: values.namespace,
    activities: { orders, supplier: {}, gateway: {}, webhooks: {}, ops: {} },
    vendors: { supplier: 'none', gateway: 'none' },
    queues: ['orders'],
    bundle,
    identity: `bench-floor-${process.pid}`,
    shutdownGraceMs: 1_000,
    maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
    webhookAttempts: 1,
  };
  const workers = await startWorkers(options);
  process.once('SIGTERM', () => void workers.stop());
  process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
  await workers.finished;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
