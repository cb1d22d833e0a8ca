// What the three servers have in common once they run: stop, crash, and start again in the same place.
// The lock on a data folder is held exactly while a server may work on it. Must not know which server it is.
import type { Child, ExitReport } from './child.ts';
import type { Lock } from './lock.ts';

export interface RunningServer {
  /** Of the process that runs now. */
  readonly pid: number;
  /** Resolves when the process that runs now ends, whoever ended it. */
  readonly exited: Promise<ExitReport>;
  /** End it cleanly. Safe to call twice. */
  stop(): Promise<void>;
  /** SIGKILL: a crash. */
  kill(): Promise<void>;
  /** Start again on the same port and data after stop, kill or a crash; nothing happens while it runs. */
  start(): Promise<void>;
  restart(): Promise<void>;
}

/** The handle on a server that runs as `first`; `startAgain` must bring it up on the same port and data. */
export function restartable(options: {
  first: Child;
  startAgain: () => Promise<Child>;
  /** The lock that `first` runs under, and how to take it again; null for a server without data. */
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
