/**
 * Temporal workers of one world, one per queue. Only orders and ops load the workflow bundle, with explicit cache sizes; poller options
 * are the ones that work in this SDK (autoscaling behaviours).
 */
import {
  bundleWorkflowCode,
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
  type LogLevel,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import workerThreads from 'node:worker_threads';
import { GATEWAY_QUEUE, OPS_QUEUE, ORDERS_QUEUE, SUPPLIER_QUEUE } from '../../../workflows/contract.ts';

export interface QueueActivities {
  readonly orders: object;
  readonly supplier: object;
  readonly gateway: object;
  readonly ops: object;
}

export interface WorkersOptions {
  readonly address: string;
  readonly namespace: string;
  readonly activities: QueueActivities;
  /** Names of queues to serve: orders, supplier, gateway, ops. */
  readonly queues: readonly QueueName[];
  readonly bundle: WorkflowBundleOption;
  readonly identity: string;
  readonly shutdownGraceMs: number;
  readonly maxCachedWorkflows: number;
}

export const QUEUE_NAMES = ['orders', 'supplier', 'gateway', 'ops'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

export interface Workers {
  /** Resolves when all have stopped; rejects when one fails. */
  readonly finished: Promise<void>;
  /** Stops polling, lets running activities finish within the grace time. */
  stop(): Promise<void>;
}

export interface RuntimeLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

let installed = false;

/**
 * Sends the SDK's own log lines to ours and leaves signals to the role's ordered stop. Once per process: the SDK's runtime is one per
 * process by its nature.
 */
export function installRuntime(log: RuntimeLog): void {
  if (installed) return;
  installed = true;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) =>
    log[SINK[level]]({ part: 'temporal', ...meta }, message),
  );
  // Without forwarding, the SDK's native half writes plain text of its own to the console.
  const logging = { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) };
  Runtime.install({ logger, telemetryOptions: { logging }, shutdownSignals: [] });
}

const SINK: Record<LogLevel, keyof RuntimeLog> = {
  TRACE: 'info',
  DEBUG: 'info',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

/** Bundles the workflows once for all workers of a process. */
export function bundleWorkflows(): Promise<WorkflowBundleOption> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../../workflows/index.ts', import.meta.url)),
    logger: { trace: noop, debug: noop, info: noop, warn: noop, error: noop, log: noop },
  });
}

const noop = (): void => undefined;

export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const connection = await NativeConnection.connect({ address: options.address });
  const workers = await withPreparedThreads(() =>
    Promise.all(
      options.queues.map((queue) => Worker.create({ connection, ...workerOptions(options, queue) })),
    ),
  );
  const finished = Promise.all(workers.map((worker) => worker.run())).then(() => connection.close());
  return {
    finished,
    stop: async () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await finished;
    },
  };
}

const THREAD_PRELOAD = new URL('./workflow-threads.ts', import.meta.url).href;

/** Threads made meanwhile load workflow-threads.ts first: the SDK starts them without asking for options of ours. */
async function withPreparedThreads<T>(create: () => Promise<T>): Promise<T> {
  const { Worker: Thread } = workerThreads;
  workerThreads.Worker = class extends Thread {
    constructor(file: string | URL, options?: workerThreads.WorkerOptions) {
      super(file, { ...options, execArgv: [`--import=${THREAD_PRELOAD}`] });
    }
  };
  try {
    return await create();
  } finally {
    workerThreads.Worker = Thread;
  }
}

/** What one queue's worker is made with, all but its connection. */
export function workerOptions(options: WorkersOptions, queue: QueueName): Omit<WorkerOptions, 'connection'> {
  return {
    ...queueOptions(options, queue),
    namespace: options.namespace,
    identity: options.identity,
    shutdownGraceTime: options.shutdownGraceMs,
    shutdownForceTime: options.shutdownGraceMs * 2,
  };
}

const AUTOSCALING = { type: 'autoscaling', minimum: 2, initial: 5, maximum: 40 } as const;
const FEW = { type: 'autoscaling', minimum: 1, initial: 1, maximum: 5 } as const;

const ACROSS_THE_NETWORK = {
  maxConcurrentActivityTaskExecutions: 100,
  // Otherwise the SDK holds signs of life back for most of the time that their absence is waited for.
  maxHeartbeatThrottleInterval: '2s',
  activityTaskPollerBehavior: AUTOSCALING,
} as const;

function queueOptions(options: WorkersOptions, queue: QueueName): Omit<WorkerOptions, 'connection'> {
  switch (queue) {
    case 'orders':
      return {
        taskQueue: ORDERS_QUEUE,
        workflowBundle: options.bundle,
        activities: options.activities.orders,
        maxCachedWorkflows: options.maxCachedWorkflows,
        maxConcurrentWorkflowTaskExecutions: 100,
        maxConcurrentLocalActivityExecutions: 100,
        workflowTaskPollerBehavior: AUTOSCALING,
      };
    case 'supplier':
      return { taskQueue: SUPPLIER_QUEUE, activities: options.activities.supplier, ...ACROSS_THE_NETWORK };
    case 'gateway':
      return { taskQueue: GATEWAY_QUEUE, activities: options.activities.gateway, ...ACROSS_THE_NETWORK };
    case 'ops':
      return {
        taskQueue: OPS_QUEUE,
        workflowBundle: options.bundle,
        activities: options.activities.ops,
        maxCachedWorkflows: 20,
        maxConcurrentActivityTaskExecutions: 10,
        workflowTaskPollerBehavior: FEW,
        activityTaskPollerBehavior: FEW,
      };
  }
}
