// A stranger who reaches Temporal: starts workflows, sends signals and updates, schedules activities on our
// task queues and takes tasks from them. Has neither Postgres nor our secrets.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { ORDERS_QUEUE } from '../../../workflows/contract.ts';
import type { Stack } from './stack.ts';

export interface Stranger {
  /** Starts one of our workflows, on the queue of orders by default. */
  start(
    workflow: string,
    workflowId: string,
    input: unknown,
    queue?: string,
  ): Promise<{ result(): Promise<unknown> }>;
  /** The result of an update, or how it failed. */
  update(workflowId: string, name: string, arg: unknown): Promise<unknown>;
  /** With an argument, although our signals have none. */
  signal(workflowId: string, name: string, arg: unknown): Promise<void>;
  /**
   * Schedules an activity on a task queue, by a workflow of the stranger's own. Answers its result, or the
   * message of its failure.
   */
  schedule(taskQueue: string, activity: string, ...args: unknown[]): Promise<unknown>;
  /** Handles the tasks of a queue instead of our worker, until the returned function is called. */
  takeTasks(taskQueue: string, activities: object): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export async function createStranger(stack: Stack): Promise<Stranger> {
  const connection = await NativeConnection.connect({ address: stack.env['TEMPORAL_ADDRESS'] ?? '' });
  const { workflow } = stack.temporal;
  const taskQueue = `stranger-${randomUUID()}`;
  const work = async (options: object) => {
    const worker = await Worker.create({ connection, namespace: stack.namespace, taskQueue, ...options });
    const ended = worker.run();
    return async () => {
      worker.shutdown();
      await ended;
    };
  };
  const workflowsPath = fileURLToPath(new URL('./stranger-workflows.ts', import.meta.url));
  const stop = await work({ workflowsPath });
  return {
    start: (type, workflowId, input, queue = ORDERS_QUEUE) =>
      workflow.start(type, { taskQueue: queue, workflowId, args: [input] }),
    update: (workflowId, name, arg) =>
      workflow
        .getHandle(workflowId)
        .executeUpdate(name, { args: [arg] })
        .catch((error: unknown) => String(error)),
    signal: (workflowId, name, arg) => workflow.getHandle(workflowId).signal(name, arg),
    schedule: (...[queue, activity, ...args]) =>
      workflow
        .execute('schedule', {
          taskQueue,
          workflowId: `stranger-${randomUUID()}`,
          args: [queue, activity, args],
        })
        .catch(messageOf),
    takeTasks: (queue, activities) => work({ taskQueue: queue, activities }),
    close: async () => {
      await stop();
      await connection.close();
    },
  };
}

/** The innermost cause. */
function messageOf(error: unknown): string {
  let last = error;
  while (last instanceof Error && last.cause instanceof Error) last = last.cause;
  return last instanceof Error ? last.message : String(last);
}

/** How often a worker has raised this alarm. */
export async function alarms(adminUrl: string, what: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const series = new RegExp(
    `^simway_unverified_requests_total\\{environment="test",what="${what}"\\} (\\d+)$`,
    'm',
  );
  return Number(series.exec(text)?.[1] ?? 0);
}
