import { DomainError } from '../../domain/errors.ts';

/** For this long the first request may still be answering, and a second one has to wait. */
const IN_USE_MS = 10_000;

/** Whether the request that made this key's row may still be running. */
export function isStillRunning(record: { readonly createdAt: Date }, now: Date): boolean {
  return now.getTime() - record.createdAt.getTime() < IN_USE_MS;
}

export function keyInUse(
  message = 'The first request with this Idempotency-Key is still running',
): DomainError {
  return new DomainError('IDEMPOTENCY_KEY_IN_USE', message, { retryAfterSeconds: 1 });
}

export function keyReused(): DomainError {
  return new DomainError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used with another request', {
    details: 'send a new key with a new request, or the same request with this key',
  });
}
