/**
 * Histories that do not grow without end, however long a workflow waits and however often it is asked meanwhile. Every step may run twice, so
 * a fresh history begins with the same input and finds everything in the rows.
 */
import { allHandlersFinished, condition, workflowInfo } from '@temporalio/workflow';

/** Begins anew with `again`, which never comes back, where the server suggests it; whoever is being answered is answered first. */
export async function freshHistory(again: () => Promise<unknown>): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await condition(allHandlersFinished);
  await again();
}

/** Waits so long, or until it is over earlier; also until the history has grown so long that it should begin anew. */
export async function pauseUntil(
  pauseMs: number,
  summary: string,
  isOver: () => boolean = () => false,
): Promise<void> {
  await condition(() => isOver() || workflowInfo().continueAsNewSuggested, pauseMs, { summary });
}
