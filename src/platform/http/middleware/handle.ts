/** Innermost: hands the validated request to its route and sends what comes back. What is logged meanwhile is about this request. */
import type { UseCases } from '../../composition/use-cases.ts';
import { withSubject } from '../../telemetry/subject.ts';
import { routeOf, type Middleware, type RequestKoa } from '../request.ts';
import { isForPeople } from './authenticate.ts';

export function handle(ops: UseCases['ops']): Middleware {
  return async (ctx) => {
    const { world, worlds, principal, input, idempotency, requestId, subject } = ctx.state;
    const route = routeOf(ctx);
    if (!route || !world) throw new Error('a request reached its handler without a route or a world');
    const answer = await withSubject(subject, () =>
      route.handle({
        world,
        worlds,
        // Routes that need a key were refused without one by authenticate.ts.
        principal,
        ops: opsInput(ctx, ops),
        params: input.params,
        query: input.query,
        body: input.body,
        context: { requestId },
        idempotency,
      }),
    );
    ctx.state.answer = answer;
    // A route may render a refusal in a shape of its own.
    if ('code' in answer) ctx.state.errorCode = answer.code;
  };
}

/** Undefined on every route that is not for people. */
function opsInput(ctx: RequestKoa, ops: UseCases['ops']) {
  const { session, environment, clientAddress } = ctx.state;
  if (!isForPeople(ctx)) return undefined;
  const world = environment && ops?.worlds[environment];
  if (!world) throw new Error('a request for people reached its handler without a world');
  return {
    sessions: ops.sessions,
    people: ops.people,
    world,
    clientAddress,
    // Routes that need a session were refused without one by authenticate.ts.
    session,
    preferredType: (...types: readonly string[]) => ctx.accepts(...types) || undefined,
  };
}
