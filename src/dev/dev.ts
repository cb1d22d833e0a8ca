/**
 * `npm start`: everything on one machine, with a fresh test key and a curl line that buys an eSIM. Data stays
 * under .data/ between runs.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectOps, dataOf } from 'simway-client';
import { keepToken, sandboxSessionFile } from '../cli/session.ts';
import { prepareNamespaces } from '../app/temporal/namespaces.ts';
import { readConfig, type DevSettings } from '../app/config/config.ts';
import { createLogger } from '../platform/telemetry/logger.ts';
import { migrateDatabase } from '../platform/database/migrate-database.ts';
import { buildAll, WORKFLOW_BUNDLE } from './build.ts';
import type { ServiceLog } from './child.ts';
import { startOurProcess } from './our-process.ts';
import { oneTimePassword } from '../accounts/users/passwords.ts';
import { freePort } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type { RunningServer } from './restartable.ts';
import { beginRun, SANDBOX_ACCOUNTS, USUAL_ACCOUNT, type RunningInfo } from './running-file.ts';
import { prepareSandboxAccounts, type KeptKeys } from './sandbox-accounts.ts';
import { prepareSandboxLogins, type Login } from './sandbox-logins.ts';
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
/** Only for the simulators on this machine. */
const SANDBOX_ACCESS_CODE = 'sandbox';
const SANDBOX_SECRET_KEY = 'sk_test_sandbox';
const SIMULATOR_SECRETS = {
  supplier: { SANDBOX_SUPPLIER_CODE: SANDBOX_ACCESS_CODE },
  gateway: { SANDBOX_GATEWAY_KEY: SANDBOX_SECRET_KEY },
};
/** Their folders in packages/simulators. */
const SIMULATOR_OF = { supplier: 'esim-access', gateway: 'paystack' };
const READY_WITHIN_MS = 60_000;
const READY_POLL_MS = 200;

type Closers = (() => Promise<unknown>)[];

const log: ServiceLog = {
  info: (message) => process.stdout.write(`  ${message}\n`),
  warn: (message) => process.stdout.write(`! ${message}\n`),
};

/** Runs until SIGINT or SIGTERM. Rejects, with everything stopped, when something does not start. */
export async function runDev(settings: DevSettings): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
  });
  const closers: Closers = [];
  const starting = bringUp(settings, closers);
  try {
    await Promise.race([starting, stopped]);
    await stopped;
  } finally {
    process.stdout.write('\nstopping\n');
    // Stopped while starting: what is half up comes up first, so that its closer can end it.
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
  const port = await freePort(settings.httpPort);
  const adminPort = await freePort(PREFERRED_PORTS.admin);
  const webhookUrl = `http://127.0.0.1:${port}/webhooks/paystack/test`;
  const supplierArgs = ['--public-host', 'self'];
  const gatewayArgs = ['--webhook-url', webhookUrl];
  const [services, supplier, gateway] = await allStarted([
    startServices(settings, adminPort, closers),
    startSimulator('supplier', supplierArgs, settings, closers),
    startSimulator('gateway', gatewayArgs, settings, closers),
    buildAll(log),
  ]);
  log.info('database: migrating');
  let done = 0;
  // A first start has 80 of them.
  const countOrTell = (line: string): void => (line.endsWith(' success') ? void (done += 1) : log.info(line));
  await migrateDatabase(services.databaseUrl, countOrTell);
  log.info(`database: up to date, ${done} migrations made`);
  const ownSettings = await settingsOf(settings, services, {
    port,
    adminPort,
    supplierUrl: supplier.url,
    supplierControlUrl: supplier.controlUrl,
    gatewayUrl: gateway.url,
  });
  const env = { ...settings.inherited, ...ownSettings };
  const api = await startApiAndWorker(settings, env, closers);
  const { config, secrets } = readConfig(env);
  const context = {
    config,
    secrets,
    logger: createLogger({ level: 'error' }),
    processName: 'command' as const,
  };
  const [{ keys, logins }] = await Promise.all([
    prepareSandboxAccounts(context, keptKeys(settings.dataDir)).then(async (made) => ({
      keys: made,
      logins: await prepareSandboxLogins(context, (name) => storedPassword(settings.dataDir, name)),
    })),
    untilReady(api.adminUrl),
  ]);
  if (logins) await leaveSession(api.url, settings.dataDir, logins.finance);
  const info: RunningInfo = {
    apiUrl: api.url,
    docsUrl: `${api.url}/docs`,
    dashboardUrl: `${api.url}/dashboard`,
    adminUrl: api.adminUrl,
    workerAdminUrl: api.workerAdminUrl,
    temporalAddress: services.temporalAddress,
    temporalUiUrl: services.temporalUiUrl,
    databaseUrl: services.databaseUrl,
    keys,
    logins,
    supplierControlUrl: supplier.controlUrl,
    gatewayControlUrl: gateway.controlUrl,
    settings: ownSettings,
  };
  await run.publish(info);
  const [namespace = ''] = settings.namespaces;
  const workflowsUrl =
    services.temporalUiUrl && `${services.temporalUiUrl}/namespaces/${namespace}/workflows`;
  printWelcome({ ...info, workflowsUrl }, services.redisUrl, Math.trunc(performance.now() - startedAtMs));
}

/** Commands of finance on this machine act as this person, until the session ends. */
async function leaveSession(url: string, dataDir: string, { email, password }: Login): Promise<void> {
  const ops = connectOps({ baseUrl: url });
  try {
    const { token } = await dataOf(ops.POST('/ops/sessions', { body: { email, password } }));
    await keepToken({ url, files: [sandboxSessionFile(dataDir)] }, token);
  } catch (error) {
    // Such as where operators may not come from this machine.
    log.warn(
      `commands of finance are not signed in: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

type Services = Awaited<ReturnType<typeof startServices>>;

/** Starts what the environment does not name. */
async function startServices(settings: DevSettings, adminPort: number, closers: Closers) {
  const { dataDir, pathEnv, cacheDir, namespaces, databaseUrl, redisUrl } = settings;
  const own = async <S extends RunningServer | null>(name: string, starting: Promise<S>): Promise<S> => {
    const server = await starting;
    if (server) {
      closers.push(() => server.stop());
      log.info(`${name}: up`);
    }
    return server;
  };
  const startOwnPostgres = () =>
    startPostgres({ dataDir: join(dataDir, 'postgres'), log, preferredPort: PREFERRED_PORTS.postgres });
  const startOwnTemporal = async () => {
    const temporal = await startTemporal({
      dataDir: join(dataDir, 'temporal'),
      log,
      namespaces,
      pathEnv,
      cacheDir,
      preferredPort: PREFERRED_PORTS.temporal,
      preferredUiPort: PREFERRED_PORTS.temporalUi,
      uiCodecEndpoint: isEncrypting(settings) ? `http://127.0.0.1:${adminPort}/codec` : undefined,
    });
    // A namespace of an older version lacks attributes: the program gives them to new ones only.
    await prepareNamespaces({ address: temporal.address, namespaces }).catch(async (error: unknown) => {
      await temporal.stop();
      throw error;
    });
    return temporal;
  };
  const startOwnRedis = () => startRedis({ dataDir: join(dataDir, 'redis'), log, pathEnv });
  const [postgres, temporal, redis] = await allStarted([
    databaseUrl === undefined ? own('Postgres', startOwnPostgres()) : Promise.resolve({ url: databaseUrl }),
    prepareTheirTemporal(settings) ?? own('Temporal', startOwnTemporal()),
    redisUrl === undefined ? own('Redis', startOwnRedis()) : Promise.resolve({ url: redisUrl }),
  ]);
  return {
    databaseUrl: postgres.url,
    temporalAddress: temporal.address,
    temporalUiUrl: temporal.uiUrl,
    redisUrl: redis?.url,
  };
}

const isEncrypting = ({ inherited }: DevSettings): boolean =>
  Boolean(inherited['SIMWAY_TEMPORAL_CODEC_KEY'] || inherited['SIMWAY_TEMPORAL_CODEC_KEY_FILE']);

/** Waits for all of them also where one fails, so that the others have their closers. */
async function allStarted<T extends readonly Promise<unknown>[]>(
  starting: readonly [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(starting);
  return Promise.all(starting);
}

function prepareTheirTemporal({ temporal, temporalUiUrl, namespaces }: DevSettings) {
  if (!temporal) return undefined;
  const prepared = prepareNamespaces({
    ...temporal,
    namespaces,
    log: (line) => log.info(`Temporal: ${line}`),
  });
  return prepared.then(() => ({ address: temporal.address, uiUrl: temporalUiUrl ?? '' }));
}

async function startSimulator(
  name: 'supplier' | 'gateway',
  own: readonly string[],
  settings: DevSettings,
  closers: Closers,
): Promise<{ url: string; controlUrl: string }> {
  const port = String(await freePort(PREFERRED_PORTS[name]));
  const controlPort = String(await freePort(PREFERRED_PORTS[`${name}Control`]));
  const ports = ['--port', port, '--control-port', controlPort];
  const simulator = await startOurProcess({
    name: `${name} simulator`,
    args: [
      `packages/simulators/${SIMULATOR_OF[name]}/main.ts`,
      '--data',
      join(settings.dataDir, name),
      ...own,
      ...ports,
    ],
    env: { ...settings.inherited, ...SIMULATOR_SECRETS[name] },
    log,
    logFile: join(settings.dataDir, `${name}.log`),
  });
  closers.push(() => simulator.stop());
  return { url: String(simulator.ready['url']), controlUrl: String(simulator.ready['controlUrl']) };
}

/** The environment of api, worker and of commands beside them. */
async function settingsOf(
  settings: DevSettings,
  services: Services,
  at: {
    readonly port: number;
    readonly adminPort: number;
    readonly supplierUrl: string;
    readonly supplierControlUrl: string;
    readonly gatewayUrl: string;
  },
): Promise<Record<string, string>> {
  const workerAdminPort = await freePort(PREFERRED_PORTS.workerAdmin);
  const given = Object.entries(settings.inherited).filter(([name]) => name.startsWith('SIMWAY_'));
  return {
    // The page that may have payloads decrypted.
    ...(isEncrypting(settings) && services.temporalUiUrl !== ''
      ? { SIMWAY_TEMPORAL_UI_ORIGIN: services.temporalUiUrl }
      : {}),
    ...Object.fromEntries(given),
    DATABASE_URL: services.databaseUrl,
    TEMPORAL_ADDRESS: services.temporalAddress,
    ...(services.temporalUiUrl === '' ? {} : { TEMPORAL_UI_URL: services.temporalUiUrl }),
    ...(services.redisUrl === undefined ? {} : { REDIS_URL: services.redisUrl }),
    SIMWAY_LOG_LEVEL: settings.inherited['SIMWAY_LOG_LEVEL'] ?? 'info',
    SIMWAY_HTTP_PORT: String(at.port),
    SIMWAY_ADMIN_PORT: String(at.adminPort),
    SIMWAY_WORKFLOW_BUNDLE: WORKFLOW_BUNDLE,
    SIMWAY_WORKER_ADMIN_PORT: String(workerAdminPort),
    SIMWAY_ID_SECRET: await storedSecret(settings.dataDir, 'id-secret'),
    SIMWAY_SECRETS_KEY: await storedSecret(settings.dataDir, 'secrets-key'),
    SIMWAY_TEST_SUPPLIER_URL: at.supplierUrl,
    SIMWAY_TEST_SUPPLIER_CONTROL_URL: at.supplierControlUrl,
    SIMWAY_TEST_SUPPLIER_ACCESS_CODE: SANDBOX_ACCESS_CODE,
    SIMWAY_TEST_GATEWAY_URL: at.gatewayUrl,
    SIMWAY_TEST_GATEWAY_SECRET_KEY: SANDBOX_SECRET_KEY,
    SIMWAY_MOBILE_MONEY_CURRENCY: settings.inherited['SIMWAY_MOBILE_MONEY_CURRENCY'] ?? 'GHS',
    // A developer's own receiver runs on this machine.
    SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES:
      settings.inherited['SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES'] ?? '127.0.0.0/8,::1',
  };
}

/** One per checkout, so that a browser may keep it. */
const storedPassword = (dataDir: string, name: string): Promise<string> =>
  storedSecret(dataDir, `password-${name}`, oneTimePassword);

const keptKeys = (dataDir: string): KeptKeys => ({
  read: (currency) => readFile(keyFile(dataDir, currency), 'utf8').catch(() => undefined),
  write: (currency, key) => writeFile(keyFile(dataDir, currency), key, { mode: 0o600 }),
});

const keyFile = (dataDir: string, currency: string): string => join(dataDir, `key-${currency.toLowerCase()}`);

/**
 * One per checkout. A new id secret would give every Idempotency-Key a new purchase; a new key could not open
 * stored secrets.
 */
async function storedSecret(
  dataDir: string,
  name: string,
  make = () => randomBytes(32).toString('hex'),
): Promise<string> {
  const file = join(dataDir, name);
  try {
    return await readFile(file, 'utf8');
  } catch {
    const secret = make();
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
  // The API stops first, since it needs the workers' answers.
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

/** The API is ready once the worker's first catalogue sync has reached it. */
async function untilReady(adminUrl: string): Promise<void> {
  const endsAtMs = performance.now() + READY_WITHIN_MS;
  log.info('waiting for the first catalogue sync');
  for (;;) {
    const answer = await fetch(`${adminUrl}/readyz`);
    if (answer.ok) return;
    if (performance.now() > endsAtMs) throw new Error(`The API is not ready: ${await answer.text()}`);
    await sleep(READY_POLL_MS);
  }
}

function printWelcome(
  info: RunningInfo & { readonly workflowsUrl: string },
  redisUrl: string | undefined,
  ms: number,
): void {
  process.stdout.write(`
Simway is ready after ${(ms / 1000).toFixed(1)} s

  API           ${info.apiUrl}
  Dashboard     ${info.dashboardUrl}
  Documentation ${info.docsUrl}    for agents ${info.apiUrl}/mcp
  Temporal UI   ${info.workflowsUrl}
  Health        ${info.adminUrl}/readyz
  Sandbox       ${info.supplierControlUrl}/faults   the supplier
                ${info.gatewayControlUrl}/faults   the payment gateway
  Redis         ${redisUrl === undefined ? 'not found; limits and caches are kept per process' : 'up'}

  Test keys     ${SANDBOX_ACCOUNTS.map((name) => `${name.toUpperCase()}  ${info.keys[name]}`).join(`\n${' '.repeat(16)}`)}

${signInLines(info.logins)}For the commands of the documentation, in your shell:

  export URL=${info.apiUrl} KEY=${info.keys[USUAL_ACCOUNT]}

Buy an eSIM:

  curl -sS -X POST ${info.apiUrl}/api/esim/buy -H 'Content-Type: application/json' -H 'X-API-Key: ${info.keys[USUAL_ACCOUNT]}' -d '{"packageCode":"SIM-OK","packageType":"BASE","paymentMethod":"WALLET"}'

With CARD instead of WALLET the answer holds a paymentUrl: open it in a browser and pay there. No money moves.
Watch webhooks as they are sent: npm run webhooks -- listen

Ctrl-C stops everything. Programs find the same in .data/running.json. Logs: .data/*.log
`);
}

/** Sandbox logins for the dashboard; nothing where the live environment is on. */
function signInLines(logins: RunningInfo['logins']): string {
  if (!logins) return '';
  const lines = Object.entries(logins).map(
    ([name, { email, password }]) => `    ${name.padEnd(12)}${email.padEnd(28)}${password}`,
  );
  return `  Sign in at the dashboard as\n${lines.join('\n')}\n\n  npm run finance -- stuck acts as ${logins.finance.email}\n\n`;
}
