// Real Postgres, Temporal and Redis for tests: those named by the environment, otherwise temporary ones of
// our own in a temporary folder. Guarantees that no end of the run leaves a process or a file behind; a
// service that cannot be started is an error, never a skip. The only place where tests read the environment.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { writeBundle } from '../../../src/platform/temporal/bundle.ts';
import { prepareNamespaces } from '../../../src/app/temporal/namespaces.ts';
import type { ServiceLog } from '../../../src/dev/child.ts';
import { findProgram } from '../../../src/dev/programs.ts';
import { startPostgres, type PostgresOptions, type RunningPostgres } from '../../../src/dev/postgres.ts';
import { startRedis, type RunningRedis } from '../../../src/dev/redis.ts';
import { startTemporal, type RunningTemporal } from '../../../src/dev/temporal.ts';
import { redisProgramOfPackage } from './redis-package.ts';
import { startTemporalOnPostgres } from './temporal-on-postgres.ts';
import { makeTestFolder } from './test-folder.ts';

export const TEST_NAMESPACES = ['simway-test', 'simway-live'] as const;

export type TestServices = Awaited<ReturnType<typeof startTestServices>>;

/** Prints only errors: a test run's output belongs to the tests. */
export const quietLog: ServiceLog = {
  info: () => undefined,
  warn: (message) => console.warn(message),
};

/** Also prints what takes long, such as the first build of Temporal. */
const patientLog: ServiceLog = {
  info: (message) => console.log(message),
  warn: (message) => console.warn(message),
};

/** The facts of this machine that a service needs. */
export function machine(): { pathEnv: string; cacheDir: string } {
  const { PATH = '', XDG_CACHE_HOME } = process.env;
  const cacheHome =
    XDG_CACHE_HOME === undefined || XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME;
  return { pathEnv: PATH, cacheDir: join(cacheHome, 'simway') };
}

/** A temporary Postgres below `folder`, which must come from makeTestFolder. */
export function startTestPostgres(
  folder: string,
  options: Partial<PostgresOptions> = {},
): Promise<RunningPostgres> {
  return startPostgres({
    dataDir: join(folder, 'postgres'),
    spillDir: join(folder, 'spill'),
    durability: 'off',
    log: quietLog,
    ...options,
  });
}

/**
 * An eighth of the servers' default, so that a test reaches it in seconds; no purchase reaches it without a
 * thousand calls.
 */
export const FRESH_HISTORY_AFTER_EVENTS = 512;

/** A Temporal server in memory, or with its data below `folder` when `persistent`. */
export function startTestTemporal(
  folder: string,
  options: { persistent?: boolean; log?: ServiceLog; uiCodecEndpoint?: string } = {},
): Promise<RunningTemporal> {
  return startTemporal({
    ...machine(),
    dataDir: options.persistent === true ? join(folder, 'temporal') : null,
    logFile: join(folder, 'temporal.log'),
    namespaces: TEST_NAMESPACES,
    freshHistoryAfterEvents: FRESH_HISTORY_AFTER_EVENTS,
    uiCodecEndpoint: options.uiCodecEndpoint,
    log: options.log ?? quietLog,
  });
}

/** The server that docker-compose.yml deploys, with databases of its own on this owner's Postgres. */
function startDeployedTemporal(folder: string, ownerUrl: string) {
  return startTemporalOnPostgres({
    ...machine(),
    ownerUrl,
    dataDir: join(folder, 'temporal'),
    freshHistoryAfterEvents: FRESH_HISTORY_AFTER_EVENTS,
    log: patientLog,
  });
}

/**
 * `redis-server` on the PATH, else one that the package redis-memory-server builds. Throws without either.
 */
export async function redisProgram(log: ServiceLog = quietLog): Promise<string> {
  const { pathEnv, cacheDir } = machine();
  return (await findProgram('redis-server', pathEnv)) ?? redisProgramOfPackage({ cacheDir, log });
}

/** A Redis of our own. */
export async function startTestRedis(folder: string, log: ServiceLog = quietLog): Promise<RunningRedis> {
  const { pathEnv } = machine();
  const program = await redisProgram(log);
  const started = await startRedis({ dataDir: join(folder, 'redis'), log, pathEnv, program });
  if (started === null) throw new Error('no redis-server');
  return started;
}

interface ServicesOptions {
  /**
   * Postgres may live there. Each test file has a database of its own, for which Postgres makes and removes a
   * thousand files.
   */
  readonly inMemory?: boolean;
  /** The Temporal that docker-compose.yml deploys, instead of the development server. */
  readonly deployed?: boolean;
}

/** Starts whatever the environment (DATABASE_URL, TEMPORAL_ADDRESS, REDIS_URL) does not name. */
export async function startTestServices({ inMemory = true, deployed = false }: ServicesOptions = {}) {
  const { DATABASE_URL, TEMPORAL_ADDRESS, REDIS_URL } = process.env;
  const [folder, memory] = [await makeTestFolder(), await makeTestFolder({ inMemory })];
  const runId = randomBytes(5).toString('hex');
  const closers: (() => Promise<void>)[] = [() => dropRunDatabases(DATABASE_URL, runId)];
  const close = async (): Promise<void> => {
    const failures: unknown[] = [];
    // In turns: a server on our Postgres stops before it.
    for (const closer of closers.splice(0).toReversed())
      await closer().catch((error: unknown) => failures.push(error));
    for (const made of [folder, memory]) await rm(made, { recursive: true, force: true });
    if (failures.length > 0) throw failures[0];
  };
  const own = async <S>(service: Promise<S>, closer: (service: S) => Promise<void>): Promise<S> => {
    const started = await service;
    closers.push(() => closer(started));
    return started;
  };
  const postgres = async (): Promise<string> =>
    DATABASE_URL ?? (await own(startTestPostgres(memory), (it) => it.remove())).url;
  const temporal = async (ownerUrl: Promise<string>): Promise<string> => {
    if (TEMPORAL_ADDRESS === undefined && !deployed)
      return (await own(startTestTemporal(folder, { log: patientLog }), (it) => it.stop())).address;
    const starting = async () => startDeployedTemporal(folder, await ownerUrl);
    const address = TEMPORAL_ADDRESS ?? (await own(starting(), (it) => it.stop())).address;
    await prepareNamespaces({ address, namespaces: TEST_NAMESPACES, retentionDays: 1 });
    return address;
  };
  const ownerUrl = postgres();
  const starting = Promise.allSettled([
    ownerUrl,
    temporal(ownerUrl),
    REDIS_URL ?? own(startTestRedis(folder, patientLog), (it) => it.stop()).then((it) => it.url),
  ]);
  const [databaseUrl, temporalAddress, redisUrl] = await starting;
  const workflowBundle = join(folder, 'workflows.bundle.js');
  try {
    await writeBundle(workflowBundle);
    return {
      /** postgres://… of an owner that may create databases and roles. */
      databaseUrl: patient(valueOf(databaseUrl)),
      /** host:port */
      temporalAddress: valueOf(temporalAddress),
      redisUrl: valueOf(redisUrl),
      /** Prefix of what this run makes on servers that are not its own. */
      runId,
      /** File with the workflows, bundled once for all workers. */
      workflowBundle,
      /** Folder for compiled code of child processes. */
      compileCache: join(folder, 'compile-cache'),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** For a test run that uses these services, with databases of its own, instead of others. */
export function environmentOf({ databaseUrl, temporalAddress, redisUrl }: TestServices): NodeJS.ProcessEnv {
  return {
    ...process.env,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    REDIS_URL: redisUrl,
  };
}

/** The time that a connection takes on a busy machine is not under test. */
function patient(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('connect_timeout', '30');
  return url.href;
}

function valueOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/** On a server that is not ours only the databases of this run must be removed. */
async function dropRunDatabases(databaseUrl: string | undefined, runId: string): Promise<void> {
  if (databaseUrl === undefined) return;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>(
      'SELECT datname FROM pg_database WHERE datname LIKE $1',
      [`simway\\_${runId}\\_%`],
    );
    for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS "${datname}" WITH (FORCE)`);
  } finally {
    await client.end();
  }
}
