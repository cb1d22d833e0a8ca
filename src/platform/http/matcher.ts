/**
 * Finds the route of a request. Compiled once from the table; a literal path always wins over one with a parameter, so
 * `GET /api/esim/buy` is a wrong method and not an eSIM called "buy". The router matches paths with parameters; its own dispatch is left
 * out, since one chain of middleware serves every route.
 */
import Router from '@koa/router';
import type { Route } from './route.ts';

export type Match =
  | {
      readonly kind: 'route';
      readonly route: Route;
      readonly params: Readonly<Record<string, string | undefined>>;
    }
  | { readonly kind: 'options'; readonly allow: string }
  | { readonly kind: 'wrong-method'; readonly allow: string }
  | { readonly kind: 'unknown' };

export type FindRoute = (method: string, path: string) => Match;

interface PathEntry {
  readonly methods: Map<string, Route>;
  readonly allow: string;
}

const UNKNOWN: Match = { kind: 'unknown' };
const NO_PARAMS: Readonly<Record<string, string | undefined>> = {};
const PARAMETER = /\{(\w+)\}/g;

/** Paths are compared byte for byte; parameters come back decoded, or undefined where their percent-encoding is broken. */
export function compileRoutes(routes: readonly Route[]): FindRoute {
  const literals = new Map<string, PathEntry>();
  const patterns = new Map<string, PathEntry>();
  const router = new Router({ sensitive: true, strict: true });
  for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
    const pattern = path.replaceAll(PARAMETER, ':$1');
    (pattern === path ? literals : patterns).set(pattern, entryOf(group));
    if (pattern !== path)
      router.register(
        pattern,
        group.map((route) => route.method),
        () => undefined,
      );
  }
  return (method, path) => {
    const literal = literals.get(path);
    if (literal) return pick(literal, method, NO_PARAMS);
    const [layer] = router.match(path, method).path;
    const entry = layer && patterns.get(String(layer.path));
    if (!layer || !entry) return UNKNOWN;
    const names = layer.paramNames.map(({ name }) => name);
    return pick(entry, method, decodeParams(names, layer.captures(path)));
  };
}

function entryOf(group: readonly Route[]): PathEntry {
  const methods = new Map<string, Route>();
  for (const route of group) {
    if (methods.has(route.method)) throw new Error(`${route.method} ${route.path} is defined twice`);
    methods.set(route.method, route);
    if (route.method === 'GET') methods.set('HEAD', route);
  }
  return { methods, allow: [...methods.keys(), 'OPTIONS'].join(', ') };
}

function pick(entry: PathEntry, method: string, params: Readonly<Record<string, string | undefined>>): Match {
  const route = entry.methods.get(method);
  if (route) return { kind: 'route', route, params };
  return { kind: method === 'OPTIONS' ? 'options' : 'wrong-method', allow: entry.allow };
}

function decodeParams(
  names: readonly string[],
  found: readonly string[],
): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name, index) => [name, decode(found[index] ?? '')]));
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
