// What the tests of npm start share: a folder per file, waiting with a deadline, and programs to kill.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import type { ServiceLog } from '../../src/dev/child.ts';
import { isAlive, startTimeOf } from '../../src/dev/process-identity.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

export const isRoot = process.getuid?.() === 0;

/** A folder that is removed after this file's tests. */
export async function testFolder(): Promise<string> {
  const folder = await makeTestFolder();
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A log that keeps its lines. */
export function rememberingLog(): ServiceLog & { readonly lines: string[] } {
  const lines: string[] = [];
  return { lines, info: (message) => void lines.push(message), warn: (message) => void lines.push(message) };
}

/** Wait until the condition holds; throws after the deadline. */
export async function until(condition: () => boolean | Promise<boolean>, deadlineMs = 10_000): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('what was awaited did not come');
    await sleep(20);
  }
}

/** Whether a server could listen on this loopback port right now. */
export async function isPortFree(port: number): Promise<boolean> {
  const probe = createServer().listen({ port, host: '127.0.0.1', exclusive: true });
  const isFree = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  probe.close();
  return isFree;
}

/** Whether a process exists and is not merely waiting to be reaped. */
export async function runs(pid: number): Promise<boolean> {
  return isAlive(pid) && (await startTimeOf(pid)) !== null;
}

/** Removes a child's safety net, to see that the next start works without it. */
export async function killWatchdogsOf(pid: number): Promise<void> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,args=']);
  const watchdog = new RegExp(`^\\s*(\\d+) .* simway-watchdog ${pid} `, 'gm');
  for (const [, found] of stdout.matchAll(watchdog)) process.kill(Number(found), 'SIGKILL');
}

export interface Holder {
  readonly process: ChildProcess;
  /** What it printed once it was ready. */
  readonly started: { readonly pid: number; readonly url: string; readonly address: string };
  /** All of its output. */
  readonly said: () => string;
}

const holders = new Set<ChildProcess>();

export interface HoldOptions {
  readonly node?: string;
  readonly script?: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly args?: readonly string[];
}

/**
 * Start fixtures/hold.ts and wait until what it holds is up. It is killed after this file's tests at the
 * latest.
 */
export async function hold(what: string, dir: string, options: HoldOptions = {}): Promise<Holder> {
  const script = options.script ?? fileURLToPath(new URL('fixtures/hold.ts', import.meta.url));
  const child = spawn(
    options.node ?? process.execPath,
    [script, '--what', what, '--dir', dir, ...(options.args ?? [])],
    {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
    },
  );
  holders.add(child);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, 'line') as Promise<[string]>,
    once(child, 'close').then(() => {
      throw new Error(`the holder of ${what} ended: ${said}`);
    }),
  ]);
  return { process: child, started: JSON.parse(line[0]) as Holder['started'], said: () => said };
}

/** End a program started by hold and wait until it is gone. */
export async function end(holder: Holder, signal: NodeJS.Signals): Promise<void> {
  const { process: child } = holder;
  holders.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

afterAll(() => {
  for (const child of holders) child.kill('SIGKILL');
});
