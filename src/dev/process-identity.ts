// A process id alone is no identity, since systems use the numbers again. Id and start time together are.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

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
    // The second field is the program's name in brackets and may hold spaces; the start time is the 20th after it.
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
  const answer = await run('ps', ['-o', column, '-p', String(pid)]).catch(() => null);
  return answer?.stdout.trim() ?? null;
}

const POLL_MS = 50;

/** Sends one signal after the other, each with `deadlineMs` to work, until the process is not the expected one any more. */
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
