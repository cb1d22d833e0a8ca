// `.data/running.json`: tells programs where a running `npm start` answers, and with which keys.
// It is deleted first, written last and whole (by rename), readable by its owner only, and gone after a clean stop;
// a lock beside it keeps a second start in the same checkout out. Must not be trusted without a look: after a kill
// the file of a dead run stays until the next start.
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LockHeldError, takeLock, type Lock } from './lock.ts';

const RUNNING_FILE = 'running.json';
const LOCK_FILE = 'start.lock';
/** Others may pass through (Postgres has a user of its own under root), but not list. */
const DATA_DIR_MODE = 0o711;

export interface RunningInfo {
  readonly apiUrl: string;
  readonly docsUrl: string;
  /** Health, readiness and metrics. */
  readonly adminUrl: string;
  /** The same of the worker. */
  readonly workerAdminUrl: string;
  /** host:port */
  readonly temporalAddress: string;
  readonly temporalUiUrl: string;
  readonly databaseUrl: string;
  /** Test keys of two funded sandbox accounts. */
  readonly keys: { readonly ngn: string; readonly usd: string };
  readonly supplierControlUrl: string;
  readonly gatewayControlUrl: string;
  /** What its own processes have as environment, secrets included: with it a command beside them is one of them. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface Run {
  /** Write running.json: only once everything in it answers. */
  publish(info: RunningInfo): Promise<void>;
  /** Remove running.json and let the next start in. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Begin a run in this data folder (made when missing): no running.json is there afterwards until publish.
 * Throws when another run has the folder; the message names its process.
 */
export async function beginRun(dataDir: string): Promise<Run> {
  await mkdir(dataDir, { recursive: true, mode: DATA_DIR_MODE });
  const lock = takeStartLock(dataDir);
  const file = join(dataDir, RUNNING_FILE);
  const partial = `${file}.partial`;
  try {
    await openToPassThrough(dataDir);
    await rm(file, { force: true });
    await rm(partial, { force: true });
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    async publish(info) {
      // The mode is set before there is anything to read.
      await writeFile(partial, '', { mode: 0o600 });
      await chmod(partial, 0o600);
      await writeFile(partial, `${JSON.stringify({ ...info, pid: process.pid }, null, 2)}\n`);
      await rename(partial, file);
    },
    async close() {
      await rm(file, { force: true });
      await rm(partial, { force: true });
      lock.release();
    },
  };
}

/** What the run in this data folder published, or null. */
export async function readRunningFile(
  dataDir: string,
): Promise<(RunningInfo & { readonly pid: number }) | null> {
  try {
    return JSON.parse(await readFile(join(dataDir, RUNNING_FILE), 'utf8')) as RunningInfo & { pid: number };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function takeStartLock(dataDir: string): Lock {
  try {
    return takeLock(join(dataDir, LOCK_FILE), dataDir);
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    const who = error.pid === null ? 'another process' : `process ${error.pid}`;
    throw new LockHeldError(
      `already running in this checkout (${who}): stop it first, or use it by ${join(dataDir, RUNNING_FILE)}`,
      error.pid,
    );
  }
}

async function openToPassThrough(dataDir: string): Promise<void> {
  const { mode, uid } = await stat(dataDir);
  if (uid === process.getuid?.()) await chmod(dataDir, (mode & 0o777) | 0o111);
}
