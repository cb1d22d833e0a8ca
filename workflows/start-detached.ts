/** Starts a workflow that outlives its caller. */
import {
  ParentClosePolicy,
  startChild,
  TemporalFailure,
  type ChildWorkflowOptions,
} from '@temporalio/workflow';

/** Waits until it has begun and no longer. `false`: one of this id is running already. */
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
