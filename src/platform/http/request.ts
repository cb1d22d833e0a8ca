/**
 * What the middleware learns about a request on its way in, one field after the other, and the Koa types that carry it.
 * Fields are filled in the order in which app.ts lists the middleware. Holds no behaviour beyond its own beginning.
 */
import type Koa from 'koa';
import type { WorldUseCases } from '../composition/use-cases.ts';
import type { IdempotencyTag } from '../idempotency/tag.ts';
import type { Environment, Principal } from '../../domain/account.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Subject } from '../telemetry/subject.ts';
import type { Answer, ErrorShape } from './errors.ts';
import { EMPTY_QUERY, type RawQuery } from './query.ts';
import type { ReceivedBytes, Route, Match } from './route.ts';
import type { Session } from '../../accounts/sessions.ts';

export interface RequestState {
  readonly startedAtMs: number;
  requestId: string;
  /** What its log lines are about. */
  subject: Subject;
  path: string;
  query: RawQuery;
  match: Match;
  /** How a refusal of this request is to be told. */
  shape: ErrorShape;
  clientAddress: string;
  principal: Principal | undefined;
  /** Of the person who has signed in. */
  session: Session | undefined;
  /** By name, once it is picked. */
  environment: Environment | undefined;
  world: WorldUseCases | undefined;
  /** `world` alone, unless the route may look in every one. */
  worlds: readonly WorldUseCases[];
  /** The parsed body's own fields, still unchecked. */
  rawBody: Readonly<Record<string, unknown>>;
  /** What came to a route that takes its body as bytes. */
  received: ReceivedBytes | undefined;
  input: {
    readonly params: Readonly<Record<string, string>>;
    readonly query: unknown;
    readonly body: unknown;
  };
  idempotency: IdempotencyTag | undefined;
  /** What the answer will carry beside its own headers. */
  readonly headers: Record<string, string>;
  answer: Answer | undefined;
  /** Code of the refusal that was sent, for metrics and the log. */
  errorCode: ErrorCode | undefined;
  /** Why the caller was told to come back: for the log, never for the caller. */
  cause: string | undefined;
}

export type RequestKoa = Koa.ParameterizedContext<RequestState>;
export type Middleware = (ctx: RequestKoa, next: () => Promise<void>) => Promise<void>;

const NO_FIELDS = Object.freeze({});
const JSON_TYPE = 'application/json; charset=utf-8';

/** The state of a request of which nothing is known yet. */
export function newRequestState(startedAtMs: number): RequestState {
  return {
    startedAtMs,
    requestId: '',
    subject: NO_FIELDS,
    path: '',
    query: EMPTY_QUERY,
    match: { kind: 'unknown' },
    shape: 'general',
    clientAddress: '',
    principal: undefined,
    session: undefined,
    environment: undefined,
    world: undefined,
    worlds: [],
    rawBody: NO_FIELDS,
    received: undefined,
    input: { params: {}, query: undefined, body: undefined },
    idempotency: undefined,
    // Answers hold prices and install codes: unless a route says otherwise, nothing in between may keep them.
    headers: { 'X-Request-Id': '', 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' },
    answer: undefined,
    errorCode: undefined,
    cause: undefined,
  };
}

/** The route that takes this request; undefined where none does. */
export function routeOf(ctx: RequestKoa): Route | undefined {
  const { match } = ctx.state;
  return match.kind === 'route' ? match.route : undefined;
}

/** Of the template for metrics, log and traces: no caller can make names grow. */
export function routeLabel(ctx: RequestKoa): string {
  return routeOf(ctx)?.path ?? 'unmatched';
}

/** nginx's number for "client closed request": shows in metrics, log and traces, is never sent. */
export const CLIENT_CLOSED_REQUEST = 499;
