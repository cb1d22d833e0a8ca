// A Redis of our own on loopback, without persistence: nothing that matters lives there.
// Answers null where no redis-server is to be had, and the caller falls back to the in-process stand-ins.
// Must not be reachable from outside this machine.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startChild, type Child, type ServiceLog } from './child.ts';
import { freePort } from './ports.ts';
import { findProgram } from './programs.ts';
import { restartable, type RunningServer } from './restartable.ts';

const HOST = '127.0.0.1';
const START_DEADLINE_MS = 20_000;
const STOP_DEADLINE_MS = 5_000;
const PORT_ATTEMPTS = 3;

export interface RedisOptions {
  /** Folder for the log and as working folder; made when missing. */
  readonly dataDir: string;
  readonly log: ServiceLog;
  /** The search path for `redis-server`. */
  readonly pathEnv: string;
  /** A redis-server to use instead of looking on the search path. */
  readonly program?: string | undefined;
  /** Exactly this port; without it a free one. */
  readonly port?: number | undefined;
}

export interface RunningRedis extends RunningServer {
  /** redis://host:port */
  readonly url: string;
}

/** Start Redis; null when there is no redis-server. Throws when there is one that does not come up. */
export async function startRedis(options: RedisOptions): Promise<RunningRedis | null> {
  const program = options.program ?? (await findProgram('redis-server', options.pathEnv));
  if (program === null) return null;
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const { child, port } = await startOnSomePort(program, options);
  const server = restartable({
    first: child,
    startAgain: () => startOn(program, options, port),
    lock: null,
    takeLock: () => null,
  });
  return Object.assign(server, { url: `redis://${HOST}:${port}` });
}

async function startOnSomePort(
  program: string,
  options: RedisOptions,
): Promise<{ child: Child; port: number }> {
  const tried: number[] = [];
  for (;;) {
    const port = options.port ?? (await freePort({ except: tried }));
    tried.push(port);
    try {
      return { child: await startOn(program, options, port), port };
    } catch (error) {
      if (tried.length === PORT_ATTEMPTS || !(error as Error).message.includes('Address already in use'))
        throw error;
    }
  }
}

async function startOn(program: string, options: RedisOptions, port: number): Promise<Child> {
  const child = await startChild({
    name: 'Redis',
    command: program,
    // prettier-ignore
    args: [
      '--bind', HOST, '--port', String(port), '--save', '', '--appendonly', 'no', '--daemonize', 'no',
      '--dir', options.dataDir,
    ],
    log: options.log,
    cwd: options.dataDir,
    logFile: join(options.dataDir, 'redis.log'),
    stopDeadlineMs: STOP_DEADLINE_MS,
  });
  try {
    await child.untilReady({ probe: () => answersWithPid(port, child.pid), deadlineMs: START_DEADLINE_MS });
    return child;
  } catch (error) {
    await child.stop();
    throw error;
  }
}

/** Whether our server answers there, and not another program that holds the port. */
async function answersWithPid(port: number, pid: number): Promise<boolean> {
  const client = new Redis({
    host: HOST,
    port,
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 1_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.info('server')).includes(`process_id:${pid}\r\n`);
  } finally {
    client.disconnect();
  }
}
