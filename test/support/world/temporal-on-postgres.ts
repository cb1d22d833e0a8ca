/**
 * The Temporal that docker-compose.yml deploys, on a Postgres, with its environment and its settings there.
 * Ours are the addresses, the number of shards, and the development server's settings where the deployed file
 * has none. Two databases of its own, dropped afterwards. Shards are few: 512 are for clusters, and one
 * process would spend itself on looking after them.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { parse } from 'yaml';
import { startChild } from '../../../src/dev/child.ts';
import { freePort } from '../../../src/dev/ports.ts';
import { runCommand } from '../../../src/dev/programs.ts';
import { dynamicConfig } from '../../../src/dev/temporal.ts';
import { asOwner, dropDatabase } from './as-owner.ts';
import { CHECKOUT } from './checkout.ts';
import { readCompose } from './compose.ts';
import { findTemporalServer } from './temporal-server-program.ts';

const DEPLOYED_CONFIG = join(CHECKOUT, 'ops', 'temporal', 'dynamic-config.yaml');
const HISTORY_SHARDS = 4;
const HOST = '127.0.0.1';
const SERVICES = ['FRONTEND', 'MATCHING', 'HISTORY', 'WORKER'] as const;
const START_DEADLINE_MS = 120_000;
const TOOL_TIMEOUT_MS = 120_000;
const PATH = '/usr/bin:/bin';

/** `ownerUrl` is of an owner who may create databases. */
export async function startTemporalOnPostgres(
  options: Parameters<typeof findTemporalServer>[0] & {
    readonly dataDir: string;
    readonly ownerUrl: string;
    readonly freshHistoryAfterEvents?: number;
  },
) {
  const { dataDir, ownerUrl, freshHistoryAfterEvents } = options;
  const programs = await findTemporalServer(options);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const run = randomBytes(4).toString('hex');
  const databases = { temporal: `temporal_${run}`, visibility: `temporal_visibility_${run}` };
  for (const [kind, database] of Object.entries(databases))
    await makeSchema(programs.sqlTool, ownerUrl, kind, database);
  const dynamicFile = join(dataDir, 'dynamic.yaml');
  const ours = dynamicConfig(freshHistoryAfterEvents).map(([key, value]) => [key, [{ value }]]);
  const deployed = parse(await readFile(DEPLOYED_CONFIG, 'utf8')) as object;
  await writeFile(dynamicFile, JSON.stringify({ ...Object.fromEntries(ours), ...deployed }));
  const ports = await choosePorts();
  const child = await startChild({
    name: 'Temporal on Postgres',
    command: programs.server,
    args: ['start'],
    log: options.log,
    cwd: dataDir,
    env: {
      ...readCompose('docker-compose.yml').services['temporal']?.environment,
      ...databaseEnv(ownerUrl, databases),
      ...ports,
      PATH,
      NUM_HISTORY_SHARDS: String(HISTORY_SHARDS),
      BIND_ON_IP: HOST,
      DYNAMIC_CONFIG_FILE_PATH: dynamicFile,
    },
    logFile: join(dataDir, 'temporal.log'),
    stopDeadlineMs: 20_000,
  });
  const address = `${HOST}:${ports['FRONTEND_GRPC_PORT']}`;
  const stop = async (): Promise<void> => {
    await child.stop();
    for (const database of Object.values(databases))
      await asOwner(ownerUrl, (client) => dropDatabase(client, database));
  };
  try {
    await child.untilReady({ probe: () => serves(address), deadlineMs: START_DEADLINE_MS });
    return { address, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The schemas are inside the tool. */
async function makeSchema(tool: string, ownerUrl: string, kind: string, database: string): Promise<void> {
  const { hostname, port, username, password } = new URL(ownerUrl);
  const options = {
    timeout: TOOL_TIMEOUT_MS,
    env: { SQL_PASSWORD: decodeURIComponent(password), PATH },
  };
  const server = ['--ep', hostname, '-p', port === '' ? '5432' : port];
  const login = ['--plugin', 'postgres12', ...server, '-u', username];
  const call = (...args: string[]) => runCommand(tool, [...login, '--db', database, ...args], options);
  await call('create-database');
  await call('setup-schema', '-v', '0.0');
  await call('update-schema', '--schema-name', `postgresql/v12/${kind}`);
}

function databaseEnv(ownerUrl: string, { temporal, visibility }: { temporal: string; visibility: string }) {
  const { hostname, port, username, password } = new URL(ownerUrl);
  return {
    POSTGRES_SEEDS: hostname,
    DB_PORT: port === '' ? '5432' : port,
    POSTGRES_USER: username,
    POSTGRES_PWD: decodeURIComponent(password),
    DBNAME: temporal,
    VISIBILITY_DBNAME: visibility,
  };
}

/** By the names that the server reads. */
async function choosePorts(): Promise<Record<string, string>> {
  const names = SERVICES.flatMap((name) => [`${name}_GRPC_PORT`, `${name}_MEMBERSHIP_PORT`]);
  const chosen = [...names, 'FRONTEND_HTTP_PORT'].map(
    async (name) => [name, String(await freePort())] as const,
  );
  return Object.fromEntries(await Promise.all(chosen));
}

async function serves(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  try {
    await connection.workflowService.describeNamespace({ namespace: 'temporal-system' });
    return true;
  } finally {
    await connection.close();
  }
}
