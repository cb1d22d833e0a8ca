import type { Principal } from '../../domain/account.ts';
import type { Refusal } from '../../domain/refusals.ts';

/**
 * A caller's Idempotency-Key with what it was sent with: the path, and the SHA-256 (hex) of path and
 * validated fields.
 */
export interface IdempotencyKeyInfo {
  readonly key: string;
  readonly path: string;
  readonly fingerprint: string;
  /**
   * The id that was refused without effect under this key before: this request takes the key over from it,
   * and from no other.
   */
  readonly follows?: string;
}

/**
 * The same within a request. `found`: what the key's row said when the request came in, so that it is read
 * only once.
 */
export interface IdempotencyContext extends IdempotencyKeyInfo {
  readonly found?: IdentifiedRequest;
}

export interface IdentifiedRequest {
  readonly transactionId: string;
  /** What an earlier request under the same key left, where it got far enough to leave a row. */
  readonly earlier: IdempotencyRecord | undefined;
  /** The id that this one follows, where the last request under the key was refused without effect. */
  readonly follows?: string;
}

/** Only what may travel further: workflows take no more than this. */
export function markOf(
  { key, path, fingerprint }: IdempotencyContext,
  { follows }: Pick<IdentifiedRequest, 'follows'>,
): IdempotencyKeyInfo {
  return { key, path, fingerprint, ...(follows === undefined ? {} : { follows }) };
}

export function isSameRequest(
  one: Pick<IdempotencyKeyInfo, 'path' | 'fingerprint'>,
  other: Pick<IdempotencyKeyInfo, 'path' | 'fingerprint'>,
): boolean {
  return one.fingerprint === other.fingerprint && one.path === other.path;
}

/** The exact answer first given under a key. */
export interface StoredAnswer {
  readonly statusCode: number;
  readonly body: string;
}

/** What is kept under the keys of one environment. */
export interface StoredAnswers {
  /** The first answer under this key; otherwise the tag with what the key's row says. */
  findStoredAnswer(
    principal: Principal,
    tag: IdempotencyContext,
  ): Promise<{ readonly answer?: StoredAnswer; readonly tag: IdempotencyContext }>;
  /** Returns the answer that was kept before, if another request was faster. */
  storeAnswer(
    principal: Principal,
    tag: IdempotencyContext,
    answer: StoredAnswer,
  ): Promise<StoredAnswer | undefined>;
}

export interface IdempotencyRecord {
  readonly path: string;
  readonly fingerprint: string;
  readonly transactionId: string;
  /** The request was refused without effect: its key is free for the next one. */
  readonly refusal: Refusal | undefined;
  /** Written for a caller who was answered before the request was opened. */
  readonly isBegun: boolean;
  readonly answer: StoredAnswer | undefined;
  readonly createdAt: Date;
}
