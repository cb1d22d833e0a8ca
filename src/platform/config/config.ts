/**
 * Everything the environment decides, read once, checked, grouped and frozen. Secrets stand in an object of their own that is never
 * logged. A wrong value ends the program with a sentence naming it; nothing else reads the environment.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { LOG_LEVELS, type LogLevel } from '../telemetry/logger.ts';
import { ConfigError, fixedRates, list, logLevel, port, positive, timings } from './fields.ts';
import { mailOf, operationsOf, operationsSettings, type OperationsConfig } from './operations.ts';
import {
  gatewayKeysOf,
  gatewayOf,
  paymentSettings,
  publicUrlOf,
  type GatewayConfig,
  type GatewayKeys,
} from './payments.ts';
import {
  secretKeysOf,
  webhookLimits,
  webhookSettings,
  webhooksOf,
  type SecretKeys,
  type WebhookConfig,
  type WebhookLimits,
} from './webhooks.ts';
import { liveTimings, testTimings } from './timings.ts';
import { reconcileOf, reconcileSettings, type ReconcileConfig } from './reconcile.ts';
import type { Environment } from '../../domain/account.ts';
import type { PurchaseTimings } from '../../purchases/purchase.ts';

export { ConfigError };

export interface WorldConfig {
  readonly environment: Environment;
  readonly schema: Environment;
  readonly namespace: string;
  readonly supplier: {
    readonly baseUrl: string;
    readonly requestsPerSecond: number | null;
    /** Without Redis each process takes this share of the allowance. */
    readonly shareWithoutRedis: number;
    readonly timeLimitMs: number;
  };
  /** Absent while no gateway is configured: then only WALLET is offered. */
  readonly gateway?: GatewayConfig;
  readonly timings: PurchaseTimings;
  readonly esimFreshMs: number;
  readonly topUpsFreshMs: number;
  readonly closedPaymentFreshMs: number;
  readonly reconcile: ReconcileConfig;
}

export interface Config extends OperationsConfig {
  readonly brand: string;
  /** Begins the names of Temporal namespaces and of keys in Redis: servers may be shared by several installations. */
  readonly namespacePrefix: string;
  readonly logLevel: LogLevel;
  readonly http: {
    readonly host: string;
    readonly port: number;
    readonly trustedProxies: readonly string[];
    readonly stopDeadlineMs: number;
  };
  readonly database: { readonly maxConnections: number; readonly statementTimeoutMs: number };
  readonly temporal: { readonly address: string };
  readonly worker: {
    readonly maxCachedWorkflows: number;
    readonly shutdownGraceMs: number;
    /** What the command `bundle` wrote; absent: each worker bundles the workflows as it starts. */
    readonly workflowBundle: string | undefined;
  };
  /** Where browsers reach the API: hosted payment pages send buyers back to it. */
  readonly publicUrl: string;
  /** What MOBILE_MONEY is charged in; the method is not offered without. */
  readonly mobileMoneyCurrency: string | undefined;
  readonly rates: {
    readonly fixed: Readonly<Record<string, string>>;
    readonly openProvider: boolean;
    readonly maxAgeMs: number;
  };
  readonly schedules: {
    readonly syncCatalogueMs: number;
    readonly refreshRatesMs: number;
    readonly refreshUsageMs: number;
    readonly sweepMs: number;
    readonly applyInboxMs: number;
    readonly sweepWebhooksMs: number;
    readonly tidyWebhooksMs: number;
  };
  /** Also of a world that is off: keys are made for it. */
  readonly webhooks: Readonly<Record<Environment, WebhookConfig>>;
  readonly webhookLimits: WebhookLimits;
  readonly worlds: { readonly test: WorldConfig; readonly live?: WorldConfig };
}

export interface Secrets {
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  /** For the collector of traces. */
  readonly tracingHeaders: Readonly<Record<string, string>>;
  /** Key of the HMAC behind transaction ids; the same in every process, for ever. */
  readonly idSecret: string;
  readonly secretKeys: SecretKeys;
  readonly mail: ReturnType<typeof mailOf>;
  readonly gateways: Readonly<Partial<Record<Environment, GatewayKeys>>>;
  readonly suppliers: Readonly<
    Partial<Record<Environment, { readonly accessCode: string; readonly secretKey: string | undefined }>>
  >;
}

/** What `migrate` works on; without an address it leaves Temporal alone. */
export interface MigrateSettings {
  /** The owner's connection. */
  readonly databaseUrl: string;
  readonly temporalAddress: string | undefined;
  readonly namespaces: readonly string[];
}

/** What finance's commands need. Addresses may be absent: then a running `npm start` tells them. */
export interface FinanceSettings {
  readonly databaseUrl: string | undefined;
  readonly temporalAddress: string | undefined;
  /** Those that are switched on. */
  readonly worlds: { readonly test: FinanceWorldConfig; readonly live?: FinanceWorldConfig };
}

export type FinanceWorldConfig = Pick<WorldConfig, 'environment' | 'schema' | 'namespace' | 'timings'>;

/** What `npm start` takes from the machine before there is a Config. */
export interface DevSettings {
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly temporalAddress: string | undefined;
  readonly temporalUiUrl: string | undefined;
  readonly namespaces: readonly string[];
  readonly pathEnv: string;
  readonly cacheDir: string;
  readonly dataDir: string;
  readonly httpPort: number;
  readonly logLevel: LogLevel;
  /** The whole environment, for child processes to inherit. */
  readonly inherited: Readonly<Record<string, string>>;
}

type Env = Readonly<Record<string, string | undefined>>;

const schema = z.object({
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//)
    .optional(),
  TEMPORAL_ADDRESS: z.string().regex(/^[^:]+:\d+$/),
  SIMWAY_ID_SECRET: z.string().min(32),
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
  ...operationsSettings,
  SIMWAY_TRUSTED_PROXIES: list,
  SIMWAY_STOP_DEADLINE_MS: positive(20_000),
  SIMWAY_DATABASE_CONNECTIONS: positive(20),
  SIMWAY_DATABASE_STATEMENT_TIMEOUT_MS: positive(2_000),
  /** 0 replays every workflow at every task: slow, and how the tests find what is not deterministic. */
  SIMWAY_WORKER_CACHED_WORKFLOWS: z.coerce.number().int().min(0).default(600),
  SIMWAY_WORKER_GRACE_MS: positive(15_000),
  SIMWAY_WORKFLOW_BUNDLE: z.string().min(1).optional(),
  SIMWAY_FIXED_RATES: fixedRates,
  SIMWAY_OPEN_RATES: z.enum(['on', 'off']).default('off'),
  SIMWAY_SYNC_CATALOGUE_MS: positive(3_600_000),
  SIMWAY_REFRESH_RATES_MS: positive(600_000),
  SIMWAY_TEST_SUPPLIER_URL: z.url(),
  SIMWAY_TEST_SUPPLIER_ACCESS_CODE: z.string().min(1),
  SIMWAY_TEST_SUPPLIER_SECRET_KEY: z.string().min(1).optional(),
  SIMWAY_TEST_SUPPLIER_REQUESTS_PER_SECOND: z.coerce.number().int().positive().optional(),
  SIMWAY_TEST_TIMINGS: timings,
  ...paymentSettings,
  ...reconcileSettings,
  ...webhookSettings,
  SIMWAY_LIVE_SUPPLIER_URL: z.url().default('https://api.esimaccess.com'),
  SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: z.string().min(1).optional(),
  SIMWAY_LIVE_SUPPLIER_SECRET_KEY: z.string().min(1).optional(),
});

type Settings = z.output<typeof schema>;

const namespacesSchema = schema.pick({
  SIMWAY_NAMESPACE_PREFIX: true,
  SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: true,
});
const migrateSchema = schema
  .pick({ DATABASE_URL: true, TEMPORAL_ADDRESS: true })
  .partial({ TEMPORAL_ADDRESS: true })
  .extend(namespacesSchema.shape);

const financeSchema = schema
  .pick({
    DATABASE_URL: true,
    TEMPORAL_ADDRESS: true,
    SIMWAY_TRANSFER_MINUTES: true,
    SIMWAY_TEST_TIMINGS: true,
  })
  .partial({ DATABASE_URL: true, TEMPORAL_ADDRESS: true })
  .extend(namespacesSchema.shape);

/** The vendor's published allowance. */
const LIVE_SUPPLIER_REQUESTS_PER_SECOND = 8;
const RATE_MAX_AGE_MS = 24 * 3_600_000;

/** `beneath` holds what `env` leaves out. Throws ConfigError naming every wrong variable, never its value. */
export function readConfig(env: Env = process.env, beneath: Env = {}): { config: Config; secrets: Secrets } {
  const settings = readBy(schema, { ...beneath, ...env });
  return { config: deepFreeze(toConfig(settings)), secrets: toSecrets(settings) };
}

function readBy<T extends z.ZodObject>(wanted: T, env: Env): z.output<T> {
  const parsed = wanted.safeParse(
    Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
  );
  if (parsed.success) return parsed.data;
  throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
}

function toConfig(s: Settings): Config {
  return {
    brand: s.SIMWAY_BRAND,
    namespacePrefix: s.SIMWAY_NAMESPACE_PREFIX,
    logLevel: s.SIMWAY_LOG_LEVEL,
    http: {
      host: s.SIMWAY_HTTP_HOST,
      port: s.SIMWAY_HTTP_PORT,
      trustedProxies: s.SIMWAY_TRUSTED_PROXIES,
      stopDeadlineMs: s.SIMWAY_STOP_DEADLINE_MS,
    },
    ...operationsOf(s),
    database: {
      maxConnections: s.SIMWAY_DATABASE_CONNECTIONS,
      statementTimeoutMs: s.SIMWAY_DATABASE_STATEMENT_TIMEOUT_MS,
    },
    temporal: { address: s.TEMPORAL_ADDRESS },
    publicUrl: publicUrlOf(s),
    mobileMoneyCurrency: s.SIMWAY_MOBILE_MONEY_CURRENCY,
    worker: {
      maxCachedWorkflows: s.SIMWAY_WORKER_CACHED_WORKFLOWS,
      shutdownGraceMs: s.SIMWAY_WORKER_GRACE_MS,
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
      refreshUsageMs: 900_000,
      sweepMs: 3_600_000,
      applyInboxMs: 30_000,
      sweepWebhooksMs: s.SIMWAY_SWEEP_WEBHOOKS_MS,
      tidyWebhooksMs: 3_600_000,
    },
    webhooks: { test: webhooksOf(s, 'test'), live: webhooksOf(s, 'live') },
    webhookLimits: webhookLimits(s),
    worlds: {
      test: testWorld(s),
      ...(s.SIMWAY_LIVE_SUPPLIER_ACCESS_CODE === undefined ? {} : { live: liveWorld(s) }),
    },
  };
}

function testWorld(s: Settings): WorldConfig {
  return {
    ...namesOf(s, 'test'),
    supplier: {
      baseUrl: s.SIMWAY_TEST_SUPPLIER_URL,
      requestsPerSecond: s.SIMWAY_TEST_SUPPLIER_REQUESTS_PER_SECOND ?? null,
      shareWithoutRedis: 0.5,
      timeLimitMs: 5_000,
    },
    ...gatewayOf(s.SIMWAY_TEST_GATEWAY_URL, s.SIMWAY_TEST_GATEWAY_SECRET_KEY),
    timings: testTimings(s),
    esimFreshMs: 2_000,
    topUpsFreshMs: 3_600_000,
    closedPaymentFreshMs: 2_000,
    reconcile: reconcileOf(s, 'test'),
  };
}

function liveWorld(s: Settings): WorldConfig {
  return {
    ...namesOf(s, 'live'),
    supplier: {
      baseUrl: s.SIMWAY_LIVE_SUPPLIER_URL,
      requestsPerSecond: LIVE_SUPPLIER_REQUESTS_PER_SECOND,
      shareWithoutRedis: 0.25,
      timeLimitMs: 5_000,
    },
    ...gatewayOf(s.SIMWAY_LIVE_GATEWAY_URL, s.SIMWAY_LIVE_GATEWAY_SECRET_KEY),
    timings: liveTimings(s),
    esimFreshMs: 60_000,
    topUpsFreshMs: 3_600_000,
    closedPaymentFreshMs: 60_000,
    reconcile: reconcileOf(s, 'live'),
  };
}

function namesOf(s: NamespaceSettings, environment: Environment) {
  return { environment, schema: environment, namespace: `${s.SIMWAY_NAMESPACE_PREFIX}-${environment}` };
}

type NamespaceSettings = z.output<typeof namespacesSchema>;

/** The namespaces of the worlds that are switched on. */
function namespacesOf(s: NamespaceSettings): string[] {
  const environments: Environment[] =
    s.SIMWAY_LIVE_SUPPLIER_ACCESS_CODE === undefined ? ['test'] : ['test', 'live'];
  return environments.map((environment) => namesOf(s, environment).namespace);
}

function toSecrets(s: Settings): Secrets {
  return {
    databaseUrl: s.DATABASE_URL,
    redisUrl: s.REDIS_URL,
    tracingHeaders: s.OTEL_EXPORTER_OTLP_HEADERS,
    idSecret: s.SIMWAY_ID_SECRET,
    secretKeys: secretKeysOf(s),
    mail: mailOf(s),
    gateways: gatewayKeysOf(s),
    suppliers: {
      test: { accessCode: s.SIMWAY_TEST_SUPPLIER_ACCESS_CODE, secretKey: s.SIMWAY_TEST_SUPPLIER_SECRET_KEY },
      ...(s.SIMWAY_LIVE_SUPPLIER_ACCESS_CODE === undefined
        ? {}
        : {
            live: {
              accessCode: s.SIMWAY_LIVE_SUPPLIER_ACCESS_CODE,
              secretKey: s.SIMWAY_LIVE_SUPPLIER_SECRET_KEY,
            },
          }),
    },
  };
}

/** The few settings that the schema of databases and namespaces depends on. Throws ConfigError like readConfig. */
export function readMigrateSettings(env: Env = process.env): MigrateSettings {
  const settings = readBy(migrateSchema, env);
  return {
    databaseUrl: settings.DATABASE_URL,
    temporalAddress: settings.TEMPORAL_ADDRESS,
    namespaces: namespacesOf(settings),
  };
}

/** Settings of finance's commands. Throws ConfigError like readConfig. */
export function readFinanceSettings(env: Env = process.env): FinanceSettings {
  const s = readBy(financeSchema, env);
  const isLive = s.SIMWAY_LIVE_SUPPLIER_ACCESS_CODE !== undefined;
  return deepFreeze({
    databaseUrl: s.DATABASE_URL,
    temporalAddress: s.TEMPORAL_ADDRESS,
    worlds: {
      test: { ...namesOf(s, 'test'), timings: testTimings(s) },
      ...(isLive ? { live: { ...namesOf(s, 'live'), timings: liveTimings(s) } } : {}),
    },
  });
}

/** Settings of the embedded start; everything is optional. */
export function readDevSettings(env: Env = process.env): DevSettings {
  const given = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  return {
    databaseUrl: given('DATABASE_URL'),
    redisUrl: given('REDIS_URL'),
    temporalAddress: given('TEMPORAL_ADDRESS'),
    temporalUiUrl: given('TEMPORAL_UI_URL'),
    namespaces: namespacesOf(readBy(namespacesSchema, env)),
    pathEnv: env['PATH'] ?? '',
    cacheDir: join(given('XDG_CACHE_HOME') ?? join(homedir(), '.cache'), 'simway'),
    dataDir: join(import.meta.dirname, '..', '..', '..', '.data'),
    httpPort: port(3000).parse(given('SIMWAY_HTTP_PORT')),
    logLevel: z.enum(LOG_LEVELS).default('warn').parse(given('SIMWAY_LOG_LEVEL')),
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
