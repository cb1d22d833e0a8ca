// Several processes of the service on a stack's database, Temporal and Redis, each with its own ports and
// memory, to test what holds across processes. Guarantees that stop() leaves none running.
import { inject } from 'vitest';
import { startChild, type Child } from '../../../src/dev/child.ts';
import { freePort } from '../../../src/dev/ports.ts';
import { quietLog } from './services.ts';
import { CHECKOUT } from './checkout.ts';

type Env = Readonly<Record<string, string>>;

export interface ProcessOptions {
  readonly name: 'api' | 'worker';
  readonly env: Env;
  /** The folder of the logs; none are written without. */
  readonly logFile?: string;
  readonly deadlineMs?: number;
  /** Called before the process is ready, so that a failed start can end it too. */
  onStarted(child: Child): void;
}

/**
 * What every process of ours needs. Compiled code is kept for the run: compiling our sources again costs a
 * process half a second.
 */
export const processEnv = (): Env => ({ PATH: '/usr/bin:/bin', NODE_COMPILE_CACHE: inject('compileCache') });

/** Resolves with the process's ready line. */
export async function startProcess(options: ProcessOptions): Promise<string> {
  const { name, env, logFile, deadlineMs = 60_000 } = options;
  const child = await startChild({
    name,
    command: process.execPath,
    args: ['src/main.ts', name],
    cwd: CHECKOUT,
    env: { ...processEnv(), ...env },
    log: quietLog,
    ...(logFile === undefined ? {} : { logFile }),
    stopDeadlineMs: 15_000,
  });
  options.onStarted(child);
  return child.untilReady({ line: /^\{"ready":true/, deadlineMs });
}

/** Several processes that are stopped together, also when the start of one fails. */
async function startAll<T extends object>(
  start: (children: Child[]) => Promise<T>,
): Promise<T & { stop(): Promise<void> }> {
  const children: Child[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(children.splice(0).map((child) => child.stop()));
  };
  try {
    return { ...(await start(children)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export type ApiProcesses = Awaited<ReturnType<typeof startApiProcesses>>;

/** Starts `count` API processes and waits until they serve; `urls` are http://127.0.0.1:…, one each. */
export function startApiProcesses(env: Env, count: number) {
  return startAll(async (children) => {
    const urls: string[] = [];
    const starting: Promise<string>[] = [];
    while (urls.length < count) {
      const port = String(await freePort());
      urls.push(`http://127.0.0.1:${port}`);
      const own = { ...env, SIMWAY_HTTP_PORT: port, SIMWAY_ADMIN_PORT: String(await freePort()) };
      starting.push(startProcess({ name: 'api', env: own, onStarted: (child) => children.push(child) }));
    }
    await Promise.all(starting);
    return { urls };
  });
}

export type WorkerProcesses = Awaited<ReturnType<typeof startWorkerProcesses>>;

/** Starts `count` workers and waits until they poll. */
export function startWorkerProcesses(env: Env, count: number) {
  return startAll(async (children) => {
    const own = { ...env, SIMWAY_ADMIN_PORT: '0', SIMWAY_WORKER_ADMIN_PORT: '0' };
    const start = async (): Promise<Child> => {
      const started = Promise.withResolvers<Child>();
      const onStarted = (child: Child): void => {
        children.push(child);
        started.resolve(child);
      };
      await startProcess({ name: 'worker', env: own, deadlineMs: 180_000, onStarted });
      return started.promise;
    };
    const running = await Promise.all(Array.from({ length: count }, start));
    let next = 0;
    return {
      /**
       * Kills one and starts another in its place; resolves once that one works. Each call takes the next.
       */
      replaceOne: async () => {
        const at = next % running.length;
        next += 1;
        await running[at]?.kill();
        running[at] = await start();
      },
    };
  });
}
