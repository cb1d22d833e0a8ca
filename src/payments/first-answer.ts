import { FAILURE_REASONS, type Refusal } from '../domain/refusals.ts';
import type { EngineAnswer, PurchaseAnswer } from './engine.ts';
import { noteTransaction } from '../platform/telemetry/subject.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import { isPassing } from '../platform/database/errors.ts';
import { DomainError } from '../domain/errors.ts';
import type { IdempotencyContext } from '../platform/idempotency/tag.ts';
import { keyReused } from '../platform/idempotency/refusals.ts';

/** Starts it on the engine. If the outcome is unknown, only the rows prove that it runs. SERVICE_UNAVAILABLE if nothing was started, or if we cannot know. */
export async function startOnEngine(
  transactionId: string,
  ask: (deadlineMs: number) => Promise<EngineAnswer>,
  deadlineMs: number,
  isWritten: () => Promise<boolean>,
): Promise<PurchaseAnswer | 'no-answer-yet'> {
  noteTransaction(transactionId);
  try {
    const answer = await ask(deadlineMs);
    if (answer !== 'unknown') return answer;
  } catch (error) {
    if (!(error instanceof EngineUnavailable)) throw error;
    throw engineUnavailable('The request cannot be started right now, nothing was charged', error);
  }
  if (await isWritten()) return 'no-answer-yet';
  throw engineUnavailable(
    `It is not known yet whether ${transactionId} was started: repeat the request with the same Idempotency-Key, or read that transaction, before buying again`,
  );
}

/** The result of a read, or undefined if the database is unreachable: once a purchase has begun, its id is more useful to the caller than an error. */
export async function ifReachable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isPassing(error)) return undefined;
    throw error;
  }
}

/** SERVICE_UNAVAILABLE with its cause, for the log. */
export function engineUnavailable(message: string, cause?: unknown): DomainError {
  const error = new DomainError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 5 });
  error.cause = cause;
  return error;
}

/** Throws where the first answer is a refusal, or belongs to another request that was sent under the same key. */
export function requireAccepted(
  answer: PurchaseAnswer | 'no-answer-yet',
  tag: IdempotencyContext | undefined,
): void {
  if (answer === 'no-answer-yet') return;
  if (answer.fingerprint !== tag?.fingerprint) throw keyReused();
  if (answer.status === 'REFUSED') throw refused(answer.refusal);
}

const REFUSAL_MESSAGES: Record<(typeof FAILURE_REASONS)[keyof typeof FAILURE_REASONS], string> = {
  INSUFFICIENT_BALANCE: 'Insufficient wallet balance',
  PACKAGE_UNAVAILABLE: 'This package is not available right now',
  INVALID_TOPUP: 'Only an ACTIVE eSIM can be topped up',
  TOO_MANY_UNPAID_PAYMENTS: 'Too many payments of this account are open and not paid yet',
  QUOTE_USED: 'This quote has been used for another purchase',
  PAYMENT_METHOD_UNAVAILABLE: 'This payment method is not available for this amount',
  PAYMENT_FAILED: 'The payment could not be started',
  SERVICE_UNAVAILABLE: 'The request could not be verified; send it again as a new request',
};

/** A refusal for the caller. Its detail is for logs and operators. */
export function refused(refusal: Refusal): DomainError {
  const code = FAILURE_REASONS[refusal.reason];
  return new DomainError(code, REFUSAL_MESSAGES[code], { details: `${refusal.reason}: no money was taken` });
}
