/**
 * The servers of a run: those named by DATABASE_URL, TEMPORAL_ADDRESS and REDIS_URL, else our own as `npm
 * start` has them (durability on, Temporal in a file), in a temporary folder. Guarantees that close() leaves
 * no process, database or file behind.
 */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { prepareNamespaces } from '../../src/app/temporal/namespaces.ts';
import type { DevSettings } from '../../src/app/config/config.ts';
import type { ServiceLog } from '../../src/dev/child.ts';
import { startPostgres } from '../../src/dev/postgres.ts';
import { startRedis } from '../../src/dev/redis.ts';
import { startTemporal } from '../../src/dev/temporal.ts';
import { migrateDatabase } from '../../src/platform/database/migrate-database.ts';
import { makeTestFolder } from '../../test/support/world/test-folder.ts';
import { asOwner, dropDatabase } from '../../test/support/world/as-owner.ts';
import { startTemporalOnPostgres } from '../../test/support/world/temporal-on-postgres.ts';

const TEMPORAL_KINDS = ['embedded', 'postgres'] as const;
type TemporalKind = (typeof TEMPORAL_KINDS)[number];

/** What `--server` says. Throws for what it does not take. */
export function temporalKindOf(text: string): TemporalKind {
  const kind = TEMPORAL_KINDS.find((one) => one === text);
  if (kind === undefined) throw new Error(`--server takes ${TEMPORAL_KINDS.join(' or ')}`);
  return kind;
}

interface ServersOptions {
  readonly settings: DevSettings;
  readonly temporal: TemporalKind | 'none';
  readonly redis: boolean;
  readonly codec?: boolean;
  readonly log: ServiceLog;
}

export type Servers = Awaited<ReturnType<typeof startServers>>;

export async function startServers(options: ServersOptions) {
  const closers: Closers = [];
  const close = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const step of closers.splice(0).toReversed())
      await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, 'the bench did not close cleanly');
  };
  try {
    const folder = await makeTestFolder();
    closers.push(() => rm(folder, { recursive: true, force: true }));
    const ownerUrl = await postgresOf(options, folder, closers);
    const temporalAddress = await temporalOf(options, folder, ownerUrl, closers);
    const redisUrl = await redisOf(options, folder, closers);
    return {
      /** A folder of this run's own, gone after close(). */
      folder,
      redisUrl,
      /** SIMWAY_TEMPORAL_CODEC_KEY. Undefined: payloads are in clear. */
      codecKey: options.codec === true ? randomBytes(32).toString('hex') : undefined,
      /** A new, migrated database; dropped by close(). Answers its owner's URL. */
      createDatabase: () => createDatabase(ownerUrl, closers),
      /** A namespace that knows our search attributes; answers the server's address. */
      prepareNamespaces: async (namespaces: readonly string[]): Promise<string> => {
        if (temporalAddress === undefined) throw new Error('started without Temporal');
        await prepareNamespaces({ address: temporalAddress, namespaces, retentionDays: 1 });
        return temporalAddress;
      },
      /** Runs before the servers stop, last registered first. */
      onClose: (step: Closers[number]) => void closers.push(step),
      describe: () => describeServers(ownerUrl, temporalAddress, redisUrl),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Closers = (() => Promise<unknown>)[];

async function postgresOf({ settings, log }: ServersOptions, folder: string, closers: Closers) {
  if (settings.databaseUrl !== undefined) return settings.databaseUrl;
  const server = await startPostgres({
    dataDir: join(folder, 'postgres'),
    spillDir: join(folder, 'spill'),
    durability: 'on',
    log,
  });
  closers.push(() => server.remove());
  return server.url;
}

async function temporalOf(options: ServersOptions, folder: string, ownerUrl: string, closers: Closers) {
  const { settings, temporal, log } = options;
  if (temporal === 'none') return undefined;
  if (settings.temporal) return settings.temporal.address;
  const { pathEnv, cacheDir } = settings;
  const dataDir = join(folder, 'temporal');
  const server =
    temporal === 'embedded'
      ? await startTemporal({ dataDir, log, namespaces: [], pathEnv, cacheDir })
      : await startTemporalOnPostgres({ dataDir, log, pathEnv, cacheDir, ownerUrl });
  closers.push(() => server.stop());
  return server.address;
}

async function redisOf({ settings, redis, log }: ServersOptions, folder: string, closers: Closers) {
  if (!redis || settings.redisUrl !== undefined) return settings.redisUrl;
  const server = await startRedis({ dataDir: join(folder, 'redis'), log, pathEnv: settings.pathEnv });
  if (server === null) return undefined;
  closers.push(() => server.stop());
  return server.url;
}

async function createDatabase(ownerUrl: string, closers: Closers): Promise<string> {
  const name = `simway_bench_${randomBytes(5).toString('hex')}`;
  await asOwner(ownerUrl, (client) => client.query(`CREATE DATABASE ${name}`));
  closers.push(() => asOwner(ownerUrl, (client) => dropDatabase(client, name)));
  const url = new URL(ownerUrl);
  url.pathname = `/${name}`;
  await migrateDatabase(url.href, () => undefined);
  return url.href;
}

async function describeServers(ownerUrl: string, temporal?: string, redisUrl?: string): Promise<string> {
  const postgres = await asOwner(ownerUrl, async (client) => {
    const { rows } = await client.query<{ version: string; fsync: string; commit: string }>(
      `select current_setting('server_version') as version, current_setting('fsync') as fsync,
              current_setting('synchronous_commit') as commit`,
    );
    const [row] = rows;
    return `Postgres ${row?.version ?? '?'} (fsync ${row?.fsync ?? '?'}, synchronous_commit ${row?.commit ?? '?'})`;
  });
  const parts = [postgres];
  if (temporal !== undefined) {
    const connection = await Connection.connect({ address: temporal });
    try {
      const { serverVersion } = await connection.workflowService.getSystemInfo({});
      const { persistenceStore } = await connection.workflowService.getClusterInfo({});
      parts.push(`Temporal ${serverVersion} on ${persistenceStore}`);
    } finally {
      await connection.close();
    }
  }
  parts.push(redisUrl === undefined ? 'no Redis' : 'Redis');
  return parts.join(', ');
}
