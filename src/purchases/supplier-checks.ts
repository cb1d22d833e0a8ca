/** When to look again for what the supplier has not delivered yet: a pure schedule, quick at first, slower once a person was called. */
import type { PurchaseTimings } from './purchase.ts';

export interface NextCheck {
  readonly delayMs: number;
  readonly needsAttention: boolean;
}

/** The slow pace doubles with every look up to this many times the first slow pause, which bounds the history of a parked purchase. */
const MAX_SLOW_FACTOR = 12;

/** `slowLooks`: how many looks were already made at the slow pace. */
export function nextCheck(elapsedMs: number, slowLooks: number, timings: PurchaseTimings): NextCheck {
  const leftMs = timings.attentionAfterMs - elapsedMs;
  if (leftMs > 0) return { delayMs: Math.min(timings.lookMaxMs, leftMs), needsAttention: false };
  const factor = Math.min(2 ** Math.min(slowLooks, 30), MAX_SLOW_FACTOR);
  return { delayMs: timings.slowLookMs * factor, needsAttention: true };
}

const OWN_STEP_FIRST_MS = 1_000;
/** A quarter of the outage: after one of 20 minutes, all goes on within 5. */
const OWN_STEP_SHARE = 4;
const OWN_STEP_MAX_MS = 5 * 60_000;

/** How long to wait before a step in our own database is tried again that has failed for so long. */
export function nextOwnTryMs(failsForMs: number): number {
  return Math.min(Math.max(Math.trunc(failsForMs / OWN_STEP_SHARE), OWN_STEP_FIRST_MS), OWN_STEP_MAX_MS);
}
