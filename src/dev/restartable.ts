// A server that can be stopped, killed and started again in the same place. The lock on its data is held
// while it may run.
import type { Child, ExitReport } from './child.ts';
import type { Lock } from './lock.ts';

export interface RunningServer {
  readonly pid: number;
  readonly exited: Promise<ExitReport>;
  /** Safe to call twice. */
  stop(): Promise<void>;
  /** As in a crash. */
  kill(): Promise<void>;
  /** On the same port and data. Does nothing while it runs. */
  start(): Promise<void>;
  restart(): Promise<void>;
}

/** `first` runs already; `takeLock` is called again for each start. */
export function restartable(options: {
  first: Child;
  startAgain: () => Promise<Child>;
  /** null for a server without data. */
  lock: Lock | null;
  takeLock: () => Lock | null;
}): RunningServer {
  let { first: child, lock } = options;
  const start = async (): Promise<void> => {
    if (child.isRunning()) return;
    lock?.release();
    lock = options.takeLock();
    child = await options.startAgain();
  };
  const endBy = async (end: () => Promise<void>): Promise<void> => {
    await end();
    lock?.release();
  };
  const stop = (): Promise<void> => endBy(() => child.stop());
  return {
    get pid() {
      return child.pid;
    },
    get exited() {
      return child.exited;
    },
    stop,
    kill: () => endBy(() => child.kill()),
    start,
    restart: async () => {
      await stop();
      await start();
    },
  };
}
