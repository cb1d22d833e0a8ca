/**
 * Finds the route early, because the kind of key, the error shape and the limits all depend on it. Refuses nothing itself: a caller
 * is checked and counted before hearing that a path does not exist (refuse-unknown.ts).
 */
import type { FindRoute } from '../matcher.ts';
import { parseQuery } from '../query.ts';
import type { Middleware, RequestKoa } from '../request.ts';

/** A proxy may send the absolute form; only its path and query concern us. */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

export function findRoute(find: FindRoute): Middleware {
  return (ctx, next) => {
    const target = (ctx.req.url ?? '').replace(ORIGIN, '');
    const mark = target.indexOf('?');
    const { state } = ctx;
    state.path = mark < 0 ? target : target.slice(0, mark);
    state.query = parseQuery(mark < 0 ? '' : target.slice(mark + 1));
    state.match = find(ctx.method, state.path);
    pickShape(ctx);
    return next();
  };
}

/** Where a route has two shapes, the request's own words choose. Called again once the body is known. */
export function pickShape(ctx: RequestKoa): void {
  const { state } = ctx;
  if (state.match.kind !== 'route') return;
  const { route } = state.match;
  state.shape = route.pickShape?.({ query: state.query.values, body: state.rawBody }) ?? route.shapes[0];
}
