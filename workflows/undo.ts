/**
 * Undo steps of a saga: registered before the act, run in reverse, never cancelled. Each tolerates that there is nothing to undo and
 * retries until it wins; one that cannot (by its word, or refused for good) makes the whole undo answer false, so that a person is called.
 */
import { CancellationScope, TemporalFailure } from '@temporalio/workflow';

export interface Undo<Cause> {
  before(step: (cause: Cause) => Promise<boolean>): void;
  /** True when everything is undone; stops at the first step that could not be, and may be run again. */
  run(cause: Cause): Promise<boolean>;
}

export function createUndo<Cause>(): Undo<Cause> {
  const steps: ((cause: Cause) => Promise<boolean>)[] = [];
  return {
    before: (step) => void steps.push(step),
    run: (cause) =>
      CancellationScope.nonCancellable(async () => {
        for (const step of steps.toReversed()) {
          if (!(await succeeds(step(cause)))) return false;
        }
        return true;
      }),
  };
}

async function succeeds(step: Promise<boolean>): Promise<boolean> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof TemporalFailure) return false;
    throw error;
  }
}
