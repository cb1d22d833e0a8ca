import {
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { EngineUnavailable } from '../../domain/outcome.ts';

/**
 * What an error of a call to Temporal means; undefined where it comes from elsewhere. `no-answer`: the deadline passed, and the call may have
 * taken effect. `unavailable`: the server could not be reached or refused the call.
 */
export function temporalFailure(
  error: unknown,
): 'not-found' | 'already-started' | 'no-answer' | 'unavailable' | undefined {
  if (error instanceof WorkflowNotFoundError) return 'not-found';
  if (error instanceof WorkflowExecutionAlreadyStartedError) return 'already-started';
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return 'no-answer';
  if (error instanceof ServiceError || isGrpcServiceError(error)) return 'unavailable';
  return undefined;
}

/** Throws EngineUnavailable where Temporal could not be reached, and any other error as it is. */
export function rethrow(error: unknown): never {
  if (temporalFailure(error) === 'unavailable')
    throw new EngineUnavailable('Temporal could not be asked', { cause: error });
  throw error;
}
