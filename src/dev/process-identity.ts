// A process id alone is no identity, since systems use the numbers again. Id and start time together are.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceLog } from './child.ts';
import { runCommand } from './programs.ts';

/** Also for a process of another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** An opaque text that differs for a later process with the same id; null if the process is gone. */
export async function startTimeOf(pid: number): Promise<string | null> {
  if (!isAlive(pid)) return null;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat !== null) {
    // The second field is the program's name in brackets and may hold spaces; the start time is the 20th
    // after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  }
  return ps(pid, 'lstart=');
}

/** Null if the process is gone or hidden. */
export async function commandLineOf(pid: number): Promise<string | null> {
  const raw = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  if (raw !== null) return raw.replaceAll('\0', ' ').trim() || null;
  return ps(pid, 'args=');
}

async function ps(pid: number, column: string): Promise<string | null> {
  const answer = await runCommand('ps', ['-o', column, '-p', String(pid)]).catch(() => null);
  return answer?.stdout.trim() ?? null;
}

const POLL_MS = 50;

/**
 * Sends one signal after the other, each with `deadlineMs` to work, until the process is not the expected one
 * any more.
 */
export async function endProcess(options: {
  readonly pid: number;
  readonly isExpected: () => Promise<boolean>;
  readonly signals: readonly NodeJS.Signals[];
  readonly deadlineMs: number;
  readonly onSignal: () => void;
}): Promise<void> {
  const { pid, isExpected, signals, deadlineMs, onSignal } = options;
  for (const signal of signals) {
    if (!(await isExpected())) return;
    onSignal();
    process.kill(pid, signal);
    const endsAtMs = performance.now() + deadlineMs;
    while ((await isExpected()) && performance.now() < endsAtMs) await sleep(POLL_MS);
  }
}

// A server that a killed run left behind on a data folder. Only for the holder of the folder's lock.
const PID_FILE = 'server.pid';
const END_DEADLINE_MS = 15_000;

interface ServerIdentity {
  readonly pid: number;
  readonly startTime: string | null;
}

export async function writeServerPid(dataDir: string, pid: number): Promise<void> {
  const identity: ServerIdentity = { pid, startTime: await startTimeOf(pid) };
  await writeFile(join(dataDir, PID_FILE), JSON.stringify(identity));
}

export async function endLeftoverServer(options: {
  name: string;
  dataDir: string;
  log: ServiceLog;
}): Promise<void> {
  const { name, dataDir, log } = options;
  const file = join(dataDir, PID_FILE);
  const { pid, startTime } = await readIdentity(file);
  await endProcess({
    pid,
    isExpected: async () => startTime !== null && (await startTimeOf(pid)) === startTime,
    signals: ['SIGTERM', 'SIGKILL'],
    deadlineMs: END_DEADLINE_MS,
    onSignal: () => log.info(`stopping the ${name} that an earlier run left behind (process ${pid})`),
  });
  await rm(file, { force: true });
}

async function readIdentity(file: string): Promise<ServerIdentity> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as ServerIdentity;
  } catch {
    return { pid: 0, startTime: null };
  }
}
