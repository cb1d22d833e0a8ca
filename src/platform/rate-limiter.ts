/**
 * Counting what callers do and pacing what we do. Both work on shared counters and continue, per process,
 * when those are gone; neither ever holds a caller longer than 250 ms for its own sake.
 */
export interface LimitVerdict {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** When the present window ends, milliseconds since the epoch. */
  readonly resetAtMs: number;
}

export interface RateLimiter {
  /** Counts one request against a bucket: fixed windows of 60 s. Never throws or rejects. */
  consume(bucket: string, limitPerMinute: number): Promise<LimitVerdict>;
  /** Takes back one request that should not count after all. Never throws. */
  giveBack(bucket: string): Promise<void>;
}

export interface Pacer {
  /**
   * Waits for a free slot for one call to a vendor; resolves false when none comes within `withinMs`, or when
   * `signal` ends the wait.
   */
  takeSlot(withinMs: number, signal?: AbortSignal): Promise<boolean>;
}
