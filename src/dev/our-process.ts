/** One of our own processes under `npm start`: started with a ready line awaited, started again when it dies, stopped for good once. */
import { join } from 'node:path';
import { startChild, type Child, type ExitReport, type ServiceLog } from './child.ts';

export interface OurProcess {
  /** What its first ready line said. */
  readonly ready: Readonly<Record<string, unknown>>;
  stop(): Promise<void>;
}

export interface OurProcessOptions {
  readonly name: string;
  /** Script and arguments, relative to the checkout. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly log: ServiceLog;
  readonly logFile: string;
}

const CHECKOUT = join(import.meta.dirname, '..', '..');
const READY_DEADLINE_MS = 60_000;
/** Long enough not to spin on a process that dies at once. */
const RESTART_PAUSE_MS = 1_000;
/** Above the roles' own hard deadlines. */
const STOP_DEADLINE_MS = 40_000;

/** Rejects when it does not become ready the first time. */
export async function startOurProcess(options: OurProcessOptions): Promise<OurProcess> {
  const stopAsked = new AbortController();
  let child = await spawnOnce(options);
  const ready = await readyOf(child);
  const startAgain = async ({ code, signal }: ExitReport): Promise<void> => {
    if (stopAsked.signal.aborted) return;
    options.log.warn(`${options.name} ended (${signal ?? `code ${code ?? '?'}`}), starting it again`);
    await pause(RESTART_PAUSE_MS);
    child = await spawnOnce(options);
    if (isAsked(stopAsked)) await child.stop();
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

/** Asked anew after every wait. */
function isAsked(stop: AbortController): boolean {
  return stop.signal.aborted;
}

function spawnOnce({ name, args, env, log, logFile }: OurProcessOptions): Promise<Child> {
  return startChild({
    name,
    command: process.execPath,
    args,
    cwd: CHECKOUT,
    env,
    log,
    logFile,
    stopDeadlineMs: STOP_DEADLINE_MS,
  });
}

async function readyOf(child: Child): Promise<Record<string, unknown>> {
  const line = await child.untilReady({ line: /^\{"ready":true/, deadlineMs: READY_DEADLINE_MS });
  return JSON.parse(line) as Record<string, unknown>;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
