/**
 * What the middleware learns about a request on its way in, one field after the other, and the Koa types that
 * carry it. Fields are filled in the order in which app.ts lists the middleware. Holds no behaviour beyond
 * its own beginning.
 */
import type Koa from 'koa';
import type { Session, Member, UserSession, BrowserRequest } from '../../domain/callers.ts';
import type { Environment, Principal } from '../../domain/account.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { IdempotencyContext, StoredAnswers } from '../idempotency/tag.ts';
import type { Subject } from '../telemetry/subject.ts';
import type { Answer, ErrorShape } from './errors.ts';
import { EMPTY_QUERY } from './query.ts';
import type { HandlerInput, KeyRule, Match, ReceivedBytes, Route, Visitor } from './route.ts';

export type RequestState = ReturnType<typeof newRequestState>;
export type RequestKoa = Koa.ParameterizedContext<RequestState>;
export type Middleware = Koa.Middleware<RequestState>;

type Input = Pick<HandlerInput<KeyRule, unknown, unknown, never>, 'params' | 'query' | 'body'>;

const NO_FIELDS = Object.freeze({});
const NO_INPUT: Input = { params: {}, query: undefined, body: undefined };
const JSON_TYPE = 'application/json; charset=utf-8';

/** The state of a request of which nothing is known yet. */
export function newRequestState(startedAtMs: number) {
  return {
    startedAtMs,
    requestId: '',
    /** What its log lines are about. */
    subject: NO_FIELDS as Subject,
    path: '',
    query: EMPTY_QUERY,
    match: { kind: 'unknown' } as Match,
    /** The body in which a refusal of this request is sent. */
    shape: 'general' as ErrorShape,
    clientAddress: '',
    principal: undefined as Principal | undefined,
    /** Of the person who has signed in. */
    session: undefined as Session | undefined,
    /** What the browser of a user sent along. */
    browser: undefined as BrowserRequest | undefined,
    /** Of the user who has signed in at the dashboard. */
    userSession: undefined as UserSession | undefined,
    /** The same user in the account that the request names. */
    member: undefined as Member | undefined,
    /** By name, once it is picked. */
    environment: undefined as Environment | undefined,
    /** The use cases of the caller, for the route: those of one environment, or of each that it may read. */
    useCases: [] as readonly unknown[],
    /** Of the environment that the request is about. */
    storedAnswers: undefined as StoredAnswers | undefined,
    /** The parsed body's own fields, still unchecked. */
    rawBody: NO_FIELDS as Readonly<Record<string, unknown>>,
    /** What came to a route that takes its body as bytes. */
    received: undefined as ReceivedBytes | undefined,
    input: NO_INPUT,
    idempotency: undefined as IdempotencyContext | undefined,
    /**
     * What the answer will carry beside its own headers. Answers hold prices and install codes: unless a
     * route says otherwise, nothing in between may keep them.
     */
    headers: { 'X-Request-Id': '', 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' } as Record<
      string,
      string
    >,
    answer: undefined as Answer | undefined,
    /** Code of the refusal that was sent, for metrics and the log. */
    errorCode: undefined as ErrorCode | undefined,
    /** Why the service was unavailable: for the log, never for the caller. */
    cause: undefined as string | undefined,
  };
}

/** The route that takes this request; undefined where none does. */
export function routeOf(ctx: RequestKoa): Route | undefined {
  const { match } = ctx.state;
  return match.kind === 'route' ? match.route : undefined;
}

export function visitorOf(ctx: RequestKoa): Visitor {
  return {
    preferredLanguage: (...languages) => ctx.acceptsLanguages(...languages) || undefined,
    preferredType: (...types) => ctx.accepts(...types) || undefined,
    queryValue: (name) => ctx.state.query.values.get(name),
  };
}

/** Of the template for metrics, log and traces: no caller can make names grow. */
export function routeLabel(ctx: RequestKoa): string {
  return routeOf(ctx)?.path ?? 'unmatched';
}

/** nginx's number for "client closed request": shows in metrics, log and traces, is never sent. */
export const CLIENT_CLOSED_REQUEST = 499;
