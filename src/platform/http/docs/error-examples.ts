/** Examples of refusals: each code that a route can give, in the body that the service makes of it. */
import { unknownSession, SIGN_IN } from '../../../domain/callers.ts';
import { DomainError, type ErrorCode } from '../../../domain/errors.ts';
import { renderError, type ErrorShape } from '../errors.ts';
import type { Route } from '../route.ts';

/** Values by the name of the case that each is true for. */
export type Examples = Readonly<Record<string, unknown>>;

/** What is said, where one route says it like another. */
const MESSAGES: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: 'Invalid request',
  INVALID_JSON: 'The request body is not valid JSON',
  MISSING_REGION_CODE: 'regionCode is required',
  INSUFFICIENT_BALANCE: 'Insufficient wallet balance',
  PACKAGE_UNAVAILABLE: 'This package is not available right now',
  INVALID_TOPUP: 'Only an ACTIVE eSIM can be topped up, this one is EXPIRED',
  PAYMENT_FAILED: 'The payment could not be started',
  PAYMENT_METHOD_UNAVAILABLE: 'This payment method is not available for this amount',
  EMAIL_UNAVAILABLE: 'E-mails to travellers are not available: leave email out',
  PRICE_ABOVE_MAX: 'The price is NGN 3790.40, above maxPrice',
  CURRENCY_MISMATCH: 'Prices of this account are in NGN',
  QUOTE_NOT_FOUND: 'Quote not found',
  QUOTE_EXPIRED: 'This quote has expired',
  QUOTE_USED: 'This quote has been used for another purchase',
  QUOTE_MISMATCH: 'The quote was made for another packageCode',
  TOO_MANY_OPEN_QUOTES: 'An account has at most 500 quotes that are neither used nor expired',
  WEBHOOK_ENDPOINT_DISABLED: 'The endpoint is disabled: enable it first',
  WEBHOOK_ENDPOINT_LIMIT: 'An account has at most 16 endpoints',
  WEBHOOK_SECRET_LIMIT:
    '4 earlier secrets of this endpoint still sign; the first of them ends at 2026-02-01T09:30:00.000Z',
  UNAUTHORIZED: 'Send your API key in the X-API-Key header',
  INVALID_TOKEN: 'Invalid or expired API key',
  SESSION_EXPIRED: 'Your session has ended: sign in again',
  FORBIDDEN: 'Your role may not do this',
  IP_NOT_WHITELISTED: 'This key may not be used from your address',
  NOT_YOUR_ESIM: 'This eSIM belongs to another account',
  NOT_FOUND: 'No such route',
  REGION_NOT_FOUND: 'No packages found for this region',
  PACKAGE_NOT_FOUND: 'Package not found',
  ESIM_NOT_FOUND: 'eSIM not found',
  TRANSACTION_NOT_FOUND: 'Transaction not found',
  BATCH_NOT_FOUND: 'Batch not found',
  WEBHOOK_ENDPOINT_NOT_FOUND: 'Webhook endpoint not found',
  WEBHOOK_MESSAGE_NOT_FOUND: 'Webhook message not found',
  CURSOR_EXPIRED: 'Events after this cursor are not kept any more: start again without after',
  METHOD_NOT_ALLOWED: 'This path does not take this method',
  REQUEST_TIMEOUT: 'The request did not arrive in time',
  ACTION_REFUSED: 'This action does not fit how things stand',
  PRICES_CHANGED: 'The prices changed since the preview. Nothing was saved',
  SANDBOX_ACTION_REFUSED: 'Not possible now: no data is left. Nothing was changed',
  IDEMPOTENCY_KEY_IN_USE: 'The first request with this Idempotency-Key is still running',
  PAYLOAD_TOO_LARGE: 'The request body may have at most 65536 bytes',
  UNSUPPORTED_MEDIA_TYPE: 'Send a JSON body with Content-Type: application/json',
  IDEMPOTENCY_KEY_REUSED: 'This Idempotency-Key was used with another request',
  RATE_LIMIT_EXCEEDED: 'At most 100 requests a minute are allowed',
  TOO_MANY_UNPAID_PAYMENTS: 'Too many payments of this account are open and not paid yet',
  TOO_MANY_BATCHES: '5 batches of this account have not begun all their rows yet',
  HEADERS_TOO_LARGE: 'Request line and headers may have at most 16384 bytes',
  INTERNAL_ERROR: 'Something went wrong on our side',
  SERVICE_UNAVAILABLE: 'Something went wrong on our side',
  EXCHANGE_RATE_UNAVAILABLE: 'No current exchange rate from USD to NGN',
  ENVIRONMENT_UNAVAILABLE: 'The live environment is not available here',
};

/** Where `details` says more than the message. */
const DETAILS: Readonly<Partial<Record<ErrorCode, string>>> = {
  INSUFFICIENT_BALANCE: 'INSUFFICIENT_BALANCE: nothing was charged',
  PACKAGE_UNAVAILABLE: 'OUT_OF_STOCK: nothing was charged',
  PAYMENT_FAILED: 'PAYMENT_NOT_OPENED: nothing was charged',
};

/** Codes that a route with two shapes gives only in one of them. */
const ONE_SHAPE: Readonly<Record<string, Partial<Record<ErrorCode, ErrorShape>>>> = {
  buy: { ESIM_NOT_FOUND: 'top-up', INVALID_TOPUP: 'top-up' },
  listPackages: { MISSING_REGION_CODE: 'base', PACKAGE_NOT_FOUND: 'top-up' },
};

/** What the caller asked for where a route has both shapes. */
const ASKED: Readonly<Partial<Record<ErrorShape, string>>> = { base: 'BASE', 'top-up': 'TOPUP' };

/** By name: the code, and for which kind of package where the body depends on it. */
export function errorExamplesOf(route: Route, codes: readonly ErrorCode[]): Examples {
  const examples: Record<string, unknown> = {};
  for (const code of codes) {
    const only = ONE_SHAPE[route.docs?.operationId ?? '']?.[code];
    const shapes = only === undefined ? route.shapes : [only];
    const bodies = new Map(
      shapes.map((shape) => [renderError(refusalOf(route, code, shape), shape).body, shape]),
    );
    for (const [body, shape] of bodies)
      examples[bodies.size === 1 ? code : `${code}, ${ASKED[shape] ?? shape}`] = JSON.parse(body);
  }
  return examples;
}

function refusalOf(route: Route, code: ErrorCode, shape: ErrorShape): DomainError {
  if (code === 'FORBIDDEN' && route.scope !== undefined)
    return new DomainError(code, `This key lacks the permission "${route.scope}"`);
  if (code === 'INVALID_TOKEN' && route.key === 'session') return unknownSession();
  if (code === 'UNAUTHORIZED' && route.key === 'session') return new DomainError(code, SIGN_IN.session);
  if (code === 'UNAUTHORIZED' && (route.key === 'user' || route.key === 'member'))
    return new DomainError(code, SIGN_IN.user);
  const details = code === 'VALIDATION_ERROR' ? wrongFields(route, shape) : DETAILS[code];
  return new DomainError(code, MESSAGES[code], details === undefined ? {} : { details });
}

/** What this route itself says of a request that is wrong. */
function wrongFields(route: Route, shape: ErrorShape): string {
  if (shape === 'top-up') {
    const topUp = { query: new Map([['type', 'TOPUP']]), body: { packageType: 'TOPUP' } };
    const missing = route.missing?.(topUp);
    if (missing) return missing.message;
  }
  const wrong = route.body?.safeParse({});
  if (wrong?.error)
    return wrong.error.issues
      .map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`)
      .join('; ');
  if (route.body) return 'body: must be a JSON object';
  const [name] = route.queryNames;
  return name === undefined ? 'query: malformed percent-encoding' : `${name}: must be given once`;
}
