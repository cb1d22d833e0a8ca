/** Outermost: sends each answer, turns whatever was thrown inside into the route's documented error, and reports every request once. */
import { causeText } from '../../telemetry/cause.ts';
import type { HttpEvents } from '../../telemetry/events.ts';
import { asRefusal, ClientGone, renderError, type Answer } from '../errors.ts';
import {
  CLIENT_CLOSED_REQUEST,
  newRequestState,
  routeLabel,
  routeOf,
  type Middleware,
  type RequestKoa,
} from '../request.ts';

const UNAVAILABLE = 503;

export function answerErrors(events: HttpEvents): Middleware {
  return async (ctx, next) => {
    ctx.state = newRequestState(performance.now());
    try {
      await next();
      ctx.state.answer ??= refuse(ctx, new Error('a request was handled without an answer'), events);
    } catch (error) {
      if (error instanceof ClientGone) {
        report(ctx, CLIENT_CLOSED_REQUEST, events);
        return;
      }
      ctx.state.answer = refuse(ctx, error, events);
    }
    send(ctx, ctx.state.answer);
    report(ctx, ctx.state.answer.status, events);
  };
}

/** Koa leaves the body out where there must be none (HEAD, 204). */
function send(ctx: RequestKoa, { status, body, headers }: Answer): void {
  ctx.status = status;
  ctx.set({ ...ctx.state.headers, ...headers });
  ctx.body = body;
}

/** Texts of unknown errors go to the log with the request id, never to the caller. */
function refuse(ctx: RequestKoa, error: unknown, events: HttpEvents): Answer {
  const route = routeOf(ctx);
  const refusal = asRefusal(error, route?.faultCode);
  if (refusal !== error) events.failed({ requestId: ctx.state.requestId, route: routeLabel(ctx), error });
  const rendered = route?.refusalPage?.(refusal) ?? renderError(refusal, ctx.state.shape);
  ctx.state.errorCode = rendered.code;
  if (rendered.status === UNAVAILABLE)
    ctx.state.cause = causeText(refusal === error ? (refusal.cause ?? refusal.message) : error);
  return rendered;
}

function report(ctx: RequestKoa, status: number, events: HttpEvents): void {
  const { state } = ctx;
  events.answered({
    requestId: state.requestId,
    transactionId: state.subject.transactionId,
    route: routeLabel(ctx),
    method: ctx.req.method ?? '',
    status,
    durationMs: Math.round((performance.now() - state.startedAtMs) * 100) / 100,
    clientAddress: state.clientAddress,
    accountId: state.principal?.account.id,
    personId: state.session?.person.personId,
    environment: state.principal?.environment ?? (state.session && state.environment),
    errorCode: state.errorCode,
    cause: state.cause,
  });
}
