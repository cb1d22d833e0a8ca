/**
 * The port RateLimiter on counters that all processes share. Guarantee: exact across processes while Redis answers; without it every
 * process goes on counting for itself, so what passes is at most the number of processes times the limit. Never throws.
 */
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiter } from '../rate-limiter.ts';
import type { RedisConnection } from './connection.ts';
import { createCountAhead } from './count-ahead.ts';
import { createWindowCounter, verdictOf, WINDOW_SECONDS } from './in-process.ts';

/** Makes the limiter; `keyPrefix` keeps what shares a Redis apart. */
export function createRedisRateLimiter(options: {
  readonly redis: RedisConnection;
  readonly keyPrefix: string;
}): RateLimiter {
  const { redis, keyPrefix } = options;
  const local = createWindowCounter();
  const shared = new RateLimiterRedis({
    storeClient: redis.client,
    keyPrefix,
    // Limits differ by account and may change in the middle of a window, so the counter only counts and the verdict is ours.
    points: Number.MAX_SAFE_INTEGER,
    duration: WINDOW_SECONDS,
    rejectIfRedisNotReady: true,
  });
  const place = createCountAhead({
    count: (bucket, points) =>
      redis.attempt<RateLimiterRes>(
        () => shared.consume(bucket, points),
        () => local.consume(bucket, points),
      ),
    giveBack: (bucket, points) =>
      redis.attempt<unknown>(
        () => shared.reward(bucket, points),
        () => undefined,
      ),
  });
  return {
    consume: async (bucket, limitPerMinute) => verdictOf(await place(bucket, limitPerMinute), limitPerMinute),
  };
}
