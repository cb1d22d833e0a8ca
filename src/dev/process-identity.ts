// Who a process id belongs to: alive or not, since when, and with which command line.
// A process id alone is no identity, since systems use the numbers again; id and start time together are.
// Must not signal anything but the harmless 0.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether a process with this id exists; one of another user counts as well. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When the process was started, as an opaque text that differs for a later process with the same id; null if it is gone. */
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

/** The command line of a process, its words separated by spaces; null if it is gone or hidden. */
export async function commandLineOf(pid: number): Promise<string | null> {
  const raw = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  if (raw !== null) return raw.replaceAll('\0', ' ').trim() || null;
  return ps(pid, 'args=');
}

async function ps(pid: number, column: string): Promise<string | null> {
  const answer = await run('ps', ['-o', column, '-p', String(pid)]).catch(() => null);
  return answer?.stdout.trim() ?? null;
}
