import { hostname } from 'node:os';
import { ensureSchedules } from '../../platform/temporal/schedules.ts';
import { contextPropagation } from '../../platform/temporal/context-propagation.ts';
import { bundleWorkflows, readBundle } from '../../platform/temporal/bundle.ts';
import { installRuntime } from '../../platform/temporal/runtime.ts';
import { QUEUE_NAMES, startWorkers, type QueueName, type Workers } from '../../platform/temporal/workers.ts';
import { startPoller } from '../../platform/poller.ts';
import {
  composeWorkerWorld,
  worldConfigs,
  type ProcessContext,
  type WorkerWorld,
} from '../../platform/composition/compose.ts';
import type { ReadinessCheck } from '../../platform/http/admin.ts';
import { composeRedisServices, type RedisServices } from '../../platform/composition/shared.ts';
import { createFigureGauges, stuckFigures } from '../../operations/figures.ts';
import { readFigures } from '../../operations/store/figures.ts';
import { countOpenDifferences } from '../../reconciliation/store/reconciliation.ts';
import { readEnvironment } from '../../catalogue/store/revisions.ts';
import { VERSION } from '../../platform/version.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { observe, openAdmin, type Observed } from './observing.ts';
import { OperatorMistake } from '../command.ts';

export interface RunningWorker extends Lifecycle {
  readonly adminUrl: string;
  /** Rejects when a worker fails, resolves when all have stopped. */
  readonly finished: Promise<unknown>;
}

export interface WorkerOptions {
  /** For tests of changed workflows. */
  readonly workflowsPath?: string;
  readonly figuresEveryMs?: number;
  readonly stuckEveryMs?: number;
}

export function parseQueues(flag: string | undefined): readonly QueueName[] {
  if (flag === undefined) return QUEUE_NAMES;
  return flag.split(',').map((name) => {
    const queue = QUEUE_NAMES.find((known) => known === name.trim());
    if (!queue) throw new OperatorMistake(`--queues: must be some of ${QUEUE_NAMES.join(', ')}; not ${name}`);
    return queue;
  });
}

/** Starts Temporal workers for every world and queue. Rejects when a world's schema and namespace disagree, or Temporal is not reachable. */
export async function runWorker(
  context: ProcessContext,
  queues: readonly QueueName[],
  options: WorkerOptions = {},
): Promise<RunningWorker> {
  const { config, secrets, logger } = context;
  const lifecycle = createLifecycle(logger, config.worker.shutdownGraceMs * 2 + 5_000);
  const moreMetrics = installRuntime(logger);
  const observed = await observe(context, lifecycle);
  const redis = composeRedisServices(config, secrets, logger);
  lifecycle.onStop('redis', () => redis.close());
  try {
    const { workflowBundle } = config.worker;
    const isReady = options.workflowsPath === undefined && workflowBundle !== undefined;
    const bundle = await (isReady ? readBundle(workflowBundle) : bundleWorkflows(options.workflowsPath));
    const running: Running[] = [];
    for (const world of worldConfigs(config)) {
      const composed = composeWorkerWorld(observed, world, redis);
      lifecycle.onStop(`${world.environment} pools`, () => composed.close());
      await refuseMixedWorlds(composed);
      const workers = await startWorkers({
        address: config.temporal.address,
        namespace: world.namespace,
        activities: composed.activities,
        queues,
        bundle,
        identity: `simway@${VERSION}#${hostname()}-${process.pid}`,
        deployment: config.deployment,
        steps: contextPropagation(world.environment, observed.tracing),
        shutdownGraceMs: config.worker.shutdownGraceMs,
        maxCachedWorkflows: config.worker.maxCachedWorkflows,
        webhookAttempts: config.webhookLimits.attempts,
      });
      lifecycle.onStop(`${world.environment} workers`, () => workers.stop());
      running.push({ composed, workers });
      if (queues.includes('ops'))
        await ensureSchedules(composed.temporal.client, {
          ...config.schedules,
          reconcileMs: world.reconcile.everyMs,
        });
    }
    if (queues.includes('ops')) {
      showFigures(observed, running, lifecycle, options);
      watchPayments(observed, running, lifecycle);
    }
    const adminUrl = await openAdmin(observed, lifecycle, {
      port: config.admin.workerPort,
      checks: () => checkAll(running, redis),
      moreMetrics,
    });
    const worlds = running.map(({ composed }) => composed.world.environment);
    logger.info({ queues, worlds, adminUrl }, 'worker polls');
    const finished = Promise.all(running.map(({ workers }) => workers.finished));
    return Object.assign(lifecycle, { adminUrl, finished });
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

interface Running {
  readonly composed: WorkerWorld;
  readonly workers: Workers;
}

async function checkAll(
  running: readonly Running[],
  redis: RedisServices,
): Promise<readonly ReadinessCheck[]> {
  const polling = running.map(({ composed, workers }) => ({
    name: `workers ${composed.world.environment}`,
    ok: workers.arePolling(),
  }));
  const checks = running.flatMap(({ composed }) => composed.checks());
  return [...(await Promise.all(checks)), ...polling, await redis.check()];
}

/** Counts over small indexes. */
const FIGURES_EVERY_MS = 15_000;
/** The stuck list also asks Temporal for open workflows, which is slow. */
const STUCK_EVERY_MS = 60_000;

/** On the ops workers, whose connections buyers do not need. */
function showFigures(
  { metrics, logger }: Observed,
  running: readonly Running[],
  lifecycle: Lifecycle,
  { figuresEveryMs = FIGURES_EVERY_MS, stuckEveryMs = STUCK_EVERY_MS }: WorkerOptions,
): void {
  const show = createFigureGauges(metrics.registry);
  for (const { composed } of running) {
    const { environment } = composed.world;
    const absent = (source: 'rows' | 'stuck', message: string) => (error: unknown) => {
      show(environment, source, undefined);
      logger.warn({ environment, error }, message);
    };
    const readRows = async () => {
      const open = await countOpenDifferences(composed.db);
      const differences = open.map(
        ({ kind: label, count: value }) => ({ figure: 'differences', label, value }) as const,
      );
      show(environment, 'rows', [...(await readFigures(composed.db)), ...differences]);
    };
    const readStuck = async () => show(environment, 'stuck', stuckFigures((await composed.stuck()).items));
    poll(lifecycle, figuresEveryMs, readRows, absent('rows', 'figures could not be read'));
    poll(lifecycle, stuckEveryMs, readStuck, absent('stuck', 'the stuck list could not be read'));
  }
}

/** Whether a window of the gateway's list is due costs one read of a small index. */
const WATCH_EVERY_MS = 1_000;

function watchPayments({ logger }: Observed, running: readonly Running[], lifecycle: Lifecycle): void {
  for (const { composed } of running) {
    const { environment } = composed.world;
    if (!composed.watchPayments) continue;
    poll(lifecycle, WATCH_EVERY_MS, composed.watchPayments, (error) =>
      logger.warn({ environment, error }, 'payments could not be watched'),
    );
  }
}

/** Starts at once. */
function poll(
  lifecycle: Lifecycle,
  everyMs: number,
  read: () => Promise<void>,
  failed: (error: unknown) => void,
): void {
  const first = read().catch(failed);
  const poller = startPoller(read, everyMs, failed);
  lifecycle.onStop('pollers', async () => {
    await first;
    await poller.stop();
  });
}

async function refuseMixedWorlds({ db, world }: WorkerWorld): Promise<void> {
  const environment = await readEnvironment(db);
  if (!world.namespace.endsWith(`-${environment}`)) {
    throw new Error(
      `Schema ${world.schema} belongs to the ${environment} world, but the namespace is ${world.namespace}`,
    );
  }
}
