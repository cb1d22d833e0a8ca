/**
 * A simulator's control interface: JSON over HTTP on a port of its own, for scripts and tests. Guarantee: bad input is 400 with every
 * problem named, never a crash. Must not be reachable from outside the machine: it has no authentication and listens on loopback by default.
 */
import type { IncomingMessage } from 'node:http';
import type { Check } from './checks.ts';
import { BodyTooLargeError, readBody, sendJson, sendText, targetOf, type Handler } from './http.ts';

const BODY_LIMIT_BYTES = 65_536;
const DEFAULT_LIMIT = 100;
const MOST_LISTED = 10_000;

type RefusalStatus = 400 | 404 | 405 | 409 | 413;

/** A refused control request; `status` is the HTTP status. */
export class ControlError extends Error {
  readonly status: RefusalStatus;
  readonly problems: string[];

  constructor(status: RefusalStatus, problems: string[]) {
    super(problems.join('; '));
    this.name = 'ControlError';
    this.status = status;
    this.problems = problems;
  }
}

export interface ControlRequest {
  /** The path's own part, as in /esims/{id}; empty where there is none. */
  id: string;
  query: URLSearchParams;
  /** The body as JSON. */
  body: () => Promise<unknown>;
  /** The body as JSON, `{}` when there is none. */
  bodyIfAny: () => Promise<unknown>;
}

/** Answers what is sent as JSON, or a ControlText. */
export type Route = (request: ControlRequest) => unknown;
export type RouteRow = [method: string, path: RegExp, route: Route];

/** An answer that is not JSON. */
export class ControlText {
  readonly contentType: string;
  readonly text: string;

  constructor(contentType: string, text: string) {
    this.contentType = contentType;
    this.text = text;
  }
}

/** The body as an object with known, well-typed fields only. `noun` names a field in messages. */
export function checked(
  body: unknown,
  checks: Readonly<Record<string, Check>>,
  noun = 'field',
): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ControlError(400, ['the body must be a JSON object']);
  }
  const known = Object.keys(checks).join(', ');
  const problems = Object.entries(body).flatMap(([name, value]) => {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) return [`unknown ${noun} "${name.slice(0, 60)}", known: ${known}`];
    return check.ok(value) ? [] : [`${name} must be ${check.wants}`];
  });
  if (problems.length > 0) throw new ControlError(400, problems);
  return body as Record<string, unknown>;
}

/** `limit` of a listing: 1 to 10,000. */
export function readLimit(query: URLSearchParams): number {
  const text = query.get('limit');
  if (text === null) return DEFAULT_LIMIT;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MOST_LISTED)
    throw new ControlError(400, [`limit must be from 1 to ${MOST_LISTED}`]);
  return limit;
}

async function readJson(request: IncomingMessage, empty?: unknown): Promise<unknown> {
  const body = await readBody(request, BODY_LIMIT_BYTES);
  if (body.length === 0 && empty !== undefined) return empty;
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    throw new ControlError(400, ['the body must be JSON']);
  }
}

function refusalOf(error: unknown): ControlError | undefined {
  if (error instanceof ControlError) return error;
  return error instanceof BodyTooLargeError ? new ControlError(413, [error.message]) : undefined;
}

/** The request handler over these routes. `onBug` is told of failures of the simulator itself. */
export function createControlHandler(routes: readonly RouteRow[], onBug: (error: unknown) => void): Handler {
  const answer = (request: IncomingMessage): unknown => {
    const target = targetOf(request);
    if (target === undefined) throw new ControlError(400, ['the path is malformed']);
    const matching = routes.filter(([, path]) => path.test(target.pathname));
    const found = matching.find(([method]) => method === request.method);
    if (found === undefined) {
      const methods = matching.map(([method]) => method).join(', ');
      if (methods !== '') throw new ControlError(405, [`method not allowed, use ${methods}`]);
      throw new ControlError(404, ['no such path']);
    }
    const id = found[1].exec(target.pathname)?.[1] ?? '';
    const query = target.searchParams;
    return found[2]({ id, query, body: () => readJson(request), bodyIfAny: () => readJson(request, {}) });
  };
  return async (request, response) => {
    try {
      const result = await answer(request);
      if (result instanceof ControlText) sendText(response, 200, result.contentType, result.text);
      else sendJson(response, 200, JSON.stringify(result));
    } catch (error) {
      const refused = refusalOf(error);
      if (refused === undefined) onBug(error);
      const problems = refused?.problems ?? ['the simulator failed; see its log'];
      const json = JSON.stringify({ error: { message: problems.join('; '), problems } });
      sendJson(response, refused?.status ?? 500, json);
    }
  };
}
