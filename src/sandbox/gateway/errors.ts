/**
 * The gateway's refusals: HTTP status, message, type, code and what to do next, as its documentation has them. Guarantee: an operation
 * that refuses throws a GatewayError. Must not carry secrets in a message.
 */
export type ErrorType = 'validation_error' | 'api_error' | 'processor_error';

export interface Refusal {
  code: string;
  status?: number;
  type?: ErrorType;
  nextStep?: string;
}

/** A refusal by the gateway. */
export class GatewayError extends Error {
  readonly status: number;
  readonly code: string;
  readonly type: ErrorType;
  readonly nextStep: string;

  constructor(message: string, { code, status, type, nextStep }: Refusal) {
    super(message);
    this.name = 'GatewayError';
    this.status = status ?? 400;
    this.code = code;
    this.type = type ?? 'validation_error';
    this.nextStep = nextStep ?? 'Check the request and try again';
  }
}

/** A mandatory parameter is absent, null or empty. */
export function missing(message: string): GatewayError {
  return new GatewayError(message, { code: 'missing_params', nextStep: 'Provide all required params' });
}

/** A parameter has a value that cannot be. */
export function invalid(message: string, code = 'invalid_params'): GatewayError {
  return new GatewayError(message, { code, nextStep: 'Provide valid params' });
}

/** A reference is one-shot. */
export function duplicateReference(): GatewayError {
  return new GatewayError('Duplicate Transaction Reference', {
    code: 'duplicate_reference',
    nextStep: 'Use a reference that was never used on this integration',
  });
}

/** What is not there at all; `status` because answers differ about transactions. */
export function notFound(message = 'Entity not found', code = 'not_found', status = 404): GatewayError {
  return new GatewayError(message, { code, status, nextStep: 'Check that it exists on this integration' });
}

/** The gateway's own failure. */
export function serverError(): GatewayError {
  return new GatewayError('An error occurred on our side', {
    code: 'unknown',
    status: 500,
    type: 'api_error',
    nextStep: 'Try again later',
  });
}

/** The body of a refusal. */
export function refusalBody(error: GatewayError): Record<string, unknown> {
  const { message, nextStep, type, code } = error;
  return { status: false, message, meta: { nextStep }, type, code };
}
