import { RateLimiterRedis, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiter, LimitVerdict } from '../rate-limiter.ts';
import type { RedisConnection } from './connection.ts';
import { createCountAhead, type Counted } from './count-ahead.ts';

/**
 * A limiter that all processes share: exact while Redis answers. While it is down each process counts for
 * itself, so at most the number of processes times the limit passes. Never throws. `keyPrefix`: for
 * installations that share a Redis.
 */
export function createRedisRateLimiter(options: {
  readonly redis: RedisConnection;
  readonly keyPrefix: string;
}): RateLimiter {
  const { redis, keyPrefix } = options;
  const local = createWindowCounter();
  const shared = new RateLimiterRedis({
    storeClient: redis.client,
    keyPrefix,
    // Limits differ by account and may change in the middle of a window, so the counter only counts and the
    // verdict is ours.
    points: Number.MAX_SAFE_INTEGER,
    duration: WINDOW_SECONDS,
    rejectIfRedisNotReady: true,
  });
  const takeNumber = createCountAhead({
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
    consume: async (bucket, limitPerMinute) =>
      verdictOf(await takeNumber(bucket, limitPerMinute), limitPerMinute),
    giveBack: async (bucket) => {
      await redis.attempt<unknown>(
        () => shared.reward(bucket, 1),
        () => local.reward(bucket, 1),
      );
    },
  };
}

export const WINDOW_SECONDS = 60;

/** The counter of both limiters. It only counts; the limit is applied by `verdictOf`. */
export function createWindowCounter(): Pick<RateLimiterMemory, 'consume' | 'reward'> {
  return new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS });
}

/** What a count means under a limit. */
export function verdictOf(counted: Counted, limitPerMinute: number): LimitVerdict {
  return {
    allowed: counted.consumedPoints <= limitPerMinute,
    limit: limitPerMinute,
    remaining: Math.max(0, limitPerMinute - counted.consumedPoints),
    resetAtMs: Date.now() + Math.max(0, counted.msBeforeNext),
  };
}

export function createInProcessRateLimiter(): RateLimiter {
  const counter = createWindowCounter();
  return {
    consume: async (bucket, limitPerMinute) => verdictOf(await counter.consume(bucket), limitPerMinute),
    giveBack: async (bucket) => {
      await counter.reward(bucket, 1);
    },
  };
}
