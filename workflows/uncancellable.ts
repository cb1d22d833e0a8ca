/**
 * "Request cancellation" in the Temporal UI changes nothing: money may be held or on its way. Every workflow
 * runs in a scope that cannot be cancelled. So does every handler of a signal or an update: it would
 * otherwise run in the cancelled root scope.
 */
import { CancellationScope, type WorkflowInterceptors } from '@temporalio/workflow';

/** Found by the SDK under this name when the workflows are bundled. */
export function interceptors(): WorkflowInterceptors {
  return {
    inbound: [
      {
        execute: (input, next) => CancellationScope.nonCancellable(() => next(input)),
        handleSignal: (input, next) => CancellationScope.nonCancellable(() => next(input)),
        handleUpdate: (input, next) => CancellationScope.nonCancellable(() => next(input)),
      },
    ],
  };
}
