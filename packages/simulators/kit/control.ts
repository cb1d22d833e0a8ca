/** A simulator's control interface. It has no authentication: no other machine may reach it. */
import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import type { Middleware } from 'koa';
import { z } from 'zod';
import { answer, appOf, BodyTooLargeError, isObject, readBody, type Stats } from './server.ts';
import type { Database } from './storage.ts';
import { createRandom, hash32 } from './seeded.ts';

const BODY_LIMIT_BYTES = 65_536;
const DEFAULT_LIMIT = 100;
const MAX_LISTED = 20_000;
const LONGEST_MS = 86_400_000;

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

export function found<T>(value: T | undefined, problem: string): T {
  if (value === undefined) throw new ControlError(404, [problem]);
  return value;
}

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
type Chance = z.output<typeof CHANCE>;

export function oneOf<const Word extends string | number>(words: readonly Word[]) {
  return z.literal([...words], `must be one of ${words.join(', ')}`);
}

/** Throws a ControlError that names every problem; `noun` is what it calls a field. */
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

/** Adds `GET /stats` and `GET /health`. `before` runs before each request. */
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

type Changes<Faults> = { [Name in keyof Faults]?: Faults[Name] | undefined };

type ChanceName<Faults> = {
  [Name in keyof Faults]: Faults[Name] extends Chance ? (Chance extends Faults[Name] ? Name : never) : never;
}[keyof Faults] &
  string;

export type FaultBoard<Faults extends object> = ReturnType<typeof createFaultBoard<Faults>>;

export function isOff(chance: Chance): boolean {
  return chance === 0 || (typeof chance === 'object' && chance.next === 0);
}

export function createFaultBoard<Faults extends object>(options: {
  defaults: Faults;
  seed: number;
  meta: Database['meta'];
  /** Called when the control interface set these; a reset sets everything to its default. */
  onSet: (changes: Changes<Faults>) => void;
}) {
  const { defaults, meta } = options;
  let changed = JSON.parse(meta.read('faults') ?? '{}') as Changes<Faults>;
  let current = { ...defaults, ...changed };
  const dice = new Map<string, () => number>();
  const apply = (next: Changes<Faults>) => {
    changed = next;
    current = { ...defaults, ...next };
    meta.write('faults', JSON.stringify(changed));
  };
  const set = (next: Changes<Faults>, changes: Changes<Faults>) => {
    apply(next);
    options.onSet(changes);
    return current;
  };
  const roll = (name: string, share: number) => {
    const known = dice.get(name) ?? createRandom(options.seed ^ hash32(name));
    dice.set(name, known);
    return share === 1 || known() < share;
  };
  return {
    get current(): Readonly<Faults> {
      return current;
    },
    /** Adds these to what is set and answers the result. */
    set: (changes: Changes<Faults>) => set({ ...changed, ...changes }, changes),
    reset: () => set({}, defaults),
    /** Decides about one call and uses up a `{next}`. Seeded: two runs with the same calls decide alike. */
    hits: (name: ChanceName<Faults>): boolean => {
      const chance = current[name] as Chance;
      if (isOff(chance)) return false;
      if (typeof chance === 'number') return roll(name, chance);
      apply({ ...changed, [name]: { next: chance.next - 1 } });
      return true;
    },
    roll,
  };
}

/** The control routes of the faults in `schema`, whose fields have their defaults. */
export function faultRoutes<Shape extends Record<string, z.ZodDefault>>(
  schema: z.ZodObject<Shape>,
  board: FaultBoard<z.output<z.ZodObject<Shape>>>,
  onChange: () => unknown = () => undefined,
): Routes {
  const fields = Object.entries<z.ZodDefault>(schema.shape);
  const settable = z.strictObject(
    Object.fromEntries(fields.map(([name, field]) => [name, field.unwrap() as z.ZodType])),
  );
  const partial = settable.partial();
  return {
    'GET /faults': () => board.current,
    'PUT /faults': async ({ body }) => {
      const faults = board.set(checked(partial, await body(), 'fault') as Changes<typeof board.current>);
      await onChange();
      return faults;
    },
    'DELETE /faults': async () => {
      const faults = board.reset();
      await onChange();
      return faults;
    },
  };
}
