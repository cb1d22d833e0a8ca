/**
 * The simulator's clock: real time plus what it was told to skip. Guarantee: never runs backwards by a skip; what was skipped is kept over
 * a restart.
 */
import type { Meta } from '../support/database.ts';

export interface Clock {
  now: () => number;
  /** Runs `work` as if it were this moment. */
  at: <T>(atMs: number, work: () => T) => T;
  /** Skips forward to this moment; nothing happens when it has passed. */
  skipTo: (atMs: number) => void;
  /** How far it is ahead of real time. */
  aheadMs: () => number;
}

/** A clock over `base`. */
export function createClock(base: () => number, meta: Meta): Clock {
  let aheadMs = Number(meta.read('clockAheadMs') ?? 0);
  let frozenAtMs: number | null = null;
  return {
    now: () => frozenAtMs ?? base() + aheadMs,
    at: (atMs, work) => {
      const before = frozenAtMs;
      frozenAtMs = atMs;
      try {
        return work();
      } finally {
        frozenAtMs = before;
      }
    },
    skipTo: (atMs) => {
      const wantedMs = atMs - base();
      if (wantedMs <= aheadMs) return;
      aheadMs = wantedMs;
      meta.write('clockAheadMs', String(aheadMs));
    },
    aheadMs: () => aheadMs,
  };
}
