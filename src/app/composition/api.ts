/** Everything an API process needs, for every environment that is switched on. */
import { createAuthenticator } from '../../accounts/keys/authenticate.ts';
import { createPasswords } from '../../accounts/users/passwords.ts';
import { createRequestLog } from '../../accounts/keys/request-log.ts';
import { createCatalogueMemory } from '../../catalogue/memory.ts';
import { completeBodies } from '../../esims/message-bodies.ts';
import { MAX_EMAILS_A_DAY } from '../../purchases/batches/rules.ts';
import { START_CHECK_MS, startDueBatches } from '../../purchases/batches/scheduled.ts';
import type { Config, WorldConfig } from '../config/config.ts';
import { requireRanges } from '../../platform/client-addresses.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { startPoller, type Poller } from '../../platform/poller.ts';
import type { CodecEndpoint } from '../../platform/http/codec-endpoint.ts';
import {
  LONG_PURCHASE_MS,
  MAX_WAITING_PURCHASES,
  PURCHASE_TURN_WITHIN_MS,
} from '../../platform/http/limits.ts';
import { createTurns } from '../../platform/turns.ts';
import { createEvents, type Events } from '../../platform/telemetry/events.ts';
import { createJobEngine } from '../temporal/job-engine.ts';
import { createPayloadCodec } from '../../platform/temporal/payload-codec.ts';
import { createPurchaseEngine } from '../temporal/purchase-engine.ts';
import { createReturnEngine } from '../temporal/return-engine.ts';
import { check, composeTerms, openConnections } from './connections.ts';
import { systemClock, openAccounts, worldConfigs, type ProcessContext } from './context.ts';
import { composeOps } from './ops-use-cases.ts';
import { composeRedisServices, type RedisServices } from './redis-services.ts';
import type { UseCases, WorldUseCases } from './use-cases.ts';
import { composeUsers } from './user-use-cases.ts';
import { composeSandboxSupplier } from './vendors.ts';
import { composeWebhooks } from './webhooks.ts';
import { createWorldUseCases } from './world-use-cases.ts';

type WorldDeps = Parameters<typeof createWorldUseCases>[0];

export function composeApi(context: ProcessContext) {
  const { config, secrets, logger } = context;
  const events = createEvents(logger, undefined, context.metrics?.people);
  const redis = composeRedisServices(config, secrets, logger);
  const accountsDb = openAccounts(context);
  const pollDb = openAccounts(context, { maxConnections: 1, purpose: 'keys' });
  const authenticator = createAuthenticator({
    db: accountsDb,
    pollDb,
    clock: systemClock,
    brand: config.brand,
    onError: notRefreshed(events, 'api keys'),
  });
  const worlds = worldConfigs(config).map((world) =>
    composeApiWorld(context, world, { redis, accounts: accountsDb }),
  );
  const byEnvironment = Object.fromEntries(
    worlds.map(({ useCases }) => [useCases.environment, useCases]),
  ) as { test: WorldUseCases; live?: WorldUseCases };
  const passwords =
    context.passwords ?? createPasswords({ onFull: (lane) => events.signInQueueFull({ lane }) });
  const users = composeUsers(context, {
    db: accountsDb,
    clock: systemClock,
    events,
    passwords,
    worlds: new Map(worlds.map(({ useCases: { environment }, forKeys }) => [environment, forKeys])),
  });
  const ops = composeOps(context, { ...users.deps, passwords, events }, (environment) => {
    const world = worlds.find(({ useCases: { environment: name } }) => name === environment);
    if (!world) throw new Error(`${environment} is not switched on`);
    return world.forOperators;
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
    redis,
    checks: async () => [
      ...(await Promise.all(worlds.flatMap((world) => world.checks()))),
      await redis.check(),
    ],
    /** Reads the catalogues and starts polling. Throws when Postgres cannot be read. */
    start: async (beginDueEveryMs = START_CHECK_MS) => {
      await Promise.all(worlds.map((world) => world.start(beginDueEveryMs)));
      authenticator.start();
      requestLog.start();
      users.start();
    },
    /** Closes pools and connections, last of all. */
    close: async () => {
      await Promise.all([authenticator.stop(), requestLog.stop(), users.close()]);
      await Promise.allSettled([
        ...worlds.map((world) => world.close()),
        ops.close(),
        accountsDb.destroy(),
        pollDb.destroy(),
        redis.close(),
      ]);
    },
  };
}

function composeApiWorld(
  context: ProcessContext,
  world: WorldConfig,
  { redis, accounts }: { readonly redis: RedisServices; readonly accounts: AccountsDb },
) {
  const { environment, timings } = world;
  const { temporal, checks, close, ...ports } = openConnections(context, world, redis);
  const { db, events, installData } = ports;
  // This process orders nothing: it only reads from the supplier.
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
  const { urlGuard, secretBox } = webhooks;
  const deps: WorldDeps = {
    ...ports,
    accounts,
    supplier,
    sandboxSupplier,
    supplierEvents,
    environment,
    engine: createPurchaseEngine(temporal, timings),
    jobEngine: createJobEngine(temporal, events.jobNotBegun),
    returnEngine: createReturnEngine(temporal, 'return', events.returnNotBegun),
    replacementEngine: createReturnEngine(temporal, 'replacement', events.returnNotBegun),
    ...webhooks,
    completeBodies: (bodies, reader) => completeBodies({ db, installData }, bodies, reader),
    clock: systemClock,
    catalogue,
    settings: settingsOf(context, world),
    idSecret: Buffer.from(context.secrets.idSecret),
    terms: composeTerms(context, environment),
    turns: purchaseTurns(context.config),
  };
  const useCases = createWorldUseCases(deps);
  let starts: Poller | undefined;
  return {
    useCases,
    /** For making keys, with an endpoint for their messages. */
    forKeys: { ...webhooks, db },
    /** What operators ask, and send alerts to. */
    forOperators: {
      supplier: ports.supplier.forChecks,
      gateway: ports.gateway,
      alerting: { supplier: ports.supplier.forChecks, urlGuard, secretBox },
    },
    /** Reads the catalogue and starts polling; batches that are due are started from now on. */
    start: async (beginDueEveryMs: number) => {
      await catalogue.start();
      const begin = () => beginDue(deps, useCases);
      starts = startPoller(begin, beginDueEveryMs, notRefreshed(events, `${environment} scheduled batches`));
    },
    checks: () => [
      ...checks(),
      check(`catalogue ${environment}`, () => {
        if (catalogue.current().regions.length === 0) throw new Error('nothing is on sale yet');
        return Promise.resolve();
      }),
    ],
    close: async () => {
      await starts?.stop();
      catalogue.stop();
      sandboxSupplier?.close();
      return close();
    },
  };
}

/** Purchases of each account in this process and environment. */
const purchaseTurns = ({ purchasesAtOnce: atOnce }: Config) =>
  createTurns({
    atOnce,
    passedOnAfterMs: LONG_PURCHASE_MS,
    withinMs: PURCHASE_TURN_WITHIN_MS,
    maxWaiting: MAX_WAITING_PURCHASES,
  });

/** Batches whose start has come, and due mandates. A fault in one of them does not keep the other waiting. */
async function beginDue(deps: WorldDeps, { purchases, environment }: WorldUseCases): Promise<void> {
  const begun = await Promise.allSettled([
    startDueBatches(deps, environment),
    purchases.topUpDueMandates(environment),
  ]);
  for (const one of begun) if (one.status === 'rejected') throw one.reason;
}

/** What the use cases of one environment go by. */
function settingsOf({ config, secrets }: ProcessContext, world: WorldConfig): WorldDeps['settings'] {
  const { environment, timings, esimFreshMs, topUpsFreshMs, closedPaymentFreshMs } = world;
  return {
    timings,
    esimFreshMs,
    topUpsFreshMs,
    closedPaymentFreshMs,
    priceLimits: world.priceLimits,
    returns: config.returns,
    replacements: config.replacements,
    rateMaxAgeMs: config.rates.maxAgeMs,
    mobileMoneyCurrency: config.mobileMoneyCurrency,
    unpaidLimits: config.unpaidLimits,
    travellerEmails: {
      isAvailable: secrets.mail !== undefined,
      maxADay: MAX_EMAILS_A_DAY[environment],
    },
  };
}

/** Undefined unless the Temporal UI's origin is set. */
export function composeCodecEndpoint({ config, secrets }: ProcessContext): CodecEndpoint | undefined {
  const { temporalUiOrigin: uiOrigin } = config;
  if (uiOrigin === undefined) return undefined;
  const { codecKeys: keys } = secrets.temporal;
  return {
    uiOrigin,
    codecs: new Map(
      worldConfigs(config).map(({ namespace }) => [namespace, createPayloadCodec({ keys, namespace })]),
    ),
  };
}

function notRefreshed(events: Events, what: string): (error: unknown) => void {
  return (error) =>
    events.memoryNotRefreshed({ what, detail: error instanceof Error ? error.message : String(error) });
}
