/**
 * Histories that do not grow without end, however long a workflow waits and however often it is asked meanwhile. Every step may run twice, so
 * a fresh history begins with the same input and finds everything in the rows.
 */
import { allHandlersFinished, condition, sleep, workflowInfo } from '@temporalio/workflow';

/**
 * Begins anew with `again`, which never comes back, where the server suggests it; whoever is being answered is answered first. Not while somebody
 * `isBlocked`: waits for the story to go on before there is an answer.
 */
export async function continueAsNewIfSuggested(
  again: () => Promise<unknown>,
  isBlocked: () => boolean = () => false,
): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await condition(() => allHandlersFinished() || isBlocked());
  if (!isBlocked()) await again();
}

/** Waits so long, or until it is over earlier; also until the history has grown so long that it should begin anew. */
export async function pauseUntil(
  pauseMs: number,
  summary: string,
  isOver: () => boolean = () => false,
): Promise<void> {
  await condition(() => isOver() || workflowInfo().continueAsNewSuggested, pauseMs, { summary });
}

/**
 * Sleeps so long, or until it is over earlier; its timer then runs out by itself. A plain sleep with no scope of its own, so that histories from
 * before anything could end it replay, with a cancellation in them as well.
 */
export async function sleepUntil(pauseMs: number, summary: string, isOver: () => boolean): Promise<void> {
  let isDone = false;
  const asleep = sleep(pauseMs, { summary }).then(() => {
    isDone = true;
  });
  await Promise.race([asleep, condition(() => isDone || isOver())]);
}
