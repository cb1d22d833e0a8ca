/** Finds the route of a request, refuses requests that have none, and hands valid ones to their route. */
import Router from '@koa/router';
import { LRUCache } from 'lru-cache';
import { DomainError } from '../../../domain/errors.ts';
import { withSubject } from '../../telemetry/subject.ts';
import {
  parseQuery,
  type Middleware,
  type RequestKoa,
  type RequestState,
  routeOf,
  visitorOf,
} from '../request.ts';
import type { Route, Match } from '../route.ts';
import type { Answer, ErrorAnswer } from '../errors.ts';

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

const NOT_MODIFIED = 304;

/**
 * Innermost: hands the validated request to its route and sends what comes back. What is logged meanwhile is
 * about this request.
 */
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

/**
 * By If-None-Match, as RFC 9110 compares it (13.1.2). Koa's `fresh` never matches a request with
 * `Cache-Control: no-cache`, which `fetch` sends beside If-None-Match. It asks caches to validate, and this
 * answer is from the origin.
 */
function isKnownToCaller(ctx: RequestKoa, { headers }: Answer): boolean {
  const given = ctx.req.headers['if-none-match']?.trim();
  const etag = headers?.['ETag'];
  if (etag === undefined || given === undefined) return false;
  return given === '*' || (given.match(/"[^"]*"/g)?.includes(etag) ?? false);
}
