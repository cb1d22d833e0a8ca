/**
 * The service under test as `npm start` runs it: supplier simulator, worker and API, each a process of its
 * own, on a database and a Temporal namespace of this run's. Accounts and keys are made through the service's
 * own commands' code.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createKey } from '../../src/accounts/keys/manage-keys.ts';
import { createAccount } from '../../src/accounts/manage-accounts.ts';
import { openAccounts, openWorld, type ProcessContext } from '../../src/app/composition/context.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { startChild } from '../../src/dev/child.ts';
import { freePort } from '../../src/dev/ports.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import type { WorldDatabase } from '../../src/platform/database/tables.ts';
import type { BenchOptions } from './options.ts';
import type { Servers } from './servers.ts';
import { fund } from '../../src/ledger/fund-by-hand.ts';

/** How the service reaches its servers, where not directly. */
interface Via {
  /** With the simulator of the payment gateway. */
  readonly gateway?: boolean;
  readonly databaseUrl?: (url: string) => Promise<string>;
  readonly redisUrl?: string | undefined;
  /** Settings of API and worker besides. */
  readonly env?: Readonly<Record<string, string>>;
}

export type Service = Awaited<ReturnType<typeof startService>>;

const CHECKOUT = join(import.meta.dirname, '..', '..');
const READY_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 40_000;
const NO_LIMIT_PER_MINUTE = 1_000_000_000;
const FUNDS_MINOR = 100_000_000_000n;
const ACTOR = 'bench';
const GATEWAY_KEY = 'sk_test_simulator';
const GATEWAY_ENV = { SANDBOX_GATEWAY_KEY: GATEWAY_KEY };

/** Ready means that the catalogue is on sale. Everything ends with the servers. */
export async function startService(
  servers: Servers,
  { log, profileDir }: Pick<BenchOptions, 'log'> & Partial<Pick<BenchOptions, 'profileDir'>>,
  via: Via = {},
) {
  const nodeFlags = profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
  const databaseUrl = await servers.createDatabase();
  const prefix = `bench-${randomBytes(4).toString('hex')}`;
  const namespace = `${prefix}-test`;
  const temporalAddress = await servers.prepareNamespaces([namespace]);
  const start = async (name: string, args: readonly string[], env: Record<string, string>) => {
    const child = await startChild({
      name,
      command: process.execPath,
      args,
      cwd: CHECKOUT,
      env: { ...env, PATH: '/usr/bin:/bin' },
      log,
      logFile: join(servers.folder, `${prefix}-${name}.log`),
      stopDeadlineMs: STOP_DEADLINE_MS,
    });
    servers.onClose(() => child.stop());
    const line = await child.untilReady({ line: /^\{"ready":true/, deadlineMs: READY_DEADLINE_MS });
    return { child, ready: JSON.parse(line) as Record<string, string> };
  };
  const supplierData = join(servers.folder, `${prefix}-supplier`);
  const supplierArgs = ['packages/simulators/esim-access/main.ts', '--data', supplierData];
  const supplier = await start('supplier', supplierArgs, { SANDBOX_SUPPLIER_CODE: 'bench' });
  const apiPort = await freePort();
  const adminPort = await freePort();
  const gateway =
    via.gateway === true ? await start('gateway', gatewayArgs(servers, apiPort), GATEWAY_ENV) : undefined;
  const redisUrl = via.redisUrl ?? servers.redisUrl;
  const env: Record<string, string> = {
    DATABASE_URL: (await via.databaseUrl?.(databaseUrl)) ?? databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
    ...(servers.codecKey === undefined ? {} : { SIMWAY_TEMPORAL_CODEC_KEY: servers.codecKey }),
    SIMWAY_NAMESPACE_PREFIX: prefix,
    SIMWAY_LOG_LEVEL: 'info',
    SIMWAY_HTTP_PORT: String(apiPort),
    SIMWAY_ADMIN_PORT: String(adminPort),
    SIMWAY_WORKER_ADMIN_PORT: '0',
    SIMWAY_ID_SECRET: randomBytes(32).toString('hex'),
    SIMWAY_SECRETS_KEY: randomBytes(32).toString('hex'),
    SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8,::1',
    SIMWAY_TEST_SUPPLIER_URL: supplier.ready['url'] ?? '',
    SIMWAY_TEST_SUPPLIER_ACCESS_CODE: 'bench',
    ...(gateway === undefined ? {} : gatewaySettings(gateway.ready['url'] ?? '')),
    ...via.env,
  };
  const startWorker = () => start('worker', [...nodeFlags, 'src/main.ts', 'worker'], env);
  const worker = await startWorker();
  const api = await start('api', [...nodeFlags, 'src/main.ts', 'api'], env);
  await untilReady(`http://127.0.0.1:${adminPort}`);
  // The bench's own connections do not go through a counter that is between the service and its server.
  const { config, secrets } = readConfig({ ...env, DATABASE_URL: databaseUrl });
  const context: ProcessContext = {
    config,
    secrets,
    logger: createLogger({ level: 'error' }),
    processName: 'command',
  };
  const owner = openDatabase<WorldDatabase>({
    url: databaseUrl,
    schema: 'test',
    maxConnections: 4,
    statementTimeoutMs: 0,
    applicationName: 'simway-bench',
  });
  servers.onClose(() => owner.destroy());
  return {
    apiUrl: `http://127.0.0.1:${apiPort}`,
    namespace,
    temporalAddress,
    context,
    owner,
    ownerUrl: databaseUrl,
    supplierControlUrl: supplier.ready['controlUrl'] ?? '',
    /** Empty without a gateway. */
    gatewayControlUrl: gateway?.ready['controlUrl'] ?? '',
    /** One more, as after a restart. */
    startWorker: async () => (await startWorker()).child,
    processes: { worker: worker.child, api: api.child },
    /** A merchant with USD in its wallet and no limit that a bench could reach. */
    account: () => makeAccount(context),
  };
}

const gatewayArgs = ({ folder }: Servers, apiPort: number) => [
  'packages/simulators/paystack/main.ts',
  ...['--data', join(folder, 'gateway'), '--currency', 'USD'],
  ...['--webhook-url', `http://127.0.0.1:${apiPort}/webhooks/paystack/test`],
];

const gatewaySettings = (url: string) => ({
  SIMWAY_TEST_GATEWAY_URL: url,
  SIMWAY_TEST_GATEWAY_SECRET_KEY: GATEWAY_KEY,
});

async function makeAccount(context: ProcessContext) {
  const accounts = openAccounts(context);
  const world = openWorld(context, context.config.worlds.test);
  try {
    const accountId = await createAccount(
      accounts,
      {
        type: 'MERCHANT',
        name: 'Bench',
        email: `${randomBytes(6).toString('hex')}@bench.example`,
        currency: 'USD',
        plan: 'ENTERPRISE',
        requestsPerMinute: NO_LIMIT_PER_MINUTE,
      },
      ACTOR,
    );
    const amount = { amountMinor: FUNDS_MINOR, currency: 'USD' } as const;
    await fund({ accounts, world }, { accountId, amount, reason: 'bench', reference: accountId }, ACTOR);
    const { apiKey } = await createKey(
      accounts,
      {
        accountId,
        environment: 'test',
        brand: context.config.brand,
        scopes: ['read', 'purchase'],
        allowedAddresses: ['127.0.0.1'],
        companyName: 'Bench',
        websiteUrl: 'https://bench.example',
        expiresAt: null,
      },
      ACTOR,
    );
    return { accountId, apiKey };
  } finally {
    await Promise.all([accounts.destroy(), world.destroy()]);
  }
}

async function untilReady(adminUrl: string): Promise<void> {
  const endsAtMs = performance.now() + READY_DEADLINE_MS;
  for (;;) {
    const answer = await fetch(`${adminUrl}/readyz`).catch(() => null);
    if (answer?.ok) return;
    if (performance.now() > endsAtMs) throw new Error(`not ready: ${(await answer?.text()) ?? 'no answer'}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
