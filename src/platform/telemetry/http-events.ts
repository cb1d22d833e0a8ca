/** What happens at the HTTP door, one function per event: each decides what is logged and what is counted. Never throws. */
import type { Environment } from '../../domain/account.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Logger } from './logger.ts';
import type { HttpMetrics } from './metrics.ts';

export interface AnsweredRequest {
  readonly requestId: string;
  /** The purchase that the request turned out to be about. */
  readonly transactionId: string | undefined;
  /** The route's template, or `unmatched`. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  /** To a hundredth. */
  readonly durationMs: number;
  readonly clientAddress: string;
  readonly accountId: string | undefined;
  /** Who has signed in. */
  readonly personId: string | undefined;
  readonly environment: Environment | undefined;
  readonly errorCode: ErrorCode | undefined;
  /** What is behind a 503. */
  readonly cause: string | undefined;
}

export interface HttpEvents {
  /** Every request, once. */
  answered(request: AnsweredRequest): void;
  /** An error that is nobody's refusal: ours to repair. */
  failed(failure: { readonly requestId: string; readonly route: string; readonly error: unknown }): void;
  /** A purchase was answered, but the answer could not be kept under its Idempotency-Key. */
  answerNotKept(failure: { readonly requestId: string; readonly error: unknown }): void;
  /** A connection failed outside any request's handling. */
  connectionFailed(error: unknown): void;
}

/** The events of one process's HTTP door. */
export function createHttpEvents(options: {
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
}): HttpEvents {
  const { logger, metrics } = options;
  return {
    answered(request) {
      metrics.answered(request);
      if (request.cause === undefined) logger.info(request, 'request answered');
      else logger.warn(request, 'request answered');
    },
    failed: (failure) => logger.error({ ...failure }, 'request failed'),
    answerNotKept: (failure) => logger.error({ ...failure }, 'answer not kept under its idempotency key'),
    connectionFailed: (error) => logger.debug({ error }, 'connection failed'),
  };
}
