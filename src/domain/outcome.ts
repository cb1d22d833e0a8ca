/** How an effect outside ends. A timeout is `unknown`: its result must be looked up, never assumed. */
export type Outcome<T, Refusal> =
  | { readonly outcome: 'done'; readonly value: T }
  | { readonly outcome: 'refused'; readonly reason: Refusal; readonly detail: string }
  | {
      readonly outcome: 'unknown';
      readonly detail: string;
      readonly retryAfterMs?: number;
      /** Our own rate limit held the request back: this says nothing about the vendor. */
      readonly notSent?: true;
    };

/** A read that got no answer. `retryable` is false where a retry cannot help (credentials). */
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

/** Temporal did not accept the request, so nothing was started and a retry is safe. */
export class EngineUnavailable extends Error {
  override readonly name = 'EngineUnavailable';
}
