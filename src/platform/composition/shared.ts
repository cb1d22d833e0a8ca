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
import type { ReadinessCheck } from '../http/admin.ts';
import type { Pacer } from '../rate-limiter.ts';

export const systemClock: Clock = { now: () => new Date() };

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

export type RedisServices = ReturnType<typeof composeRedisServices>;

export function composeRedisServices(
  { namespacePrefix }: Config,
  { redisUrl: url }: Secrets,
  logger: Logger,
) {
  const log = logger.child({ part: 'redis' });
  const redis = url === undefined ? undefined : createRedis({ url, logger: log });
  /** `share`: the part of the pace that this process takes while Redis is away. */
  const pacer = (name: string, requestsPerSecond: number, share = 1): Pacer => {
    if (!redis) return createInProcessPacer({ requestsPerSecond });
    const withoutRedis = createInProcessPacer({ requestsPerSecond: requestsPerSecond * share });
    return createRedisPacer({
      redis,
      key: `${namespacePrefix}:pace:${name}`,
      requestsPerSecond,
      withoutRedis,
    });
  };
  return {
    rateLimiter: redis
      ? createRedisRateLimiter({ redis, keyPrefix: `${namespacePrefix}:limit:` })
      : createInProcessRateLimiter(),
    /** The supplier's allowance. */
    pacerFor: ({ environment, supplier }: WorldConfig): Pacer =>
      supplier.requestsPerSecond === null
        ? createUnlimitedPacer()
        : pacer(`${environment}:supplier`, supplier.requestsPerSecond, supplier.shareWithoutRedis),
    /** How often the watch over unpaid payments may call the gateway, all processes together. */
    watchPacerFor: (environment: Environment) =>
      pacer(`${environment}:gateway-watch`, WATCH_REQUESTS_PER_SECOND),
    cacheFor: (environment: Environment) =>
      redis
        ? createRedisJsonCache({ redis, keyPrefix: `${namespacePrefix}:cache:${environment}:` })
        : createInProcessJsonCache(),
    /** Never fails readiness: everything goes on without Redis. */
    check: async (): Promise<ReadinessCheck> => {
      if (await redis?.isReady(CHECK_WITHIN_MS)) return { name: 'redis', ok: true };
      const why = redis ? 'not reachable' : 'not configured';
      return { name: 'redis', ok: true, detail: `${why}, limits are per process` };
    },
    close: (): Promise<void> => {
      redis?.close();
      return Promise.resolve();
    },
  };
}
