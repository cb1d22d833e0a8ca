/** Innermost: hands the validated request to its route and sends what comes back. */
import { routeOf, type Middleware } from '../request.ts';

export function handle(): Middleware {
  return async (ctx) => {
    const { world, worlds, principal, input, idempotency, requestId } = ctx.state;
    const route = routeOf(ctx);
    if (!route || !world) throw new Error('a request reached its handler without a route or a world');
    ctx.state.answer = await route.handle({
      world,
      worlds,
      // Routes that need a key were refused without one by authenticate.ts.
      principal,
      params: input.params,
      query: input.query,
      body: input.body,
      context: { requestId },
      idempotency,
    });
  };
}
