/**
 * The one translator from refusals to HTTP: code → status, and route → body shape. Unknown errors never reach
 * a caller: they become INTERNAL_ERROR without their text. Domain code knows no status.
 */
import { DomainError, type ErrorCode } from '../../domain/errors.ts';
import { acpBody } from './acp.ts';
import { toJson } from './json.ts';
import { DEFAULT_RETRY_AFTER_SECONDS } from './limits.ts';

/**
 * The three error bodies of the API contract. `base`: buying and reading eSIMs. `top-up`: top-ups and package
 * details. `general`: everything else. `acp`: that of the Agentic Commerce Protocol.
 */
export type ErrorShape = 'base' | 'top-up' | 'general' | 'acp';

/**
 * Its status, and what it says where one route says it like another: for the reference. `general`: it has the
 * general body on every route.
 */
const CODES: Readonly<Record<ErrorCode, readonly [status: number, says: string, shape?: 'general']>> = {
  VALIDATION_ERROR: [400, 'Invalid request'],
  INVALID_JSON: [400, 'The request body is not valid JSON', 'general'],
  MISSING_REGION_CODE: [400, 'regionCode is required'],
  INSUFFICIENT_BALANCE: [400, 'Insufficient wallet balance'],
  PACKAGE_UNAVAILABLE: [400, 'This package is not available right now'],
  INVALID_TOPUP: [400, 'Only an ACTIVE eSIM can be topped up, this one is EXPIRED'],
  PAYMENT_FAILED: [400, 'The payment could not be started'],
  PAYMENT_METHOD_UNAVAILABLE: [400, 'This payment method is not available for this amount'],
  EMAIL_UNAVAILABLE: [400, 'E-mails to travellers are not available: leave email out'],
  PRICE_ABOVE_MAX: [400, 'The price is NGN 3790.40, above maxPrice'],
  CURRENCY_MISMATCH: [400, 'Prices of this account are in NGN'],
  QUOTE_EXPIRED: [400, 'This quote has expired'],
  QUOTE_USED: [400, 'This quote has been used for another purchase'],
  QUOTE_MISMATCH: [400, 'The quote was made for another packageCode'],
  REFERENCE_ALREADY_USED: [400, 'Another purchase or funding of this account has this reference'],
  RETURN_URL_NOT_ALLOWED: [400, 'Buyers may not be sent back to this address'],
  PAYMENT_HANDLER_UNSUPPORTED: [400, 'Pay with one of these handlers: wallet, hosted_page'],
  UNSUPPORTED_API_VERSION: [400, 'Send API-Version: 2026-04-17'],
  IDEMPOTENCY_KEY_REQUIRED: [400, 'Send an Idempotency-Key with every POST'],
  WEBHOOK_ENDPOINT_DISABLED: [400, 'The endpoint is disabled: enable it first'],
  WEBHOOK_ENDPOINT_LIMIT: [400, 'An account has at most 16 endpoints'],
  WEBHOOK_SECRET_LIMIT: [
    400,
    '4 earlier secrets of this endpoint still sign; the first of them ends at 2026-02-01T09:30:00.000Z',
  ],
  UNAUTHORIZED: [401, 'Send your API key in the X-API-Key header'],
  INVALID_TOKEN: [401, 'Invalid or expired API key'],
  SESSION_EXPIRED: [401, 'Your session has ended: sign in again'],
  FORBIDDEN: [403, 'Your role may not do this'],
  SECOND_FACTOR_REQUIRED: [403, 'Your role takes a second factor: set one up under Your login first'],
  CONFIRMATION_REQUIRED: [
    403,
    'This needs your password from the last 15 minutes: give your password again: POST /auth/sessions/confirm',
  ],
  KEY_BUDGET_EXCEEDED: [403, 'The budget of this API key does not allow this'],
  IP_NOT_WHITELISTED: [403, 'This key may not be used from your address, 203.0.113.7'],
  NOT_YOUR_ESIM: [403, 'This eSIM belongs to another account'],
  NOT_FOUND: [404, 'No such route', 'general'],
  REGION_NOT_FOUND: [404, 'No packages found for this region'],
  PACKAGE_NOT_FOUND: [404, 'Package not found'],
  ESIM_NOT_FOUND: [404, 'eSIM not found'],
  TRANSACTION_NOT_FOUND: [404, 'Transaction not found'],
  RETURN_NOT_FOUND: [404, 'Return not found'],
  REPLACEMENT_NOT_FOUND: [404, 'Replacement not found'],
  BATCH_NOT_FOUND: [404, 'Batch not found'],
  QUOTE_NOT_FOUND: [404, 'Quote not found'],
  CHECKOUT_SESSION_NOT_FOUND: [404, 'Checkout session not found'],
  WEBHOOK_ENDPOINT_NOT_FOUND: [404, 'Webhook endpoint not found'],
  WEBHOOK_MESSAGE_NOT_FOUND: [404, 'Webhook message not found'],
  METHOD_NOT_ALLOWED: [405, 'This path does not take this method', 'general'],
  CHECKOUT_SESSION_NOT_CANCELABLE: [405, 'This session is completed: it cannot be canceled'],
  REQUEST_TIMEOUT: [408, 'The request did not arrive in time', 'general'],
  RETURN_REFUSED: [409, 'It cannot be returned: it is installed, or was'],
  REPLACEMENT_REFUSED: [409, 'It cannot be replaced: it is unused: install it again, or return it'],
  CHECKOUT_SESSION_CLOSED: [409, 'This session is canceled: create another one'],
  BATCH_STARTED: [409, 'This batch has started, so it cannot be cancelled any more'],
  ACTION_REFUSED: [409, 'This action does not fit how things stand'],
  MONTH_ALREADY_CLOSED: [409, 'October 2026 is closed already. Nothing was changed'],
  MONTH_NOT_CLOSABLE: [409, 'November 2026 has not ended. Nothing was changed'],
  PRICES_CHANGED: [409, 'The prices changed since the preview. Nothing was saved'],
  PRICE_RULE_OVERLAPS: [409, 'Another rule prices the same packages for the same buyers at that time'],
  PRICES_BELOW_COST: [409, 'Packages would be sold below cost. Nothing was saved'],
  SANDBOX_ACTION_REFUSED: [409, 'Not possible now: no data is left. Nothing was changed'],
  IDEMPOTENCY_KEY_IN_USE: [409, 'The first request with this Idempotency-Key is still running'],
  CURSOR_EXPIRED: [410, 'Events after this cursor are not kept any more: start again without after'],
  PAYLOAD_TOO_LARGE: [413, 'The request body may have at most 65536 bytes', 'general'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Send a JSON body with Content-Type: application/json', 'general'],
  IDEMPOTENCY_KEY_REUSED: [422, 'This Idempotency-Key was used with another request'],
  RATE_LIMIT_EXCEEDED: [429, 'At most 100 requests a minute are allowed', 'general'],
  TOO_MANY_UNPAID_PAYMENTS: [429, 'Too many payments of this account are open and not paid yet', 'general'],
  TOO_MANY_BATCHES: [429, '5 batches of this account have not begun all their rows yet', 'general'],
  TOO_MANY_OPEN_QUOTES: [
    429,
    'An account has at most 500 quotes that are neither used nor expired',
    'general',
  ],
  HEADERS_TOO_LARGE: [431, 'Request line and headers may have at most 16384 bytes', 'general'],
  INTERNAL_ERROR: [500, 'Something went wrong on our side'],
  SERVICE_UNAVAILABLE: [503, 'Something went wrong on our side', 'general'],
  EXCHANGE_RATE_UNAVAILABLE: [503, 'No current exchange rate from USD to NGN', 'general'],
  ENVIRONMENT_UNAVAILABLE: [503, 'The live environment is not available here', 'general'],
};

export const STATUS_OF = Object.fromEntries(
  Object.entries(CODES).map(([code, [status]]) => [code, status]),
) as Readonly<Record<ErrorCode, number>>;

export const usualMessage = (code: ErrorCode): string => CODES[code][1];

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
  /** The same body for callers that take gzip: of answers that are kept, so that it is made once. */
  readonly gzipped?: Buffer;
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
  // The server answers these two before it knows the route.
  if (routeShape === 'acp' && code !== 'REQUEST_TIMEOUT' && code !== 'HEADERS_TOO_LARGE') return 'acp';
  if (STATUS_OF[code] === 401) return 'authentication';
  return CODES[code][2] ?? routeShape;
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
  const { message, details, fields, transactionId } = refusal;
  const more = {
    ...(fields.length > 0 && { fields }),
    ...(transactionId !== undefined && { transactionId }),
  };
  const single = singleText(refusal);
  switch (shape) {
    case 'base':
      return { success: false, message, error: { code, details: details ?? message, ...more } };
    case 'top-up': {
      // Why the caller's own purchase failed, and how much is missing. Of an eSIM it must say no more.
      const isOwn = OWN.has(code) || transactionId !== undefined;
      const why = isOwn && details !== undefined ? { details } : {};
      const said = TOP_UP_MESSAGES[code] ?? single;
      return { success: false, message: said, statusCode: status, code, ...why, ...more };
    }
    case 'acp':
      return acpBody(refusal, single, status);
    case 'general':
      return { success: false, error: { code, message: single, ...more }, statusCode: status };
    case 'authentication':
      return { error: code, message, statusCode: status };
  }
}

const OWN: ReadonlySet<ErrorCode> = new Set(['INSUFFICIENT_BALANCE', 'KEY_BUDGET_EXCEEDED']);

/** Shapes without `details` say in `message` which fields are wrong, and which limit does not allow it. */
function singleText({ code, message, details }: DomainError): string {
  if (details === undefined) return message;
  if (code === 'VALIDATION_ERROR') return details;
  return code === 'KEY_BUDGET_EXCEEDED' ? `${message}: ${details.replace(`${code}: `, '')}` : message;
}

function defaultRetryAfterSeconds(code: ErrorCode): number | undefined {
  return (DEFAULT_RETRY_AFTER_SECONDS as Partial<Record<ErrorCode, number>>)[code];
}
