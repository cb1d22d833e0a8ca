// A server that a killed run left behind on a data folder. Only for the holder of the folder's lock.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceLog } from './child.ts';
import { endProcess, startTimeOf } from './process-identity.ts';

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
