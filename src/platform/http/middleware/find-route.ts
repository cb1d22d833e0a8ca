/** Finds the route of a request, and refuses requests that have none. */
import Router from '@koa/router';
import { LRUCache } from 'lru-cache';
import { DomainError } from '../../../domain/errors.ts';
import { parseQuery } from '../query.ts';
import type { Middleware, RequestKoa, RequestState } from '../request.ts';
import type { Route, Match } from '../route.ts';

/** A proxy may send the absolute form; only its path and query concern us. */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * Comes early, because the kind of key, the error body and the limits all depend on the route. Refuses
 * nothing itself: a caller is checked and counted before hearing that a path does not exist (refuseUnknown).
 */
export function findRoute(routes: readonly Route[]): Middleware {
  const read = remember(targetReader(routes));
  return (ctx, next) => {
    Object.assign(ctx.state, read(ctx.req.method ?? '', ctx.req.url ?? ''));
    pickShape(ctx);
    return next();
  };
}

type Target = Pick<RequestState, 'path' | 'query' | 'match'>;
type ReadTarget = (method: string, url: string) => Target;

function targetReader(routes: readonly Route[]): ReadTarget {
  const find = compileRoutes(routes);
  return (method, url) => {
    const target = url.replace(ORIGIN, '');
    const mark = target.indexOf('?');
    const path = mark < 0 ? target : target.slice(0, mark);
    return { path, query: parseQuery(mark < 0 ? '' : target.slice(mark + 1)), match: find(method, path) };
  };
}

const REMEMBERED_TARGETS = 2_000;
const MAX_REMEMBERED_CHARACTERS = 256;

/**
 * Matching and parsing a URL takes a tenth of a cached read (promise L3), and the same URLs come again and
 * again (docs/decisions/0040). Only GETs are remembered: other requests are rarer, and would push these out.
 */
function remember(read: ReadTarget): ReadTarget {
  const known = new LRUCache<string, Target>({ max: REMEMBERED_TARGETS });
  return (method, url) => {
    if (method !== 'GET' || url.length > MAX_REMEMBERED_CHARACTERS) return read(method, url);
    const remembered = known.get(url);
    if (remembered) return remembered;
    const target = read(method, url);
    known.set(url, target);
    return target;
  };
}

/** Where a route has two error bodies, the request chooses. Called again once the body is known. */
export function pickShape(ctx: RequestKoa): void {
  const { state } = ctx;
  if (state.match.kind !== 'route') return;
  const { route } = state.match;
  state.shape = route.pickShape?.({ query: state.query.values, body: state.rawBody }) ?? route.shapes[0];
}

/** Answers 404, 405 with Allow, and OPTIONS, which only lists the methods. */
export function refuseUnknown(): Middleware {
  return (ctx, next) => {
    const { match } = ctx.state;
    switch (match.kind) {
      case 'route':
        return next();
      case 'options':
        ctx.state.answer = { status: 204, body: '', headers: { Allow: match.allow } };
        return undefined;
      case 'wrong-method':
        ctx.state.headers['Allow'] = match.allow;
        throw new DomainError('METHOD_NOT_ALLOWED', `This path takes ${match.allow}`);
      case 'unknown':
        throw new DomainError('NOT_FOUND', 'No such route');
    }
  };
}

/**
 * The router only matches. It does not dispatch, because all routes share one chain of middleware, and
 * because a literal path must win over one with a parameter for every method: `GET /api/esim/buy` is a wrong
 * method, not an eSIM called "buy".
 */
export function compileRoutes(routes: readonly Route[]): (method: string, path: string) => Match {
  const router = new Router({ sensitive: true, strict: true });
  const byPath = Map.groupBy(routes, (route) => route.path);
  const literalsFirst = [...byPath].toSorted(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')));
  for (const [path, group] of literalsFirst) {
    const methods = group.map(({ method }) => method);
    if (new Set(methods).size < methods.length) throw new Error(`a method of ${path} is defined twice`);
    router.register(path.replaceAll(/\{(\w+)\}/g, ':$1'), methods, () => undefined, { name: path });
  }
  return (method, path) => {
    const [layer] = router.match(path, method).path;
    const group = byPath.get(layer?.name ?? '');
    if (!layer || !group) return { kind: 'unknown' };
    const route = group.find((one) => one.method === method || (one.method === 'GET' && method === 'HEAD'));
    // Broken percent-encoding stays as it is; no id contains a percent sign.
    if (route) return { kind: 'route', route, params: layer.params(path, layer.captures(path)) };
    const allow = group.flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : [one.method]));
    return {
      kind: method === 'OPTIONS' ? 'options' : 'wrong-method',
      allow: [...allow, 'OPTIONS'].join(', '),
    };
  };
}
