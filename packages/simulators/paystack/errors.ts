import { toJson } from './wire.ts';

interface Refusal {
  code: string;
  status?: number;
  type?: 'validation_error' | 'api_error' | 'processor_error';
  nextStep?: string;
}

/** A refusal by the gateway, as its documentation has it. Must not carry secrets in a message. */
export class GatewayError extends Error {
  readonly status: number;
  readonly refusal: Refusal;

  constructor(message: string, refusal: Refusal) {
    super(message);
    this.name = 'GatewayError';
    this.status = refusal.status ?? 400;
    this.refusal = refusal;
  }
}

/** A mandatory parameter is absent, null or empty. */
export function missing(message: string): GatewayError {
  return new GatewayError(message, { code: 'missing_params', nextStep: 'Provide all required params' });
}

/** A parameter has an impossible value. */
export function invalid(message: string, code = 'invalid_params'): GatewayError {
  return new GatewayError(message, { code, nextStep: 'Provide valid params' });
}

export function duplicateReference(): GatewayError {
  return new GatewayError('Duplicate Transaction Reference', {
    code: 'duplicate_reference',
    nextStep: 'Use a reference that was never used on this integration',
  });
}

/** `status` because answers differ about transactions. */
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

export function refusalJson({ message, refusal }: GatewayError): string {
  const { nextStep = 'Check the request and try again', type = 'validation_error', code } = refusal;
  return toJson({ status: false, message, meta: { nextStep }, type, code });
}
