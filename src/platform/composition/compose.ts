/** Puts everything together: accounts and worlds, for the API and for workers. */
import { createActivities } from '../../../activities/index.ts';
import { createEsimAccessSupplier } from '../../vendors/esim-access/supplier.ts';
import { createSandboxSupplier } from '../../vendors/sandbox-supplier/controls.ts';
import { createPaystackGateway } from '../../vendors/paystack/gateway.ts';
import { createFixedRates } from '../../vendors/exchange-rates/fixed.ts';
import { createOpenErApi } from '../../vendors/exchange-rates/open-er-api.ts';
import { traceStarts } from '../temporal/context-propagation.ts';
import { connectClient, type TemporalClient } from '../temporal/connect.ts';
import { createBatchEngine, createBatchRepairEngine } from '../temporal/batch-engine.ts';
import { createOperatorEngine, createPurchaseEngine } from '../temporal/purchase-engine.ts';
import { createWorkflowStates } from '../temporal/workflow-states.ts';
import { createPasswords, type Passwords } from '../../accounts/passwords.ts';
import { isRightCode } from '../../accounts/second-factors.ts';
import { createRequestLog } from '../../accounts/request-log.ts';
import { createAuthenticator } from '../../accounts/authenticate.ts';
import { createCatalogueMemory } from '../../catalogue/memory.ts';
import { createInstallData } from '../../esims/install-data.ts';
import { installUrl } from '../../esims/install-links.ts';
import { createInstallTokens } from '../../esims/install-tokens.ts';
import { completeBodies } from '../../esims/message-bodies.ts';
import type { SupplierEventSource } from '../../esims/port.ts';
import { applySupplierEvents, createRegistration } from '../../esims/supplier-events.ts';
import { supplierEventsPath } from '../../esims/http/supplier-events-routes.ts';
import { notifyExpiring } from '../../../activities/esims/refresh-esims.ts';
import { requireRanges } from '../http/addresses.ts';
import { createOperatorActions } from '../../operations/actions.ts';
import type { ReplayDeps } from '../../operations/replay.ts';
import type { RejectedAction } from '../../../workflows/contract.ts';
import { isOnRecord } from '../../operations/store/actions.ts';
import { findStuck } from '../../operations/stuck.ts';
import type { UseCases, WorldUseCases } from './use-cases.ts';
import { applyInbox } from '../../payments/gateway-events.ts';
import { createPaymentMonitor } from '../../payments/payment-monitor.ts';
import { createReconciliation } from '../../reconciliation/reconcile.ts';
import { createWorldUseCases } from './world-use-cases.ts';
import { composeOps } from './ops-use-cases.ts';
import { composeAuth, composeUsers } from './user-use-cases.ts';
import { composeRedisServices, systemClock, type RedisServices } from './shared.ts';
import type { WebhookSweeper } from '../../webhooks/engine.ts';
import { composeMailer, composeWebhookEngine, composeWebhooks } from './webhooks.ts';
import { createTermsSigner } from '../frozen-terms.ts';
import type { Environment } from '../../domain/account.ts';
import type { Config, Secrets, WorldConfig } from '../config/config.ts';
import { stuckLimits } from '../../operations/stuck-rules.ts';
import { createEvents, type Events } from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics, VendorWork, WorldMetrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { PaymentGateway } from '../../payments/port.ts';
import type { ReadinessCheck } from '../http/admin.ts';
import type { Pacer } from '../rate-limiter.ts';
import type { RateSource } from '../../catalogue/port.ts';
import { openDatabase } from '../database/database.ts';
import { createSecretBox } from '../secret-box.ts';
import { readRevisions } from '../../catalogue/store/revisions.ts';
import type { AccountsDb, WorldDatabase, WorldDb } from '../database/tables.ts';
import type { AccountsDatabase } from '../../accounts/store/tables.ts';
import { monitorPaceOf } from '../../payments/monitor-rules.ts';
import { MAX_TEST_EMAILS_A_DAY } from '../../purchases/batch-rules.ts';

export interface ProcessContext {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly logger: Logger;
  readonly processName: 'api' | 'worker' | 'command';
  /** Not in commands. */
  readonly metrics?: Metrics;
  /** Only where traces are configured. */
  readonly tracing?: Tracing;
  /** Tests hash with less work than `createPasswords` does by itself. */
  readonly passwords?: Passwords;
}

export { systemClock };

export type WorkerWorld = ReturnType<typeof composeWorkerWorld>;

/** Everything an API process needs, for every world that is switched on. */
export function composeApi(context: ProcessContext) {
  const { config, secrets, logger } = context;
  const events = createEvents(logger);
  const shared = composeRedisServices(config, secrets, logger);
  const accountsDb = openAccounts(context);
  const pollDb = openAccounts(context, { maxConnections: 1, purpose: 'keys' });
  const authenticator = createAuthenticator({
    db: accountsDb,
    pollDb,
    clock: systemClock,
    brand: config.brand,
    onError: notRefreshed(events, 'api keys'),
  });
  const worlds = worldConfigs(config).map((world) => composeApiWorld(context, world, shared));
  const passwords = context.passwords ?? createPasswords();
  const auth = composeAuth(context, { db: accountsDb, events, passwords });
  const people = { db: accountsDb, clock: systemClock, events, passwords };
  const ops = composeOps(context, {
    ...people,
    isRightCode: (attempt) => isRightCode({ ...people, auth, publicUrl: config.publicUrl }, attempt),
  });
  const byEnvironment = Object.fromEntries(
    worlds.map(({ useCases }) => [useCases.environment, useCases]),
  ) as { test: WorldUseCases; live?: WorldUseCases };
  const users = composeUsers(context, {
    db: accountsDb,
    clock: systemClock,
    events,
    auth,
    operators: ops.useCases.sessions,
    worlds: new Map(worlds.map(({ useCases: { environment }, forKeys }) => [environment, forKeys])),
  });
  const requestLog = createRequestLog({
    db: accountsDb,
    onError: (error) => events.requestsNotKept({ detail: String(error) }),
    tidy: users.tidy,
  });
  const useCases: UseCases = {
    accounts: authenticator,
    worlds: byEnvironment,
    ops: ops.useCases,
    users: users.useCases,
    requestLog,
  };
  return {
    useCases,
    shared,
    checks: async () => [
      ...(await Promise.all(worlds.flatMap((world) => world.checks()))),
      await shared.check(),
    ],
    /** Reads the catalogues and starts polling. Throws when Postgres cannot be read. */
    start: async () => {
      await Promise.all(worlds.map((world) => world.start()));
      authenticator.start();
      requestLog.start();
    },
    /** Closes pools and connections, last of all. */
    close: async () => {
      await Promise.all([authenticator.stop(), requestLog.stop(), users.close()]);
      await Promise.allSettled([
        ...worlds.map((world) => world.close()),
        ops.close(),
        accountsDb.destroy(),
        pollDb.destroy(),
        shared.close(),
      ]);
    },
  };
}

/** The connections and vendors of one world. */
function openConnections(context: ProcessContext, world: WorldConfig, shared: RedisServices) {
  const db = openWorld(context, world);
  // Each line names the world.
  const events = createEvents(
    context.logger.child({ environment: world.environment }),
    context.metrics?.world(world.environment),
  );
  const temporal = openTemporal(context, world, events);
  const supplier = composeSupplier(context, world, shared);
  const gateway = composeGateway(context, world, shared);
  return {
    db,
    temporal,
    supplier,
    gateway: gateway.port,
    /** For reconciliation, which can wait. */
    statementGateway: gateway.forStatements,
    events,
    installData: createInstallData({
      secretBox: createSecretBox(context.secrets.secretKeys),
      clock: systemClock,
      onUnreadable: events.esimUnreadable,
    }),
    installTokens: createInstallTokens({
      idSecret: Buffer.from(context.secrets.idSecret),
      environment: world.environment,
      publicUrl: context.config.publicUrl,
    }),
    checks: () => [
      check(`postgres ${world.environment}`, () => readRevisions(db)),
      check(`temporal ${world.environment}`, () => temporal.check(CHECK_TIME_LIMIT_MS)),
    ],
    close: async () => {
      supplier.close();
      gateway.close();
      await Promise.allSettled([db.destroy(), temporal.close()]);
    },
  };
}

function composeApiWorld(context: ProcessContext, world: WorldConfig, shared: RedisServices) {
  const { environment, timings, esimFreshMs, topUpsFreshMs, closedPaymentFreshMs } = world;
  const { temporal, checks, close, ...ports } = openConnections(context, world, shared);
  const { db, events, installData } = ports;
  // This process orders nothing: all that it asks the supplier is a read.
  const supplier = ports.supplier.forReads;
  const sandboxSupplier = composeSandboxSupplier(world);
  const supplierEvents = {
    source: supplier,
    isSender: requireRanges(world.supplierEvents.addresses),
  };
  const catalogue = createCatalogueMemory({
    db,
    onError: notRefreshed(events, `${environment} catalogue`),
  });
  const webhooks = composeWebhooks(context, environment, systemClock);
  const useCases = createWorldUseCases({
    ...ports,
    supplier,
    sandboxSupplier,
    supplierEvents,
    environment,
    engine: createPurchaseEngine(temporal, timings),
    batchEngine: createBatchEngine(temporal, events.batchNotBegun),
    webhookEngine: composeWebhookEngine(db, temporal, events),
    ...webhooks,
    completeBodies: (bodies) => completeBodies({ db, installData }, bodies),
    clock: systemClock,
    catalogue,
    settings: {
      timings,
      esimFreshMs,
      topUpsFreshMs,
      closedPaymentFreshMs,
      rateMaxAgeMs: context.config.rates.maxAgeMs,
      mobileMoneyCurrency: context.config.mobileMoneyCurrency,
      unpaidLimits: context.config.unpaidLimits,
      travellerEmails: {
        isAvailable: context.secrets.mail !== undefined,
        maxADay: environment === 'test' ? MAX_TEST_EMAILS_A_DAY : null,
      },
    },
    idSecret: Buffer.from(context.secrets.idSecret),
    terms: composeTerms(context, environment),
  });
  return {
    useCases,
    /** For making keys, with an endpoint for their messages. */
    forKeys: { ...webhooks, db },
    /** Reads the catalogue and starts polling. */
    start: async () => {
      await installData.start(db);
      await catalogue.start();
    },
    checks: () => [
      ...checks(),
      check(`catalogue ${environment}`, () => {
        if (catalogue.current().regions.length === 0) throw new Error('nothing is on sale yet');
        return Promise.resolve();
      }),
    ],
    close: () => {
      catalogue.stop();
      sandboxSupplier?.close();
      return close();
    },
  };
}

/** What a worker needs for one world. */
export function composeWorkerWorld(context: ProcessContext, world: WorldConfig, shared: RedisServices) {
  const { environment, timings } = world;
  const { temporal, checks, close, ...connected } = openConnections(context, world, shared);
  const { db, gateway, statementGateway, events, installData, installTokens } = connected;
  const { forOrders: supplier, inBackground: backgroundSupplier, forChecks } = connected.supplier;
  const engine = createPurchaseEngine(temporal, timings);
  const webhookEngine = composeWebhookEngine(db, temporal, events);
  const ports = { ...connected, clock: systemClock };
  const esims = { ...ports, supplier: backgroundSupplier, webhookEngine };
  const reconciliation = createReconciliation({
    ...ports,
    supplier: backgroundSupplier,
    gateway: statementGateway,
    settings: world.reconcile,
  });
  return {
    world,
    db,
    temporal,
    events,
    /** Before the first activity. */
    start: () => installData.start(db),
    activities: createActivities({
      ...ports,
      supplier,
      backgroundSupplier,
      checksSupplier: forChecks,
      returnUrl: `${context.config.publicUrl}/pay/return`,
      scenarioOf: environment === 'test' ? scenarioOf : undefined,
      refundTimings: timings,
      unpaidLimits: context.config.unpaidLimits,
      applyInbox: () => applyInbox({ db, gateway, engine, events }),
      reconcile: reconciliation.runForWorkflow,
      rateSources: composeRateSources(context.config),
      webhookEngine,
      ...composeSending(context, environment, webhookEngine),
      engine,
      repairs: composeRepairs({ db, engine, webhookEngine, timings, temporal }),
      batchEngine: createBatchEngine(temporal, events.batchNotBegun),
      batchRepairEngine: createBatchRepairEngine(temporal, events.batchRepairNotBegun),
      batchPacer: shared.batchPacer(world),
      installUrl: (esimId) => installUrl({ db, installTokens }, esimId),
      approvalLimits: context.config.approvalLimits,
      terms: composeTerms(context, environment),
    }),
    /** What must work for the worker to do its work; one entry each. */
    checks,
    /** Finds money that no event reported; undefined without a gateway. */
    watchPayments:
      world.gateway &&
      createPaymentMonitor({
        ...ports,
        engine,
        pace: monitorPaceOf(timings),
        pacer: shared.watchPacerFor(environment),
      }),
    /** Asks the supplier about what its events name; notifies of eSIMs that expire soon. */
    followEsims: {
      events: () => applySupplierEvents(esims),
      expiry: () => notifyExpiring(esims),
    },
    /** Has the supplier send its events to our API; undefined where no address is set. */
    registerForEvents: composeRegistration(world, connected.supplier.inBackground, events),
    /** Raises the alert if a refused operator action is not on record. */
    alertUnlessOnRecord: alertUnlessOnRecord(db, events),
    /** Stuck purchases and payments. */
    stuck: () =>
      findStuck({
        db,
        workflows: createWorkflowStates(temporal),
        clock: systemClock,
        limits: stuckLimits(timings),
      }),
    close,
  };
}

const alertUnlessOnRecord =
  (db: WorldDb, events: Events) =>
  async ({ transactionId, moveId, move }: RejectedAction): Promise<void> => {
    if (await isOnRecord(db, transactionId, moveId)) return;
    events.unverifiedRequest({ what: 'action', transactionId, detail: `${move} ${moveId}` });
  };

/** What operators may do, for the workers: they carry out batch repairs. */
function composeRepairs({
  temporal,
  timings,
  ...deps
}: Pick<ReplayDeps, 'db' | 'engine' | 'webhookEngine'> & {
  readonly temporal: TemporalClient;
  readonly timings: WorldConfig['timings'];
}) {
  const { db } = deps;
  const clock = systemClock;
  const engine = createOperatorEngine(temporal.client, timings);
  const actions = createOperatorActions({ db, engine, clock, timings });
  return { actions, replayDeps: { ...deps, clock, actions, limits: stuckLimits(timings) } };
}

/** What is sent to merchants and their travellers. */
function composeSending(context: ProcessContext, environment: Environment, sweeper: WebhookSweeper) {
  return {
    webhooks: {
      ...composeWebhooks(context, environment, systemClock),
      ...context.config.webhooks[environment],
      sweeper,
      limits: context.config.webhookLimits,
      random: Math.random,
    },
    notices: { environment, mailer: composeMailer(context.secrets) },
  };
}

function composeRegistration(
  { environment, supplierEvents: { url: base } }: WorldConfig,
  source: SupplierEventSource,
  events: Events,
): (() => Promise<void>) | undefined {
  if (base === undefined) return undefined;
  const url = `${base}${supplierEventsPath(environment)}`;
  return createRegistration({ source, url, events, clock: systemClock });
}

const composeTerms = ({ secrets }: ProcessContext, environment: Environment) =>
  createTermsSigner(Buffer.from(secrets.idSecret), environment);

/** Keys are answered from memory, so a few connections go far. */
const ACCOUNTS_POOL = { maxConnections: 4, purpose: undefined as string | undefined };

/** Accounts and one world's books, for commands that write both. `purpose`: shown by Postgres. */
export function openAccounts(
  { config, secrets, processName }: ProcessContext,
  { maxConnections, purpose } = ACCOUNTS_POOL,
): AccountsDb {
  return openDatabase<AccountsDatabase>({
    url: secrets.databaseUrl,
    schema: 'accounts',
    role: 'simway_accounts',
    maxConnections,
    statementTimeoutMs: config.database.statementTimeoutMs,
    applicationName: ['simway', processName, purpose].filter(Boolean).join('-'),
  });
}

export function openWorld(
  { config, secrets, processName, logger }: ProcessContext,
  world: WorldConfig,
): WorldDb {
  return openDatabase<WorldDatabase>({
    url: secrets.databaseUrl,
    schema: world.schema,
    role: `simway_${world.schema}`,
    maxConnections: config.database.maxConnections,
    statementTimeoutMs: config.database.statementTimeoutMs,
    applicationName: `simway-${processName}-${world.environment}`,
    onIdleError: (error) => logger.warn({ detail: error.message }, 'a database connection broke'),
  });
}

/** The worlds that are switched on: always test, live once its settings are there. */
export function worldConfigs(config: Config): WorldConfig[] {
  return config.worlds.live ? [config.worlds.test, config.worlds.live] : [config.worlds.test];
}

/** A reader waits a second for the supplier: a turn that comes later than this is of no use to him. */
const READ_SLOT_WITHIN_MS = 800;
/** No caller waits for schedules and reconciliation. Well within the time limits of their steps. */
const BACKGROUND_SLOT_WITHIN_MS = 30_000;
/** A check is two or three requests, and its step has 15 s. */
const CHECK_SLOT_WITHIN_MS = 3_000;

/** One account at the supplier, for each kind of work. */
function composeSupplier(
  { secrets, logger, metrics }: ProcessContext,
  world: WorldConfig,
  shared: RedisServices,
) {
  const credentials = secrets.suppliers[world.environment];
  if (!credentials) throw new Error(`no supplier credentials for ${world.environment}`);
  const { orders, reads, background, checks } = shared.supplierPacers(world);
  const counted = (pacer: Pacer, work: VendorWork) =>
    measured(pacer, { vendor: 'supplier', work }, metrics?.world(world.environment));
  const supplier = createEsimAccessSupplier({
    baseUrl: world.supplier.baseUrl,
    accessCode: credentials.accessCode,
    secretKey: credentials.secretKey,
    sign: true,
    pacer: counted(orders, 'orders'),
    clock: systemClock,
    logger,
    timeLimitMs: world.supplier.timeLimitMs,
  });
  return {
    forOrders: supplier,
    forReads: supplier.pacedBy({ pacer: counted(reads, 'reads'), paceWithinMs: READ_SLOT_WITHIN_MS }),
    inBackground: supplier.pacedBy({
      pacer: counted(background, 'background'),
      paceWithinMs: BACKGROUND_SLOT_WITHIN_MS,
    }),
    forChecks: supplier.pacedBy({ pacer: counted(checks, 'checks'), paceWithinMs: CHECK_SLOT_WITHIN_MS }),
    close: () => supplier.close(),
  };
}

/** The live world has none, whatever is configured. */
function composeSandboxSupplier({ environment, supplier: { controlUrl } }: WorldConfig) {
  return environment === 'test' && controlUrl !== undefined
    ? createSandboxSupplier({ controlUrl })
    : undefined;
}

/** The sandbox's packages that choose what becomes of their payment (docs/SANDBOX.md). */
function scenarioOf(packageCode: string): string | undefined {
  const name = /^(?:TOPUP_)?SIM-PAY-([A-Z-]+)$/.exec(packageCode)?.[1];
  if (name === 'NOW' || name === 'REFUNDED') return 'pay-now';
  return name?.toLowerCase();
}

function composeGateway(
  { secrets, logger, metrics }: ProcessContext,
  world: WorldConfig,
  shared: RedisServices,
): { readonly port: PaymentGateway; readonly forStatements: PaymentGateway; close(): void } {
  const { environment, gateway } = world;
  const keys = secrets.gateways[environment];
  if (!gateway || !keys) return { port: NO_GATEWAY, forStatements: NO_GATEWAY, close: () => undefined };
  const pacers = shared.gatewayPacers(world);
  const counted = (pacer: Pacer, work: VendorWork) =>
    measured(pacer, { vendor: 'gateway', work }, metrics?.world(environment));
  const { secretKey, previousSecretKey } = keys;
  const port = createPaystackGateway({
    baseUrl: gateway.baseUrl,
    secretKey,
    previousSecretKeys: previousSecretKey === undefined ? [] : [previousSecretKey],
    mode: environment,
    timeLimitMs: gateway.timeLimitMs,
    pacer: counted(pacers.all, 'monitor'),
    accountPacer: (accountId) => counted(pacers.account(accountId), 'payments'),
    onUnknown: (seen) => logger.error({ seen }, 'gateway word never seen before'),
  });
  const forStatements = port.pacedBy(counted(pacers.reconciliation, 'reconciliation'));
  return { port, forStatements, close: () => port.close() };
}

const noGateway = () =>
  Promise.resolve({
    outcome: 'refused' as const,
    reason: 'METHOD_NOT_SERVED' as const,
    detail: 'no payment gateway is configured',
  });

/** Where no gateway is configured: nothing can be paid from outside, and no event is valid. */
const NO_GATEWAY: PaymentGateway = {
  name: 'none',
  forAccount: () => NO_GATEWAY,
  limits: () => undefined,
  charge: noGateway,
  findCharge: noGateway,
  refund: noGateway,
  findRefund: noGateway,
  paidCharges: () => Promise.resolve({ references: [], count: 0, total: 0, isLast: true }),
  findDisputes: noGateway,
  disputed: async function* () {},
  statement: async function* () {},
  mayBeEvent: () => false,
  verifyWebhook: () => undefined,
};

function composeRateSources(config: Config): RateSource[] {
  const fixed = createFixedRates({ ratesPerUsd: config.rates.fixed, clock: systemClock });
  return config.rates.openProvider ? [fixed, createOpenErApi({ clock: systemClock })] : [fixed];
}

const CHECK_TIME_LIMIT_MS = 2_000;

async function check(name: string, probe: () => Promise<unknown>): Promise<ReadinessCheck> {
  try {
    await probe();
    return { name, ok: true };
  } catch (error) {
    return { name, ok: false, detail: error instanceof Error ? error.message : 'failed' };
  }
}

function openTemporal(
  { secrets, tracing }: ProcessContext,
  { namespace }: WorldConfig,
  events: Events,
): TemporalClient {
  const interceptor = tracing && traceStarts(tracing);
  const onUnreadable = events.temporalPayloadUnreadable;
  return connectClient({ ...secrets.temporal, namespace, interceptor, onUnreadable });
}

/** Measures waits for a vendor's allowance. */
function measured(
  pacer: Pacer,
  whose: { readonly vendor: string; readonly work: VendorWork },
  metrics: WorldMetrics | undefined,
): Pacer {
  if (!metrics) return pacer;
  return {
    takeSlot: async (withinMs) => {
      const startedAtMs = performance.now();
      const granted = await pacer.takeSlot(withinMs);
      metrics.allowanceAwaited({ ...whose, ms: performance.now() - startedAtMs, granted });
      return granted;
    },
  };
}

function notRefreshed(events: Events, what: string): (error: unknown) => void {
  return (error) =>
    events.memoryNotRefreshed({ what, detail: error instanceof Error ? error.message : String(error) });
}
