/**
 * The one translator from refusals to HTTP: code → status, and route → body shape. Unknown errors never reach
 * a caller: they become INTERNAL_ERROR without their text. Domain code knows no status.
 */
import { DomainError, type ErrorCode } from '../../domain/errors.ts';
import { toJson } from './json.ts';
import { DEFAULT_RETRY_AFTER_SECONDS } from './limits.ts';

/**
 * The three error bodies of the API contract. `base`: buying and reading eSIMs. `top-up`: top-ups and package
 * details. `general`: everything else.
 */
export type ErrorShape = 'base' | 'top-up' | 'general';

export const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  VALIDATION_ERROR: 400,
  INVALID_JSON: 400,
  MISSING_REGION_CODE: 400,
  INSUFFICIENT_BALANCE: 400,
  PACKAGE_UNAVAILABLE: 400,
  INVALID_TOPUP: 400,
  PAYMENT_FAILED: 400,
  PAYMENT_METHOD_UNAVAILABLE: 400,
  EMAIL_UNAVAILABLE: 400,
  PRICE_ABOVE_MAX: 400,
  CURRENCY_MISMATCH: 400,
  QUOTE_EXPIRED: 400,
  QUOTE_USED: 400,
  QUOTE_MISMATCH: 400,
  WEBHOOK_ENDPOINT_DISABLED: 400,
  WEBHOOK_ENDPOINT_LIMIT: 400,
  WEBHOOK_SECRET_LIMIT: 400,
  UNAUTHORIZED: 401,
  INVALID_TOKEN: 401,
  SESSION_EXPIRED: 401,
  FORBIDDEN: 403,
  IP_NOT_WHITELISTED: 403,
  NOT_YOUR_ESIM: 403,
  NOT_FOUND: 404,
  REGION_NOT_FOUND: 404,
  PACKAGE_NOT_FOUND: 404,
  ESIM_NOT_FOUND: 404,
  TRANSACTION_NOT_FOUND: 404,
  BATCH_NOT_FOUND: 404,
  QUOTE_NOT_FOUND: 404,
  WEBHOOK_ENDPOINT_NOT_FOUND: 404,
  WEBHOOK_MESSAGE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  ACTION_REFUSED: 409,
  PRICES_CHANGED: 409,
  SANDBOX_ACTION_REFUSED: 409,
  IDEMPOTENCY_KEY_IN_USE: 409,
  CURSOR_EXPIRED: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMIT_EXCEEDED: 429,
  TOO_MANY_UNPAID_PAYMENTS: 429,
  TOO_MANY_BATCHES: 429,
  TOO_MANY_OPEN_QUOTES: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
  EXCHANGE_RATE_UNAVAILABLE: 503,
  ENVIRONMENT_UNAVAILABLE: 503,
};

/** Codes that use the general body on every route. */
const GENERAL_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'INVALID_JSON',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMIT_EXCEEDED',
  'TOO_MANY_UNPAID_PAYMENTS',
  'TOO_MANY_BATCHES',
  'TOO_MANY_OPEN_QUOTES',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'SERVICE_UNAVAILABLE',
  'EXCHANGE_RATE_UNAVAILABLE',
  'ENVIRONMENT_UNAVAILABLE',
]);

/** The contract's exact messages in top-up bodies. */
const TOP_UP_MESSAGES: Partial<Record<ErrorCode, string>> = {
  INSUFFICIENT_BALANCE: 'Insufficient wallet balance',
  PACKAGE_NOT_FOUND: 'Package not found',
  ESIM_NOT_FOUND: 'eSIM not found or does not belong to your account',
};

/** An answer ready to be sent: the body is complete, and sent byte for byte. */
export interface Answer {
  readonly status: number;
  readonly body: string | Buffer;
  /** What is kept for an Idempotency-Key in place of `body`: the same text with placeholders for secrets. */
  readonly stored?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whole Set-Cookie lines. */
  readonly cookies?: readonly string[];
}

export interface ErrorAnswer extends Answer {
  readonly body: string;
  readonly code: ErrorCode;
}

/** Codes for unknown errors: our fault, or our fault and worth a retry. */
export type FaultCode = 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE';

/** Thrown where the client closed the connection during a request: no answer can be sent. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection');
    this.name = 'ClientGone';
  }
}

/** The body shape of a code on a route; `authentication` is the documented body for 401. */
export function shapeOf(code: ErrorCode, routeShape: ErrorShape): ErrorShape | 'authentication' {
  if (STATUS_OF[code] === 401) return 'authentication';
  return GENERAL_CODES.has(code) ? 'general' : routeShape;
}

/** Anything thrown → what the caller may know of it. */
export function asRefusal(error: unknown, faultCode: FaultCode = 'INTERNAL_ERROR'): DomainError {
  if (error instanceof DomainError) return error;
  return new DomainError(faultCode, 'Something went wrong on our side');
}

export function renderError(refusal: DomainError, routeShape: ErrorShape): ErrorAnswer {
  const shape = shapeOf(refusal.code, routeShape);
  // A top-up answers "not there" and "not yours" with the same 404, so it never confirms that an id exists.
  const code = shape === 'top-up' && refusal.code === 'NOT_YOUR_ESIM' ? 'ESIM_NOT_FOUND' : refusal.code;
  const status = STATUS_OF[code];
  const retryAfterSeconds = refusal.retryAfterSeconds ?? defaultRetryAfterSeconds(code);
  const body = toJson(bodyOf(shape, { code, status, refusal }));
  if (retryAfterSeconds === undefined) return { status, body, code };
  return { status, body, code, headers: { 'Retry-After': String(retryAfterSeconds) } };
}

function bodyOf(
  shape: ErrorShape | 'authentication',
  known: { readonly code: ErrorCode; readonly status: number; readonly refusal: DomainError },
): object {
  const { code, status, refusal } = known;
  const { message, details } = refusal;
  // Shapes without `details` say in `message` which fields are wrong.
  const single = code === 'VALIDATION_ERROR' ? (details ?? message) : message;
  switch (shape) {
    case 'base':
      return { success: false, message, error: { code, details: details ?? message } };
    case 'top-up':
      return { success: false, message: TOP_UP_MESSAGES[code] ?? single, statusCode: status, code };
    case 'general':
      return { success: false, error: { code, message: single }, statusCode: status };
    case 'authentication':
      return { error: code, message, statusCode: status };
  }
}

function defaultRetryAfterSeconds(code: ErrorCode): number | undefined {
  return (DEFAULT_RETRY_AFTER_SECONDS as Partial<Record<ErrorCode, number>>)[code];
}
