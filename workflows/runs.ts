/**
 * How runs begin anew with continue-as-new, which bounds the history of a workflow that runs for long. Every
 * step may run twice, and the rows say how far the work is, so a new run starts
 * with the same input and nothing else.
 */
import { continueAsNew, workflowInfo } from '@temporalio/workflow';

/** Thrown to begin a new run, from however deep inside a step. */
class HistoryIsLong extends Error {}

/**
 * Begins a new run if the server suggests it. Open updates fail then, so callers are answered first wherever
 * they can be.
 */
export function continueAsNewIfSuggested(): void {
  if (workflowInfo().continueAsNewSuggested) throw new HistoryIsLong();
}

/** Runs a workflow that may begin again at any pause, with the same input. */
export async function fromRows<Result>(input: unknown, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof HistoryIsLong)) throw error;
    return continueAsNew<(input: unknown) => Promise<Result>>(input);
  }
}

/** This run continues an earlier one, whose callers have been answered. */
export const isContinued = (): boolean => workflowInfo().continuedFromExecutionRunId !== undefined;
