/** What every activity is wrapped with: error translation, and heartbeats for those that cross the network. */
import { ApplicationFailure, heartbeat } from '@temporalio/activity';
import { HoldConflict } from '../src/ledger/store/ledger.ts';

/**
 * Makes permanent errors final for Temporal. Other errors stay retryable, so that a bug shows as an activity that keeps failing and not as money given
 * back. Messages hold ids only, never install data.
 */
export function toFailure(error: unknown): unknown {
  if (error instanceof HoldConflict) return ApplicationFailure.nonRetryable(error.message, error.name);
  return error;
}

/** Wraps every activity of a set with `toFailure`. */
export function withFailures<T extends object>(activities: T): T {
  return Object.fromEntries(
    Object.entries(activities as Record<string, (...args: unknown[]) => Promise<unknown>>).map(
      ([name, activity]) => [
        name,
        async (...args: unknown[]) => {
          try {
            return await activity(...args);
          } catch (error) {
            throw toFailure(error);
          }
        },
      ],
    ),
  ) as T;
}

export const BEAT_MS = 1_000;

/**
 * Sends heartbeats while an activity runs, so that a lost task or a dead worker is noticed within seconds instead of at the time limit. A short step
 * sends none.
 */
export function withHeartbeat<T extends object>(activities: T): T {
  return Object.fromEntries(
    Object.entries(activities as Record<string, (...args: unknown[]) => Promise<unknown>>).map(
      ([name, activity]) => [
        name,
        async (...args: unknown[]) => {
          const beats = setInterval(heartbeat, BEAT_MS);
          try {
            return await activity(...args);
          } finally {
            clearInterval(beats);
          }
        },
      ],
    ),
  ) as T;
}
