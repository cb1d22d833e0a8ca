/**
 * Runs a route from inside the process, for a caller who was let in already: its scope, validation,
 * idempotency, error codes, metrics and request log are those of HTTP.
 */
import type { Principal } from '../../domain/account.ts';
import type { RequestLog } from '../request-log.ts';
import type { HttpEvents } from '../telemetry/events.ts';
import { parseJson, toJson } from './json.ts';
import { answerErrors } from './middleware/answer.ts';
import type { Middleware, RequestState } from './request.ts';
import type { Route } from './route.ts';

export interface RouteCaller {
  readonly principal: Principal;
  readonly clientAddress: string;
  readonly requestId: string;
}

export interface RouteInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Fields as JSON.parse gives them. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly idempotencyKey?: string | undefined;
}

/** `body`: parsed. Refusals are in the shape that has details, whatever the route has. */
export interface RouteResult {
  readonly status: number;
  readonly body: unknown;
}

export type CallRoute = (caller: RouteCaller, route: Route, input: RouteInput) => Promise<RouteResult>;

/** `middleware`: what a request passes after it was let in, counted and read. */
export function createRouteCalls(
  middleware: readonly Middleware[],
  events: HttpEvents,
  requestLog: RequestLog | undefined,
): CallRoute {
  // Nothing is sent: the answer stays in the state.
  const answering = answerErrors(events, requestLog, (sent) => sent);
  return async (caller, route, input) => {
    const { idempotencyKey } = input;
    const begin: Middleware = (ctx, next) => {
      Object.assign(ctx.state, stateOf(caller, route, input));
      return next();
    };
    const distinct = idempotencyKey === undefined ? {} : { 'idempotency-key': [idempotencyKey] };
    // All that the middleware reads of a request whose body and caller are known.
    const ctx = {
      method: route.method,
      req: { method: route.method, headers: {}, headersDistinct: distinct },
    } as unknown as Parameters<Middleware>[0];
    await run([answering, begin, ...middleware], ctx);
    const { answer } = ctx.state;
    if (!answer) throw new Error('a route was called without an answer');
    return { status: answer.status, body: JSON.parse(String(answer.body)) };
  };
}

function stateOf(
  { principal, clientAddress, requestId }: RouteCaller,
  route: Route,
  { params = {}, query = {}, body = {} }: RouteInput,
): Partial<RequestState> {
  return {
    principal,
    clientAddress,
    requestId,
    shape: 'base',
    subject: { requestId },
    path: route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? ''),
    match: { kind: 'route', route, params },
    query: { values: new Map(Object.entries(query)), repeated: new Set(), problem: undefined },
    rawBody: parseJson(toJson(body)) as RequestState['rawBody'],
  };
}

async function run([first, ...rest]: readonly Middleware[], ctx: Parameters<Middleware>[0]): Promise<void> {
  await first?.(ctx, () => run(rest, ctx));
}
