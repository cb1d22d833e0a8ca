/**
 * How runs begin: anew with continue-as-new, which bounds the history of a workflow that runs for long, and
 * beside their caller. Every step may run twice, and the rows say how far the work is, so a new run starts
 * with the same input and nothing else.
 */
import {
  continueAsNew,
  workflowInfo,
  ParentClosePolicy,
  startChild,
  TemporalFailure,
  type ChildWorkflowOptions,
} from '@temporalio/workflow';

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

/**
 * Starts a workflow that outlives its caller. Waits until it has begun and no longer. `false`: one of this id
 * is running already.
 */
export async function startDetached<Input>(
  workflow: string | ((input: Input) => Promise<unknown>),
  input: Input,
  options: Omit<ChildWorkflowOptions, 'args' | 'parentClosePolicy'> & { readonly workflowId: string },
): Promise<boolean> {
  const child = { ...options, args: [input] as [Input], parentClosePolicy: ParentClosePolicy.ABANDON };
  try {
    await startChild<(input: Input) => Promise<unknown>>(workflow as string, child);
    return true;
  } catch (error) {
    const isRunning =
      error instanceof TemporalFailure && error.name === 'WorkflowExecutionAlreadyStartedError';
    if (!isRunning) throw error;
    return false;
  }
}
