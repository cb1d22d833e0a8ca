import type { Refusal } from '../../domain/refusals.ts';

/** A caller's Idempotency-Key with what it was sent with: the path, and the SHA-256 (hex) of path and validated fields. */
export interface IdempotencyKeyInfo {
  readonly key: string;
  readonly path: string;
  readonly fingerprint: string;
}

/** The same within a request. `found`: what the key's row said when the request came in, so that it is read only once. */
export interface IdempotencyContext extends IdempotencyKeyInfo {
  readonly found?: IdentifiedRequest;
}

export interface IdentifiedRequest {
  readonly transactionId: string;
  /** What an earlier request under the same key left, where it got far enough to leave a row. */
  readonly earlier: IdempotencyRecord | undefined;
}

/** Only what may travel further: workflows take no more than this. */
export function markOf({ key, path, fingerprint }: IdempotencyContext): IdempotencyKeyInfo {
  return { key, path, fingerprint };
}

/** The exact answer first given under a key. */
export interface StoredAnswer {
  readonly statusCode: number;
  readonly body: string;
}

export interface IdempotencyRecord {
  readonly path: string;
  readonly fingerprint: string;
  readonly transactionId: string;
  readonly refusal: Refusal | undefined;
  readonly answer: StoredAnswer | undefined;
  readonly createdAt: Date;
}
