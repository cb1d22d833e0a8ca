// `.data/running.json` names the addresses and keys of a running npm start, for other programs. After a kill
// it stays until the next start.
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ACCOUNT_CURRENCIES, type AccountCurrency } from '../domain/money.ts';
import type { SandboxLogins } from './sandbox-logins.ts';
import { LockHeldError, takeLock, type Lock } from './lock.ts';

const RUNNING_FILE = 'running.json';
const LOCK_FILE = 'start.lock';
/** Other users may enter, but not list: under root, Postgres runs as a user of its own. */
const DATA_DIR_MODE = 0o711;

/** One account for each currency of accounts. */
export type SandboxAccount = Lowercase<AccountCurrency>;
export const SANDBOX_ACCOUNTS = ACCOUNT_CURRENCIES.map(
  (currency) => currency.toLowerCase() as SandboxAccount,
);
/** Whose key is printed, and which commands use unless they are told another. */
export const USUAL_ACCOUNT: SandboxAccount = 'ngn';
export type SandboxKeys = Readonly<Record<SandboxAccount, string>>;

export interface RunningInfo {
  readonly apiUrl: string;
  readonly docsUrl: string;
  readonly dashboardUrl: string;
  readonly adminUrl: string;
  readonly workerAdminUrl: string;
  readonly temporalAddress: string;
  readonly temporalUiUrl: string;
  readonly databaseUrl: string;
  readonly keys: SandboxKeys;
  /** For the dashboard; null where the live environment is on. */
  readonly logins: SandboxLogins | null;
  readonly supplierControlUrl: string;
  readonly gatewayControlUrl: string;
  /** The environment of the started processes, secrets included, for commands that use the same services. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface Run {
  /** Only once everything in it answers. */
  publish(info: RunningInfo): Promise<void>;
  /** Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Removes the file of a killed run. Throws when another run has the folder; the message names its process.
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
      // The mode is set before there is anything to read, and the rename makes the file appear whole.
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
      `already running in this checkout (${who}): stop it first, or use it: ${join(dataDir, RUNNING_FILE)}`,
      error.pid,
    );
  }
}

async function openToPassThrough(dataDir: string): Promise<void> {
  const { mode, uid } = await stat(dataDir);
  if (uid === process.getuid?.()) await chmod(dataDir, (mode & 0o777) | 0o111);
}
