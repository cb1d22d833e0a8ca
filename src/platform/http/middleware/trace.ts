/**
 * Around everything, where requests are traced: each becomes the root of a trace, named by its route's template. Not part of the chain
 * otherwise. Must not put paths, queries, headers or bodies into a span.
 */
import type { Tracing } from '../../telemetry/tracing.ts';
import { CLIENT_CLOSED_REQUEST, routeLabel, type Middleware } from '../request.ts';

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
