/** The worker process: Temporal workers for each world and queue it serves. Refuses to start where namespace and schema disagree. */
import { hostname } from 'node:os';
import { ensureSchedules } from '../adapters/temporal/schedules.ts';
import {
  bundleWorkflows,
  installRuntime,
  QUEUE_NAMES,
  startWorkers,
  type QueueName,
} from '../adapters/temporal/workers.ts';
import { composeWorkerWorld, worldConfigs, type Parts, type WorkerWorld } from '../compose.ts';
import { composeShared } from '../compose-shared.ts';
import { readEnvironment } from '../store/revisions.ts';
import { VERSION } from '../version.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { OperatorMistake } from './operator-mistake.ts';

export interface RunningWorker extends Lifecycle {
  /** Rejects when a worker fails, resolves when all have stopped. */
  readonly finished: Promise<unknown>;
}

/** Which queues a `--queues` flag names; all without one. Throws on an unknown name. */
export function parseQueues(flag: string | undefined): readonly QueueName[] {
  if (flag === undefined) return QUEUE_NAMES;
  return flag.split(',').map((name) => {
    const queue = QUEUE_NAMES.find((known) => known === name.trim());
    if (!queue) throw new OperatorMistake(`--queues takes ${QUEUE_NAMES.join(', ')}; not ${name}`);
    return queue;
  });
}

/** Starts polling; rejects when a world's schema and namespace disagree or Temporal cannot be reached. */
export async function runWorker(parts: Parts, queues: readonly QueueName[]): Promise<RunningWorker> {
  const { config, secrets, logger } = parts;
  const lifecycle = createLifecycle(logger, config.worker.shutdownGraceMs * 2 + 5_000);
  installRuntime(logger);
  const shared = composeShared(config, secrets, logger);
  lifecycle.onStop('redis', () => shared.close());
  try {
    const bundle = await bundleWorkflows();
    const finished: Promise<unknown>[] = [];
    for (const world of worldConfigs(config)) {
      const composed = composeWorkerWorld(parts, world, shared);
      lifecycle.onStop(`${world.environment} pools`, () => composed.close());
      await refuseMixedWorlds(composed);
      const workers = await startWorkers({
        address: config.temporal.address,
        namespace: world.namespace,
        activities: composed.activities,
        queues,
        bundle,
        identity: `simway@${VERSION}#${hostname()}-${process.pid}`,
        shutdownGraceMs: config.worker.shutdownGraceMs,
        maxCachedWorkflows: config.worker.maxCachedWorkflows,
      });
      lifecycle.onStop(`${world.environment} workers`, () => workers.stop());
      finished.push(workers.finished);
      if (queues.includes('ops')) await ensureSchedules(composed.temporal.client, config.schedules);
    }
    logger.info({ queues, worlds: worldConfigs(config).map((world) => world.environment) }, 'worker polls');
    return Object.assign(lifecycle, { finished: Promise.all(finished) });
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

async function refuseMixedWorlds({ db, world }: WorkerWorld): Promise<void> {
  const environment = await readEnvironment(db);
  if (!world.namespace.endsWith(`-${environment}`)) {
    throw new Error(
      `schema ${world.schema} is the ${environment} world, but the namespace is ${world.namespace}`,
    );
  }
}
