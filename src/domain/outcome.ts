/** What calls across a network end as: effects in three ways, never two; reads with their answer, or by throwing. */

/** How an effect outside ends. A time-out is unknown, and unknown is asked about, never assumed. */
export type Outcome<T, Refusal> =
  | { readonly outcome: 'done'; readonly value: T }
  | { readonly outcome: 'refused'; readonly reason: Refusal; readonly detail: string }
  | { readonly outcome: 'unknown'; readonly detail: string; readonly retryAfterMs?: number };

/** A read that could not be answered. `retryable` is false where asking again cannot help (credentials). */
export class Unavailable extends Error {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  constructor(
    message: string,
    options: { retryable: boolean; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Nothing was started: the caller may safely be told to try again. */
export class EngineUnavailable extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'EngineUnavailable';
  }
}
