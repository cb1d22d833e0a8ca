import { hostname } from 'node:os';
import { ensureSchedules } from '../temporal/schedules.ts';
import { contextPropagation } from '../temporal/context-propagation.ts';
import { bundleWorkflows, readBundle } from '../../platform/temporal/bundle.ts';
import { installRuntime } from '../../platform/temporal/runtime.ts';
import { QUEUE_NAMES, startWorkers, type QueueName, type Workers } from '../temporal/workers.ts';
import { startPoller } from '../../platform/poller.ts';
import { composeWorkerWorld, type WorkerWorld } from '../composition/worker.ts';
import { worldConfigs, type ProcessContext } from '../composition/context.ts';
import type { ReadinessCheck } from '../../platform/http/admin.ts';
import { composeRedisServices, type RedisServices } from '../composition/redis-services.ts';
import {
  availabilityFigures,
  createFigureGauges,
  overdueFigures,
  stuckFigures,
} from '../../operations/figures.ts';
import { describeAvailability } from '../../operations/supplier/balance.ts';
import { readOverdue } from '../../esims/store/due.ts';
import { readFigures } from '../../operations/store/figures.ts';
import { countOpenDifferences } from '../../reconciliation/store/reconciliation.ts';
import { readEnvironment } from '../../catalogue/store/revisions.ts';
import { VERSION } from '../../platform/version.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { observe, openAdmin, type Observed } from './observing.ts';
import { OperatorMistake } from '../../platform/command.ts';

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

/** How long a worker takes to stop at most; then it ends anyway. */
export const workerStopMs = (graceMs: number): number => graceMs * 2 + 5_000;

export function parseQueues(flag: string | undefined): readonly QueueName[] {
  if (flag === undefined) return QUEUE_NAMES;
  return flag.split(',').map((name) => {
    const queue = QUEUE_NAMES.find((known) => known === name.trim());
    if (!queue) throw new OperatorMistake(`--queues: must be some of ${QUEUE_NAMES.join(', ')}; not ${name}`);
    return queue;
  });
}

/**
 * Starts Temporal workers for every environment and queue. Rejects when an environment's schema and namespace
 * disagree, or Temporal is not reachable.
 */
export async function runWorker(
  context: ProcessContext,
  queues: readonly QueueName[],
  options: WorkerOptions = {},
): Promise<RunningWorker> {
  const { config, secrets, logger } = context;
  const lifecycle = createLifecycle(logger, workerStopMs(config.worker.shutdownGraceMs));
  const moreMetrics = installRuntime(logger);
  const observed = await observe(context, lifecycle);
  const redis = composeRedisServices(config, secrets, logger);
  lifecycle.onStop('redis', () => redis.close());
  try {
    const bundle = await loadBundle(config.worker.workflowBundle, options.workflowsPath);
    const running: Running[] = [];
    for (const world of worldConfigs(config)) {
      const composed = composeWorkerWorld(observed, world, redis);
      lifecycle.onStop(`${world.environment} pools`, () => composed.close());
      await refuseMixedWorlds(composed);
      const workers = await startWorkers({
        ...secrets.temporal,
        namespace: world.namespace,
        onUnreadable: composed.events.temporalPayloadUnreadable,
        activities: composed.activities,
        vendors: composed.vendors,
        queues,
        bundle,
        identity: `simway@${VERSION}#${hostname()}-${process.pid}`,
        deployment: config.deployment,
        steps: contextPropagation(world.environment, observed.tracing),
        shutdownGraceMs: config.worker.shutdownGraceMs,
        maxCachedWorkflows: config.worker.maxCachedWorkflows,
        webhookAttempts: config.webhookLimits.attempts,
        onScheduledLocal: (step, transactionId) => reportScheduledLocal(composed, step, transactionId),
      });
      const dispatcher = queues.includes('webhooks') ? composed.startDispatcher() : undefined;
      // Together: each may take the grace time.
      lifecycle.onStop(`${world.environment} workers`, () =>
        Promise.all([workers.stop(), dispatcher?.stop(config.worker.shutdownGraceMs)]),
      );
      running.push({ composed, workers });
      if (queues.includes('ops'))
        await ensureSchedules(composed.temporal.client, {
          ...config.schedules,
          reconcileMs: world.reconcile.everyMs,
        });
    }
    if (queues.includes('ops')) {
      showFigures(observed, running, lifecycle, options);
      monitorPayments(observed, running, lifecycle);
      followEsims(observed, running, lifecycle);
      writeInvoices(observed, running, lifecycle);
    }
    const adminUrl = await openAdmin(observed, lifecycle, {
      port: config.admin.workerPort,
      checks: () => checkAll(running, redis),
      moreMetrics,
    });
    lifecycle.onStop('background work', redis.endBackground);
    const worlds = running.map(({ composed }) => composed.world.environment);
    logger.info({ queues, worlds, adminUrl }, 'worker polls');
    const finished = Promise.all(running.map(({ workers }) => workers.finished));
    return Object.assign(lifecycle, { adminUrl, finished });
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** The one that was made beforehand, where there is one and no test brings its own. */
const loadBundle = (made: string | undefined, workflowsPath: string | undefined) =>
  made !== undefined && workflowsPath === undefined ? readBundle(made) : bundleWorkflows(workflowsPath);

interface Running {
  readonly composed: WorkerWorld;
  readonly workers: Workers;
}

function reportScheduledLocal({ events }: WorkerWorld, step: string, transactionId: string): void {
  const detail = `${step} was scheduled on a task queue`;
  events.unverifiedRequest({ what: 'step', transactionId, detail });
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
      const overdue = overdueFigures(await readOverdue(composed.db));
      const known = await describeAvailability(composed.db, composed.world.balanceLimits);
      const delivery = availabilityFigures(known);
      show(environment, 'rows', [
        ...(await readFigures(composed.db)),
        ...differences,
        ...overdue,
        ...delivery,
      ]);
    };
    const readStuck = async () => show(environment, 'stuck', stuckFigures((await composed.stuck()).items));
    poll(lifecycle, figuresEveryMs, readRows, absent('rows', 'figures could not be read'));
    poll(lifecycle, stuckEveryMs, readStuck, absent('stuck', 'the stuck list could not be read'));
  }
}

/** Whether a window of the gateway's list is due costs one read of a small index. */
const MONITOR_EVERY_MS = 1_000;

function monitorPayments({ logger }: Observed, running: readonly Running[], lifecycle: Lifecycle): void {
  for (const { composed } of running) {
    const { environment } = composed.world;
    if (!composed.monitorPayments) continue;
    poll(lifecycle, MONITOR_EVERY_MS, composed.monitorPayments, (error) =>
      logger.warn({ environment, error }, 'payments could not be monitored'),
    );
  }
}

/** One read of a small index while no event waits. */
const EVENTS_EVERY_MS = 1_000;
/** Notices of expiry are late by at most this. */
const EXPIRY_EVERY_MS = 30_000;
/** Workers may start before the API does, which the supplier calls before it takes the address. */
const REGISTER_EVERY_MS = 2_000;

function followEsims({ logger }: Observed, running: readonly Running[], lifecycle: Lifecycle): void {
  for (const { composed } of running) {
    const { environment } = composed.world;
    const { events, expiry } = composed.followEsims;
    const failed = (message: string) => (error: unknown) => logger.warn({ environment, error }, message);
    poll(lifecycle, EVENTS_EVERY_MS, events, failed('supplier events could not be applied'));
    poll(lifecycle, EXPIRY_EVERY_MS, expiry, failed('eSIMs that expire soon could not be read'));
    if (composed.registerForEvents)
      poll(lifecycle, REGISTER_EVERY_MS, composed.registerForEvents, failed('registering for events failed'));
  }
}

/** One read of a table with a row a month, while no month was closed just now. */
const INVOICES_EVERY_MS = 10_000;

function writeInvoices({ logger }: Observed, running: readonly Running[], lifecycle: Lifecycle): void {
  for (const { composed } of running) {
    const { environment } = composed.world;
    poll(lifecycle, INVOICES_EVERY_MS, composed.issueInvoices, (error) =>
      logger.warn({ environment, error }, 'invoices could not be written'),
    );
  }
}

/** Starts at once. */
function poll(
  lifecycle: Lifecycle,
  everyMs: number,
  read: () => Promise<unknown>,
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
      `Schema ${world.schema} belongs to the ${environment} environment, but the namespace is ${world.namespace}`,
    );
  }
}
