// Temporal's development server for npm start and tests. Only on loopback, because it has no passwords.
import { mkdir } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { join, resolve } from 'node:path';
import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.ts';
import { startReadyChild, type Child, type ServiceLog } from './child.ts';
import { takeLock, type Lock } from './lock.ts';
import { freePort, retryTakenPort } from './ports.ts';
import { endLeftoverServer, writeServerPid } from './process-identity.ts';
import { restartable, type RunningServer } from './restartable.ts';
import { findTemporalProgram } from './temporal-program.ts';

const HOST = '127.0.0.1';
const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;
const CALL_DEADLINE_MS = 3_000;
const PLENTY = 100_000;

/**
 * The development server polls its only shard 20 times a second, so each task waits up to 50 ms; the first
 * two keys lift that. One partition per queue spares new workflows a search among four. The rest lifts limits
 * that are meant for shared clusters.
 */
const DYNAMIC_CONFIG = {
  'history.transferProcessorMaxPollRPS': 2_000,
  'history.timerProcessorMaxPollRPS': 2_000,
  'history.visibilityProcessorMaxPollRPS': 2_000,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'system.enableActivityEagerExecution': true,
  'frontend.rps': PLENTY,
  'frontend.namespaceRPS': PLENTY,
  'frontend.namespaceRPS.visibility': PLENTY,
  'frontend.namespaceBurstRatio.visibility': 1,
  'frontend.namespaceCount': PLENTY,
  'history.rps': PLENTY,
  'history.persistenceMaxQPS': PLENTY,
  'matching.rps': PLENTY,
  'matching.persistenceMaxQPS': PLENTY,
  'frontend.persistenceMaxQPS': PLENTY,
} as const;

/** The server suggests continue-as-new after so many events; 4,096 is its own default. */
export const dynamicConfig = (freshHistoryAfterEvents = 4_096) =>
  Object.entries({
    ...DYNAMIC_CONFIG,
    'limit.historyCount.suggestContinueAsNew': freshHistoryAfterEvents,
  });

export interface TemporalOptions {
  /** null keeps everything in memory. */
  readonly dataDir: string | null;
  readonly log: ServiceLog;
  /** The development server adds `default`. */
  readonly namespaces: readonly string[];
  readonly pathEnv: string;
  /** For a `temporal` program that had to be downloaded. */
  readonly cacheDir: string;
  /** Without them free ones, the preferred if they are free. */
  readonly port?: number | undefined;
  readonly uiPort?: number | undefined;
  readonly preferredPort?: number | undefined;
  readonly preferredUiPort?: number | undefined;
  /** Where the UI has payloads decrypted. */
  readonly uiCodecEndpoint?: string | undefined;
  /** For a server in memory; with `dataDir` the log is there. */
  readonly logFile?: string | undefined;
  readonly freshHistoryAfterEvents?: number;
}

export interface RunningTemporal extends RunningServer {
  readonly address: string;
  readonly uiUrl: string;
}

/**
 * Waits until all namespaces and search attributes are there. Throws when there is no program or it does not
 * start.
 */
export async function startTemporal(options: TemporalOptions): Promise<RunningTemporal> {
  const program = await findTemporalProgram(options);
  const { dataDir } = options;
  if (dataDir !== null) await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const lock = lockData(dataDir);
  try {
    // The server also picks some ports of its own.
    const { child, ports } = await retryTakenPort('address already in use', async () => {
      const free = {
        port: options.port ?? (await freePort(options.preferredPort)),
        uiPort: options.uiPort ?? (await freePort(options.preferredUiPort)),
      };
      return { child: await startOn(program, options, free), ports: free };
    });
    const server = restartable({
      first: child,
      startAgain: () => startOn(program, options, ports),
      lock,
      takeLock: () => lockData(dataDir),
    });
    return Object.assign(server, {
      address: `${HOST}:${ports.port}`,
      uiUrl: `http://${HOST}:${ports.uiPort}`,
    });
  } catch (error) {
    lock?.release();
    throw error;
  }
}

interface Ports {
  readonly port: number;
  readonly uiPort: number;
}

async function startOn(program: string, options: TemporalOptions, ports: Ports): Promise<Child> {
  const { dataDir, log, namespaces } = options;
  if (dataDir !== null) await endLeftoverServer({ name: 'Temporal', dataDir, log });
  return startReadyChild(
    {
      name: 'Temporal',
      command: program,
      args: serverArguments(options, ports),
      log,
      cwd: dataDir ?? '/',
      // TEMPORAL_* variables would change what it does. Without a home it neither reads nor writes settings
      // there.
      env: { PATH: '/usr/bin:/bin' },
      logFile: dataDir === null ? options.logFile : join(dataDir, 'temporal.log'),
      stopDeadlineMs: STOP_DEADLINE_MS,
    },
    async ({ pid }) => {
      if (dataDir !== null) await writeServerPid(dataDir, pid);
      return {
        probe: async () => (await serves(ports, namespaces)) && (await listens(ports.uiPort)),
        deadlineMs: START_DEADLINE_MS,
      };
    },
  );
}

function serverArguments(options: TemporalOptions, ports: Ports): string[] {
  const { dataDir, namespaces, uiCodecEndpoint } = options;
  // These pragmas: a sixth less latency; only a power failure can lose the last moments.
  const storedIn = (dir: string) => [
    ...['--db-filename', join(resolve(dir), 'temporal.db')],
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
  ];
  return [
    ...['server', 'start-dev', '--ip', HOST, '--port', String(ports.port), '--ui-port', String(ports.uiPort)],
    ...['--log-level', 'warn', '--log-format', 'json'],
    ...(uiCodecEndpoint === undefined ? [] : ['--ui-codec-endpoint', uiCodecEndpoint]),
    ...(dataDir === null ? [] : storedIn(dataDir)),
    ...namespaces.flatMap((namespace) => ['--namespace', namespace]),
    ...SEARCH_ATTRIBUTES.flatMap(({ name, type }) => [
      '--search-attribute',
      `${name}=${type.charAt(0)}${type.slice(1).toLowerCase()}`,
    ]),
    ...dynamicConfig(options.freshHistoryAfterEvents).flatMap(([key, value]) => [
      '--dynamic-config-value',
      `${key}=${value}`,
    ]),
  ];
}

/** Every namespace can be described and knows our search attributes. */
async function serves(ports: Ports, namespaces: readonly string[]): Promise<boolean> {
  const connection = await Connection.connect({
    address: `${HOST}:${ports.port}`,
    connectTimeout: CALL_DEADLINE_MS,
  });
  try {
    return await connection.withDeadline(Date.now() + CALL_DEADLINE_MS, async () => {
      for (const namespace of namespaces) {
        await connection.workflowService.describeNamespace({ namespace });
        const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
        if (!SEARCH_ATTRIBUTES.every(({ name }) => name in customAttributes)) return false;
      }
      return true;
    });
  } finally {
    await connection.close();
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connectSocket({ host: HOST, port, timeout: CALL_DEADLINE_MS });
    const answer = (open: boolean) => (): void => {
      socket.destroy();
      done(open);
    };
    socket.once('connect', answer(true)).once('error', answer(false)).once('timeout', answer(false));
  });
}

function lockData(dataDir: string | null): Lock | null {
  return dataDir === null ? null : takeLock(join(dataDir, 'in-use.lock'), `the Temporal data in ${dataDir}`);
}
