// Temporary folders for tests that are removed when the test process ends in any way. A small shell in its
// own session waits on a pipe from here and removes the folder when the pipe closes: a test runner that is
// interrupted exits at once, without a chance to clean up itself.
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, realpath, stat, statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const EXECUTE_FOR_OTHERS = 0o001;

/**
 * Servers that work in the folder are being ended at the same moment: what they still write is removed in a
 * second pass.
 */
const JANITOR = [
  "trap '' INT HUP TERM",
  'read -r word',
  'tries=0',
  'while [ -e "$1" ] && [ "$tries" -lt 30 ]; do rm -rf "$1" 2>/dev/null; tries=$((tries + 1)); [ -e "$1" ] && sleep 1; done',
].join('; ');

/**
 * A new temporary folder, one that other system users can enter (Postgres under root is one). `inMemory`: for
 * what makes and removes many files, if the system has room for it.
 */
export async function makeTestFolder({ inMemory = false } = {}): Promise<string> {
  const parent = (inMemory ? await memoryFolder() : undefined) ?? (await enterableTemporaryFolder());
  const folder = await mkdtemp(join(parent, 'simway-test-'));
  await chmod(folder, 0o711);
  const janitor = spawn('/bin/sh', ['-c', JANITOR, 'simway-janitor', folder], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  janitor.unref();
  (janitor.stdin as unknown as { unref(): void }).unref();
  return folder;
}

const MEMORY = '/dev/shm';
/** From Linux's magic.h. */
const TMPFS = 0x01021994;
/** Several times what a run needs. */
const ENOUGH_BYTES = 4 * 2 ** 30;

/** A file system in memory, on Linux. What lies in it is taken from the memory that programs need. */
async function memoryFolder(): Promise<string | undefined> {
  const found = await statfs(MEMORY).catch(() => undefined);
  const freeBytes = found?.type === TMPFS ? Math.min(found.bavail * found.bsize, freemem()) : 0;
  return freeBytes >= ENOUGH_BYTES ? MEMORY : undefined;
}

/**
 * The system's temporary folder, unless that is a private one of root's, which Postgres's user cannot enter.
 */
async function enterableTemporaryFolder(): Promise<string> {
  if (process.getuid?.() !== 0) return tmpdir();
  for (let folder = await realpath(tmpdir()); folder !== dirname(folder); folder = dirname(folder)) {
    if (((await stat(folder)).mode & EXECUTE_FOR_OTHERS) === 0) return '/var/tmp';
  }
  return tmpdir();
}
