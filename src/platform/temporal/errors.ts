import { setTimeout as pause } from 'node:timers/promises';
import {
  ApplicationFailure,
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { EngineUnavailable } from '../../domain/outcome.ts';
import { PayloadUnreadable } from './payload-codec.ts';

/**
 * What an error of a call to Temporal means; undefined where it comes from elsewhere. `no-answer`: the
 * deadline passed or the answer cannot be decrypted, and the call may have taken effect. `unavailable`: the
 * server could not be reached or refused the call.
 */
export function temporalFailure(
  error: unknown,
): 'not-found' | 'already-started' | 'no-answer' | 'unavailable' | undefined {
  if (error instanceof WorkflowNotFoundError) return 'not-found';
  if (error instanceof WorkflowExecutionAlreadyStartedError) return 'already-started';
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || error instanceof PayloadUnreadable)
    return 'no-answer';
  if (error instanceof ServiceError || isGrpcServiceError(error)) return 'unavailable';
  return undefined;
}

/** The number of gRPC's status, if the server answered a direct call with an error. */
export const grpcCodeOf = (error: unknown): number | undefined =>
  isGrpcServiceError(error) ? error.code : undefined;

/** The type of the failure with which a workflow refused an update. */
export function updateFailureType(error: unknown): string | null | undefined {
  return error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure
    ? error.cause.type
    : undefined;
}

/** Throws EngineUnavailable if Temporal could not be reached, and any other error as it is. */
export function rethrow(error: unknown): never {
  if (temporalFailure(error) === 'unavailable')
    throw new EngineUnavailable('Temporal could not be asked', { cause: error });
  throw error;
}

/** Repeats a call that failed with an error that may pass, until the time is over. */
export async function insist<T>(
  call: () => Promise<T>,
  options: {
    readonly mayPass: (error: unknown) => boolean;
    readonly withinMs: number;
    readonly everyMs: number;
  },
): Promise<T> {
  const endsAtMs = performance.now() + options.withinMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!options.mayPass(error) || performance.now() > endsAtMs) throw error;
      await pause(options.everyMs);
    }
  }
}
