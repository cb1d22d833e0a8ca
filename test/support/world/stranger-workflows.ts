// A stranger's own workflow: it schedules any activity on any task queue, with any arguments.
import { proxyActivities } from '@temporalio/workflow';

type Steps = Record<string, (...args: unknown[]) => Promise<unknown>>;

export async function schedule(taskQueue: string, name: string, args: unknown[]): Promise<unknown> {
  const options = { taskQueue, startToCloseTimeout: '90s', retry: { maximumAttempts: 1 } } as const;
  return proxyActivities<Steps>(options)[name]?.(...args);
}
