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
import type { HandlerInput, KeyRule, Match, ReceivedBytes, Route, Visitor } from './route.ts';
import { MAX_QUERY_PARAMETERS } from './limits.ts';

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
    headers: {
      'X-Request-Id': '',
      'Content-Type': JSON_TYPE,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    } as Record<string, string>,
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

export interface RawQuery {
  /** First value of each name. */
  readonly values: ReadonlyMap<string, string>;
  /** Names said more than once, and names written as arrays (`page[]`, `page[0]`), without the brackets. */
  readonly repeated: ReadonlySet<string>;
  /** What is wrong with the query string as a whole. */
  readonly problem: string | undefined;
}

const NO_NAMES: ReadonlySet<string> = new Set();
const EMPTY_QUERY: RawQuery = { values: new Map(), repeated: NO_NAMES, problem: undefined };

/** Reads what follows the `?` of a URL. */
export function parseQuery(text: string): RawQuery {
  if (text === '') return EMPTY_QUERY;
  if (text.includes('%') && !isDecodable(text)) {
    return { ...EMPTY_QUERY, problem: 'query: malformed percent-encoding' };
  }
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    count += 1;
    if (count > MAX_QUERY_PARAMETERS) {
      return { values, repeated, problem: `query: more than ${MAX_QUERY_PARAMETERS} parameters` };
    }
    const bracket = name.indexOf('[');
    if (bracket > 0) repeated.add(name.slice(0, bracket));
    else if (values.has(name)) repeated.add(name);
    else values.set(name, value);
  }
  return { values, repeated, problem: undefined };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
