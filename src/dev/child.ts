// A child process that does not outlive this process. The watchdog sees to it when this process is killed.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { chmod, rename, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { setWatchdog, type Watchdog } from './watchdog.ts';

const LOG_FILE_LIMIT_BYTES = 10 * 1024 * 1024;
const TAIL_LINES = 30;
const PROBE_INTERVAL_MS = 50;
const LAST_LINES_MS = 500;
const PROGRESS_INTERVAL_MS = 3_000;

export interface ServiceLog {
  info(message: string): void;
  warn(message: string): void;
}

export interface ExitReport {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildOptions {
  /** For messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly log: ServiceLog;
  readonly cwd?: string | undefined;
  /** Without it the child inherits ours. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  /** Everything the child prints goes to this file. */
  readonly logFile?: string | undefined;
  readonly stopSignal?: NodeJS.Signals;
  /** Then it is killed. */
  readonly stopDeadlineMs?: number;
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly exited: Promise<ExitReport>;
  isRunning(): boolean;
  /** The last lines it printed. */
  tail(): string;
  /**
   * Ready is when `line` has been printed, or `probe` answers true; an error of the probe means "not yet".
   * Throws, with the child's last lines, when the child ends or the deadline passes first. Answers the ready
   * line.
   */
  untilReady(condition: ReadyCondition): Promise<string>;
  /** Resolves when it is gone. Safe to call at any time, any number of times. */
  stop(): Promise<void>;
  /** SIGKILL at once. Resolves when it is gone. */
  kill(): Promise<void>;
}

interface ReadyCondition {
  readonly line?: RegExp;
  readonly probe?: () => Promise<boolean>;
  readonly deadlineMs: number;
}

/** Throws when the program cannot be started at all. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, command, args, stopSignal = 'SIGTERM', stopDeadlineMs = 10_000 } = options;
  const file = options.logFile === undefined ? null : await openLogFile(options.logFile);
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: options.cwd,
    env: options.env,
    uid: options.uid,
    gid: options.gid,
  });
  const output = collectOutput(child, file);
  const watch: { dog: Watchdog | null } = { dog: null };
  const exited = new Promise<ExitReport>((resolve) => {
    child.once('exit', (code, signal) => {
      watch.dog?.dismiss();
      resolve({ code, signal });
    });
  });
  const pid = await startedPid(child, name);
  watch.dog = setWatchdog(pid, stopSignal, Math.ceil(stopDeadlineMs / 1000));
  if (hasEnded(child)) watch.dog.dismiss();

  const kill = async (): Promise<void> => {
    if (!hasEnded(child)) signalGroup(pid);
    await exited;
  };
  const stop = async (): Promise<void> => {
    if (hasEnded(child)) return;
    child.kill(stopSignal);
    if ((await Promise.race([exited, sleep(stopDeadlineMs, 'late', { ref: false })])) !== 'late') return;
    options.log.warn(`${name} did not end within ${stopDeadlineMs / 1000} s and is killed`);
    await kill();
  };
  return {
    name,
    pid,
    exited,
    isRunning: () => !hasEnded(child),
    tail: () => output.tail.join('\n'),
    untilReady: (condition) => untilReady({ name, log: options.log, child, output, condition }),
    stop,
    kill,
  };
}

/** Starts a child and waits until it is ready; one that does not become ready is stopped. */
export async function startReadyChild(
  options: ChildOptions,
  conditionOf: (child: Child) => ReadyCondition | Promise<ReadyCondition>,
): Promise<Child> {
  const child = await startChild(options);
  try {
    await child.untilReady(await conditionOf(child));
    return child;
  } catch (error) {
    await child.stop();
    throw error;
  }
}

interface Output {
  readonly tail: string[];
  onLine: ((line: string) => void) | null;
}

function collectOutput(child: ChildProcess, file: WriteStream | null): Output {
  const output: Output = { tail: [], onLine: null };
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => {
      output.tail.push(line);
      if (output.tail.length > TAIL_LINES) output.tail.shift();
      file?.write(`${line}\n`);
      output.onLine?.(line);
    });
  }
  child.once('close', () => file?.end());
  return output;
}

async function startedPid(child: ChildProcess, name: string): Promise<number> {
  // Rejects with the event 'error'.
  await once(child, 'spawn').catch((cause: unknown) => {
    throw new Error(
      `${name} could not be started: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  });
  if (child.pid === undefined) throw new Error(`${name} could not be started`);
  return child.pid;
}

async function untilReady(waiting: {
  name: string;
  log: ServiceLog;
  child: ChildProcess;
  output: Output;
  condition: ReadyCondition;
}): Promise<string> {
  const { name, log, child, output, condition } = waiting;
  const startedAt = performance.now();
  const exited = new Promise<false>((resolve) => child.once('exit', () => resolve(false)));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let saidAt = startedAt;
  let readyLine =
    condition.line === undefined ? undefined : output.tail.find((line) => condition.line?.test(line));
  output.onLine = (line) => {
    if (condition.line?.test(line) === true) readyLine ??= line;
  };
  try {
    for (;;) {
      if (readyLine !== undefined) return readyLine;
      if (hasEnded(child)) {
        // Its last lines may still be on their way. A grandchild may keep the pipe open for long.
        await Promise.race([closed, sleep(LAST_LINES_MS)]);
        throw new Error(withTail(`${name} ended before it was ready`, output));
      }
      // A probe may hang on another program's port; the child may end meanwhile.
      if (
        condition.probe !== undefined &&
        (await Promise.race([condition.probe().catch(() => false), exited]))
      )
        return '';
      const now = performance.now();
      if (now - startedAt > condition.deadlineMs) {
        throw new Error(withTail(`${name} was not ready after ${condition.deadlineMs / 1000} s`, output));
      }
      if (now - saidAt > PROGRESS_INTERVAL_MS) {
        saidAt = now;
        log.info(`waiting for ${name} (${Math.round((now - startedAt) / 1000)} s)`);
      }
      await sleep(PROBE_INTERVAL_MS);
    }
  } finally {
    output.onLine = null;
  }
}

function withTail(message: string, output: Output): string {
  return output.tail.length === 0 ? message : `${message}; its last lines:\n${output.tail.join('\n')}`;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** The child leads a process group, so its own children end with it. */
function signalGroup(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // Already gone.
    }
  }
}

async function openLogFile(path: string): Promise<WriteStream> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > LOG_FILE_LIMIT_BYTES) await rename(path, `${path}.old`);
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  // A full disk must not end the whole program.
  stream.on('error', () => undefined);
  if (size > 0) await chmod(path, 0o600);
  return stream;
}
