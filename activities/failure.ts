/**
 * The border between our errors and Temporal's: what may pass by itself is retried, what cannot is final. Plain errors stay retryable,
 * so that a bug shows as an activity that keeps failing in the Temporal UI rather than as money given back.
 */
import { ApplicationFailure } from '@temporalio/activity';
import { HoldConflict } from '../src/ledger/store/ledger.ts';

/** Names an error for Temporal. Messages hold ids only, never install data. */
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
