import { RateLimiterRedis, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiter, LimitVerdict } from '../rate-limiter.ts';
import type { RedisConnection } from './connection.ts';

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

const WINDOW_SECONDS = 60;

/** The counter of both limiters. It only counts; the limit is applied by `verdictOf`. */
function createWindowCounter(): Pick<RateLimiterMemory, 'consume' | 'reward'> {
  return new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS });
}

/** What a count means under a limit. */
function verdictOf(counted: Counted, limitPerMinute: number): LimitVerdict {
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

interface CountAheadOptions {
  /** Adds points to a bucket and returns its count then. Never rejects. */
  readonly count: (bucket: string, points: number) => Promise<Counted>;
  /** Gives unused points back. Never rejects. */
  readonly giveBack: (bucket: string, points: number) => Promise<unknown>;
}

/** A bucket that is refilled this soon again is busy: fifty calls a second. */
const BUSY_WITHIN_MS = 20;
/** A bucket that is unused this long gives its permits back. */
const IDLE_MS = 100;
/** With more, the cost of a call hardly falls. */
const MAX_AHEAD = 256;
/** Of what the window has left; the limits of Standard and Premium are too small for any. */
const SHARE_AHEAD = 256;
/** Points given back after the window's end would count against the next one. */
const TOO_LATE_MS = 1_000;

interface Bucket {
  /** Permits that are counted and free, `next` to `last`. */
  next: number;
  last: number;
  endsAtMs: number;
  ahead: number;
  countedAtMs: number;
  usedAtMs: number;
  waiting: number;
  /** The call that reserves more permits. */
  refill: Promise<void> | undefined;
}

/**
 * Counts requests with fewer calls to Redis: requests of one turn of the event loop are counted together, and
 * a busy bucket reserves some permits in advance (docs/decisions/0025). Every request takes one permit, in
 * order of arrival. Unused permits are given back. Answers the number of a request in its window, of `limit`
 * requests.
 */
export function createCountAhead({
  count,
  giveBack,
}: CountAheadOptions): (bucket: string, limit: number) => Promise<Counted> {
  const buckets = new Map<string, Bucket>();

  return async (name, limit) => {
    const bucket = buckets.get(name) ?? open(name);
    bucket.usedAtMs = performance.now();
    while (free(bucket, performance.now()) < 1) {
      bucket.waiting += 1;
      await (bucket.refill ??= refill(name, bucket, limit));
      bucket.waiting -= 1;
    }
    return takePermit(bucket, performance.now());
  };

  function open(name: string): Bucket {
    const bucket = newBucket();
    buckets.set(name, bucket);
    setTimeout(closeIdle, IDLE_MS, name, bucket).unref();
    return bucket;
  }

  /** For all who ask in this turn of the event loop. */
  async function refill(name: string, bucket: Bucket, limit: number): Promise<void> {
    await endOfTurn();
    bucket.ahead = permitsAhead(bucket, limit, performance.now());
    const points = bucket.waiting + bucket.ahead;
    const { consumedPoints, msBeforeNext } = await count(name, points);
    bucket.countedAtMs = performance.now();
    bucket.endsAtMs = bucket.countedAtMs + Math.max(1, msBeforeNext);
    bucket.last = consumedPoints;
    bucket.next = consumedPoints - points + 1;
    bucket.refill = undefined;
  }

  function closeIdle(name: string, bucket: Bucket): void {
    const nowMs = performance.now();
    if (bucket.waiting > 0 || nowMs - bucket.usedAtMs < IDLE_MS) {
      setTimeout(closeIdle, IDLE_MS, name, bucket).unref();
      return;
    }
    buckets.delete(name);
    const unused = free(bucket, nowMs + TOO_LATE_MS);
    if (unused > 0) void giveBack(name, unused);
  }
}

function newBucket(): Bucket {
  return {
    next: 1,
    last: 0,
    endsAtMs: 0,
    ahead: 0,
    countedAtMs: Number.NEGATIVE_INFINITY,
    usedAtMs: performance.now(),
    waiting: 0,
    refill: undefined,
  };
}

function takePermit(bucket: Bucket, nowMs: number): Counted {
  const consumedPoints = bucket.next;
  bucket.next += 1;
  return { consumedPoints, msBeforeNext: bucket.endsAtMs - nowMs };
}

function free({ next, last, endsAtMs }: Bucket, nowMs: number): number {
  return nowMs < endsAtMs ? last - next + 1 : 0;
}

/** Twice as many as the last time while the bucket is busy, else none. */
function permitsAhead({ ahead, countedAtMs, endsAtMs, last }: Bucket, limit: number, nowMs: number): number {
  if (nowMs - countedAtMs > BUSY_WITHIN_MS || nowMs >= endsAtMs) return 0;
  const share = Math.trunc(Math.max(0, limit - last) / SHARE_AHEAD);
  return Math.min(Math.max(1, ahead * 2), share, MAX_AHEAD);
}

const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Where a request stands in its window. */
type Counted = Pick<RateLimiterRes, 'consumedPoints' | 'msBeforeNext'>;
