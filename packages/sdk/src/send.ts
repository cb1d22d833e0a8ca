import { failureIn, noAnswer, SimwayError, type Failure } from './error.ts';
import type { Intent } from './intent.ts';

export interface Sending {
  readonly fetch: typeof fetch;
  /** For the call with all its repeats and waits. */
  readonly deadlineMs: number;
  /** For one attempt. */
  readonly attemptMs: number;
}

/** The intent of a POST, and whether nobody can have sent it before. */
interface Keyed {
  readonly intent: Intent;
  readonly isNew: boolean;
}

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 8_000;

/**
 * Sends a request until it is answered for good, and repeats only what is safe: a GET, and a POST with its
 * key. Returns a success, read to its end. Throws a SimwayError; with the intent where the POST may have been
 * carried out.
 */
export async function sendSafely(request: Request, sending: Sending, keyed?: Keyed): Promise<Response> {
  const mayRepeat = keyed !== undefined || request.method === 'GET';
  const endsAt = performance.now() + sending.deadlineMs;
  let mayBeDone = keyed !== undefined && !keyed.isNew;
  for (let attempt = 0; ; attempt += 1) {
    const answer = await attemptOnce(request, sending, endsAt);
    if (answer instanceof Response) return answer;
    mayBeDone ||= leavesOpen(answer);
    const jitterMs = Math.random() * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
    const waitMs = (answer.retryAfterMs ?? 0) + jitterMs;
    const isInTime = performance.now() + waitMs < endsAt && !request.signal.aborted;
    if (!mayRepeat || !isTemporary(answer) || !isInTime)
      throw new SimwayError({ ...answer, intent: mayBeDone && !settles(answer) ? keyed?.intent : undefined });
    await sleep(waitMs, request.signal);
  }
}

async function attemptOnce(
  request: Request,
  { fetch, attemptMs }: Sending,
  endsAt: number,
): Promise<Response | Failure> {
  const leftMs = Math.max(0, Math.ceil(endsAt - performance.now()));
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(Math.min(attemptMs, leftMs))]);
  try {
    const response = await fetch(request.clone(), { signal });
    const text = await response.text();
    // Throws on an answer that was cut without a sign of it.
    const isJson = response.headers.get('Content-Type')?.includes('json') === true;
    const body: unknown = isJson ? JSON.parse(text) : text;
    // A page of a proxy is no success of ours; files are only read.
    const isOurs = isJson || request.method === 'GET';
    return response.ok && isOurs ? new Response(text || null, response) : failureIn(response, body);
  } catch (cause) {
    return noAnswer(cause);
  }
}

/** docs/ERRORS.md, "Which refusals are temporary". A proxy's 502 and 504 are as well. */
const isTemporary = ({ status, code }: Failure): boolean =>
  code === 'IDEMPOTENCY_KEY_IN_USE' ||
  (code !== 'ENVIRONMENT_UNAVAILABLE' && ([0, 408, 429].includes(status) || status >= 500));

/** The request may have been carried out, or be running. */
const leavesOpen = (failure: Failure): boolean =>
  failure.code === 'UNEXPECTED_ANSWER' || (isTemporary(failure) && ![408, 429].includes(failure.status));

/**
 * A refusal that comes after the key was looked up: nothing was carried out under it. Others, such as a wrong
 * API key or a limit, come before.
 */
const settles = ({ status, code }: Failure): boolean =>
  ['NOT_YOUR_ESIM', 'KEY_BUDGET_EXCEEDED'].includes(code) ||
  ([400, 404, 409, 410, 422].includes(status) &&
    !['NOT_FOUND', 'IDEMPOTENCY_KEY_IN_USE', 'UNEXPECTED_ANSWER'].includes(code));

/** Resolves early when the caller gives up. */
const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
