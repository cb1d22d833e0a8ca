import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild, type Child, type ExitReport, type ServiceLog } from './child.ts';

interface OurProcessOptions {
  readonly name: string;
  /** Script and arguments, relative to the checkout. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly log: ServiceLog;
  readonly logFile: string;
}

const CHECKOUT = join(import.meta.dirname, '..', '..');
const READY_DEADLINE_MS = 60_000;
/** Not to spin on a process that dies at once. */
const RESTART_PAUSE_MS = 1_000;
/** Above the processes' own deadlines. */
const STOP_DEADLINE_MS = 40_000;

/**
 * Waits for its ready line, and restarts it when it dies. Rejects when it does not become ready the first
 * time.
 */
export async function startOurProcess(options: OurProcessOptions) {
  const stopAsked = new AbortController();
  let child = await spawnOnce(options);
  const ready = await readyOf(child);
  const startAgain = async ({ code, signal }: ExitReport): Promise<void> => {
    if (isStopping(stopAsked)) return;
    options.log.warn(`${options.name} ended (${signal ?? `code ${code ?? '?'}`}), restarting it`);
    await sleep(RESTART_PAUSE_MS);
    if (isStopping(stopAsked)) return;
    child = await spawnOnce(options);
    if (isStopping(stopAsked)) await child.stop();
    void child.exited.then(startAgain);
  };
  void child.exited.then(startAgain);
  return {
    ready,
    stop: async () => {
      stopAsked.abort();
      await child.stop();
    },
  };
}

/**
 * A start serves one person, so its programs save memory: types that were stripped once are not stripped
 * again, short-lived objects are collected sooner (the default grows with the machine), and
 * threads share what malloc keeps.
 */
const LEAN = {
  NODE_COMPILE_CACHE: join(CHECKOUT, 'node_modules/.cache/compiled'),
  NODE_OPTIONS: '--max-semi-space-size=16',
  MALLOC_ARENA_MAX: '2',
};

/** A function, because TypeScript takes the check before an await for true after it. */
const isStopping = (stop: AbortController): boolean => stop.signal.aborted;

function spawnOnce({ name, args, env, log, logFile }: OurProcessOptions): Promise<Child> {
  return startChild({
    name,
    command: process.execPath,
    args,
    cwd: CHECKOUT,
    env: { ...LEAN, ...env },
    log,
    logFile,
    stopDeadlineMs: STOP_DEADLINE_MS,
  });
}

async function readyOf(child: Child): Promise<Record<string, unknown>> {
  const line = await child.untilReady({ line: /^\{"ready":true/, deadlineMs: READY_DEADLINE_MS });
  return JSON.parse(line) as Record<string, unknown>;
}
