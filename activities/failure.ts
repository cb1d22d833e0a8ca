/** What every activity is wrapped with: error translation, and heartbeats for those that cross the network. */
import { ApplicationFailure, heartbeat } from '@temporalio/activity';
import { HoldConflict } from '../src/ledger/store/holds.ts';

/**
 * Makes permanent errors final for Temporal. Other errors stay retryable, so that a bug shows as an activity that keeps failing and not as money given
 * back. Messages hold ids only, never install data.
 */
function toFailure(error: unknown): unknown {
  if (error instanceof HoldConflict) return ApplicationFailure.nonRetryable(error.message, error.name);
  return error;
}

type Activity = (...args: unknown[]) => Promise<unknown>;

function wrapEach<T extends object>(
  activities: T,
  run: (activity: () => Promise<unknown>) => Promise<unknown>,
): T {
  const wrapped = Object.entries(activities as Record<string, Activity>).map(
    ([name, activity]) => [name, (...args: unknown[]) => run(async () => activity(...args))] as const,
  );
  return Object.fromEntries(wrapped) as T;
}

/** Wraps every activity of a set with `toFailure`. */
export function withFailures<T extends object>(activities: T): T {
  return wrapEach(activities, (run) =>
    run().catch((error: unknown) => {
      throw toFailure(error);
    }),
  );
}

const BEAT_MS = 1_000;

/**
 * Sends heartbeats while an activity runs, so that a lost task or a dead worker is noticed within seconds instead of at the time limit. A short step
 * sends none.
 */
export function withHeartbeat<T extends object>(activities: T): T {
  return wrapEach(activities, (run) => {
    const beats = setInterval(heartbeat, BEAT_MS);
    return run().finally(() => clearInterval(beats));
  });
}
