// Worker processes of a stack, each with its own memory, for what must hold when one of them is killed at any time. Guarantees that stop()
// leaves none running.
import { join } from 'node:path';
import { startChild, type Child } from '../../src/dev/child.ts';
import { quietLog } from './services.ts';

const CHECKOUT = join(import.meta.dirname, '..', '..');
const READY_DEADLINE_MS = 180_000;

export interface WorkerProcesses {
  /** Kills one and starts another in its place; resolves once that one works. Each call takes the next. */
  replaceOne(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts `count` of them with the environment of a stack, and waits until they poll. */
export async function startWorkerProcesses(
  env: Readonly<Record<string, string>>,
  count: number,
): Promise<WorkerProcesses> {
  const children: Child[] = [];
  let next = 0;
  const start = async (): Promise<Child> => {
    const child = await startChild({
      name: 'worker',
      command: process.execPath,
      args: ['src/main.ts', 'worker'],
      cwd: CHECKOUT,
      env: { ...env, SIMWAY_ADMIN_PORT: '0', SIMWAY_WORKER_ADMIN_PORT: '0', PATH: '/usr/bin:/bin' },
      log: quietLog,
      stopDeadlineMs: 15_000,
    });
    children.push(child);
    await child.untilReady({ line: /^\{"ready":true/, deadlineMs: READY_DEADLINE_MS });
    return child;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(children.splice(0).map((child) => child.stop()));
  };
  try {
    const running = await Promise.all(Array.from({ length: count }, start));
    return {
      replaceOne: async () => {
        const at = next % running.length;
        next += 1;
        await running[at]?.kill();
        running[at] = await start();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
