// Ends a server that an earlier, killed run left behind on a data folder.
// The folder remembers process id and start time, so that a program which got the same number later is left alone.
// Must only be used by whoever holds the folder's lock.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTimeOf } from './process-identity.ts';
import type { ServiceLog } from './child.ts';

const PID_FILE = 'server.pid';
const END_DEADLINE_MS = 15_000;

/** Remember the server that now works on this folder. */
export async function writeServerPid(dataDir: string, pid: number): Promise<void> {
  await writeFile(join(dataDir, PID_FILE), JSON.stringify({ pid, startTime: await startTimeOf(pid) }));
}

/** End the remembered server if it still runs: SIGTERM, then SIGKILL. */
export async function endLeftoverServer(options: {
  name: string;
  dataDir: string;
  log: ServiceLog;
}): Promise<void> {
  const { name, dataDir, log } = options;
  const file = join(dataDir, PID_FILE);
  const remembered = await readRemembered(file);
  if (remembered === null) return;
  const { pid, startTime } = remembered;
  const runs = async (): Promise<boolean> => startTime !== null && (await startTimeOf(pid)) === startTime;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!(await runs())) break;
    log.info(`stopping the ${name} that an earlier run left behind (process ${pid})`);
    process.kill(pid, signal);
    const deadline = performance.now() + END_DEADLINE_MS;
    while ((await runs()) && performance.now() < deadline) await sleep(50);
  }
  await rm(file, { force: true });
}

async function readRemembered(file: string): Promise<{ pid: number; startTime: string | null } | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as { pid: number; startTime: string | null };
  } catch {
    return null;
  }
}
