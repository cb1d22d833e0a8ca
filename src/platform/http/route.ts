/**
 * What a route is. The router, the middleware, the OpenAPI document and the tests all read these definitions, so a route cannot
 * exist without a key rule, an error shape and schemas. Handlers call one use case and one presenter, and never touch Koa.
 */
import type { z } from 'zod';
import type { MemberPermission } from '../../accounts/member-roles.ts';
import type { Permission } from '../../accounts/operators/roles.ts';
import type { Session } from '../../accounts/operators/sessions.ts';
import type { Member, UserSession, BrowserRequest } from '../../accounts/users/sessions.ts';
import type { Environment, Principal, Scope } from '../../domain/account.ts';
import type { DomainError, ErrorCode } from '../../domain/errors.ts';
import type { OpsUseCases, OpsWorld } from '../composition/ops-use-cases.ts';
import type { WorldUseCases } from '../composition/use-cases.ts';
import type { UserUseCases } from '../composition/user-use-cases.ts';
import type { IdempotencyContext } from '../idempotency/tag.ts';
import type { RequestContext } from '../telemetry/subject.ts';
import type { Answer, ErrorAnswer, ErrorShape, FaultCode } from './errors.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `required`: 401 without a key. `optional` and `public`: served without one; a key that is sent is checked all the same. `vendor`: for a
 * vendor's servers, who prove themselves by what they send: no key is checked and no request limited. `session`: for
 * people who have signed in, and `login` where they do; no key of a merchant opens either. `anybody`: where users sign in, `user`: for a user who has,
 * `member`: for one who belongs to the account that the request names. A member is let in by `required` and `optional` too.
 */
export type KeyRule =
  'required' | 'optional' | 'public' | 'vendor' | 'session' | 'login' | 'anybody' | 'user' | 'member';

/**
 * The environment of a request without a key; `any`: the id decides, among the environments that are on, live
 * first.
 */
export type EnvironmentRule = Environment | 'any';

/** A body that is handed over as it came, because a signature is about bytes. */
export interface BytesBody {
  readonly kind: 'bytes';
  readonly maxBytes: number;
  /** Called before the body is read. Throws DomainError to refuse the request without reading it. */
  readonly admit: (
    world: WorldUseCases,
    headers: ReceivedBytes['headers'],
    clientAddress: string,
  ) => Promise<void>;
}

export interface ReceivedBytes {
  readonly bytes: Uint8Array;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly clientAddress: string;
}

type BodyRule = z.ZodObject | BytesBody | undefined;

type BodyOf<Body extends BodyRule> = Body extends z.ZodObject
  ? z.output<Body>
  : Body extends BytesBody
    ? ReceivedBytes
    : undefined;

export interface PathParameter {
  readonly description: string;
  readonly example: string;
  /** Whether the decoded text can be one of our ids or codes; otherwise it is not found, before any use case. */
  readonly isPossible: (text: string) => boolean;
  readonly notFound: { readonly code: ErrorCode; readonly message: string };
}

/** The raw request, before validation: one field of it says which of two shapes it has. */
export interface RawInput {
  readonly query: ReadonlyMap<string, string>;
  /** The parsed body's own fields, or nothing while the body has not been read. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** What routes for people work with, in place of a key's account and environment. */
export interface OpsInput {
  readonly sessions: OpsUseCases['sessions'];
  readonly people: OpsUseCases['people'];
  readonly temporalUi: OpsUseCases['temporalUi'];
  /** The one that the query names. */
  readonly world: OpsWorld;
  readonly clientAddress: string;
  /** Which of these media types the caller likes best; undefined: none of them. */
  readonly preferredType: (...types: readonly string[]) => string | undefined;
}

type OpsInputOf<Rule extends KeyRule> = Rule extends 'session'
  ? OpsInput & { readonly session: Session }
  : Rule extends 'login'
    ? OpsInput
    : undefined;

/** What routes for users work with. */
export interface UsersInput extends UserUseCases {
  readonly browser: BrowserRequest;
}

type UsersInputOf<Rule extends KeyRule> = Rule extends 'member'
  ? UsersInput & { readonly session: UserSession; readonly member: Member; readonly environment: Environment }
  : Rule extends 'user'
    ? UsersInput & { readonly session: UserSession }
    : Rule extends 'anybody'
      ? UsersInput
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

export interface HandlerInput<Rule extends KeyRule, Query, Body> {
  readonly world: WorldUseCases;
  /** `world` alone, unless the route says `any`. */
  readonly worlds: readonly WorldUseCases[];
  readonly principal: Rule extends 'required' ? Principal : Principal | undefined;
  readonly ops: OpsInputOf<Rule>;
  readonly users: UsersInputOf<Rule>;
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

interface RouteWords {
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
  Body extends BodyRule,
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
  /** Of a signed-in user, and hashed: requests count as tries to sign in, since hashing is shared by everybody who signs in. */
  readonly takesPassword?: true;
  /** Absent: live, or test while live is switched off. A key's own environment always comes first. */
  readonly world?: EnvironmentRule;
  /** Only test keys are taken; a live one is FORBIDDEN. */
  readonly testKeysOnly?: true;
  /** Wallet routes answer every failed authentication with UNAUTHORIZED. */
  readonly keyErrors?: 'wallet';
  /** The shapes this route may refuse in; `pickShape` chooses where there are two. */
  readonly shapes: readonly [ErrorShape, ...ErrorShape[]];
  readonly pickShape?: (raw: RawInput) => ErrorShape;
  readonly params?: Readonly<Record<string, PathParameter>>;
  readonly query?: Query;
  readonly body?: Body;
  /** For a JSON body that may be larger than those of other routes. */
  readonly bodyLimits?: { readonly maxBytes: number; readonly maxMembers: number };
  /** Missing fields for which docs/API.md has its own message; undefined: none is missing. */
  readonly missing?: (raw: RawInput) => MissingFields | undefined;
  /** Refusals of this route's own use case, for the reference. */
  readonly errors: readonly ErrorCode[];
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Its answers have an ETag (render-cache.ts); a request with the same ETag is answered 304. For the API reference. */
  readonly hasETag?: true;
  /** The code for our own faults where INTERNAL_ERROR would say too little. */
  readonly faultCode?: FaultCode;
  /** Renders a refusal as a page, where the caller is a person and not a program. */
  readonly refusalPage?: (refusal: DomainError, visitor: Visitor) => ErrorAnswer;
  /** Left out of the OpenAPI document where the route is not part of the API (the reference page itself). */
  readonly docs: RouteWords | undefined;
  readonly handle: (
    input: HandlerInput<Rule, Query extends z.ZodObject ? z.output<Query> : undefined, BodyOf<Body>>,
  ) => Answered;
}

/** A route with its types forgotten, as table and middleware hold it. */
export type Route = Omit<
  RouteDefinition<KeyRule, z.ZodObject | undefined, z.ZodObject | undefined>,
  'handle' | 'query' | 'body'
> & {
  readonly query: z.ZodObject | undefined;
  /** The schema of a JSON body. */
  readonly body: z.ZodObject | undefined;
  /** Instead of `body`, where bytes are taken. */
  readonly bytes: BytesBody | undefined;
  /** The query names the schema knows; all others are ignored. */
  readonly queryNames: readonly string[];
  readonly handle: (input: HandlerInput<KeyRule, unknown, unknown>) => Answered;
};

/** Checks a definition's types against each other, then forgets them. */
export function defineRoute<
  Rule extends KeyRule,
  Query extends z.ZodObject | undefined = undefined,
  Body extends BodyRule = undefined,
>(definition: RouteDefinition<Rule, Query, Body>): Route {
  const body: BodyRule = definition.body;
  const bytes = body && 'maxBytes' in body ? body : undefined;
  return {
    ...definition,
    query: definition.query,
    body: body && !('maxBytes' in body) ? body : undefined,
    bytes,
    queryNames: definition.query ? Object.keys(definition.query.shape) : [],
    // The middleware hands over exactly what these schemas and this key rule produced.
    handle: definition.handle as Route['handle'],
  };
}

export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'options' | 'wrong-method'; readonly allow: string }
  | { readonly kind: 'unknown' };
