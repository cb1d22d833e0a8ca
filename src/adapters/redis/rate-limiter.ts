/**
 * The port RateLimiter on counters that all processes share. Guarantee: exact across processes while Redis answers; without it every
 * process goes on counting for itself, so what passes is at most the number of processes times the limit. Never throws.
 */
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiter } from '../../ports/rate-limiter.ts';
import type { RedisConnection } from './connection.ts';
import { createWindowCounter, verdictOf, WINDOW_SECONDS, type Counted } from './in-process.ts';

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
  const countTogether = gather((bucket, points) =>
    redis.attempt<RateLimiterRes>(
      () => shared.consume(bucket, points),
      () => local.consume(bucket, points),
    ),
  );
  return {
    consume: async (bucket, limitPerMinute) => verdictOf(await countTogether(bucket), limitPerMinute),
  };
}

/**
 * Counts the requests of one turn of the event loop that share a bucket in one call, and gives each the number it would have got alone,
 * in order of arrival. A round trip to Redis is most of what a cached read costs; nobody waits longer for it.
 */
function gather(
  count: (bucket: string, points: number) => Promise<Counted>,
): (bucket: string) => Promise<Counted> {
  const open = new Map<string, { points: number; readonly counted: Promise<Counted> }>();
  return async (bucket) => {
    let batch = open.get(bucket);
    if (!batch) {
      const opened = { points: 0, counted: endOfTurn().then(() => close(bucket)) };
      open.set(bucket, (batch = opened));
    }
    batch.points += 1;
    const place = batch.points;
    const { consumedPoints, msBeforeNext } = await batch.counted;
    return { consumedPoints: consumedPoints - (batch.points - place), msBeforeNext };
  };

  function close(bucket: string): Promise<Counted> {
    const points = open.get(bucket)?.points ?? 1;
    open.delete(bucket);
    return count(bucket, points);
  }
}

const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
