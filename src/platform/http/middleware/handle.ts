/**
 * Innermost: hands the validated request to its route and sends what comes back. What is logged meanwhile is
 * about this request.
 */
import { withSubject } from '../../telemetry/subject.ts';
import { routeOf, visitorOf, type Middleware, type RequestKoa } from '../request.ts';
import type { Answer, ErrorAnswer } from '../errors.ts';

const NOT_MODIFIED = 304;

export function handle(): Middleware {
  return async (ctx) => {
    const { state } = ctx;
    const { useCases, environment, input } = state;
    const route = routeOf(ctx);
    if (!route || !environment)
      throw new Error('a request reached its handler without a route or an environment');
    // The middleware before this one refused requests that lack what their route's rule promises.
    const sent = {
      ...input,
      cases: useCases[0] as never,
      allCases: useCases as never[],
      environment,
      principal: state.principal,
      session: (state.session ?? state.userSession) as never,
      member: state.member as never,
      browser: state.browser as never,
      clientAddress: state.clientAddress,
      context: { requestId: state.requestId },
      visitor: visitorOf(ctx),
      idempotency: state.idempotency,
    };
    keepAnswer(ctx, await withSubject(state.subject, () => route.handle(sent)));
  };
}

function keepAnswer(ctx: RequestKoa, answer: Answer | ErrorAnswer): void {
  ctx.state.answer = isKnownToCaller(ctx, answer) ? { ...answer, status: NOT_MODIFIED, body: '' } : answer;
  // A route may render a refusal in a shape of its own.
  if ('code' in answer) ctx.state.errorCode = answer.code;
}

/** By If-None-Match, as RFC 9110 compares it. */
function isKnownToCaller(ctx: RequestKoa, { headers }: Answer): boolean {
  const etag = headers?.['ETag'];
  if (etag === undefined || ctx.req.headers['if-none-match'] === undefined) return false;
  // Koa compares with the answer that it would send itself.
  ctx.status = 200;
  ctx.set('ETag', etag);
  const { fresh } = ctx;
  if (fresh) ctx.status = NOT_MODIFIED;
  return fresh;
}
