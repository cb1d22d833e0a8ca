/**
 * A simulator's control interface: JSON over HTTP on a port of its own, for scripts and tests. Bad input is
 * 400 with every problem named. It has no authentication, so it must not be reachable from outside the
 * machine.
 */
import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import type { Middleware } from 'koa';
import { z } from 'zod';
import { answer, appOf, BodyTooLargeError, isObject, readBody, type Stats } from './server.ts';

const BODY_LIMIT_BYTES = 65_536;
const DEFAULT_LIMIT = 100;
const MAX_LISTED = 10_000;
const LONGEST_MS = 86_400_000;

/** A refused control request; `status` is the HTTP status. */
export class ControlError extends Error {
  readonly status: 400 | 404 | 405 | 409 | 413;
  readonly problems: string[];

  constructor(status: ControlError['status'], problems: string[]) {
    super(problems.join('; '));
    this.name = 'ControlError';
    this.status = status;
    this.problems = problems;
  }
}

/** What was named, or 404. */
export function found<T>(value: T | undefined, problem: string): T {
  if (value === undefined) throw new ControlError(404, [problem]);
  return value;
}

/** A whole number in a range. */
export function whole(least: number, most: number, message: string) {
  return z.int(message).min(least, message).max(most, message);
}

export const FLAG = z.boolean('must be true or false');
export const AMOUNT = whole(0, Number.MAX_SAFE_INTEGER, 'must be a whole number from 0');
export const DURATION_MS = whole(0, LONGEST_MS, `must be whole milliseconds from 0 to ${LONGEST_MS}`);
const A_SHARE = 'must be a share from 0 to 1';
export const SHARE = z.number(A_SHARE).min(0, A_SHARE).max(1, A_SHARE);
/** A share of the calls (1: every call), or the next n calls it could apply to. */
export const CHANCE = z.union(
  [SHARE, z.strictObject({ next: AMOUNT })],
  'must be a share from 0 to 1 or {"next": n} with a whole number n',
);
export type Chance = z.output<typeof CHANCE>;

export function oneOf<const Word extends string | number>(words: readonly Word[]) {
  return z.literal([...words], `must be one of ${words.join(', ')}`);
}

/**
 * The body, if the schema allows it; `noun` names a field in messages. Throws a ControlError that names every
 * problem.
 */
export function checked<Schema extends z.ZodObject>(schema: Schema, body: unknown, noun = 'field') {
  if (!isObject(body)) throw new ControlError(400, ['the body must be a JSON object']);
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => {
    const where = issue.path.join('.');
    if (issue.code !== 'unrecognized_keys') return [`${where} ${issue.message}`];
    const known = where === '' ? `, known: ${Object.keys(schema.shape).join(', ')}` : '';
    const what = where === '' ? noun : `field of ${where}`;
    return issue.keys.map((name) => `unknown ${what} "${name.slice(0, 60)}"${known}`);
  });
  throw new ControlError(400, [...new Set(problems)]);
}

/** `limit` of a listing: 1 to 10,000. */
export function readLimit(query: URLSearchParams): number {
  const text = query.get('limit');
  if (text === null) return DEFAULT_LIMIT;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LISTED) throw new ControlError(400, [`limit must be from 1 to ${MAX_LISTED}`]);
  return limit;
}

interface ControlRequest {
  /** The path's own part, as in /esims/:id; empty where there is none. */
  id: string;
  query: URLSearchParams;
  /** The body as JSON; of an empty body `empty`, which is refused when it is absent. */
  body: (empty?: object) => Promise<unknown>;
}

/** By method and path, as in `GET /esims/:id`. Each answers what is sent as JSON, or a ControlText. */
export type Routes = Readonly<Record<string, (request: ControlRequest) => unknown>>;

/** An answer that is not JSON. */
export class ControlText {
  readonly contentType: string;
  readonly text: string;

  constructor(contentType: string, text: string) {
    this.contentType = contentType;
    this.text = text;
  }
}

async function readJson(request: IncomingMessage, empty?: object): Promise<unknown> {
  const body = await readBody(request, BODY_LIMIT_BYTES);
  if (body.length === 0 && empty !== undefined) return empty;
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    throw new ControlError(400, ['the body must be JSON']);
  }
}

/** Answers every failure as JSON; `onBug` gets those of the simulator itself. */
function refusals(onBug: (error: unknown) => void): Middleware {
  return async (context, next) => {
    try {
      await next();
      if (context.status === 404) throw new ControlError(404, ['no such path']);
      if (context.status === 405 || context.status === 501) {
        throw new ControlError(405, [`method not allowed, use ${context.response.get('allow')}`]);
      }
    } catch (error) {
      const isLarge = error instanceof BodyTooLargeError;
      const refused = isLarge ? new ControlError(413, [error.message]) : error;
      const isRefused = refused instanceof ControlError;
      if (!isRefused) onBug(error);
      const problems = isRefused ? refused.problems : ['the simulator failed; see its log'];
      const json = JSON.stringify({ error: { message: problems.join('; '), problems } });
      answer(context, isRefused ? refused.status : 500, json);
    }
  };
}

/**
 * The control interface with these routes, `GET /stats` and `GET /health`. `before` runs before each request.
 */
export function createControlApp(options: {
  routes: Routes;
  stats: Stats;
  onBug: (error: unknown) => void;
  before?: () => void;
}) {
  const { stats, onBug, before } = options;
  const router = new Router();
  const routes: Routes = {
    ...options.routes,
    'GET /stats': () => stats.snapshot(),
    'GET /health': () => ({ ok: true }),
  };
  for (const [methodAndPath, route] of Object.entries(routes)) {
    const [method = '', path = ''] = methodAndPath.split(' ');
    router.register(path, [method], async (context) => {
      before?.();
      const { id = '' } = context.params as { id?: string };
      const query = new URLSearchParams(context.querystring);
      const result = await route({ id, query, body: (empty) => readJson(context.req, empty) });
      if (result instanceof ControlText) answer(context, 200, result.text, result.contentType);
      else answer(context, 200, JSON.stringify(result));
    });
  }
  return appOf(refusals(onBug), router.routes() as Middleware, router.allowedMethods() as Middleware);
}
