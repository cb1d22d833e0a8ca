import type { ErrorCode } from './generated/types.gen.ts';
import type { Intent } from './intent.ts';

/**
 * `NO_ANSWER`: the connection broke, or the time was over. `UNEXPECTED_ANSWER`: an answer that is not from
 * Simway, such as a page of a proxy. `INTENT_TOO_OLD`: it was not sent, because Simway may have forgotten its
 * key. `LIVE_KEY_IN_BROWSER`: no client was made.
 */
export type SimwayErrorCode =
  ErrorCode | 'NO_ANSWER' | 'UNEXPECTED_ANSWER' | 'INTENT_TOO_OLD' | 'LIVE_KEY_IN_BROWSER';

/** Why a call did not succeed. */
export interface Failure {
  readonly code: SimwayErrorCode;
  readonly message: string;
  /** Of HTTP; 0 without an answer. */
  readonly status: number;
  readonly details?: string | undefined;
  /**
   * What is wrong, by the name of the field: `{ 'rows.17.packageCode': 'is required' }`. In the body of the
   * answer it is a list. Empty where the answer has none.
   */
  readonly fields: Readonly<Record<string, string>>;
  /** Names the request in Simway's log. */
  readonly requestId?: string | undefined;
  /** Of the purchase or funding that failed, where it was written. */
  readonly transactionId?: string | undefined;
  /** How long Simway asks to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /**
   * Present exactly when it is not known whether the POST was carried out. Keep it, and
   * `simway.send(intent)` later, within 29 days: that finds what was done, or does it once.
   */
  readonly intent?: Intent | undefined;
  readonly cause?: unknown;
}

/** Every call that did not succeed. Decide by `code`; docs/ERRORS.md says what each means. */
export class SimwayError extends Error implements Failure {
  override readonly name = 'SimwayError';
  readonly code: SimwayErrorCode;
  readonly status: number;
  readonly details: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
  readonly requestId: string | undefined;
  readonly transactionId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly intent: Intent | undefined;

  constructor(failure: Failure) {
    const again = failure.code === 'INTENT_TOO_OLD' ? 'look for it in your lists' : 'send the intent again';
    const unknown = `. It is not known whether the request was carried out: ${again}`;
    super(failure.message + (failure.intent ? unknown : ''), { cause: failure.cause });
    this.code = failure.code;
    this.status = failure.status;
    this.details = failure.details;
    this.fields = failure.fields;
    this.requestId = failure.requestId;
    this.transactionId = failure.transactionId;
    this.retryAfterMs = failure.retryAfterMs;
    this.intent = failure.intent;
  }
}

/** Whether a call failed with this code. */
export const isCode = <Code extends SimwayErrorCode>(
  error: unknown,
  code: Code,
): error is SimwayError & { readonly code: Code } => error instanceof SimwayError && error.code === code;

export const noAnswer = (cause: unknown): Failure => ({
  code: 'NO_ANSWER',
  status: 0,
  message: `No answer: ${reasonOf(cause)}`,
  fields: {},
  cause,
});

/** With its causes: `fetch` says only that it failed, and its cause why, such as ECONNREFUSED. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = textOf((error as { readonly code?: unknown }).code) ?? '';
  // Several addresses that all refuse are one error without a message.
  const said = error.message.includes(code) ? error.message : `${error.message} ${code}`.trim();
  return error.cause === undefined ? said : `${said}: ${reasonOf(error.cause)}`;
}

export const tooOld = (intent: Intent): Failure => ({
  code: 'INTENT_TOO_OLD',
  status: 0,
  message: `The intent of ${intent.createdAt} is older than 29 days, so it was not sent`,
  fields: {},
  intent,
});

export const liveKeyInBrowser: Failure = {
  code: 'LIVE_KEY_IN_BROWSER',
  status: 0,
  message: 'A live key must not be used in a browser: call Simway from your server',
  fields: {},
};

/** Reads every body of docs/ERRORS.md but that of agentic checkout. */
export function failureIn(response: Response, body: unknown): Failure {
  const outer = fieldsOf(body);
  const found = typeof outer['error'] === 'object' ? fieldsOf(outer['error']) : outer;
  const code = textOf(found['code']) ?? textOf(outer['error']) ?? 'UNEXPECTED_ANSWER';
  const wrong = Array.isArray(found['fields']) ? found['fields'].map(fieldsOf) : [];
  return {
    code: code as SimwayErrorCode,
    status: response.status,
    message: textOf(found['message']) ?? textOf(outer['message']) ?? `HTTP ${String(response.status)}`,
    details: textOf(found['details']),
    fields: Object.fromEntries(wrong.map(({ field, problem }) => [String(field), String(problem)])),
    requestId: response.headers.get('X-Request-Id') ?? undefined,
    transactionId: textOf(found['transactionId']),
    retryAfterMs: retryAfterMs(response.headers.get('Retry-After')),
  };
}

/** Of seconds or a date. */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
