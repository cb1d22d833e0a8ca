/**
 * What every activity is wrapped with: error translation, and heartbeats for those that cross the network.
 */
import { ApplicationFailure, heartbeat } from '@temporalio/activity';
import { refusedRowOf } from '../src/platform/database/errors.ts';
import { HoldConflict } from '../src/ledger/store/holds.ts';

/** Told of each row that the database refuses for good, with the step that sent it. */
export type OnRefusedRow = (refused: { readonly step: string; readonly detail: string }) => void;

/**
 * Makes permanent errors final for Temporal: our ledger's, and rows that the database refuses however often
 * they are sent. Other errors stay retryable, so that a bug shows as an activity that keeps failing and not
 * as money given back. Messages hold ids only, never install data.
 */
function toFailure(error: unknown, step: string, onRefusedRow: OnRefusedRow): unknown {
  if (error instanceof HoldConflict) return ApplicationFailure.nonRetryable(error.message, error.name);
  const detail = refusedRowOf(error);
  if (detail === undefined) return error;
  onRefusedRow({ step, detail });
  return ApplicationFailure.nonRetryable(`the database refuses the row: ${detail}`, 'RefusedRow');
}

type Activity = (...args: unknown[]) => Promise<unknown>;

function wrapEach<T extends object>(
  activities: T,
  run: (activity: () => Promise<unknown>, name: string) => Promise<unknown>,
): T {
  const wrapped = Object.entries(activities as Record<string, Activity>).map(
    ([name, activity]) => [name, (...args: unknown[]) => run(async () => activity(...args), name)] as const,
  );
  return Object.fromEntries(wrapped) as T;
}

/** Wraps every activity of a set with `toFailure`. */
export function withFailures<T extends object>(activities: T, onRefusedRow: OnRefusedRow): T {
  return wrapEach(activities, (run, step) =>
    run().catch((error: unknown) => {
      throw toFailure(error, step, onRefusedRow);
    }),
  );
}

const BEAT_MS = 1_000;

/**
 * Sends heartbeats while an activity runs, so that a lost task or a dead worker is noticed within seconds
 * instead of at the time limit. A short step sends none.
 */
export function withHeartbeat<T extends object>(activities: T): T {
  return wrapEach(activities, (run) => {
    const beats = setInterval(heartbeat, BEAT_MS);
    return run().finally(() => clearInterval(beats));
  });
}
