// Redis for npm start and tests: only on loopback, and without persistence, since everything in it can be
// lost.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startReadyChild, type Child, type ServiceLog } from './child.ts';
import { freePort, retryTakenPort } from './ports.ts';
import { findProgram } from './programs.ts';
import { restartable, type RunningServer } from './restartable.ts';

const HOST = '127.0.0.1';
const START_DEADLINE_MS = 20_000;
const STOP_DEADLINE_MS = 5_000;

export interface RedisOptions {
  readonly dataDir: string;
  readonly log: ServiceLog;
  readonly pathEnv: string;
  /** Instead of one on the search path. */
  readonly program?: string | undefined;
  readonly port?: number | undefined;
}

export interface RunningRedis extends RunningServer {
  readonly url: string;
}

/**
 * null: there is no redis-server, and limits and caches stay per process. Throws when there is one that does
 * not come up.
 */
export async function startRedis(options: RedisOptions): Promise<RunningRedis | null> {
  const program = options.program ?? (await findProgram('redis-server', options.pathEnv));
  if (program === null) return null;
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const { child, port } = await retryTakenPort('Address already in use', async () => {
    const free = options.port ?? (await freePort());
    return { child: await startOn(program, options, free), port: free };
  });
  const server = restartable({
    first: child,
    startAgain: () => startOn(program, options, port),
    lock: null,
    takeLock: () => null,
  });
  return Object.assign(server, { url: `redis://${HOST}:${port}` });
}

function startOn(program: string, options: RedisOptions, port: number): Promise<Child> {
  return startReadyChild(
    {
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
    },
    ({ pid }) => ({ probe: () => answersWithPid(port, pid), deadlineMs: START_DEADLINE_MS }),
  );
}

/** Another Redis may hold the port, so the process id is compared. */
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
