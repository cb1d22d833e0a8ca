/**
 * Both ports of rate-limiter.ts without Redis, for one process: what a laptop without redis-server runs on, and what the Redis ones
 * fall back to. Guarantee: never fails. Must not be mistaken for shared: every process counts for itself.
 */
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { LimitVerdict, Pacer, RateLimiter } from '../rate-limiter.ts';
import { paceOf, takeFrom } from './slots.ts';

export const WINDOW_SECONDS = 60;

/** The counter behind both limiters; it only counts, whatever the limit is. */
export function createWindowCounter(): { consume(bucket: string, points?: number): Promise<RateLimiterRes> } {
  return new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS });
}

/** Where a request stands in its window. */
export type Counted = Pick<RateLimiterRes, 'consumedPoints' | 'msBeforeNext'>;

/** What a count means under a limit. */
export function verdictOf(counted: Counted, limitPerMinute: number): LimitVerdict {
  return {
    allowed: counted.consumedPoints <= limitPerMinute,
    limit: limitPerMinute,
    remaining: Math.max(0, limitPerMinute - counted.consumedPoints),
    resetAtMs: Date.now() + Math.max(0, counted.msBeforeNext),
  };
}

/** A limiter of this process alone. */
export function createInProcessRateLimiter(): RateLimiter {
  const counter = createWindowCounter();
  return {
    consume: async (bucket, limitPerMinute) => verdictOf(await counter.consume(bucket), limitPerMinute),
  };
}

/** A pacer of this process alone. Throws RangeError unless the pace is positive. */
export function createInProcessPacer(options: { readonly requestsPerSecond: number }): Pacer {
  const pace = paceOf(options.requestsPerSecond);
  const granted: number[] = [];
  return {
    takeSlot: async (withinMs) => {
      const nowMs = performance.now();
      const atMs = takeFrom(granted, nowMs, withinMs, pace);
      if (atMs === null) return false;
      await pauseFor(atMs - nowMs);
      return true;
    },
  };
}

/** For vendors that set no limit. */
export function createUnlimitedPacer(): Pacer {
  return { takeSlot: () => Promise.resolve(true) };
}

/** Waits, and not at all for less than a millisecond. */
export async function pauseFor(waitMs: number): Promise<void> {
  if (waitMs < 1) return;
  await new Promise((resolve) => setTimeout(resolve, Math.ceil(waitMs)));
}
