/**
 * What a route is. The router, the middleware, the OpenAPI document and the tests all read these definitions,
 * so a route cannot exist without a key rule, an error shape and schemas. Handlers call one use case and one
 * presenter, and never touch Koa.
 */
import type { z } from 'zod';
import type { Environment, Principal, Scope } from '../../domain/account.ts';
import type { BrowserRequest, Member, Session, UserSession } from '../../domain/callers.ts';
import type { DomainError, ErrorCode } from '../../domain/errors.ts';
import type { MemberPermission } from '../../domain/member-roles.ts';
import type { Permission } from '../../domain/operator-roles.ts';
import type { IdempotencyContext } from '../idempotency/tag.ts';
import type { RequestContext } from '../telemetry/subject.ts';
import type { Answer, ErrorAnswer, ErrorShape, FaultCode } from './errors.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `required`: 401 without a key. `optional` and `public`: served without one; a key that is sent is checked
 * all the same. `vendor`: for a vendor's servers, who prove themselves by what they send: no key is checked
 * and no request limited. `session`: for people who have signed in, and `login` where they do; no key of a
 * merchant opens either. `anybody`: where users sign in, `user`: for a user who has, `member`: for one who
 * belongs to the account that the request names. A member is let in by `required` and `optional` too.
 */
export type KeyRule =
  'required' | 'optional' | 'public' | 'vendor' | 'session' | 'login' | 'anybody' | 'user' | 'member';

/**
 * The environment of a request without a key; `any`: the id decides, among the environments that are on, live
 * first.
 */
export type EnvironmentRule = Environment | 'any';

/** A body that is handed over as it came, because a signature is about bytes. */
export interface BytesBody<Cases = never> {
  readonly kind: 'bytes';
  readonly maxBytes: number;
  /** Called before the body is read. Throws DomainError to refuse the request without reading it. */
  readonly admit: (cases: Cases, headers: ReceivedBytes['headers'], clientAddress: string) => Promise<void>;
}

export interface ReceivedBytes {
  readonly bytes: Uint8Array;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly clientAddress: string;
}

type BodyRule<Cases> = z.ZodObject | BytesBody<Cases> | undefined;

type BodyOf<Body> = Body extends z.ZodObject
  ? z.output<Body>
  : Body extends { readonly kind: 'bytes' }
    ? ReceivedBytes
    : undefined;

export interface PathParameter {
  readonly description: string;
  readonly example: string;
  /**
   * Whether the decoded text can be one of our ids or codes; otherwise it is not found, before any use case.
   */
  readonly isPossible: (text: string) => boolean;
  readonly notFound: { readonly code: ErrorCode; readonly message: string };
}

/** The raw request, before validation: one field of it says which of two shapes it has. */
export interface RawInput {
  readonly query: ReadonlyMap<string, string>;
  /** The parsed body's own fields, or nothing while the body has not been read. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Who has signed in, by the rule of the route. */
type SessionOf<Rule extends KeyRule> = Rule extends 'session'
  ? Session
  : Rule extends 'user' | 'member'
    ? UserSession
    : undefined;

/** Who reads a page, as far as the request says. */
export interface Visitor {
  /** Which of these languages the visitor likes best, by Accept-Language; undefined: none of them. */
  readonly preferredLanguage: (...languages: readonly string[]) => string | undefined;
  /** Which of these media types the visitor likes best, by Accept; undefined: none of them. */
  readonly preferredType: (...types: readonly string[]) => string | undefined;
  /** A value of the query, unchecked. */
  readonly queryValue: (name: string) => string | undefined;
}

export interface HandlerInput<Rule extends KeyRule, Query, Body, Cases> {
  /** The use cases of the route's noun. On routes with an environment: in that of the request. */
  readonly cases: Cases;
  /** `cases` alone, unless the route says `any`: then those of each environment that is on, live first. */
  readonly allCases: readonly Cases[];
  readonly environment: Environment;
  readonly principal: Rule extends 'required' ? Principal : Principal | undefined;
  readonly session: SessionOf<Rule>;
  readonly member: Rule extends 'member' ? Member : undefined;
  readonly browser: Rule extends 'session' | 'anybody' | 'user' | 'member' ? BrowserRequest : undefined;
  readonly clientAddress: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly context: RequestContext;
  readonly visitor: Visitor;
  /** Only on POST with an Idempotency-Key. */
  readonly idempotency: IdempotencyContext | undefined;
}

/** The published refusal of missing fields. */
export interface MissingFields {
  readonly code: ErrorCode;
  readonly message: string;
  /** The missing ones; other problems are named behind the message. */
  readonly fields: readonly string[];
}

/** A handler may return its answer, or a promise of it. */
type Answered = Answer | ErrorAnswer | Promise<Answer | ErrorAnswer>;

export interface RouteWords {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
}

export interface RouteResponse {
  readonly description: string;
  readonly contentType?: string;
  readonly schema: z.ZodType;
  /** By media type: other forms of the same, chosen by Accept. */
  readonly alsoAs?: Readonly<Record<string, z.ZodType>>;
}

export interface RouteDefinition<
  Rule extends KeyRule,
  Query extends z.ZodObject | undefined,
  Body extends BodyRule<Cases>,
  Cases,
> {
  readonly method: HttpMethod;
  /** `{name}` marks a parameter. */
  readonly path: string;
  readonly key: Rule;
  /** What the key must allow; undefined where everyone may read. */
  readonly scope: Scope | undefined;
  /** What the person's role must allow, on `session`; `own`: it only concerns the person. */
  readonly permission?: Permission | 'own';
  /** What the role of a member must allow. Absent: what a key with the scope may do, or `read`. */
  readonly memberPermission?: MemberPermission;
  /**
   * A person must have given their password, and code, within the last minutes; `live`: in that environment.
   * Keys and dry runs are not asked (app/http/authenticate.ts). Absent: define-routes.ts decides.
   */
  readonly confirmed?: boolean | 'live';
  /** A password or a code that could be guessed: requests count as tries to sign in. */
  readonly takesSecret?: true;
  /** On `login`: asked again and again with a secret too long to guess. Counts as a public request. */
  readonly isPolled?: true;
  /** Absent: live, or test while live is switched off. A key's own environment always comes first. */
  readonly environment?: EnvironmentRule;
  /** Only test keys are taken; a live one is FORBIDDEN. */
  readonly testKeysOnly?: true;
  /** The key may come as a bearer token too. */
  readonly takesBearer?: true;
  /** For programs alone: no session stands in for the key. */
  readonly keysOnly?: true;
  /**
   * Speaks the Agentic Commerce Protocol: its headers are required, and its rules of the Idempotency-Key
   * hold. Its shape is `acp`.
   */
  readonly protocol?: 'acp';
  /** Wallet routes answer every failed authentication with UNAUTHORIZED. */
  readonly keyErrors?: 'wallet';
  /**
   * The shapes this route may refuse in, where it is not the general one alone; `pickShape` chooses where
   * there are two.
   */
  readonly shapes?: readonly [ErrorShape, ...ErrorShape[]];
  readonly pickShape?: (raw: RawInput) => ErrorShape;
  readonly params?: Readonly<Record<string, PathParameter>>;
  readonly query?: Query;
  readonly body?: Body;
  /** For a JSON body that may be larger than those of other routes. */
  readonly bodyLimits?: { readonly maxBytes: number; readonly maxMembers: number };
  /** Missing fields for which docs/API.md has its own message; undefined: none is missing. */
  readonly missing?: (raw: RawInput) => MissingFields | undefined;
  /** Refusals of this route's own use case, for the reference. Those of its parameters are added. */
  readonly errors?: readonly ErrorCode[];
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /**
   * Its answers have an ETag (render-cache.ts); a request with the same ETag is answered 304. For the API
   * reference.
   */
  readonly hasETag?: true;
  /** The code for our own faults where INTERNAL_ERROR would say too little. */
  readonly faultCode?: FaultCode;
  /** Renders a refusal as a page, where the caller is a person and not a program. */
  readonly refusalPage?: (refusal: DomainError, visitor: Visitor) => ErrorAnswer;
  /** Left out of the OpenAPI document where the route is not part of the API (the reference page itself). */
  readonly docs: RouteWords | undefined;
  readonly handle: (
    input: HandlerInput<Rule, Query extends z.ZodObject ? z.output<Query> : undefined, BodyOf<Body>, Cases>,
  ) => Answered;
}

/** A route with its types forgotten, but for the use cases that it takes; as table and middleware hold it. */
export type Route<Cases = never> = Omit<
  RouteDefinition<KeyRule, z.ZodObject | undefined, z.ZodObject | undefined, Cases>,
  'handle' | 'query' | 'body' | 'shapes' | 'errors'
> & {
  readonly shapes: readonly [ErrorShape, ...ErrorShape[]];
  readonly errors: readonly ErrorCode[];
  readonly query: z.ZodObject | undefined;
  /** The schema of a JSON body. */
  readonly body: z.ZodObject | undefined;
  /** Instead of `body`, where bytes are taken. */
  readonly bytes: BytesBody<Cases> | undefined;
  /** The query names the schema knows; all others are ignored. */
  readonly queryNames: readonly string[];
  readonly handle: (input: HandlerInput<KeyRule, unknown, unknown, Cases>) => Answered;
};

/**
 * Defines routes that take these use cases: checks a definition's types against each other, then forgets
 * them.
 */
export const routesFor =
  <Cases>() =>
  <
    Rule extends KeyRule,
    Query extends z.ZodObject | undefined = undefined,
    Body extends BodyRule<Cases> = undefined,
  >(
    definition: RouteDefinition<Rule, Query, Body, Cases>,
  ): Route<Cases> => {
    const body: BodyRule<Cases> = definition.body;
    const bytes = body && 'maxBytes' in body ? body : undefined;
    const notFound = Object.values(definition.params ?? {}).map((parameter) => parameter.notFound.code);
    return {
      ...definition,
      shapes: definition.shapes ?? ['general'],
      errors: [...notFound, ...(definition.errors ?? [])],
      query: definition.query,
      body: body && !('maxBytes' in body) ? body : undefined,
      bytes,
      queryNames: definition.query ? Object.keys(definition.query.shape) : [],
      // The middleware hands over exactly what these schemas and this key rule produced.
      handle: definition.handle as Route<Cases>['handle'],
    };
  };

/** The same routes where their use cases are one part, `name`, of what the caller may use. */
export const within = <Name extends string, Cases>(
  name: Name,
  routes: readonly Route<Cases>[],
): Route<Readonly<Record<Name, Cases>>>[] =>
  routes.map(({ bytes, ...route }) => ({
    ...route,
    bytes: bytes && { ...bytes, admit: (all, ...sent) => bytes.admit(all[name], ...sent) },
    handle: (input) =>
      route.handle({ ...input, cases: input.cases[name], allCases: input.allCases.map((all) => all[name]) }),
  }));

export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'options' | 'wrong-method'; readonly allow: string }
  | { readonly kind: 'unknown' };
