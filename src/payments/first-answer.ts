/**
 * One Idempotency-Key, one request, one answer, for purchases and fundings. Finds the earlier request under
 * the key. Otherwise decides on a new one, starts it or attaches to the running one, and returns its answer.
 */
import type { Principal } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import { FAILURE_REASONS, type FailureReason, type Refusal } from '../domain/refusals.ts';
import { isPassing } from '../platform/database/errors.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { identifyRequest } from '../platform/idempotency/identify-request.ts';
import { keyInUse, keyReused } from '../platform/idempotency/refusals.ts';
import { beginKey, findIdempotencyKey, refuseUnopened } from '../platform/idempotency/store.ts';
import {
  isSameRequest,
  markOf,
  type IdempotencyContext,
  type IdempotencyKeyInfo,
  type IdempotencyRecord,
  type IdentifiedRequest,
} from '../platform/idempotency/tag.ts';
import { noteTransaction } from '../platform/telemetry/subject.ts';
import type { PaymentDeps } from './deps.ts';
import type { EngineAnswer, PurchaseAnswer, Unanswered } from './engine.ts';

/** What is handed to the engine. */
interface Started {
  readonly transactionId: string;
  readonly accountId: string;
  readonly timings: { readonly answerWithinMs: number };
  readonly idempotency?: IdempotencyKeyInfo | undefined;
}

export interface StartedRequest<Input extends Started, View> {
  /** Decides what is started now. A refusal is thrown as DomainError. */
  readonly judge: (found: IdentifiedRequest) => Promise<Input>;
  /** Starts it, or attaches to the one that runs or ran under the same id. */
  readonly start: (input: Input, deadlineMs: number) => Promise<EngineAnswer>;
  /** What the rows say; undefined: nothing is written. What was refused is thrown. */
  readonly read: (transactionId: string) => Promise<View | undefined>;
  /** The view for the first answer. */
  readonly show: (input: Input, status: FirstStatus) => Promise<View>;
  readonly onAnswer?: (input: Input, answer: PurchaseAnswer | Unanswered) => void;
}

export type FirstStatus = Exclude<(PurchaseAnswer | Unanswered)['status'], 'REFUSED'>;

type AnswerDeps = Pick<PaymentDeps, 'db' | 'clock' | 'idSecret' | 'engine'> & {
  readonly settings: { readonly timings: Started['timings'] };
};

/**
 * Returns the view of this key's request, new or earlier. A refusal applies only if no earlier request runs
 * or was written. This costs nothing for a request that is accepted or has no key.
 */
export async function startOnce<Input extends Started, View>(
  deps: AnswerDeps,
  principal: Principal,
  tag: IdempotencyContext | undefined,
  request: StartedRequest<Input, View>,
): Promise<View> {
  const found = await identifyRequest(deps, principal, tag);
  const written = found.earlier && (await request.read(found.transactionId));
  if (written) return written;
  let input: Input;
  try {
    input = await request.judge(found);
  } catch (refusal) {
    if (!tag || !(refusal instanceof DomainError)) throw refusal;
    const { transactionId } = found;
    const mark = markOf(tag, found);
    const sent = { transactionId, accountId: principal.account.id, idempotency: mark };
    return (await findRunning(deps, sent, request)) ?? refuse(deps, sent, request, refusal);
  }
  const answer = await startOnEngine(deps, input, request);
  request.onAnswer?.(input, answer);
  const accepted = await requireAccepted(answer, tag, input.transactionId, request.read);
  if (accepted.status === 'UNANSWERED') {
    const owner = await ifReachable(() => beginKey(deps.db, input));
    if (owner) requireOwn(owner, input.transactionId, tag);
  }
  return request.show(input, accepted.status);
}

type Sent = Required<Pick<Started, 'transactionId' | 'accountId'>> & {
  readonly idempotency: IdempotencyKeyInfo;
};

/** The view of the earlier request, if its workflow runs. Waits for its first answer. */
async function findRunning<View>(
  { engine, settings }: AnswerDeps,
  { transactionId, idempotency }: Sent,
  { read }: Pick<StartedRequest<never, View>, 'read'>,
): Promise<View | undefined> {
  noteTransaction(transactionId);
  const answer = await engine.firstAnswer(transactionId, settings.timings.answerWithinMs).catch(orUnknown);
  if (typeof answer === 'string') return undefined;
  await requireAccepted(answer, idempotency, transactionId, read);
  // It runs, and only its own request knows what it has asked for.
  return (await read(transactionId)) ?? throwInUse();
}

function orUnknown(error: unknown): 'unknown' {
  if (error instanceof EngineUnavailable) return 'unknown';
  throw error;
}

/** Blocks the id and throws the refusal. If something was opened under the id before, returns its view. */
async function refuse<View>(
  { db }: AnswerDeps,
  sent: Sent,
  { read }: Pick<StartedRequest<never, View>, 'read'>,
  refusal: DomainError,
): Promise<View> {
  const { transactionId, idempotency } = sent;
  const owner = await refuseUnopened(db, sent, { reason: 'SUPERSEDED', detail: refusal.code });
  if (owner.transactionId === transactionId && owner.refusal) throw refusal;
  requireOwn(owner, transactionId, idempotency);
  return (await read(transactionId)) ?? throwInUse();
}

function throwInUse(): never {
  throw keyInUse();
}

/** Throws if the key's row belongs to another request, or if this one was refused. */
function requireOwn(
  owner: IdempotencyRecord,
  transactionId: string,
  tag: IdempotencyKeyInfo | undefined,
): void {
  if (tag && !isSameRequest(owner, tag)) throw keyReused();
  if (owner.transactionId !== transactionId) throw keyInUse();
  if (owner.refusal) throw refused(owner.refusal);
}

/** After an unknown outcome, reads the rows. SERVICE_UNAVAILABLE if nothing started, or if we cannot know. */
async function startOnEngine<Input extends Started, View>(
  { db }: AnswerDeps,
  input: Input,
  { start, read }: StartedRequest<Input, View>,
): Promise<PurchaseAnswer | Unanswered> {
  const { transactionId } = input;
  noteTransaction(transactionId);
  try {
    const answer = await start(input, input.timings.answerWithinMs);
    if (answer !== 'unknown') return answer;
  } catch (error) {
    if (!(error instanceof EngineUnavailable)) throw error;
    throw engineUnavailable('The request cannot be started right now, nothing was charged', error);
  }
  const written = await ifReachable(() => findWritten(db, input, read));
  if (written) return written;
  throw engineUnavailable(
    `We do not know yet whether ${transactionId} was started. Repeat the request with the same Idempotency-Key, or read that transaction, before you buy again`,
  );
}

/** The key's row is written with what it stands for. */
async function findWritten(
  db: WorldDb,
  { transactionId, accountId, idempotency }: Started,
  read: (transactionId: string) => Promise<unknown>,
): Promise<Unanswered | undefined> {
  if (!idempotency) return (await read(transactionId)) === undefined ? undefined : { status: 'UNANSWERED' };
  const record = await findIdempotencyKey(db, accountId, idempotency.key);
  if (record?.transactionId !== transactionId) return undefined;
  if (record.refusal) throw refused(record.refusal);
  return { status: 'UNANSWERED', fingerprint: record.fingerprint };
}

/**
 * The result of a read, or undefined if the database is unreachable: once a purchase has begun, its id is
 * more useful to the caller than an error.
 */
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

type Accepted = Exclude<PurchaseAnswer | Unanswered, { readonly status: 'REFUSED' }>;

/**
 * Throws where the first answer is a refusal, or belongs to another request that was sent under the same key.
 */
async function requireAccepted(
  answer: PurchaseAnswer | Unanswered,
  tag: IdempotencyKeyInfo | undefined,
  transactionId: string,
  read: (transactionId: string) => Promise<unknown>,
): Promise<Accepted> {
  if (answer.fingerprint !== tag?.fingerprint) throw keyReused();
  if (answer.status !== 'REFUSED') return answer;
  const written = await ifReachable(() => read(transactionId).then(() => undefined, failureOf));
  // What was written before it failed is thrown with its id. Its row has the reason, not what is lacking.
  if (written?.code !== FAILURE_REASONS[answer.refusal.reason]) throw written ?? refused(answer.refusal);
  throw refused(answer.refusal, written.transactionId);
}

function failureOf(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  throw error;
}

const REFUSAL_MESSAGES: Record<(typeof FAILURE_REASONS)[keyof typeof FAILURE_REASONS], string> = {
  INSUFFICIENT_BALANCE: 'Insufficient wallet balance',
  KEY_BUDGET_EXCEEDED: 'The budget of this API key does not allow this',
  PACKAGE_UNAVAILABLE: 'This package is not available right now',
  INVALID_TOPUP: 'Only an ACTIVE eSIM can be topped up',
  TOO_MANY_UNPAID_PAYMENTS: 'Too many payments of this account are open and not paid yet',
  QUOTE_USED: 'This quote has been used for another purchase',
  REFERENCE_ALREADY_USED: 'Another purchase or funding of this account has this reference',
  PAYMENT_METHOD_UNAVAILABLE: 'This payment method is not available for this amount',
  PAYMENT_FAILED: 'The payment could not be started',
  SERVICE_UNAVAILABLE: 'The request failed and nothing was charged. Send it again as a new request',
  IDEMPOTENCY_KEY_IN_USE: 'Another request with this Idempotency-Key was answered first',
};

/** Money may have come before it ended. */
const ENDED_LATER: ReadonlySet<FailureReason> = new Set([
  'PAYMENT_EXPIRED',
  'PAYMENT_UNDERPAID',
  'PAYMENT_WRONG_CURRENCY',
  'PAYMENT_REVERSED',
  'CANCELLED_BY_OPERATOR',
]);

/** A refusal for the caller, with the id of what was written. Its detail is for logs and operators. */
export function refused(refusal: Refusal, transactionId?: string): DomainError {
  const code = FAILURE_REASONS[refusal.reason];
  if (code === 'IDEMPOTENCY_KEY_IN_USE') return keyInUse(REFUSAL_MESSAGES[code]);
  const { reason, shown } = refusal;
  const why = shown === undefined ? '' : `${shown}, `;
  const details = ENDED_LATER.has(reason) ? reason : `${reason}: ${why}nothing was charged`;
  return new DomainError(code, REFUSAL_MESSAGES[code], {
    details,
    ...(transactionId !== undefined && { transactionId }),
  });
}
