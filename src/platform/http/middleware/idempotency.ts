/**
 * Idempotency-Key on POST: the same request again gets the first answer again, byte for byte. Only looks up
 * and hands over; what is kept, for how long, and whether a purchase began at all is decided behind the use
 * cases, in Postgres.
 */
import type Koa from 'koa';
import { createHash, hash } from 'node:crypto';
import type { Principal } from '../../../domain/account.ts';
import { DomainError } from '../../../domain/errors.ts';
import type { IdempotencyContext, StoredAnswer, StoredAnswers } from '../../idempotency/tag.ts';
import type { HttpEvents } from '../../telemetry/events.ts';
import { withSubject } from '../../telemetry/subject.ts';
import { renderError, STATUS_OF, type Answer } from '../errors.ts';
import { canonicalJson, toJson } from '../json.ts';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS } from '../limits.ts';
import { routeOf, type Middleware, type RequestKoa, type RequestState } from '../request.ts';

const HEADER = 'idempotency-key';
/** Printable ASCII with something other than blanks at both ends (HTTP trims those anyway). */
const WELL_FORMED = new RegExp(`^(?=[!-~])[ -~]{1,${MAX_IDEMPOTENCY_KEY_CHARACTERS}}(?<=[!-~])$`);

export const isWellFormedKey = (header: unknown): header is string =>
  typeof header === 'string' && WELL_FORMED.test(header);

/** Statuses that are about this attempt, not about the purchase: never kept. */
const ABOUT_THE_ATTEMPT: ReadonlySet<number> = new Set([409, 422, 429]);

export function applyIdempotencyKey(events: HttpEvents): Middleware {
  return (ctx, next) => {
    const { storedAnswers, principal } = ctx.state;
    const key = principal && keyOf(ctx);
    if (key === undefined || !storedAnswers || !principal) return next();
    return answerOnce(ctx, next, { storedAnswers, principal, tag: tagOf(ctx, key), events });
  };
}

interface IdempotentRequest {
  readonly storedAnswers: StoredAnswers;
  readonly principal: Principal;
  readonly tag: IdempotencyContext;
  readonly events: HttpEvents;
}

async function answerOnce(ctx: RequestKoa, next: Koa.Next, known: IdempotentRequest): Promise<void> {
  const { state } = ctx;
  const { answer, tag } = await withSubject(state.subject, () =>
    known.storedAnswers.findStoredAnswer(known.principal, known.tag),
  );
  if (answer) {
    state.answer = replay(answer);
    return;
  }
  state.idempotency = tag;
  const found = { ...known, tag };
  try {
    await next();
  } catch (error) {
    if (!(error instanceof DomainError) || STATUS_OF[error.code] >= 500) throw error;
    state.answer = await storeAnswer(state, found, renderError(error, state.shape));
    if (!state.answer) throw error;
    return;
  }
  if (state.answer) state.answer = (await storeAnswer(state, found, state.answer)) ?? state.answer;
}

function replay(stored: StoredAnswer): Answer {
  return { status: stored.statusCode, body: stored.body, headers: { 'Idempotent-Replayed': 'true' } };
}

function keyOf(ctx: RequestKoa): string | undefined {
  const { match } = ctx.state;
  if (match.kind !== 'route' || match.route.method !== 'POST' || match.route.key === 'member')
    return undefined;
  const values = ctx.req.headersDistinct[HEADER];
  if (values === undefined) return undefined;
  const [key, ...more] = values;
  if (more.length === 0 && isWellFormedKey(key)) return key;
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
    details: `Idempotency-Key: must be given once, with 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS} printable ASCII characters`,
  });
}

function tagOf(ctx: RequestKoa, key: string): IdempotencyContext {
  const { path, input } = ctx.state;
  if (routeOf(ctx)?.protocol === 'acp') return acpTagOf(ctx, key);
  const fingerprint = createHash('sha256')
    .update(`${path}\n${canonicalJson(input.body)}`)
    .digest('hex');
  return { key, path, fingerprint };
}

/**
 * By the rules of the protocol: a key counts for its path alone, and bodies are compared as the JSON values
 * that they are, with the fields that we ignore; `null` is not absent, `1.0` is `1`. So the row is that of
 * key and path together.
 */
function acpTagOf({ state: { path, rawBody } }: RequestKoa, key: string): IdempotencyContext {
  const body = canonicalJson(JSON.parse(toJson(rawBody)));
  return { key: `acp ${hash('sha256', `${path}\n${key}`)}`, path, fingerprint: hash('sha256', body) };
}

/**
 * Returns the answer to give instead, where another request with this key was answered first. The purchase
 * has happened whether or not its answer can be kept: a failure here is logged, and a retry reads the rows.
 */
async function storeAnswer(
  { requestId }: RequestState,
  { storedAnswers, principal, tag, events }: IdempotentRequest,
  answer: Answer,
): Promise<Answer | undefined> {
  const { status: statusCode, body: sent, stored: body = sent } = answer;
  if (ABOUT_THE_ATTEMPT.has(statusCode) || typeof body !== 'string') return undefined;
  try {
    const earlier = await storedAnswers.storeAnswer(principal, tag, { statusCode, body });
    return earlier && replay(earlier);
  } catch (error) {
    events.answerNotKept({ requestId, error });
    return undefined;
  }
}
