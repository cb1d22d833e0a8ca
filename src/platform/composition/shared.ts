/** What all processes share through Redis: request limits, the supplier's allowance, the rate cache; or per process without it. */
import { createRedis } from '../redis/connection.ts';
import { createRedisPacer, createInProcessPacer, createUnlimitedPacer } from '../redis/pacer.ts';
import { createInProcessJsonCache, createRedisJsonCache } from '../redis/rate-cache.ts';
import { createRedisRateLimiter, createInProcessRateLimiter } from '../redis/rate-limiter.ts';
import type { Config, Secrets, WorldConfig } from '../config/config.ts';
import type { Environment } from '../../domain/account.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Vendor } from '../telemetry/outgoing.ts';
import type { JsonCache } from '../json-cache.ts';
import type { Pacer, RateLimiter } from '../rate-limiter.ts';

export const systemClock: Clock = { now: () => new Date() };

export interface RedisServices {
  readonly rateLimiter: RateLimiter;
  /** The supplier's allowance. */
  pacerFor(world: WorldConfig): Pacer;
  /** What the watch over unpaid payments may ask of the gateway, all processes together. */
  watchPacerFor(environment: Environment): Pacer;
  cacheFor(environment: Environment): JsonCache;
  /** Never fails readiness: everything goes on without Redis. */
  check(): Promise<{ name: string; ok: boolean; detail?: string }>;
  close(): Promise<void>;
}

/** Where the vendors of a process are, as its own HTTP client names them, and what to call them in metrics and traces. */
export function vendorAddresses({ worlds: { test, live } }: Config): ReadonlyMap<string, Vendor> {
  const vendors = new Map<string, Vendor>();
  for (const { environment, supplier, gateway } of live ? [test, live] : [test]) {
    vendors.set(new URL(supplier.baseUrl).host, { vendor: 'supplier', environment });
    if (gateway) vendors.set(new URL(gateway.baseUrl).host, { vendor: 'gateway', environment });
  }
  return vendors;
}

/** The gateway names no limit of its own. Reading its list for 100,000 payments and 300,000 checkouts a day takes 1.6 a second (docs/OPERATIONS.md). */
const WATCH_REQUESTS_PER_SECOND = 4;

/** How long readiness waits for Redis to answer. */
const CHECK_WITHIN_MS = 200;

export function composeRedisServices(config: Config, secrets: Secrets, logger: Logger): RedisServices {
  return secrets.redisUrl === undefined ? perProcess() : throughRedis(config, secrets.redisUrl, logger);
}

function perProcess(): RedisServices {
  return {
    rateLimiter: createInProcessRateLimiter(),
    pacerFor: ({ supplier }) =>
      supplier.requestsPerSecond === null
        ? createUnlimitedPacer()
        : createInProcessPacer({ requestsPerSecond: supplier.requestsPerSecond }),
    watchPacerFor: () => createInProcessPacer({ requestsPerSecond: WATCH_REQUESTS_PER_SECOND }),
    cacheFor: () => createInProcessJsonCache(),
    check: () =>
      Promise.resolve({ name: 'redis', ok: true, detail: 'not configured, limits are per process' }),
    close: () => Promise.resolve(),
  };
}

function throughRedis(config: Config, url: string, logger: Logger): RedisServices {
  const redis = createRedis({
    url,
    logger: {
      info: (message) => logger.info({ part: 'redis' }, message),
      warn: (fields, message) => logger.warn({ part: 'redis', ...fields }, message),
    },
  });
  return {
    rateLimiter: createRedisRateLimiter({ redis, keyPrefix: `${config.namespacePrefix}:limit:` }),
    pacerFor: ({ supplier, environment }) =>
      supplier.requestsPerSecond === null
        ? createUnlimitedPacer()
        : createRedisPacer({
            redis,
            key: `${config.namespacePrefix}:pace:${environment}:supplier`,
            requestsPerSecond: supplier.requestsPerSecond,
            withoutRedis: createInProcessPacer({
              requestsPerSecond: supplier.requestsPerSecond * supplier.shareWithoutRedis,
            }),
          }),
    watchPacerFor: (environment) =>
      createRedisPacer({
        redis,
        key: `${config.namespacePrefix}:pace:${environment}:gateway-watch`,
        requestsPerSecond: WATCH_REQUESTS_PER_SECOND,
        withoutRedis: createInProcessPacer({ requestsPerSecond: WATCH_REQUESTS_PER_SECOND }),
      }),
    cacheFor: (environment) =>
      createRedisJsonCache({ redis, keyPrefix: `${config.namespacePrefix}:cache:${environment}:` }),
    check: async () =>
      (await redis.isReady(CHECK_WITHIN_MS))
        ? { name: 'redis', ok: true }
        : { name: 'redis', ok: true, detail: 'not reachable, limits are per process' },
    close: () => {
      redis.close();
      return Promise.resolve();
    },
  };
}
