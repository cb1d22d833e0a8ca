import type { Environment } from '../domain/account.ts';

/**
 * A request with an API key, once it is answered. Every field is always given: the record of an older request
 * is overwritten field by field.
 */
export interface NewLoggedRequest {
  readonly accountId: string;
  readonly environment: Environment;
  readonly requestId: string;
  readonly atMs: number;
  readonly method: string;
  /** The template of the route. */
  readonly path: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly durationMs: number;
  readonly keyId: string;
}

/** Keeps recent requests for the developers of their account. */
export interface RequestLog {
  note(request: NewLoggedRequest): void;
}
