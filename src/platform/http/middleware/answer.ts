/**
 * Outermost: turns whatever was thrown inside into the route's documented answer and reports every request
 * once. Headers set on the way in (request id, rate limit) stay. Texts of unknown errors go to the log with
 * the request id, never to the caller.
 */
import type { RequestLog } from '../../request-log.ts';
import type { HttpEvents } from '../../telemetry/events.ts';
import { asRefusal, ClientGone, renderError, type Answer } from '../errors.ts';
import {
  CLIENT_CLOSED_REQUEST,
  newRequestState,
  routeLabel,
  routeOf,
  visitorOf,
  type Middleware,
  type RequestKoa,
} from '../request.ts';

const UNAVAILABLE = 503;

type Sender = (ctx: RequestKoa, answer: Answer) => void;

/** `senderOf` makes what sends an answer, and calls `sent` once it did. */
export function answerErrors(
  events: HttpEvents,
  requestLog: RequestLog | undefined,
  senderOf: (sent: Sender) => Sender = createResponseSender,
): Middleware {
  const send = senderOf((ctx, { status }) => {
    const durationMs = durationOf(ctx);
    report(ctx, status, durationMs, events);
    noteRequest(ctx, status, durationMs, requestLog);
  });
  const sendAnswer = (ctx: RequestKoa): void => {
    const { state } = ctx;
    state.answer ??= refuse(ctx, new Error('a request was handled without an answer'), events);
    send(ctx, state.answer);
  };
  const sendRefusal = (ctx: RequestKoa, error: unknown): void => {
    if (error instanceof ClientGone) {
      ctx.respond = false;
      report(ctx, CLIENT_CLOSED_REQUEST, durationOf(ctx), events);
      return;
    }
    ctx.state.answer = refuse(ctx, error, events);
    send(ctx, ctx.state.answer);
  };
  return async (ctx, next) => {
    ctx.state = newRequestState(performance.now());
    try {
      await next();
      sendAnswer(ctx);
    } catch (error) {
      sendRefusal(ctx, error);
    }
  };
}

function refuse(ctx: RequestKoa, error: unknown, events: HttpEvents): Answer {
  const route = routeOf(ctx);
  const refusal = asRefusal(error, route?.faultCode);
  if (refusal !== error) events.failed({ requestId: ctx.state.requestId, route: routeLabel(ctx), error });
  const rendered = route?.refusalPage?.(refusal, visitorOf(ctx)) ?? renderError(refusal, ctx.state.shape);
  ctx.state.errorCode = rendered.code;
  if (rendered.status === UNAVAILABLE)
    ctx.state.cause = causeText(refusal === error ? (refusal.cause ?? refusal.message) : error);
  return rendered;
}

const durationOf = ({ state }: RequestKoa): number => performance.now() - state.startedAtMs;

function report(ctx: RequestKoa, status: number, durationMs: number, events: HttpEvents): void {
  const { state } = ctx;
  events.answered({
    requestId: state.requestId,
    transactionId: state.subject.transactionId,
    route: routeLabel(ctx),
    method: ctx.req.method ?? '',
    status,
    durationMs: Math.round(durationMs * 100) / 100,
    clientAddress: state.clientAddress,
    accountId: state.principal?.account.id,
    personId: state.session?.person.personId,
    userId: state.userSession?.user.userId,
    environment: state.principal?.environment ?? (state.session && state.environment),
    errorCode: state.errorCode,
    cause: state.cause,
  });
}

/** For the account's developers: the recent requests with its keys. */
function noteRequest(
  ctx: RequestKoa,
  status: number,
  durationMs: number,
  requestLog: RequestLog | undefined,
): void {
  const { principal, member, requestId, errorCode = null } = ctx.state;
  if (!requestLog || !principal || member) return;
  requestLog.note({
    accountId: principal.account.id,
    environment: principal.environment,
    requestId,
    atMs: Date.now(),
    method: ctx.req.method ?? '',
    path: routeLabel(ctx),
    status,
    errorCode,
    durationMs,
    keyId: principal.keyId,
  });
}

/** Two wrappings around what a driver says; deeper ones repeat it. */
const MAX_DEPTH = 4;
const MAX_CHARACTERS = 500;

/**
 * Why something failed, in one line for the log: the messages of the chain of causes, outermost first. Never
 * throws, never empty. Words longer than the line are left out whole: the log's redaction does not recognise
 * half a secret.
 */
function causeText(error: unknown): string {
  const words: string[] = [];
  for (let at = error, depth = 0; at !== undefined && depth < MAX_DEPTH; depth += 1) {
    words.push(ownWords(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  const text = words.join(': ');
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS).replace(/\S*$/, '')}…`;
}

function ownWords(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : `${typeof error} without words`;
  if (error.message !== '') return error.message;
  // A connection refused on every address of a name has a code and no words.
  return 'code' in error ? String(error.code) : error.name;
}

/** Answers without a body: 204, and 304, whose length would be that of the body left out. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 304]);

/**
 * Sends the answers of one turn of the event loop together, at its end. With other work between them each
 * write wakes the reader on the same machine again. Reads are 1.2 to 1.5 times as fast with it
 * (docs/decisions/0027). `sent` is called for each answer after all were written. An answer that cannot be
 * sent becomes Koa's error of its request.
 */
function createResponseSender(sent: Sender): Sender {
  let waiting: [ctx: RequestKoa, answer: Answer][] = [];
  const sendAll = (): void => {
    const ready = waiting;
    waiting = [];
    for (const [ctx, answer] of ready) {
      try {
        write(ctx, answer);
      } catch (error) {
        ctx.onerror(error as Error);
      }
    }
    for (const [ctx, answer] of ready) sent(ctx, answer);
  };
  return (ctx, answer) => {
    // Koa's documented way to answer by ourselves.
    ctx.respond = false;
    if (waiting.push([ctx, answer]) === 1) setImmediate(sendAll);
  };
}

function write(ctx: RequestKoa, answer: Answer): void {
  const { headers } = ctx.state;
  if (answer.headers) Object.assign(headers, answer.headers);
  const { gzipped } = answer;
  const isGzipped = gzipped !== undefined && ctx.acceptsEncodings('gzip') === 'gzip';
  const body = isGzipped ? gzipped : answer.body;
  if (isGzipped) {
    headers['Content-Encoding'] = 'gzip';
    // The bytes are others: it names the same content, as a weak one does.
    headers['ETag'] = `W/${String(headers['ETag'])}`;
  }
  if (WITHOUT_BODY.has(answer.status)) Reflect.deleteProperty(headers, 'Content-Type');
  else headers['Content-Length'] = String(bytesOf(body));
  if (answer.cookies) ctx.res.setHeader('Set-Cookie', answer.cookies);
  ctx.res.writeHead(answer.status, headers);
  // Node leaves the body out where there must be none (HEAD, 204, 304).
  ctx.res.end(body);
}

function bytesOf(body: string | Buffer): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}
