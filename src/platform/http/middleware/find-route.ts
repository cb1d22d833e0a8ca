/**
 * Finds the route early, because the kind of key, the error shape and the limits all depend on it. Refuses nothing itself: a caller
 * is checked and counted before hearing that a path does not exist (refuse-unknown.ts).
 */
import { LRUCache } from 'lru-cache';
import { MAX_REMEMBERED_TARGET_CHARACTERS, REMEMBERED_TARGETS } from '../limits.ts';
import type { FindRoute, Match } from '../matcher.ts';
import { parseQuery, type RawQuery } from '../query.ts';
import type { Middleware, RequestKoa } from '../request.ts';

/** A proxy may send the absolute form; only its path and query concern us. */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

export function findRoute(find: FindRoute): Middleware {
  const read = targetReader(find);
  return (ctx, next) => {
    const { path, query, match } = read(ctx.method, ctx.req.url ?? '');
    ctx.state.path = path;
    ctx.state.query = query;
    ctx.state.match = match;
    pickShape(ctx);
    return next();
  };
}

interface Target {
  readonly path: string;
  readonly query: RawQuery;
  readonly match: Match;
}

/** What is asked for again and again is read once. */
function targetReader(find: FindRoute): (method: string, url: string) => Target {
  const known = new LRUCache<string, Target>({ max: REMEMBERED_TARGETS });
  return (method, url) => {
    const key = `${method} ${url}`;
    const remembered = known.get(key);
    if (remembered) return remembered;
    const target = readTarget(find, method, url.replace(ORIGIN, ''));
    if (key.length <= MAX_REMEMBERED_TARGET_CHARACTERS) known.set(key, target);
    return target;
  };
}

function readTarget(find: FindRoute, method: string, target: string): Target {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return { path, query: parseQuery(mark < 0 ? '' : target.slice(mark + 1)), match: find(method, path) };
}

/** Where a route has two shapes, the request's own words choose. Called again once the body is known. */
export function pickShape(ctx: RequestKoa): void {
  const { state } = ctx;
  if (state.match.kind !== 'route') return;
  const { route } = state.match;
  state.shape = route.pickShape?.({ query: state.query.values, body: state.rawBody }) ?? route.shapes[0];
}
