/**
 * `npm start`: Postgres, Temporal, Redis, the sandbox's supplier, migrations, worker and API on one machine, a fresh test key and a curl
 * line that buys an eSIM. Data stays under .data/ between runs; everything ends with this process.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareNamespaces } from '../platform/temporal/namespaces.ts';
import { readConfig, type DevSettings } from '../platform/config/config.ts';
import { createLogger } from '../platform/telemetry/logger.ts';
import { migrateDatabase } from '../platform/database/migrate-database.ts';
import type { ServiceLog } from './child.ts';
import { startOurProcess } from './our-process.ts';
import { freePort } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { beginRun, type RunningInfo } from './running-file.ts';
import { prepareSandboxAccounts } from './sandbox-accounts.ts';
import { startTemporal } from './temporal.ts';

const PREFERRED_PORTS = {
  postgres: 5433,
  temporal: 7233,
  temporalUi: 8233,
  admin: 3001,
  workerAdmin: 3002,
  supplier: 3100,
  supplierControl: 3101,
  gateway: 3110,
  gatewayControl: 3111,
};
/** The simulator's account with us; nothing outside this machine knows it. */
const SANDBOX_ACCESS_CODE = 'sandbox';
const SANDBOX_SECRET_KEY = 'sk_test_sandbox';
const READY_WITHIN_MS = 60_000;
const READY_POLL_MS = 200;

type Closers = (() => Promise<unknown>)[];

const log: ServiceLog = {
  info: (message) => process.stdout.write(`  ${message}\n`),
  warn: (message) => process.stdout.write(`! ${message}\n`),
};

/** Runs until SIGINT or SIGTERM; rejects, everything stopped, when something does not come up. */
export async function runDev(settings: DevSettings): Promise<void> {
  const asked = new Promise<'asked'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve('asked'));
  });
  const closers: Closers = [];
  const starting = bringUp(settings, closers);
  try {
    await Promise.race([starting, asked]);
    await asked;
  } finally {
    process.stdout.write('\nstopping\n');
    // Asked to stop while starting: what is half up comes up first, so that its closer is there to end it.
    await starting.catch(() => undefined);
    for (const close of closers.toReversed()) {
      await close().catch((error: unknown) =>
        log.warn(error instanceof Error ? error.message : 'a stop step failed'),
      );
    }
  }
}

async function bringUp(settings: DevSettings, closers: Closers): Promise<void> {
  const startedAtMs = performance.now();
  process.stdout.write('Simway is starting\n');
  const run = await beginRun(settings.dataDir);
  closers.push(() => run.close());
  const port = await freePort({ preferred: settings.httpPort });
  const [services, supplier, gateway] = await Promise.all([
    startServices(settings, closers),
    startSupplier(settings, closers),
    startGateway(settings, port, closers),
  ]);
  log.info('database: migrating');
  await migrateDatabase(services.databaseUrl, (line) => log.info(line));
  const ownSettings = await settingsOf(settings, services, {
    port,
    supplierUrl: supplier.url,
    gatewayUrl: gateway.url,
  });
  const env = { ...settings.inherited, ...ownSettings };
  const api = await startApiAndWorker(settings, env, closers);
  const { config, secrets } = readConfig(env);
  const parts = {
    config,
    secrets,
    logger: createLogger({ level: 'error' }),
    processName: 'command' as const,
  };
  const [keys] = await Promise.all([prepareSandboxAccounts(parts), untilReady(api.adminUrl)]);
  const info: RunningInfo = {
    apiUrl: api.url,
    docsUrl: `${api.url}/docs`,
    adminUrl: api.adminUrl,
    workerAdminUrl: api.workerAdminUrl,
    temporalAddress: services.temporalAddress,
    temporalUiUrl: services.temporalUiUrl,
    databaseUrl: services.databaseUrl,
    keys,
    supplierControlUrl: supplier.controlUrl,
    gatewayControlUrl: gateway.controlUrl,
    settings: ownSettings,
  };
  await run.publish(info);
  printWelcome(info, services.redisUrl, Math.trunc(performance.now() - startedAtMs));
}

interface Services {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly temporalUiUrl: string;
  readonly redisUrl: string | undefined;
}

async function startServices(settings: DevSettings, closers: Closers): Promise<Services> {
  const { dataDir, pathEnv, cacheDir } = settings;
  const keep = async <S extends { stop(): Promise<void> }>(
    name: string,
    starting: Promise<S>,
  ): Promise<S> => {
    const server = await starting;
    closers.push(() => server.stop());
    log.info(`${name}: up`);
    return server;
  };
  const postgres = async (): Promise<string> =>
    settings.databaseUrl ??
    (
      await keep(
        'Postgres',
        startPostgres({ dataDir: join(dataDir, 'postgres'), log, preferredPort: PREFERRED_PORTS.postgres }),
      )
    ).url;
  const temporal = async (): Promise<{ address: string; uiUrl: string }> =>
    settings.temporalAddress === undefined
      ? keep(
          'Temporal',
          startTemporal({
            dataDir: join(dataDir, 'temporal'),
            log,
            namespaces: settings.namespaces,
            pathEnv,
            cacheDir,
            preferredPort: PREFERRED_PORTS.temporal,
            preferredUiPort: PREFERRED_PORTS.temporalUi,
          }),
        )
      : theirTemporal(settings.temporalAddress, settings);
  const redis = async (): Promise<string | undefined> => {
    if (settings.redisUrl !== undefined) return settings.redisUrl;
    const server = await startRedis({ dataDir: join(dataDir, 'redis'), log, pathEnv });
    if (!server) return undefined;
    closers.push(() => server.stop());
    return server.url;
  };
  const results = await Promise.allSettled([postgres(), temporal(), redis()]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  const [databaseUrl, temporalServer, redisUrl] = results as [
    PromiseFulfilledResult<string>,
    PromiseFulfilledResult<{ address: string; uiUrl: string }>,
    PromiseFulfilledResult<string | undefined>,
  ];
  return {
    databaseUrl: databaseUrl.value,
    temporalAddress: temporalServer.value.address,
    temporalUiUrl: temporalServer.value.uiUrl,
    redisUrl: redisUrl.value,
  };
}

/** A server of somebody else's, made fit for ours. */
async function theirTemporal(
  address: string,
  { namespaces, temporalUiUrl }: DevSettings,
): Promise<{ address: string; uiUrl: string }> {
  await prepareNamespaces({ address, namespaces, log: (line) => log.info(`Temporal: ${line}`) });
  return { address, uiUrl: temporalUiUrl ?? '' };
}

async function startSupplier(
  settings: DevSettings,
  closers: Closers,
): Promise<{ url: string; controlUrl: string }> {
  const port = await freePort({ preferred: PREFERRED_PORTS.supplier });
  const controlPort = await freePort({ preferred: PREFERRED_PORTS.supplierControl, except: [port] });
  const supplier = await startOurProcess({
    name: 'supplier simulator',
    args: [
      'src/sandbox/supplier/main.ts',
      ...['--data', join(settings.dataDir, 'supplier'), '--access-code', SANDBOX_ACCESS_CODE],
      ...['--port', String(port), '--control-port', String(controlPort), '--public-host', 'self'],
    ],
    env: settings.inherited,
    log,
    logFile: join(settings.dataDir, 'supplier.log'),
  });
  closers.push(() => supplier.stop());
  return { url: String(supplier.ready['url']), controlUrl: String(supplier.ready['controlUrl']) };
}

async function startGateway(
  settings: DevSettings,
  apiPort: number,
  closers: Closers,
): Promise<{ url: string; controlUrl: string }> {
  const port = await freePort({ preferred: PREFERRED_PORTS.gateway, except: [apiPort] });
  const controlPort = await freePort({ preferred: PREFERRED_PORTS.gatewayControl, except: [apiPort, port] });
  const gateway = await startOurProcess({
    name: 'gateway simulator',
    args: [
      'src/sandbox/gateway/main.ts',
      ...['--data', join(settings.dataDir, 'gateway'), '--secret-key', SANDBOX_SECRET_KEY],
      ...['--port', String(port), '--control-port', String(controlPort)],
      ...['--webhook-url', `http://127.0.0.1:${apiPort}/webhooks/paystack/test`],
    ],
    env: settings.inherited,
    log,
    logFile: join(settings.dataDir, 'gateway.log'),
  });
  closers.push(() => gateway.stop());
  return { url: String(gateway.ready['url']), controlUrl: String(gateway.ready['controlUrl']) };
}

/** What our own processes read as their Config, beside what this process was given for others. */
async function settingsOf(
  settings: DevSettings,
  services: Services,
  at: { readonly port: number; readonly supplierUrl: string; readonly gatewayUrl: string },
): Promise<Record<string, string>> {
  const adminPort = await freePort({ preferred: PREFERRED_PORTS.admin, except: [at.port] });
  const workerAdminPort = await freePort({
    preferred: PREFERRED_PORTS.workerAdmin,
    except: [at.port, adminPort],
  });
  const given = Object.entries(settings.inherited).filter(([name]) => name.startsWith('SIMWAY_'));
  return {
    ...Object.fromEntries(given),
    DATABASE_URL: services.databaseUrl,
    TEMPORAL_ADDRESS: services.temporalAddress,
    ...(services.redisUrl === undefined ? {} : { REDIS_URL: services.redisUrl }),
    SIMWAY_LOG_LEVEL: settings.inherited['SIMWAY_LOG_LEVEL'] ?? 'info',
    SIMWAY_HTTP_PORT: String(at.port),
    SIMWAY_ADMIN_PORT: String(adminPort),
    SIMWAY_WORKER_ADMIN_PORT: String(workerAdminPort),
    SIMWAY_ID_SECRET: await keptSecret(settings.dataDir, 'id-secret'),
    SIMWAY_SECRETS_KEY: await keptSecret(settings.dataDir, 'secrets-key'),
    SIMWAY_TEST_SUPPLIER_URL: at.supplierUrl,
    SIMWAY_TEST_SUPPLIER_ACCESS_CODE: SANDBOX_ACCESS_CODE,
    SIMWAY_TEST_GATEWAY_URL: at.gatewayUrl,
    SIMWAY_TEST_GATEWAY_SECRET_KEY: SANDBOX_SECRET_KEY,
    SIMWAY_MOBILE_MONEY_CURRENCY: settings.inherited['SIMWAY_MOBILE_MONEY_CURRENCY'] ?? 'GHS',
    // This machine only: a developer's own receiver.
    SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES:
      settings.inherited['SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES'] ?? '127.0.0.0/8,::1',
  };
}

/**
 * Made once per checkout: another id secret would turn every Idempotency-Key into another purchase, and another key would open none of the
 * secrets that are kept.
 */
async function keptSecret(dataDir: string, name: string): Promise<string> {
  const file = join(dataDir, name);
  try {
    return await readFile(file, 'utf8');
  } catch {
    const secret = randomBytes(32).toString('hex');
    await writeFile(file, secret, { mode: 0o600, flag: 'wx' });
    return secret;
  }
}

async function startApiAndWorker(
  settings: DevSettings,
  env: Record<string, string>,
  closers: Closers,
): Promise<{ url: string; adminUrl: string; workerAdminUrl: string }> {
  const start = (name: string) =>
    startOurProcess({
      name,
      args: ['src/main.ts', name],
      env,
      log,
      logFile: join(settings.dataDir, `${name}.log`),
    });
  const [worker, api] = await Promise.allSettled([start('worker'), start('api')]);
  // Callers go first, then the workers that answer them.
  for (const started of [worker, api])
    if (started.status === 'fulfilled') closers.push(() => started.value.stop());
  if (worker.status === 'rejected') throw worker.reason;
  if (api.status === 'rejected') throw api.reason;
  return {
    url: String(api.value.ready['url']),
    adminUrl: String(api.value.ready['adminUrl']),
    workerAdminUrl: String(worker.value.ready['adminUrl']),
  };
}

/** Ready means that something is on sale: the worker's first catalogue sync has reached the API. */
async function untilReady(adminUrl: string): Promise<void> {
  const endsAtMs = performance.now() + READY_WITHIN_MS;
  log.info('catalogue: waiting for the first sync');
  for (;;) {
    const answer = await fetch(`${adminUrl}/readyz`);
    if (answer.ok) return;
    if (performance.now() > endsAtMs) throw new Error(`the API is not ready: ${await answer.text()}`);
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
}

function printWelcome(info: RunningInfo, redisUrl: string | undefined, ms: number): void {
  process.stdout.write(`
Simway is ready after ${(ms / 1000).toFixed(1)} s

  API           ${info.apiUrl}
  Reference     ${info.docsUrl}
  Temporal UI   ${info.temporalUiUrl}
  Health        ${info.adminUrl}/readyz
  Sandbox       ${info.supplierControlUrl}/faults   the supplier
                ${info.gatewayControlUrl}/faults   the payment gateway
  Redis         ${redisUrl === undefined ? 'none found: limits and caches are per process' : 'up'}

  Test keys     NGN  ${info.keys.ngn}
                USD  ${info.keys.usd}

Buy an eSIM:

  curl -sS -X POST ${info.apiUrl}/api/esim/buy -H 'Content-Type: application/json' -H 'X-API-Key: ${info.keys.usd}' -d '{"packageCode":"SIM-OK","packageType":"BASE","paymentMethod":"WALLET"}'

With CARD in place of WALLET the answer holds a paymentUrl: open it in a browser and pay there, no money moves.
To see webhooks as they are sent: npm run webhooks -- listen

Ctrl-C ends everything; .data/running.json tells programs the same.
`);
}
