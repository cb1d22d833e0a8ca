/** Puts everything together: accounts and worlds, for the API and for workers. */
import { createActivities } from '../../../activities/index.ts';
import { createEsimAccessSupplier, type EsimAccessSupplier } from '../../vendors/esim-access/supplier.ts';
import { createPaystackGateway } from '../../vendors/paystack/gateway.ts';
import { createFixedRates } from '../../vendors/exchange-rates/fixed.ts';
import { createOpenErApi } from '../../vendors/exchange-rates/open-er-api.ts';
import { traceStarts } from '../temporal/context-propagation.ts';
import { connectClient, type TemporalClient } from '../temporal/connect.ts';
import { createPurchaseEngine } from '../temporal/purchase-engine.ts';
import { createWorkflowStates } from '../temporal/workflow-states.ts';
import { createAuthenticator } from '../../accounts/authenticate.ts';
import { createCatalogueMemory } from '../../catalogue/memory.ts';
import { findStuck } from '../../operations/stuck.ts';
import type { UseCases, WorldUseCases } from './use-cases.ts';
import { applyInbox } from '../../payments/gateway-events.ts';
import { createPaymentMonitor } from '../../payments/payment-monitor.ts';
import { createReconciliation } from '../../reconciliation/reconcile.ts';
import { createWorldUseCases } from './world-use-cases.ts';
import { composeOps } from './ops-use-cases.ts';
import { composeRedisServices, systemClock, type RedisServices } from './shared.ts';
import { composeMailer, composeWebhookEngine, composeWebhooks } from './webhooks.ts';
import type { Config, Secrets, WorldConfig } from '../config/config.ts';
import { stuckLimits } from '../../operations/stuck-rules.ts';
import { createEvents, type Events } from '../telemetry/events.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics, WorldMetrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { PaymentGateway } from '../../payments/port.ts';
import type { ReadinessCheck } from '../http/admin.ts';
import type { Pacer } from '../rate-limiter.ts';
import type { RateSource } from '../../catalogue/port.ts';
import { openDatabase } from '../database/database.ts';
import { readRevisions } from '../../catalogue/store/revisions.ts';
import type { AccountsDb, WorldDatabase, WorldDb } from '../database/tables.ts';
import type { AccountsDatabase } from '../../accounts/store/tables.ts';
import { monitorPaceOf } from '../../payments/rules.ts';

export interface ProcessContext {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly logger: Logger;
  readonly processName: 'api' | 'worker' | 'command';
  /** Not in commands. */
  readonly metrics?: Metrics;
  /** Only where traces are configured. */
  readonly tracing?: Tracing;
}

export { systemClock };

export type WorkerWorld = ReturnType<typeof composeWorkerWorld>;

/** Everything an API process needs, for every world that is switched on. */
export function composeApi(parts: ProcessContext) {
  const { config, secrets, logger } = parts;
  const events = createEvents(logger);
  const shared = composeRedisServices(config, secrets, logger);
  const accountsDb = openAccounts(parts);
  const authenticator = createAuthenticator({
    db: accountsDb,
    clock: systemClock,
    brand: config.brand,
    onError: notRefreshed(events, 'api keys'),
  });
  const worlds = worldConfigs(config).map((world) => composeApiWorld(parts, world, shared));
  const ops = composeOps(parts, { db: accountsDb, clock: systemClock, events });
  const byEnvironment = Object.fromEntries(
    worlds.map(({ useCases }) => [useCases.environment, useCases]),
  ) as { test: WorldUseCases; live?: WorldUseCases };
  const useCases: UseCases = { accounts: authenticator, worlds: byEnvironment, ops: ops.useCases };
  return {
    useCases,
    shared,
    checks: async () => [
      ...(await Promise.all(worlds.flatMap((world) => world.checks()))),
      await shared.check(),
    ],
    /** Reads the catalogues and starts polling. Throws when Postgres cannot be read. */
    start: async () => {
      await Promise.all(worlds.map((world) => world.catalogue.start()));
      authenticator.start();
    },
    /** Closes pools and connections, last of all. */
    close: async () => {
      authenticator.stop();
      await Promise.allSettled([
        ...worlds.map((world) => world.close()),
        ops.close(),
        accountsDb.destroy(),
        shared.close(),
      ]);
    },
  };
}

/** The connections and vendors of one world. */
function openConnections(parts: ProcessContext, world: WorldConfig, shared: RedisServices) {
  const db = openWorld(parts, world);
  const temporal = openTemporal(parts, world);
  const supplier = composeSupplier(parts, world, shared);
  const gateway = composeGateway(parts, world);
  return {
    db,
    temporal,
    supplier,
    gateway: gateway.port,
    /** Each line names the world. */
    events: createEvents(
      parts.logger.child({ environment: world.environment }),
      parts.metrics?.world(world.environment),
    ),
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

function composeApiWorld(parts: ProcessContext, world: WorldConfig, shared: RedisServices) {
  const { environment, timings, esimFreshMs, topUpsFreshMs, closedPaymentFreshMs } = world;
  const { temporal, checks, close, ...ports } = openConnections(parts, world, shared);
  const { db, events } = ports;
  const catalogue = createCatalogueMemory({
    db,
    rateCache: shared.cacheFor(environment),
    onError: notRefreshed(events, `${environment} catalogue`),
  });
  const useCases = createWorldUseCases({
    ...ports,
    environment,
    engine: createPurchaseEngine(temporal, timings),
    webhookEngine: composeWebhookEngine(db, temporal, events),
    ...composeWebhooks(parts, environment, systemClock),
    clock: systemClock,
    catalogue,
    settings: {
      timings,
      esimFreshMs,
      topUpsFreshMs,
      closedPaymentFreshMs,
      rateMaxAgeMs: parts.config.rates.maxAgeMs,
      mobileMoneyCurrency: parts.config.mobileMoneyCurrency,
    },
    idSecret: Buffer.from(parts.secrets.idSecret),
  });
  return {
    useCases,
    catalogue,
    checks: () => [
      ...checks(),
      check(`catalogue ${environment}`, () => {
        if (catalogue.current().regions.length === 0) throw new Error('nothing is on sale yet');
        return Promise.resolve();
      }),
    ],
    close: () => {
      catalogue.stop();
      return close();
    },
  };
}

/** What a worker needs for one world. */
export function composeWorkerWorld(parts: ProcessContext, world: WorldConfig, shared: RedisServices) {
  const { environment, timings } = world;
  const { temporal, checks, close, ...connected } = openConnections(parts, world, shared);
  const { db, gateway, events, supplier } = connected;
  const engine = createPurchaseEngine(temporal, timings);
  const ports = { ...connected, clock: systemClock };
  const reconciliation = createReconciliation({ ...ports, settings: world.reconcile });
  return {
    world,
    db,
    temporal,
    activities: createActivities({
      ...ports,
      supplier,
      returnUrl: `${parts.config.publicUrl}/pay/return`,
      scenarioOf: environment === 'test' ? scenarioOf : undefined,
      refundTimings: timings,
      applyInbox: () => applyInbox({ db, gateway, engine, events }),
      reconcile: (request) => reconciliation.run(request),
      rateSources: composeRateSources(parts.config),
      webhooks: {
        ...composeWebhooks(parts, environment, systemClock),
        ...parts.config.webhooks[environment],
        sweeper: composeWebhookEngine(db, temporal, events),
        limits: parts.config.webhookLimits,
        random: Math.random,
      },
      notices: { environment, mailer: composeMailer(parts.secrets) },
      approvalLimits: parts.config.approvalLimits,
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

/** Accounts and one world's books, for commands that write both. */
export function openAccounts({ config, secrets, processName }: ProcessContext): AccountsDb {
  return openDatabase<AccountsDatabase>({
    url: secrets.databaseUrl,
    schema: 'accounts',
    role: 'simway_accounts',
    // Keys are answered from memory, so a few connections go far.
    maxConnections: 4,
    statementTimeoutMs: config.database.statementTimeoutMs,
    applicationName: `simway-${processName}`,
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

function composeSupplier(
  { secrets, logger, metrics }: ProcessContext,
  world: WorldConfig,
  shared: RedisServices,
): EsimAccessSupplier {
  const credentials = secrets.suppliers[world.environment];
  if (!credentials) throw new Error(`no supplier credentials for ${world.environment}`);
  return createEsimAccessSupplier({
    baseUrl: world.supplier.baseUrl,
    accessCode: credentials.accessCode,
    secretKey: credentials.secretKey,
    sign: true,
    pacer: measured(shared.pacerFor(world), metrics?.world(world.environment)),
    clock: systemClock,
    logger,
    timeLimitMs: world.supplier.timeLimitMs,
  });
}

/** The sandbox's packages that choose what becomes of their payment (docs/SANDBOX.md). */
function scenarioOf(packageCode: string): string | undefined {
  const name = /^(?:TOPUP_)?SIM-PAY-([A-Z-]+)$/.exec(packageCode)?.[1];
  if (name === 'NOW' || name === 'REFUNDED') return 'pay-now';
  return name?.toLowerCase();
}

function composeGateway(
  { secrets, logger }: ProcessContext,
  { environment, gateway }: WorldConfig,
): { readonly port: PaymentGateway; close(): void } {
  const keys = secrets.gateways[environment];
  if (!gateway || !keys) return { port: NO_GATEWAY, close: () => undefined };
  const { secretKey, previousSecretKey } = keys;
  const port = createPaystackGateway({
    baseUrl: gateway.baseUrl,
    secretKey,
    previousSecretKeys: previousSecretKey === undefined ? [] : [previousSecretKey],
    mode: environment,
    timeLimitMs: gateway.timeLimitMs,
    onUnknown: (seen) => logger.error({ seen }, 'gateway word never seen before'),
  });
  return { port, close: () => port.close() };
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
  limits: () => undefined,
  charge: noGateway,
  findCharge: noGateway,
  refund: noGateway,
  findRefund: noGateway,
  paidCharges: () => Promise.resolve({ references: [], count: 0, total: 0, isLast: true }),
  findDisputes: noGateway,
  disputed: async function* () {},
  statement: async function* () {},
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

function openTemporal({ config, tracing }: ProcessContext, { namespace }: WorldConfig): TemporalClient {
  const interceptor = tracing && traceStarts(tracing);
  return connectClient({ address: config.temporal.address, namespace, interceptor });
}

/** Measures waits for the vendor's allowance. */
function measured(pacer: Pacer, metrics: WorldMetrics | undefined): Pacer {
  if (!metrics) return pacer;
  return {
    takeSlot: async (withinMs) => {
      const startedAtMs = performance.now();
      const granted = await pacer.takeSlot(withinMs);
      metrics.allowanceAwaited('supplier', performance.now() - startedAtMs, granted);
      return granted;
    },
  };
}

function notRefreshed(events: Events, what: string): (error: unknown) => void {
  return (error) =>
    events.memoryNotRefreshed({ what, detail: error instanceof Error ? error.message : String(error) });
}
