/** Innermost: hands the validated request to its route and sends what comes back. What is logged meanwhile is about this request. */
import type { UseCases } from '../../composition/use-cases.ts';
import { withSubject } from '../../telemetry/subject.ts';
import { routeOf, visitorOf, type Middleware, type RequestKoa } from '../request.ts';
import type { Answer, ErrorAnswer } from '../errors.ts';
import { whenKnown } from '../../when-known.ts';
import { isForPeople, isForUsers } from './authenticate.ts';

const NOT_MODIFIED = 304;

export function handle({ ops, users }: Pick<UseCases, 'ops' | 'users'>): Middleware {
  return (ctx) => {
    const { world, worlds, principal, input, idempotency, requestId, subject } = ctx.state;
    const route = routeOf(ctx);
    if (!route || !world) throw new Error('a request reached its handler without a route or an environment');
    const answer = withSubject(subject, () =>
      route.handle({
        world,
        worlds,
        // Routes that need a key were refused without one by authenticate.ts.
        principal,
        ops: opsInput(ctx, ops),
        users: usersInput(ctx, users),
        params: input.params,
        query: input.query,
        body: input.body,
        context: { requestId },
        visitor: visitorOf(ctx),
        idempotency,
      }),
    );
    return whenKnown(answer, (known) => keepAnswer(ctx, known));
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

/** Undefined on every route that is not for people. */
function opsInput(ctx: RequestKoa, ops: UseCases['ops']) {
  const { session, environment, clientAddress } = ctx.state;
  if (!isForPeople(ctx)) return undefined;
  const world = environment && ops?.worlds[environment];
  if (!world) throw new Error('a request for people reached its handler without an environment');
  return {
    sessions: ops.sessions,
    people: ops.people,
    temporalUi: ops.temporalUi,
    world,
    clientAddress,
    // Routes that need a session were refused without one by authenticate.ts.
    session,
    preferredType: (...types: readonly string[]) => ctx.accepts(...types) || undefined,
  };
}

/** Undefined on every route that is not for users of the dashboard. */
function usersInput(ctx: RequestKoa, users: UseCases['users']) {
  const { browser, userSession: session, member, environment } = ctx.state;
  if (!isForUsers(ctx)) return undefined;
  if (!users || !browser || !environment)
    throw new Error('a request for users reached its handler without them');
  // Routes that need a session or a member were refused without one by authenticate.ts.
  return { ...users, browser, session, member, environment };
}
