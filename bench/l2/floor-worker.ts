/** The floors' worker, a process of its own: the service's worker settings, the floors' workflows, steps that do nothing. */
import { parseArgs } from 'node:util';
import { bundleWorkflowCode } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { installRuntime, startWorkers } from '../../src/adapters/temporal/workers.ts';
import type { OrderActivities } from '../../workflows/contract.ts';

const MAX_CACHED_WORKFLOWS = 600;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { address: { type: 'string' }, namespace: { type: 'string' } } });
  const noop = (): void => undefined;
  const warn = (fields: object, message: string): void => console.error(message, fields);
  installRuntime({ info: noop, warn, error: warn });
  const bundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./floor-workflows.ts', import.meta.url)),
    logger: { trace: noop, debug: noop, info: noop, warn: noop, error: noop, log: noop },
  });
  const orders: Pick<OrderActivities, 'openPurchase' | 'tryDelivering' | 'settlePurchase'> = {
    openPurchase: () => Promise.resolve({ opened: true }),
    tryDelivering: () => Promise.resolve({ outcome: 'delivered', iccid: '8944000000000000000' }),
    settlePurchase: () => Promise.resolve(),
  };
  const workers = await startWorkers({
    address: values.address ?? '',
    namespace: values.namespace ?? '',
    activities: { orders, supplier: {}, ops: {} },
    queues: ['orders'],
    bundle,
    identity: `bench-floor-${process.pid}`,
    shutdownGraceMs: 1_000,
    maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
  });
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
