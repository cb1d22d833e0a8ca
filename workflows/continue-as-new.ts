/**
 * Continue-as-new bounds the history of a workflow that waits for long. Every step may run twice, so the new run starts with the same input and
 * finds everything else in the database.
 */
import { allHandlersFinished, condition, sleep, workflowInfo } from '@temporalio/workflow';

/**
 * Calls `again`, which does not return, when the server suggests to continue as new. Running handlers finish first, unless one `isBlocked`: it waits
 * for a later step of this run.
 */
export async function continueAsNewIfSuggested(
  again: () => Promise<unknown>,
  isBlocked: () => boolean = () => false,
): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await condition(() => allHandlersFinished() || isBlocked());
  if (!isBlocked()) await again();
}

/** Waits for `pauseMs`, until `isOver`, or until the history is long enough to continue as new. */
export async function pauseUntil(
  pauseMs: number,
  summary: string,
  isOver: () => boolean = () => false,
): Promise<void> {
  await condition(() => isOver() || workflowInfo().continueAsNewSuggested, pauseMs, { summary });
}

/**
 * Sleeps for `pauseMs` or until `isOver`; the timer is left to run out. A plain sleep without a cancellation scope, so that histories of earlier
 * builds replay, also those with a cancellation.
 */
export async function sleepUntil(pauseMs: number, summary: string, isOver: () => boolean): Promise<void> {
  let isDone = false;
  const asleep = sleep(pauseMs, { summary }).then(() => {
    isDone = true;
  });
  await Promise.race([asleep, condition(() => isDone || isOver())]);
}
