/** Gives every request an id, on every answer: the caller's own when it is well formed, else a fresh one. */
import { randomUUID } from 'node:crypto';
import { MAX_REQUEST_ID_CHARACTERS } from '../limits.ts';
import { routeLabel, CLIENT_CLOSED_REQUEST, type Middleware } from '../request.ts';
import type { Tracing } from '../../telemetry/tracing.ts';

const WELL_FORMED = new RegExp(`^[A-Za-z0-9._-]{1,${MAX_REQUEST_ID_CHARACTERS}}$`);

/** The id to use for what a caller sent. */
export function requestIdFrom(header: unknown): string {
  return typeof header === 'string' && WELL_FORMED.test(header) ? header : randomUUID();
}

export function assignRequestId(): Middleware {
  return (ctx, next) => {
    ctx.state.requestId = requestIdFrom(ctx.req.headers['x-request-id']);
    ctx.state.headers['X-Request-Id'] = ctx.state.requestId;
    ctx.state.subject = { requestId: ctx.state.requestId };
    return next();
  };
}

export function traceRequests(tracing: Tracing): Middleware {
  return (ctx, next) => {
    const { traceparent } = ctx.req.headers;
    return tracing.request(
      {
        method: ctx.req.method ?? '',
        traceparent: typeof traceparent === 'string' ? traceparent : undefined,
      },
      async () => {
        await next();
        const { subject, principal, answer } = ctx.state;
        return {
          route: routeLabel(ctx),
          status: answer?.status ?? CLIENT_CLOSED_REQUEST,
          ids: { ...subject, environment: principal?.environment },
        };
      },
    );
  };
}
