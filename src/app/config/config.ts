/**
 * Everything the environment decides, read once, checked, grouped and frozen. Secrets stand in an object of
 * their own that is never logged. A wrong value ends the program with a sentence naming it; nothing else
 * reads the environment.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { parseRateMicros } from '../../catalogue/pricing.ts';
import type { Environment } from '../../domain/account.ts';
import { DAY_MS } from '../../domain/clock.ts';
import {
  DEFAULT_PURCHASES_AT_ONCE,
  MAX_CONNECTIONS,
  MAX_CONNECTIONS_PER_ADDRESS,
  MAX_EVENT_BYTES,
  MAX_EVENT_BYTES_IN_FLIGHT,
} from '../../platform/http/limits.ts';
import { DEFAULT_UNPAID_LIMITS } from '../../payments/rules.ts';
import { DEFAULT_RATES } from './currencies.ts';
import { databaseSettings, isReadableOnTheWay, settleTls } from './database.ts';
import {
  ConfigError,
  encryptionKey,
  isLoopbackHost,
  list,
  logLevel,
  pairs,
  port,
  positive,
  secureUrl,
  text,
  withFiles,
  withPassword,
} from './fields.ts';
import {
  approvalLimitsOf,
  balanceLimitsOf,
  mailOf,
  priceLimitsOf,
  operationsOf,
  operationsSettings,
  replacementPolicyOf,
  returnPolicyOf,
} from './operations.ts';
import { temporalOf, temporalSettings } from './temporal.ts';
import {
  purchaseTimings,
  supplierEventsOf,
  webhooksOf,
  worldSecrets,
  worldSettings,
  worldSpecifics,
} from './world.ts';

export { ConfigError };

export type Config = ReturnType<typeof toConfig>;
export type Secrets = ReturnType<typeof toSecrets>;
export type WorldConfig = ReturnType<typeof worldOf>;
export type MigrateSettings = ReturnType<typeof readMigrateSettings>;
export type DevSettings = ReturnType<typeof readDevSettings>;

type Env = Readonly<Record<string, string | undefined>>;

const schema = z.object({
  ...databaseSettings,
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//)
    .optional(),
  SIMWAY_REDIS_PASSWORD: text,
  ...temporalSettings,
  SIMWAY_ID_SECRET: z.string().min(32),
  SIMWAY_SECRETS_KEY: encryptionKey,
  SIMWAY_SECRETS_PREVIOUS_KEYS: list.pipe(z.array(encryptionKey)),
  SIMWAY_NAMESPACE_PREFIX: z
    .string()
    .regex(/^[a-z][a-z0-9-]{1,40}$/)
    .default('simway'),
  SIMWAY_BRAND: z
    .string()
    .regex(/^[a-z][a-z0-9]{1,19}$/)
    .default('simway'),
  SIMWAY_LOG_LEVEL: logLevel,
  SIMWAY_HTTP_HOST: z.string().default('127.0.0.1'),
  SIMWAY_HTTP_PORT: port(3000),
  SIMWAY_PUBLIC_URL: secureUrl.optional(),
  ...operationsSettings,
  SIMWAY_TRUSTED_PROXIES: list,
  SIMWAY_HTTP_CONNECTIONS: positive(MAX_CONNECTIONS),
  SIMWAY_HTTP_CONNECTIONS_PER_ADDRESS: positive(MAX_CONNECTIONS_PER_ADDRESS),
  SIMWAY_GATEWAY_EVENT_BYTES: z.coerce.number().int().min(MAX_EVENT_BYTES).default(MAX_EVENT_BYTES_IN_FLIGHT),
  SIMWAY_API_KEY_LIFE_DAYS: z.coerce.number().int().positive().max(36_500).optional(),
  SIMWAY_STOP_DEADLINE_MS: positive(20_000),
  SIMWAY_DATABASE_CONNECTIONS: positive(20),
  SIMWAY_DATABASE_STATEMENT_TIMEOUT_MS: positive(2_000),
  /** 0 replays every workflow at every task: slow, and how the tests find what is not deterministic. */
  SIMWAY_WORKER_CACHED_WORKFLOWS: z.coerce.number().int().min(0).default(600),
  SIMWAY_WORKER_GRACE_MS: positive(15_000),
  SIMWAY_WORKFLOW_BUNDLE: text,
  SIMWAY_FIXED_RATES: pairs('NGN=1600.00,EUR=0.92', (rate, currency) =>
    /^[A-Z]{3}$/.test(currency) && parseRateMicros(rate) !== undefined ? rate : undefined,
  ).default(DEFAULT_RATES),
  SIMWAY_OPEN_RATES: z.enum(['on', 'off']).default('off'),
  SIMWAY_UNPAID_PAYMENTS: pairs('STANDARD=100,PREMIUM=1000', (count, plan) =>
    Object.hasOwn(DEFAULT_UNPAID_LIMITS, plan) && /^[1-9]\d{0,5}$/.test(count) ? Number(count) : undefined,
  ).prefault(''),
  SIMWAY_PURCHASES_AT_ONCE: positive(DEFAULT_PURCHASES_AT_ONCE),
  SIMWAY_MOBILE_MONEY_CURRENCY: z.enum(['GHS', 'KES', 'XOF']).optional(),
  SIMWAY_SYNC_CATALOGUE_MS: positive(3_600_000),
  SIMWAY_REFRESH_RATES_MS: positive(600_000),
  /** Sockets and memory for this many are small change; a worker's processor is the limit long before. */
  SIMWAY_WEBHOOK_ATTEMPTS: positive(200),
  /** Ten quick answers at a time are hundreds a second, more than a merchant's server likes. */
  SIMWAY_WEBHOOK_ATTEMPTS_PER_ENDPOINT: positive(10),
  SIMWAY_WEBHOOK_ATTEMPTS_PER_ACCOUNT: positive(40),
  SIMWAY_SWEEP_WEBHOOKS_MS: positive(30_000),
  ...worldSettings,
});

type Settings = z.output<typeof schema>;

const namespacesSchema = schema.pick({
  SIMWAY_NAMESPACE_PREFIX: true,
  SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: true,
});
type NamespaceSettings = z.output<typeof namespacesSchema>;

/** Without an address Temporal is left alone. */
const maybeTemporal = z.object(temporalSettings).partial({ TEMPORAL_ADDRESS: true });

const migrateSchema = z.object(databaseSettings).extend(maybeTemporal.shape).extend(namespacesSchema.shape);

const clientSchema = z.object({
  /** Where commands find the API; without it the `npm start` of this checkout. */
  SIMWAY_URL: secureUrl.optional(),
  XDG_CONFIG_HOME: z.string().optional(),
});

const RATE_MAX_AGE_MS = DAY_MS;

/** `beneath` holds what `env` leaves out. Throws ConfigError naming every wrong variable, never its value. */
export function readConfig(env: Env = process.env, beneath: Env = {}): { config: Config; secrets: Secrets } {
  const settings = readBy(schema, { ...beneath, ...env });
  return { config: deepFreeze(toConfig(settings)), secrets: toSecrets(settings) };
}

function readBy<T extends z.ZodObject>(wanted: T, env: Env): z.output<T> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = wanted.safeParse(withFiles(Object.keys(wanted.shape), given));
  if (parsed.success) return parsed.data;
  throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
}

/**
 * Cookies are `Secure` with https alone, and links in mails begin with this address: plain http stays on one
 * machine.
 */
function publicUrlOf({ SIMWAY_PUBLIC_URL, SIMWAY_HTTP_HOST, SIMWAY_HTTP_PORT }: Settings): string {
  if (SIMWAY_PUBLIC_URL !== undefined) return SIMWAY_PUBLIC_URL;
  if (!isLoopbackHost(SIMWAY_HTTP_HOST))
    throw new ConfigError([
      'SIMWAY_PUBLIC_URL: is required where SIMWAY_HTTP_HOST is not an address of this machine alone',
    ]);
  return `http://${SIMWAY_HTTP_HOST}:${SIMWAY_HTTP_PORT}`;
}

function toConfig(s: Settings) {
  const publicUrl = publicUrlOf(s);
  return {
    brand: s.SIMWAY_BRAND,
    /**
     * Begins the names of Temporal namespaces and of keys in Redis: servers may be shared by several
     * installations.
     */
    namespacePrefix: s.SIMWAY_NAMESPACE_PREFIX,
    logLevel: s.SIMWAY_LOG_LEVEL,
    http: {
      host: s.SIMWAY_HTTP_HOST,
      port: s.SIMWAY_HTTP_PORT,
      trustedProxies: s.SIMWAY_TRUSTED_PROXIES,
      maxConnections: s.SIMWAY_HTTP_CONNECTIONS,
      maxConnectionsPerAddress: s.SIMWAY_HTTP_CONNECTIONS_PER_ADDRESS,
      maxEventBytesInFlight: s.SIMWAY_GATEWAY_EVENT_BYTES,
      stopDeadlineMs: s.SIMWAY_STOP_DEADLINE_MS,
    },
    ...operationsOf(s),
    database: {
      maxConnections: s.SIMWAY_DATABASE_CONNECTIONS,
      statementTimeoutMs: s.SIMWAY_DATABASE_STATEMENT_TIMEOUT_MS,
      /** What goes to Postgres can be read on the way. */
      isReadable: isReadableOnTheWay(settleTls(s.DATABASE_URL, s)),
    },
    /** How long a new API key works, unless its maker says otherwise; undefined: until it is revoked. */
    apiKeyLifeDays: s.SIMWAY_API_KEY_LIFE_DAYS,
    /**
     * Browsers may have payloads decrypted from there, over the API's admin port. Undefined: no browser may.
     */
    temporalUiOrigin: s.SIMWAY_TEMPORAL_UI_ORIGIN,
    /** Pages of operators link to workflows there. Undefined: they do not. */
    temporalUiUrl: s.TEMPORAL_UI_URL ?? s.SIMWAY_TEMPORAL_UI_ORIGIN,
    /**
     * Where browsers reach the API, without a trailing slash: hosted payment pages send buyers back to it.
     */
    publicUrl: publicUrl.replace(/\/+$/, ''),
    /**
     * Without a mail server, mails to users are shown to anyone who requests them. Only as `npm start` runs
     * it: no live environment, and reached from this machine alone. Users made before live is switched on are
     * its users afterwards.
     */
    showsMails:
      !isLiveOn(s) && isLoopbackHost(s.SIMWAY_HTTP_HOST) && isLoopbackHost(new URL(publicUrl).hostname),
    /** What MOBILE_MONEY is charged in; undefined: the method is not offered. */
    mobileMoneyCurrency: s.SIMWAY_MOBILE_MONEY_CURRENCY,
    /** By plan; those that the setting leaves out keep theirs. */
    returns: returnPolicyOf(s),
    replacements: replacementPolicyOf(s),
    /** Of one account, in each API process and environment. */
    purchasesAtOnce: s.SIMWAY_PURCHASES_AT_ONCE,
    unpaidLimits: { ...DEFAULT_UNPAID_LIMITS, ...s.SIMWAY_UNPAID_PAYMENTS },
    worker: {
      maxCachedWorkflows: s.SIMWAY_WORKER_CACHED_WORKFLOWS,
      shutdownGraceMs: s.SIMWAY_WORKER_GRACE_MS,
      /** What the command `bundle` wrote; undefined: each worker bundles the workflows as it starts. */
      workflowBundle: s.SIMWAY_WORKFLOW_BUNDLE,
    },
    rates: {
      fixed: s.SIMWAY_FIXED_RATES,
      openProvider: s.SIMWAY_OPEN_RATES === 'on',
      maxAgeMs: RATE_MAX_AGE_MS,
    },
    schedules: {
      syncCatalogueMs: s.SIMWAY_SYNC_CATALOGUE_MS,
      refreshRatesMs: s.SIMWAY_REFRESH_RATES_MS,
      refreshUsageMs: 60_000,
      sweepMs: 3_600_000,
      applyInboxMs: 30_000,
      sweepWebhooksMs: s.SIMWAY_SWEEP_WEBHOOKS_MS,
      tidyWebhooksMs: 3_600_000,
      sweepJobsMs: 30_000,
      /** People react in minutes, and each run is a dozen small statements. */
      raiseAlertsMs: 60_000,
    },
    /** Also of an environment that is off: keys are made for it. */
    webhooks: { test: webhooksOf(s, 'test'), live: webhooksOf(s, 'live') },
    /** Concurrent attempts, of each environment in each worker process. */
    webhookLimits: {
      attempts: s.SIMWAY_WEBHOOK_ATTEMPTS,
      perEndpoint: s.SIMWAY_WEBHOOK_ATTEMPTS_PER_ENDPOINT,
      perAccount: s.SIMWAY_WEBHOOK_ATTEMPTS_PER_ACCOUNT,
    },
    worlds: { test: worldOf(s, 'test'), live: isLiveOn(s) ? worldOf(s, 'live') : undefined },
  };
}

const isLiveOn = (s: NamespaceSettings): boolean => s.SIMWAY_LIVE_SUPPLIER_ACCESS_CODE !== undefined;

function worldOf(s: Settings, environment: Environment) {
  return {
    ...namesOf(s, environment),
    timings: purchaseTimings(s, environment),
    approvalLimits: approvalLimitsOf(s),
    priceLimits: priceLimitsOf(s),
    balanceLimits: balanceLimitsOf(s),
    ...worldSpecifics(s, environment),
    supplierEvents: supplierEventsOf(s, environment, `http://127.0.0.1:${s.SIMWAY_HTTP_PORT}`),
    topUpsFreshMs: 3_600_000,
  };
}

function namesOf(s: NamespaceSettings, environment: Environment) {
  return { environment, schema: environment, namespace: `${s.SIMWAY_NAMESPACE_PREFIX}-${environment}` };
}

/** The namespaces of the environments that are switched on. */
function namespacesOf(s: NamespaceSettings): string[] {
  const environments: Environment[] = isLiveOn(s) ? ['test', 'live'] : ['test'];
  return environments.map((environment) => namesOf(s, environment).namespace);
}

function toSecrets(s: Settings) {
  return {
    databaseUrl: settleTls(s.DATABASE_URL, s),
    redisUrl: s.REDIS_URL && withPassword(s.REDIS_URL, 'SIMWAY_REDIS_PASSWORD', s.SIMWAY_REDIS_PASSWORD),
    temporal: temporalOf(s),
    /** For the collector of traces. */
    tracingHeaders: s.OTEL_EXPORTER_OTLP_HEADERS,
    /** Key of the HMAC behind transaction ids; the same in every process, for ever. */
    idSecret: s.SIMWAY_ID_SECRET,
    secretKeys: { key: s.SIMWAY_SECRETS_KEY, previousKeys: s.SIMWAY_SECRETS_PREVIOUS_KEYS },
    mail: mailOf(s),
    ...worldSecrets(s),
  };
}

function maybeTemporalOf(s: z.output<typeof maybeTemporal>) {
  const { TEMPORAL_ADDRESS: address } = s;
  return address === undefined ? undefined : temporalOf({ ...s, TEMPORAL_ADDRESS: address });
}

/**
 * What `migrate` works on, as the owner of the database; without an address it leaves Temporal alone. Throws
 * ConfigError like readConfig.
 */
export function readMigrateSettings(env: Env = process.env) {
  const s = readBy(migrateSchema, env);
  const databaseUrl = settleTls(s.DATABASE_URL, s);
  return {
    databaseUrl,
    isDatabaseReadable: isReadableOnTheWay(databaseUrl),
    temporal: maybeTemporalOf(s),
    namespaces: namespacesOf(s),
  };
}

/** Of commands that ask the API. */
export function readClientSettings(env: Env = process.env) {
  const s = readBy(clientSchema, env);
  return { url: s.SIMWAY_URL, configDir: join(s.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'simway') };
}

/** Whether the environment names an installation; what it says of it may still be wrong. */
export function namesInstallation(env: Env = process.env): boolean {
  return (env['DATABASE_URL'] ?? '') !== '';
}

/** What `npm start` takes from the machine before there is a Config; everything is optional. */
export function readDevSettings(env: Env = process.env) {
  const given = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const { DATABASE_URL: databaseUrl, ...tls } = readBy(z.object(databaseSettings).partial(), env);
  return {
    databaseUrl: databaseUrl && settleTls(databaseUrl, tls),
    redisUrl: given('REDIS_URL'),
    temporal: maybeTemporalOf(readBy(maybeTemporal, env)),
    temporalUiUrl: given('TEMPORAL_UI_URL'),
    namespaces: namespacesOf(readBy(namespacesSchema, env)),
    pathEnv: env['PATH'] ?? '',
    cacheDir: join(given('XDG_CACHE_HOME') ?? join(homedir(), '.cache'), 'simway'),
    dataDir: join(import.meta.dirname, '..', '..', '..', '.data'),
    httpPort: port(3000).parse(given('SIMWAY_HTTP_PORT')),
    logLevel: logLevel.unwrap().default('warn').parse(given('SIMWAY_LOG_LEVEL')),
    /** The whole environment, for child processes to inherit. */
    inherited: Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  };
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner as object);
  return Object.freeze(value);
}
