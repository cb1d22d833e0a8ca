/**
 * Temporal's production server on a Postgres, in one process, with the tuning of the development server. Two
 * databases of its own, as in production, dropped afterwards. Shards are few: 512 are for clusters, and one
 * process would spend itself on looking after them.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { startChild } from '../../src/dev/child.ts';
import { freePort } from '../../src/dev/ports.ts';
import { runCommand } from '../../src/dev/programs.ts';
import { DYNAMIC_CONFIG } from '../../src/dev/temporal.ts';
import { asOwner, dropDatabase } from './owner.ts';
import { findTemporalServer } from './temporal-server-program.ts';

const HISTORY_SHARDS = 4;
const HOST = '127.0.0.1';
const SERVICES = ['frontend', 'matching', 'history', 'worker'] as const;
const MAX_CONNECTIONS = 20;
const START_DEADLINE_MS = 120_000;
const TOOL_TIMEOUT_MS = 120_000;

/** `ownerUrl` is of an owner who may create databases. */
export async function startTemporalOnPostgres(
  options: Parameters<typeof findTemporalServer>[0] & {
    readonly dataDir: string;
    readonly ownerUrl: string;
  },
) {
  const programs = await findTemporalServer(options);
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const run = randomBytes(4).toString('hex');
  const databases = { temporal: `temporal_${run}`, visibility: `temporal_visibility_${run}` };
  for (const [kind, database] of Object.entries(databases))
    await makeSchema(programs.sqlTool, options.ownerUrl, kind, database);
  const ports = await Promise.all(Array.from({ length: 2 * SERVICES.length }, () => freePort()));
  const configFile = join(options.dataDir, 'server.yaml');
  const dynamicFile = join(options.dataDir, 'dynamic.yaml');
  await writeFile(dynamicFile, dynamicConfig());
  const config = serverConfig({ ownerUrl: options.ownerUrl, databases, ports, dynamicFile });
  await writeFile(configFile, JSON.stringify(config), { mode: 0o600 });
  const child = await startChild({
    name: 'Temporal on Postgres',
    command: programs.server,
    args: ['--config-file', configFile, '--allow-no-auth', 'start'],
    log: options.log,
    cwd: options.dataDir,
    env: { PATH: '/usr/bin:/bin' },
    logFile: join(options.dataDir, 'temporal.log'),
    stopDeadlineMs: 20_000,
  });
  const address = `${HOST}:${ports[0] ?? 0}`;
  const stop = async (): Promise<void> => {
    await child.stop();
    for (const database of Object.values(databases))
      await asOwner(options.ownerUrl, (client) => dropDatabase(client, database));
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
    env: { SQL_PASSWORD: decodeURIComponent(password), PATH: '/usr/bin:/bin' },
  };
  const server = ['--ep', hostname, '-p', port === '' ? '5432' : port];
  const login = ['--plugin', 'postgres12', ...server, '-u', username];
  const call = (...args: string[]) => runCommand(tool, [...login, '--db', database, ...args], options);
  await call('create-database');
  await call('setup-schema', '-v', '0.0');
  await call('update-schema', '--schema-name', `postgresql/v12/${kind}`);
}

function dynamicConfig(): string {
  return Object.entries(DYNAMIC_CONFIG)
    .map(([key, value]) => `${key}:\n  - value: ${String(value)}\n`)
    .join('');
}

/** JSON is YAML. */
function serverConfig(options: {
  readonly ownerUrl: string;
  readonly databases: { readonly temporal: string; readonly visibility: string };
  readonly ports: readonly number[];
  readonly dynamicFile: string;
}): object {
  const { hostname, port, username, password } = new URL(options.ownerUrl);
  const store = (databaseName: string): object => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `${hostname}:${port === '' ? '5432' : port}`,
      connectProtocol: 'tcp',
      user: username,
      password: decodeURIComponent(password),
      maxConns: MAX_CONNECTIONS,
      maxIdleConns: MAX_CONNECTIONS,
      maxConnLifetime: '1h',
    },
  });
  const services = Object.fromEntries(
    SERVICES.map((name, index) => [
      name,
      {
        rpc: {
          grpcPort: options.ports[2 * index],
          membershipPort: options.ports[2 * index + 1],
          bindOnIP: HOST,
        },
      },
    ]),
  );
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: HISTORY_SHARDS,
      datastores: {
        default: store(options.databases.temporal),
        visibility: store(options.databases.visibility),
      },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: HOST } },
    services,
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `${HOST}:${options.ports[0] ?? 0}`,
        },
      },
    },
    publicClient: { hostPort: `${HOST}:${options.ports[0] ?? 0}` },
    dcRedirectionPolicy: { policy: 'noop' },
    archival: { history: { state: 'disabled' }, visibility: { state: 'disabled' } },
    namespaceDefaults: { archival: { history: { state: 'disabled' }, visibility: { state: 'disabled' } } },
    dynamicConfigClient: { filepath: options.dynamicFile, pollInterval: '60s' },
  };
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
