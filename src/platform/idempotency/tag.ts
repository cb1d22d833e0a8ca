/** A caller's Idempotency-Key with what it was sent with: the path, and the SHA-256 (hex) of path and validated fields. */
export interface IdempotencyTag {
  readonly key: string;
  readonly path: string;
  readonly fingerprint: string;
}

/** The exact answer first given under a key. */
export interface StoredAnswer {
  readonly statusCode: number;
  readonly body: string;
}

/** A caller's Idempotency-Key, as the first step keeps it. */
export interface IdempotencyMark {
  readonly key: string;
  readonly path: string;
  readonly fingerprint: string;
}
