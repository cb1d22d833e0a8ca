/**
 * The API, the workflows, database rows and the docs share these. A test compares them with `docs/ERRORS.md`.
 */
export const ERROR_CODES = [
  'VALIDATION_ERROR',
  'INVALID_JSON',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'UNAUTHORIZED',
  'INVALID_TOKEN',
  'SESSION_EXPIRED',
  'FORBIDDEN',
  'SECOND_FACTOR_REQUIRED',
  'CONFIRMATION_REQUIRED',
  'IP_NOT_WHITELISTED',
  'ENVIRONMENT_UNAVAILABLE',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'RATE_LIMIT_EXCEEDED',
  'TOO_MANY_UNPAID_PAYMENTS',
  'TOO_MANY_BATCHES',
  'BATCH_STARTED',
  'SERVICE_UNAVAILABLE',
  'INTERNAL_ERROR',
  'MISSING_REGION_CODE',
  'REGION_NOT_FOUND',
  'PACKAGE_NOT_FOUND',
  'PACKAGE_UNAVAILABLE',
  'INSUFFICIENT_BALANCE',
  'INVALID_TOPUP',
  'PAYMENT_FAILED',
  'PAYMENT_METHOD_UNAVAILABLE',
  'EXCHANGE_RATE_UNAVAILABLE',
  'PRICE_ABOVE_MAX',
  'KEY_BUDGET_EXCEEDED',
  'CURRENCY_MISMATCH',
  'QUOTE_NOT_FOUND',
  'QUOTE_EXPIRED',
  'QUOTE_USED',
  'QUOTE_MISMATCH',
  'TOO_MANY_OPEN_QUOTES',
  'REFERENCE_ALREADY_USED',
  'RETURN_URL_NOT_ALLOWED',
  'CHECKOUT_SESSION_NOT_FOUND',
  'CHECKOUT_SESSION_CLOSED',
  'CHECKOUT_SESSION_NOT_CANCELABLE',
  'PAYMENT_HANDLER_UNSUPPORTED',
  'UNSUPPORTED_API_VERSION',
  'ESIM_NOT_FOUND',
  'NOT_YOUR_ESIM',
  'RETURN_NOT_FOUND',
  'RETURN_REFUSED',
  'REPLACEMENT_NOT_FOUND',
  'REPLACEMENT_REFUSED',
  'TRANSACTION_NOT_FOUND',
  'WEBHOOK_ENDPOINT_NOT_FOUND',
  'WEBHOOK_ENDPOINT_DISABLED',
  'WEBHOOK_ENDPOINT_LIMIT',
  'WEBHOOK_SECRET_LIMIT',
  'WEBHOOK_MESSAGE_NOT_FOUND',
  'BATCH_NOT_FOUND',
  'EMAIL_UNAVAILABLE',
  'CURSOR_EXPIRED',
  'ACTION_REFUSED',
  'MONTH_ALREADY_CLOSED',
  'MONTH_NOT_CLOSABLE',
  'PRICES_CHANGED',
  'PRICES_BELOW_COST',
  'PRICE_RULE_OVERLAPS',
  'SANDBOX_ACTION_REFUSED',
  'IDEMPOTENCY_KEY_REQUIRED',
  'IDEMPOTENCY_KEY_REUSED',
  'IDEMPOTENCY_KEY_IN_USE',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** What is wrong with one field of a request. */
export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

/**
 * A refusal that a caller can act on. Callers see `details`, `transactionId` if a purchase or funding was
 * written, and `retryAfterSeconds` as Retry-After. For what is wrong with a request `details` is a list of
 * `field: what is wrong`; callers get it as text and as `fields`.
 */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly details: string | undefined;
  readonly fields: readonly FieldProblem[];
  readonly transactionId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    extra: {
      details?: string | readonly string[];
      /** Beside those that `details` names. */
      fields?: readonly FieldProblem[];
      transactionId?: string;
      retryAfterSeconds?: number;
    } = {},
  ) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
    const { details, fields = [] } = extra;
    this.details = typeof details === 'object' ? problemsText(details) : details;
    const problems = typeof details === 'object' || code === 'VALIDATION_ERROR' ? [details ?? []].flat() : [];
    this.fields = [...fields, ...problems.flatMap(fieldProblem)].slice(0, MAX_PROBLEMS);
    this.transactionId = extra.transactionId;
    this.retryAfterSeconds = extra.retryAfterSeconds;
  }
}

/** Problems that one refusal names; more are counted. A hundred lines are more than one corrects by hand. */
const MAX_PROBLEMS = 100;

function problemsText(problems: readonly string[]): string {
  const more = problems.length - MAX_PROBLEMS;
  return [...problems.slice(0, MAX_PROBLEMS), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function fieldProblem(text: string): FieldProblem[] {
  const [, field, problem] = /^([^:]+): (.+)$/s.exec(text) ?? [];
  return field === undefined || problem === undefined ? [] : [{ field, problem }];
}
