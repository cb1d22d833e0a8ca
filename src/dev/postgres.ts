// Postgres for npm start, which keeps its data, and for tests: only on loopback, and only with its password.
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startReadyChild, type Child, type ServiceLog } from './child.ts';
import { takeLock, type Lock } from './lock.ts';
import { freePort, retryTakenPort } from './ports.ts';
import { asUser, CLUSTER_DIR_NAME, preparePostgresHome, type PostgresHome } from './postgres-home.ts';
import { commandLineOf, endProcess, isAlive } from './process-identity.ts';
import { runCommand } from './programs.ts';
import { restartable, type RunningServer } from './restartable.ts';

const SUPERUSER = 'simway';
const DATABASE = 'simway';
const PASSWORD_FILE = 'simway.password';
const INITDB_TIMEOUT_MS = 120_000;
const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 15_000;
const CRASH_RECOVERY_MS = 15_000;
const CRASH_RETRY_INTERVAL_MS = 200;
/** Without ours: variables such as PGPORT or PGDATA would change what the programs do. */
const ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } as const;

export interface PostgresOptions {
  /** Folder for the cluster, its password and its log; made when missing. */
  readonly dataDir: string;
  readonly log: ServiceLog;
  /** Without it a free one, `preferredPort` if that is free. */
  readonly port?: number | undefined;
  readonly preferredPort?: number | undefined;
  /** 'off' is faster, and not safe against a power failure: only for clusters that are thrown away. */
  readonly durability?: 'on' | 'off';
  /** Under root, for what the Postgres system user cannot reach elsewhere. */
  readonly spillDir?: string | undefined;
}

export interface RunningPostgres extends RunningServer {
  /** Of the superuser to the database `simway`. Stays the same over restarts. */
  readonly url: string;
  readonly port: number;
  /** Stops, and deletes all data. */
  remove(): Promise<void>;
}

/**
 * Makes the cluster on first use, and stops a postmaster that a killed run left on it. Throws when another
 * process uses the folder.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  await mkdir(options.dataDir, { recursive: true });
  const lock = lockData(options.dataDir);
  try {
    const home = await preparePostgresHome(options);
    const cluster = join(home.dir, CLUSTER_DIR_NAME);
    const password = await makeCluster(home, cluster, options);
    const context: Context = { options, home, cluster, password };
    const { child, port } = await retryTakenPort('could not bind', async () => {
      const free = options.port ?? (await freePort(options.preferredPort));
      return { child: await startOn(context, free), port: free };
    });
    const server = restartable({
      first: child,
      startAgain: () => startOn(context, port),
      lock,
      takeLock: () => lockData(options.dataDir),
    });
    return Object.assign(server, {
      url: urlOf(port, password, DATABASE),
      port,
      remove: async () => {
        await server.stop();
        await Promise.all(home.createdDirs.map((dir) => rm(dir, { recursive: true, force: true })));
      },
    });
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface Context {
  readonly options: PostgresOptions;
  readonly home: PostgresHome;
  readonly cluster: string;
  readonly password: string;
}

function lockData(dataDir: string): Lock {
  return takeLock(join(dataDir, 'in-use.lock'), `the Postgres data in ${dataDir}`);
}

async function startOn(context: Context, port: number): Promise<Child> {
  await endLeftover(context.cluster, context.options.log);
  const deadline = performance.now() + CRASH_RECOVERY_MS;
  for (;;) {
    try {
      return await startOnce(context, port);
    } catch (error) {
      // After a crash of the postmaster its backends need a moment to notice and to let go of the shared
      // memory.
      if (performance.now() > deadline || !(error as Error).message.includes('is still in use')) throw error;
      await sleep(CRASH_RETRY_INTERVAL_MS);
    }
  }
}

function startOnce(context: Context, port: number): Promise<Child> {
  const { options, home, cluster, password } = context;
  return startReadyChild(
    {
      name: 'Postgres',
      command: join(home.programsDir, 'bin', 'postgres'),
      args: ['-D', cluster, ...settings(port, options.durability ?? 'on')],
      log: options.log,
      cwd: home.dir,
      env: ENVIRONMENT,
      logFile: join(options.dataDir, 'postgres.log'),
      stopSignal: 'SIGINT',
      stopDeadlineMs: STOP_DEADLINE_MS,
      ...asUser(home.runAs),
    },
    () => ({ probe: () => ensureDatabase(port, password), deadlineMs: START_DEADLINE_MS }),
  );
}

function settings(port: number, durability: 'on' | 'off'): string[] {
  const values = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '128MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    fsync: durability,
    full_page_writes: durability,
    // Always on: without it a crash of the server loses commits.
    synchronous_commit: 'on',
    // A cluster that is thrown away after a kill takes its shared memory with it when that is in its folder.
    ...(durability === 'off' ? { dynamic_shared_memory_type: 'mmap' } : {}),
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Answers the superuser's password. */
async function makeCluster(home: PostgresHome, cluster: string, options: PostgresOptions): Promise<string> {
  const existing = await readFile(join(cluster, PASSWORD_FILE), 'utf8').catch(() => null);
  if (existing !== null) return existing.trim();
  options.log.info('making a new Postgres cluster');
  const partial = `${cluster}.partial`;
  const passwordFile = join(home.dir, `${PASSWORD_FILE}.partial`);
  await rm(partial, { recursive: true, force: true });
  const password = randomBytes(24).toString('base64url');
  await writePrivately(passwordFile, password, home);
  // prettier-ignore
  const args = [
    '-D', partial, '-U', SUPERUSER, '--auth=scram-sha-256', '--pwfile', passwordFile, '--no-instructions',
    '--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8',
    ...(options.durability === 'off' ? ['--no-sync'] : ['--data-checksums']),
  ];
  await runCommand(join(home.programsDir, 'bin', 'initdb'), args, {
    cwd: home.dir,
    env: ENVIRONMENT,
    timeout: INITDB_TIMEOUT_MS,
    ...asUser(home.runAs),
  });
  await rename(passwordFile, join(partial, PASSWORD_FILE));
  // A cluster without its password is useless: this step makes both appear at once.
  await rename(partial, cluster);
  return password;
}

async function writePrivately(file: string, text: string, home: PostgresHome): Promise<void> {
  await writeFile(file, text, { mode: 0o600 });
  await chmod(file, 0o600);
  if (home.runAs !== null) await chown(file, home.runAs.uid, home.runAs.gid);
}

/** Also removes the file that a dead postmaster left. */
async function endLeftover(cluster: string, log: ServiceLog): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  const content = await readFile(pidFile, 'utf8').catch(() => null);
  if (content === null) return;
  const pid = Number(content.split('\n', 1)[0]);
  const isPostmaster = async (): Promise<boolean> =>
    pid > 1 && isAlive(pid) && ((await commandLineOf(pid))?.includes(`-D ${cluster} `) ?? false);
  await endProcess({
    pid,
    isExpected: isPostmaster,
    signals: ['SIGINT', 'SIGQUIT', 'SIGKILL'],
    deadlineMs: STOP_DEADLINE_MS,
    onSignal: () => log.info(`stopping the Postgres that an earlier run left behind (process ${pid})`),
  });
  // Postgres would refuse to start when another program has the number now.
  await rm(pidFile, { force: true });
}

/** Throws while Postgres does not answer. */
async function ensureDatabase(port: number, password: string): Promise<true> {
  const connectionString = urlOf(port, password, 'postgres');
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    // Not awaited: a program that is no Postgres may never answer.
    void client.end().catch(() => undefined);
    throw error;
  }
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
    return true;
  } finally {
    await client.end();
  }
}

function urlOf(port: number, password: string, database: string): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
}
