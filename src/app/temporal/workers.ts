/**
 * Temporal workers of one environment, one per queue. Only orders, webhooks and ops load the workflow bundle,
 * with explicit cache sizes; poller options are the ones that work in this SDK (autoscaling behaviours).
 */
import { ApplicationFailure } from '@temporalio/common';
import {
  NativeConnection,
  Worker,
  type ActivityInterceptorsFactory,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import {
  gatewayQueue,
  OPS_QUEUE,
  ORDERS_QUEUE,
  supplierQueue,
  WEBHOOKS_QUEUE,
} from '../../../workflows/contract.ts';
import { EngineUnavailable } from '../../domain/outcome.ts';
import { connectionOptions, type TemporalServer } from '../../platform/temporal/connect.ts';
import { requireVersion } from '../../platform/temporal/version.ts';
import { untilAborted } from '../../platform/until-aborted.ts';
import type { contextPropagation } from './context-propagation.ts';
import { dataConverterOf, type CodecOptions } from '../../platform/temporal/payload-codec.ts';

export const QUEUE_NAMES = ['orders', 'supplier', 'gateway', 'webhooks', 'ops'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

export interface WorkersOptions extends TemporalServer {
  readonly namespace: string;
  readonly onUnreadable?: CodecOptions['onUnreadable'];
  readonly activities: Readonly<Record<QueueName, object>>;
  readonly queues: readonly QueueName[];
  /** By name: whose queues the supplier's and the gateway's worker serve. */
  readonly vendors: Readonly<Record<'supplier' | 'gateway', string>>;
  readonly bundle: WorkflowBundleOption;
  readonly identity: string;
  /** Absent: unversioned, every worker takes every task. */
  readonly deployment?: { readonly name: string; readonly buildId: string };
  /** Propagates the log context and the trace to steps. */
  readonly steps?: ReturnType<typeof contextPropagation>;
  /**
   * A local activity was scheduled on a task queue, which none of our workflows does. `workflowId`: the
   * workflow that it claims to belong to.
   */
  readonly onScheduledLocal?: (activityType: string, workflowId: string) => void;
  readonly shutdownGraceMs: number;
  readonly maxCachedWorkflows: number;
  /** Concurrent attempts at merchants' endpoints. */
  readonly webhookAttempts: number;
}

export type Workers = Awaited<ReturnType<typeof startWorkers>>;

/** Throws when Temporal is too old; EngineUnavailable when it cannot be reached, or does not let us in. */
export async function startWorkers(options: WorkersOptions) {
  const connection = await connect(options);
  await requireVersion(connection, options.address);
  const graceIsOver = new AbortController();
  const workers = await Promise.all(
    options.queues.map((queue) =>
      Worker.create({ connection, ...workerOptions(options, queue, graceIsOver.signal) }),
    ),
  );
  const finished = Promise.all(workers.map((worker) => worker.run())).then(() => connection.close());
  return {
    /** Resolves when all have stopped; rejects when one fails. */
    finished,
    /** Whether all of them take tasks. */
    arePolling: () => workers.every((worker) => worker.getState() === 'RUNNING'),
    /** Stops polling, lets running activities finish within the grace time. */
    stop: async () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      const grace = setTimeout(
        () => graceIsOver.abort(new Error('the worker has to stop')),
        options.shutdownGraceMs,
      );
      await finished.finally(() => clearTimeout(grace));
    },
  };
}

async function connect(server: TemporalServer): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(connectionOptions(server));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EngineUnavailable(`no connection to Temporal at ${server.address}: ${why}`, { cause });
  }
}

/**
 * What one queue's worker is made with, all but its connection. `graceIsOver`: local activities are given up
 * then.
 */
export function workerOptions(
  options: WorkersOptions,
  queue: QueueName,
  graceIsOver?: AbortSignal,
): Omit<WorkerOptions, 'connection'> {
  const { steps } = options;
  return {
    taskQueue: taskQueueOf(queue, options),
    activities: options.activities[queue],
    ...queueOptions(options, queue),
    ...versioning(options),
    interceptors: {
      activity: [
        refusesScheduled(options),
        ...(graceIsOver ? [endsWith(graceIsOver)] : []),
        ...(steps ? [steps.activity] : []),
      ],
    },
    sinks: { ...steps?.sinks },
    dataConverter: dataConverterOf({
      keys: options.codecKeys,
      namespace: options.namespace,
      onUnreadable: options.onUnreadable,
    }),
    namespace: options.namespace,
    identity: options.identity,
    shutdownGraceTime: options.shutdownGraceMs,
    shutdownForceTime: options.shutdownGraceMs * 2,
  };
}

/**
 * Steps in our own database run inside our own workflows' tasks. Anyone who reaches Temporal could schedule
 * them on a task queue as well.
 */
function refusesScheduled({ onScheduledLocal }: WorkersOptions): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        if (info.isLocal || info.taskQueue !== ORDERS_QUEUE) return next(input);
        onScheduledLocal?.(info.activityType, info.workflowExecution?.workflowId ?? '');
        throw ApplicationFailure.nonRetryable(`${info.activityType} runs only as a local activity`);
      },
    },
  });
}

/**
 * The SDK cancels other activities at the end of the grace time, and waits for local ones until it stops the
 * hard way.
 */
function endsWith(graceIsOver: AbortSignal): ActivityInterceptorsFactory {
  const untilGraceIsOver = untilAborted(graceIsOver);
  return ({ info }) => ({
    inbound: {
      execute: (input, next) => (info.isLocal ? untilGraceIsOver(() => next(input)) : next(input)),
    },
  });
}

/**
 * An open workflow continues with the version that is current: purchases are open for days, so no old version
 * has to be kept for them. What changed on the way is behind patched().
 */
function versioning({ deployment }: WorkersOptions): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (!deployment) return {};
  const { name: deploymentName, buildId } = deployment;
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  };
}

const AUTOSCALING = { type: 'autoscaling', minimum: 2, initial: 5, maximum: 40 } as const;
const FEW = { type: 'autoscaling', minimum: 1, initial: 1, maximum: 5 } as const;

const ACROSS_THE_NETWORK = {
  maxConcurrentActivityTaskExecutions: 100,
  // Otherwise the SDK delays heartbeats for most of their timeout.
  maxHeartbeatThrottleInterval: '2s',
  activityTaskPollerBehavior: AUTOSCALING,
} as const;

const ROOM_TO_BE_TURNED_AWAY = 50;

function taskQueueOf(queue: QueueName, { vendors }: WorkersOptions): string {
  const queues: Readonly<Record<QueueName, string>> = {
    orders: ORDERS_QUEUE,
    supplier: supplierQueue(vendors.supplier),
    gateway: gatewayQueue(vendors.gateway),
    webhooks: WEBHOOKS_QUEUE,
    ops: OPS_QUEUE,
  };
  return queues[queue];
}

function queueOptions(options: WorkersOptions, queue: QueueName): Partial<WorkerOptions> {
  switch (queue) {
    case 'orders':
      return {
        workflowBundle: options.bundle,
        maxCachedWorkflows: options.maxCachedWorkflows,
        maxConcurrentWorkflowTaskExecutions: 100,
        maxConcurrentLocalActivityExecutions: 100,
        workflowTaskPollerBehavior: AUTOSCALING,
      };
    case 'supplier':
    case 'gateway':
      return ACROSS_THE_NETWORK;
    case 'webhooks':
      return {
        workflowBundle: options.bundle,
        // Deliveries wait for minutes and hours between their tasks: those are read back, which is quick.
        maxCachedWorkflows: 100,
        workflowTaskPollerBehavior: AUTOSCALING,
        ...ACROSS_THE_NETWORK,
        // More than ever run at once, so that an attempt without a permit is refused immediately.
        maxConcurrentActivityTaskExecutions: options.webhookAttempts + ROOM_TO_BE_TURNED_AWAY,
      };
    case 'ops':
      return {
        workflowBundle: options.bundle,
        maxCachedWorkflows: 20,
        maxConcurrentActivityTaskExecutions: 10,
        workflowTaskPollerBehavior: FEW,
        activityTaskPollerBehavior: FEW,
      };
  }
}
