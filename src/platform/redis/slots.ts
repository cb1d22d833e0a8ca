/**
 * The arithmetic of pacing: at most n calls in any window, each call at the earliest free moment. Pure; Redis runs the same steps in a
 * script (pacer.ts), so that both can be compared.
 */

/** Calls may reach the vendor closer together than they left here: what lies between is networks and busy machines. */
const TRAVEL_MARGIN_MS = 100;

export interface Pace {
  readonly calls: number;
  readonly windowMs: number;
}

/** `8` → 8 calls in any 1,100 ms. Throws RangeError unless positive. */
export function paceOf(requestsPerSecond: number): Pace {
  if (!(requestsPerSecond > 0 && Number.isFinite(requestsPerSecond))) {
    throw new RangeError('requestsPerSecond must be positive');
  }
  const calls = Math.max(1, Math.trunc(requestsPerSecond));
  return { calls, windowMs: Math.ceil((1000 * calls) / requestsPerSecond) + TRAVEL_MARGIN_MS };
}

/**
 * When the next call may go, given the times (milliseconds, ascending) of calls granted so far; it is added to them. Null when that is
 * later than `withinMs` from now, and then nothing is added.
 */
export function takeFrom(granted: number[], nowMs: number, withinMs: number, pace: Pace): number | null {
  const oldest = granted.at(-pace.calls);
  const atMs = oldest === undefined ? nowMs : Math.max(nowMs, oldest + pace.windowMs);
  if (atMs - nowMs > withinMs) return null;
  granted.push(atMs);
  if (granted.length > pace.calls) granted.shift();
  return atMs;
}
