// A lock between processes: SQLite's lock on an empty file, which the system releases when its holder dies,
// however it dies. A file beside it names the holder, for messages only. The lock is never broken by age or
// by guessing whether the holder lives.
import { DatabaseSync } from 'node:sqlite';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_INTERVAL_MS = 250;
const PROGRESS_INTERVAL_MS = 5_000;

export interface Lock {
  /** Safe to call twice. */
  release(): void;
}

export class LockHeldError extends Error {
  readonly pid: number | null;

  constructor(message: string, pid: number | null) {
    super(message);
    this.name = 'LockHeldError';
    this.pid = pid;
  }
}

/** Throws LockHeldError when another process, or this one, holds it. `what` is for the message. */
export function takeLock(file: string, what: string): Lock {
  const holderFile = `${file}.pid`;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (error) {
    database?.close();
    if (!isBusy(error)) throw unwritable(file, error);
    const pid = readHolder(holderFile);
    const holder = pid === null ? 'another process' : `process ${pid}`;
    throw new LockHeldError(`${what} is in use by ${holder}`, pid);
  }
  writeFileSync(holderFile, `${process.pid}\n`);
  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      rmSync(holderFile, { force: true });
      database.close();
    },
  };
}

/** Waits for the holder, and calls `onWait` every few seconds. Throws LockHeldError after the deadline. */
export async function waitForLock(
  file: string,
  what: string,
  options: { deadlineMs: number; onWait: (message: string) => void },
): Promise<Lock> {
  const startedAt = performance.now();
  let saidAt = -Infinity;
  for (;;) {
    try {
      return takeLock(file, what);
    } catch (error) {
      const now = performance.now();
      if (!(error instanceof LockHeldError) || now - startedAt > options.deadlineMs) throw error;
      if (now - saidAt > PROGRESS_INTERVAL_MS) {
        saidAt = now;
        options.onWait(`${error.message}; waiting (${Math.round((now - startedAt) / 1000)} s)`);
      }
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

/** SQLite's message names neither file nor reason. In practice the folder belongs to another user. */
function unwritable(file: string, cause: unknown): Error {
  const folder = dirname(file);
  return new Error(
    `cannot write to ${folder} (${(cause as Error).message}): if an earlier start was by another user, ` +
      'start as that user, or remove the folder to start over',
    { cause },
  );
}

function isBusy(error: unknown): boolean {
  const SQLITE_BUSY = 5;
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

function readHolder(holderFile: string): number | null {
  try {
    const pid = Number(readFileSync(holderFile, 'utf8').trim());
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}
