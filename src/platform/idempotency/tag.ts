/** A caller's Idempotency-Key with what it was sent with: the path, and the SHA-256 (hex) of path and validated fields. */
export interface IdempotencyTag {
  readonly key: string;
  readonly path: string;
  readonly fingerprint: string;
}
