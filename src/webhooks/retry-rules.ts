import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/clock.ts';

/** The wait before each attempt after the previous one; 75 h 35 min 5 s in all. Published in docs/WEBHOOKS.md. */
export const ATTEMPT_WAITS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** Up to a fifth earlier or later, so that messages that failed together are not retried together. */
const JITTER_PARTS = 5;

/** A receiver's Retry-After can at most double a wait. */
const MAX_RETRY_AFTER_FACTOR = 2;

/** An endpoint without one success for this long is disabled. */
export const FAILING_LIMIT_MS = 5 * 24 * HOUR_MS;

/** The fourth attempt is half an hour after the first: longer than a restart takes. */
const MIN_FAILED_ATTEMPTS = 4;

/**
 * The time of the next attempt in epoch milliseconds, after `attempts` attempts of which the last ended at `nowMs`; undefined after the last.
 * `random` is in [0, 1). Not before a Retry-After, unless that is more than twice the planned wait.
 */
export function nextAttempt(
  attempts: number,
  nowMs: number,
  random: number,
  retryAfterMs = 0,
  waitsMs: readonly number[] = ATTEMPT_WAITS_MS,
): number | undefined {
  const plannedMs = waitsMs[attempts];
  if (plannedMs === undefined) return undefined;
  const jitterMs = Math.trunc(plannedMs / JITTER_PARTS);
  const jitteredMs = plannedMs - jitterMs + Math.trunc(random * (2 * jitterMs + 1));
  return nowMs + Math.max(jitteredMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_FACTOR * plannedMs));
}

export interface EndpointFailures {
  /** The first failure since the last success, in epoch milliseconds. */
  readonly failingSinceMs: number;
  /** Of the current message, including the last failure; without one, of the message with the most attempts since then. */
  readonly attempts: number;
}

/**
 * Whether to disable the endpoint: only failures for five days. One message must have failed several times too; otherwise a single failure
 * would disable an endpoint that was not called since, for example after an outage of ours. Checked at every failed attempt, and by the sweep
 * for endpoints without pending messages.
 */
export function shouldDisable(
  { failingSinceMs, attempts }: EndpointFailures,
  nowMs: number,
  limitMs = FAILING_LIMIT_MS,
): boolean {
  return attempts >= MIN_FAILED_ATTEMPTS && nowMs - failingSinceMs >= limitMs;
}
