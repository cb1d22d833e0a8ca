// The whole service for a test file: its own database, Temporal namespaces, supplier simulator, API and
// worker, on the shared servers. `processes: 'own'` runs API and worker as child processes that a test may
// kill; the default runs them in the test's process, faster. Guarantees that close() leaves nothing running
// and no file behind, and that a start which fails or is killed leaves none either.
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Kysely } from 'kysely';
import { inject } from 'vitest';
import { prepareNamespaces } from '../../../src/app/temporal/namespaces.ts';
import { connectionOptions } from '../../../src/platform/temporal/connect.ts';
import { installRuntime } from '../../../src/platform/temporal/runtime.ts';
import { createKey } from '../../../src/accounts/keys/manage-keys.ts';
import { createAccount } from '../../../src/accounts/manage-accounts.ts';
import { createPasswords } from '../../../src/accounts/users/passwords.ts';
import { openAccounts, openWorld, type ProcessContext } from '../../../src/app/composition/context.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import type { Plan, Scope, AccountType } from '../../../src/domain/account.ts';
import type { AccountCurrency } from '../../../src/domain/money.ts';
import type { Child } from '../../../src/dev/child.ts';
import { freePort } from '../../../src/dev/ports.ts';
import { createLogger } from '../../../src/platform/telemetry/logger.ts';
import { runApi } from '../../../src/app/processes/api.ts';
import { runWorker } from '../../../src/app/processes/worker.ts';
import type { PurchaseTimings } from '../../../src/purchases/purchase.ts';
import { QUEUE_NAMES } from '../../../src/app/temporal/workers.ts';
import type { PaystackSimulatorOptions } from '../../../packages/simulators/paystack/index.ts';
import type { EsimAccessSimulatorOptions } from '../../../packages/simulators/esim-access/index.ts';
import type { AccountsDb, WorldDatabase, WorldDb } from '../../../src/platform/database/tables.ts';
import type { ApiBody } from '../people/api-body.ts';
import { createTestDatabase, openSchema } from './database.ts';
import { FEW_LOCATIONS, ownGateway, ownSupplier } from '../vendors/own-simulators.ts';
import { startProcess } from './processes.ts';
import { STOCKED, STOCKED_WHOLE } from './stocked.ts';
import { fund } from '../../../src/ledger/fund-by-hand.ts';
import { until } from '../time/until.ts';

export interface StackOptions {
  readonly processes?: 'in-test' | 'own';
  /** Where 'own' processes log to, `api.log` and `worker.log`; nowhere without. */
  readonly logFolder?: string;
  /** SIMWAY_TEST_TIMINGS. An answer is waited for patiently where this says nothing of it. */
  readonly timings?: Partial<PurchaseTimings>;
  /** More variables of the environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly supplier?: Partial<EsimAccessSimulatorOptions>;
  readonly gateway?: Partial<PaystackSimulatorOptions>;
  /**
   * Servers of the test's own, to kill or restart; the shared ones otherwise. `databaseUrl` must be migrated.
   */
  readonly databaseUrl?: string;
  readonly temporalAddress?: string;
  /** What `writeBundle` wrote. */
  readonly workflowBundle?: string;
  /** null: none, limits are per process. */
  readonly redisUrl?: string | null;
  /** For a test that needs to know the port beforehand; a free one otherwise. */
  readonly adminPort?: number;
  /** The supplier sells everything, not only in a few locations. */
  readonly wholeCatalogue?: boolean;
  /** Starts without a worker: startWorker() starts it later. */
  readonly worker?: boolean;
}

export type TestAccount = Awaited<ReturnType<typeof makeAccount>>;

export interface AccountOptions {
  /** Of a random name otherwise; a tag such as `+sandbox-late` chooses what the gateway's simulator does. */
  readonly email?: string;
  readonly currency?: AccountCurrency;
  readonly type?: AccountType;
  readonly plan?: Plan;
  readonly requestsPerMinute?: number;
  readonly scopes?: readonly Scope[];
  readonly addresses?: readonly string[];
  /** Minor units in the wallet. */
  readonly fundsMinor?: bigint;
}

export type Answer = Awaited<ReturnType<typeof call>>;

/** The supplier's orders of one transactionId, as its control interface shows them. */
export interface SupplierOrder {
  readonly kind: 'order' | 'topup';
  readonly transactionId: string;
  readonly orderNo: string;
  readonly packageCode: string;
  readonly amount: number;
  readonly count: number;
  readonly status: string;
  /** How often this transactionId was received. */
  readonly requests: number;
  readonly esims: readonly { readonly iccid: string; readonly esimStatus: string }[];
}

export type Stack = Awaited<ReturnType<typeof bringUp>>;

const READY_DEADLINE_MS = 60_000;
/**
 * How long an answer and a statement are waited for, in place of 8 s and 2 s. A busy machine takes several
 * times as long as a quiet one, and a session at a gate waits until its process is killed. What a short time
 * does is tested by those who set it.
 */
const PATIENCE_MS = 30_000;

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const closers: (() => Promise<unknown>)[] = [];
  try {
    return await bringUp(options, closers);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

async function bringUp(options: StackOptions, closers: (() => Promise<unknown>)[]) {
  const databaseUrl = options.databaseUrl ?? (await ownDatabase(options, closers));
  const prefix = `t-${randomBytes(5).toString('hex')}`;
  const namespace = `${prefix}-test`;
  const temporalAddress = options.temporalAddress ?? inject('temporalAddress');
  await prepareNamespaces({ address: temporalAddress, namespaces: [namespace], retentionDays: 1 });
  const connection = await Connection.connect({ address: temporalAddress });
  const temporal = new Client({ connection, namespace });
  closers.push(async () => {
    // Otherwise they keep starting workflows for as long as the server runs.
    await removeSchedules(temporal);
    await connection.close();
  });
  const locations = options.wholeCatalogue === true ? undefined : FEW_LOCATIONS;
  const supplier = await ownSupplier({ locations, ...options.supplier }, closers);
  const apiPort = await freePort();
  const gateway = await ownGateway(options.gateway, apiPort, closers);
  const adminPort = options.adminPort ?? (await freePort());
  const redisUrl = options.redisUrl === undefined ? inject('redisUrl') : options.redisUrl;
  const env: Record<string, string> = {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
    SIMWAY_NAMESPACE_PREFIX: prefix,
    SIMWAY_LOG_LEVEL: 'error',
    SIMWAY_HTTP_PORT: String(apiPort),
    SIMWAY_ADMIN_PORT: String(adminPort),
    // Several workers of one stack run at once.
    SIMWAY_WORKER_ADMIN_PORT: '0',
    SIMWAY_ID_SECRET: randomBytes(32).toString('hex'),
    SIMWAY_SECRETS_KEY: randomBytes(32).toString('hex'),
    SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8,::1',
    SIMWAY_TEST_SUPPLIER_URL: supplier.url,
    SIMWAY_TEST_SUPPLIER_CONTROL_URL: supplier.controlUrl,
    SIMWAY_TEST_SUPPLIER_ACCESS_CODE: 'test-access',
    // Events lead to checks at the supplier, which many tests count. Tests of events set the URL.
    SIMWAY_TEST_SUPPLIER_EVENTS_URL: 'off',
    SIMWAY_TEST_GATEWAY_URL: gateway.url,
    SIMWAY_TEST_GATEWAY_SECRET_KEY: 'sk_test_simulator',
    SIMWAY_MOBILE_MONEY_CURRENCY: 'GHS',
    SIMWAY_WORKER_GRACE_MS: '2000',
    SIMWAY_WORKFLOW_BUNDLE: options.workflowBundle ?? inject('workflowBundle'),
    SIMWAY_DATABASE_CONNECTIONS: '10',
    // What tests send at once has to meet.
    SIMWAY_PURCHASES_AT_ONCE: '1000',
    SIMWAY_TEST_TIMINGS: JSON.stringify({ answerWithinMs: PATIENCE_MS, ...options.timings }),
    SIMWAY_DATABASE_STATEMENT_TIMEOUT_MS: String(PATIENCE_MS),
    ...options.env,
  };
  // A proxy that is trusted says who asks.
  const throughProxy: Record<string, string> =
    env['SIMWAY_TRUSTED_PROXIES'] === undefined ? {} : { 'X-Forwarded-For': '127.0.0.1' };
  const { config, secrets } = readConfig(env);
  const context: ProcessContext = {
    config,
    secrets,
    logger: createLogger({ level: 'error' }),
    processName: 'command',
    // The cost of hashing is tested separately (test/accounts/passwords.unit.test.ts).
    passwords: createPasswords({ cost: { logN: 5, r: 8, p: 1 } }),
  };
  const accounts = openAccounts(context);
  const world = openWorld(context, config.worlds.test);
  const owner = openSchema<WorldDatabase>(databaseUrl, 'test');
  closers.push(() => Promise.all([accounts.destroy(), world.destroy(), owner.destroy()]));
  const roles =
    options.processes === 'own'
      ? ownProcesses(env, closers, options.logFolder)
      : inThisProcess(context, closers);
  if (options.worker !== false) {
    await roles.startWorker();
    // Before the API, which reads it at its start and then once a second.
    await until(() => firstRate(owner), Boolean, {
      what: 'the first exchange rate',
      withinMs: READY_DEADLINE_MS,
    });
  }
  await roles.startApi();
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  if (options.worker !== false) await untilReady(`${adminUrl}/readyz`, 'the service to be ready');
  return {
    apiUrl,
    adminUrl,
    supplierUrl: supplier.url,
    supplierControlUrl: supplier.controlUrl,
    gatewayUrl: gateway.url,
    gatewayControlUrl: gateway.controlUrl,
    databaseUrl,
    namespace,
    temporal,
    /** The test environment as its owner: reads and plants anything. */
    owner,
    /** The test environment and the accounts under the roles of the service. */
    world,
    accounts,
    context,
    env,
    ...roles,
    ...supplierControl(supplier.controlUrl),
    /** The supplier's server only, on the same ports and data when it is started again. */
    stopSupplier: supplier.stop,
    startSupplier: supplier.start,
    /** An account with a funded wallet and a key, usable from loopback. */
    account: (wanted: AccountOptions = {}) => makeAccount({ accounts, world }, wanted),
    call: (
      method: string,
      path: string,
      { key, body, headers = {} }: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
    ) => call(apiUrl + path, method, key, body, { ...throughProxy, ...headers }),
    close: () => closeAll(closers),
  };
}

/** A server that a test has stopped has none left. */
async function removeSchedules({ connection, options: { namespace } }: Client): Promise<void> {
  const { workflowService } = connection;
  const remove = async (): Promise<void> => {
    const { schedules } = await workflowService.listSchedules({ namespace, maximumPageSize: 100 });
    await Promise.all(
      schedules.map(({ scheduleId }) => workflowService.deleteSchedule({ namespace, scheduleId })),
    );
  };
  await connection.withDeadline(Date.now() + 2_000, remove).catch(() => undefined);
}

async function ownDatabase(
  { wholeCatalogue }: StackOptions,
  closers: (() => Promise<unknown>)[],
): Promise<string> {
  const database = await createTestDatabase({ template: wholeCatalogue === true ? STOCKED_WHOLE : STOCKED });
  closers.push(() => database.drop());
  return database.url;
}

interface Roles {
  /** When processes are 'own'. */
  readonly children: { api: Child | null; worker: Child | null };
  /** The admin port of the worker that was started last. */
  workerAdminUrl(): string;
  startApi(): Promise<void>;
  startWorker(): Promise<void>;
  stopWorker(): Promise<void>;
}

function inThisProcess(context: ProcessContext, closers: (() => Promise<unknown>)[]): Roles {
  let stopWorker: () => Promise<unknown> = () => Promise.resolve();
  let workerAdminUrl = '';
  return {
    children: { api: null, worker: null },
    workerAdminUrl: () => workerAdminUrl,
    startApi: async () => {
      const api = await runApi({ ...context, processName: 'api' }, { beginDueEveryMs: 1_000 });
      closers.push(() => api.stop());
    },
    startWorker: async () => {
      await keepRuntime(context);
      const worker = await runWorker({ ...context, processName: 'worker' }, QUEUE_NAMES);
      worker.finished.catch(() => undefined);
      workerAdminUrl = worker.adminUrl;
      stopWorker = () => worker.stop();
      closers.push(stopWorker);
    },
    stopWorker: async () => {
      await stopWorker();
    },
  };
}

let kept: Promise<NativeConnection> | undefined;

/**
 * The SDK's native half ends with its last connection, and serves no metrics when it starts again: one
 * connection stays as long as the process.
 */
async function keepRuntime({ secrets, logger }: ProcessContext): Promise<void> {
  installRuntime(logger);
  kept ??= NativeConnection.connect(connectionOptions(secrets.temporal));
  await kept;
}

function ownProcesses(
  env: Record<string, string>,
  closers: (() => Promise<unknown>)[],
  logFolder: string | undefined,
): Roles {
  const children: Roles['children'] = { api: null, worker: null };
  let workerAdminUrl = '';
  const start = async (name: 'api' | 'worker'): Promise<void> => {
    const line = await startProcess({
      name,
      env,
      ...(logFolder === undefined ? {} : { logFile: join(logFolder, `${name}.log`) }),
      onStarted: (child) => {
        children[name] = child;
        closers.push(() => child.stop());
      },
    });
    if (name === 'worker') ({ adminUrl: workerAdminUrl } = JSON.parse(line) as { adminUrl: string });
  };
  return {
    children,
    workerAdminUrl: () => workerAdminUrl,
    startApi: () => start('api'),
    startWorker: () => start('worker'),
    stopWorker: async () => {
      await children.worker?.stop();
    },
  };
}

function supplierControl(controlUrl: string) {
  return {
    faults: async (set: Record<string, unknown>) => {
      const answer = await fetch(`${controlUrl}/faults`, { method: 'PUT', body: JSON.stringify(set) });
      if (!answer.ok) throw new Error(await answer.text());
    },
    clearFaults: async () => {
      await fetch(`${controlUrl}/faults`, { method: 'DELETE' });
    },
    supplierOrders: async (transactionId: string) => {
      const answer = await fetch(`${controlUrl}/orders?transactionId=${transactionId}`);
      return (await answer.json()) as SupplierOrder[];
    },
  };
}

async function makeAccount(
  dbs: { readonly accounts: AccountsDb; readonly world: WorldDb },
  wanted: AccountOptions,
) {
  const { currency = 'USD', plan = 'ENTERPRISE', fundsMinor = 1_000_000n } = wanted;
  const actor = 'a test';
  const accountId = await createAccount(
    dbs.accounts,
    {
      type: wanted.type ?? 'MERCHANT',
      name: 'Test account',
      email: wanted.email ?? `${randomBytes(6).toString('hex')}@test.example`,
      currency,
      plan,
      ...(plan === 'ENTERPRISE' ? { requestsPerMinute: wanted.requestsPerMinute ?? 100_000 } : {}),
    },
    actor,
  );
  if (fundsMinor > 0n) {
    const amount = { amountMinor: fundsMinor, currency };
    await fund(
      { accounts: dbs.accounts, world: dbs.world },
      { accountId, amount, reason: 'a test', reference: accountId },
      actor,
    );
  }
  const key = await createKey(
    dbs.accounts,
    {
      accountId,
      environment: 'test',
      brand: 'simway',
      scopes: wanted.scopes ?? ['read', 'purchase', 'fund'],
      allowedAddresses: wanted.addresses ?? ['127.0.0.1', '::1'],
      companyName: 'Test',
      websiteUrl: 'https://test.example',
      expiresAt: null,
    },
    actor,
  );
  return { accountId, ...key };
}

async function call(
  url: string,
  method: string,
  key: string | undefined,
  body: unknown,
  headers: Record<string, string>,
) {
  const response = await fetch(url, {
    method,
    headers: {
      Accept: 'application/json',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(key === undefined ? {} : { 'X-API-Key': key }),
      ...(new URL(url).pathname.startsWith('/acp/') ? acpHeaders(method) : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

/** As an agent sends them; each request is a new one. */
const acpHeaders = (method: string): Record<string, string> => ({
  'API-Version': '2026-04-17',
  ...(method === 'POST' ? { 'Idempotency-Key': randomUUID() } : {}),
});

function parse(text: string): ApiBody {
  try {
    return JSON.parse(text) as ApiBody;
  } catch {
    return {} as ApiBody;
  }
}

/** Of the environment that the stack sells in. */
const firstRate = (owner: Kysely<WorldDatabase>) =>
  owner.selectFrom('exchange_rates').select('id').where('currency', '=', 'NGN').executeTakeFirst();

async function untilReady(url: string, what: string): Promise<void> {
  await until(
    async () => {
      const answer = await fetch(url);
      return { isReady: answer.ok, text: await answer.text() };
    },
    ({ isReady }) => isReady,
    { what, withinMs: READY_DEADLINE_MS, everyMs: 100 },
  );
}

async function closeAll(closers: (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers.splice(0).toReversed()) {
    await close().catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, 'the stack did not close cleanly');
}
