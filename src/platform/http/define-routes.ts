/**
 * Routes that have a key rule, a tag and path parameters in common. Their handlers return what is answered,
 * and the schema of the answer says how that is written: other fields are not sent.
 */
import type { Scope } from '../../domain/account.ts';
import { z } from 'zod';
import { permissionOfScope, type MemberPermission } from '../../domain/member-roles.ts';
import type { Permission } from '../../domain/operator-roles.ts';
import { doneSchema } from './answer-fields.ts';
import type { Answer, ErrorAnswer } from './errors.ts';
import { toJson } from './json.ts';
import { presenter, type View } from './present.ts';
import {
  routesFor,
  type HandlerInput,
  type HttpMethod,
  type KeyRule,
  type PathParameter,
  type Route,
  type RouteDefinition,
  type RouteResponse,
  type RouteWords,
} from './route.ts';

/**
 * What comes back. A text: nothing but this. One answer: its status, what it means and its schema, which may
 * be that of an envelope: `handle` returns what is inside. Several, or other media types: `handle` returns
 * the finished answer.
 */
type Answers = string | OneAnswer | Readonly<Record<number, RouteResponse>>;
type OneAnswer = readonly [status: number, description: string, schema: z.ZodType];

interface Cookies {
  readonly cookies?: readonly string[];
}

type Inside<T> = T extends { readonly success: true; readonly data: infer Data } ? Data : T;

type Returned<A extends Answers> = A extends string
  ? unknown
  : A extends readonly [number, string, infer Schema extends z.ZodType]
    ? View<Inside<z.output<Schema>>> & Cookies
    : Answer | ErrorAnswer;

/** The values of the parameters that a path names. */
type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<Rest>
  : unknown;

interface PermissionOf {
  readonly member: { readonly memberPermission: MemberPermission };
  readonly session: { readonly permission: Permission | 'own' };
}

type Given = 'method' | 'path' | 'key' | 'scope' | 'params' | 'permission' | 'responses' | 'docs' | 'handle';

type QueryOf<Query> = Query extends z.ZodObject ? z.output<Query> : undefined;

type Described<
  Key extends KeyRule,
  Path extends string,
  A extends Answers,
  Query extends z.ZodObject | undefined,
  Body extends z.ZodObject | undefined,
  Cases,
> = Omit<RouteDefinition<Key, Query, Body, Cases>, Given> &
  (Key extends keyof PermissionOf ? PermissionOf[Key] : unknown) &
  Omit<RouteWords, 'tag'> & {
    readonly answer: A;
    readonly handle: (
      input: Omit<HandlerInput<Key, QueryOf<Query>, QueryOf<Body>, Cases>, 'params'> & {
        readonly params: ParamsOf<Path>;
      },
    ) => Returned<A> | Promise<Returned<A>>;
  };

interface Common {
  /** Those that paths of these routes may name. */
  readonly params?: Readonly<Record<string, PathParameter>> | undefined;
  /** Of routes without one of their own. */
  readonly query?: z.ZodObject;
}

/** What is called for each route, by its method. A key that may only read opens those with GET. */
export function routesWith<Cases, Key extends KeyRule>(key: Key, tag: string, common: Common = {}) {
  const routes =
    (method: HttpMethod) =>
    <
      const Path extends string,
      const A extends Answers,
      Query extends z.ZodObject | undefined = undefined,
      Body extends z.ZodObject | undefined = undefined,
    >(
      path: Path,
      described: Described<Key, Path, A, Query, Body, Cases>,
    ): Route<Cases> => {
      const { answer, operationId, summary, description, handle, ...rest } = described;
      return routesFor<Cases>()({
        query: common.query,
        confirmed: asksForPassword(key, method, described),
        ...rest,
        method,
        path,
        key,
        scope: key === 'required' ? scopeOf(method, described) : undefined,
        params: paramsIn(path, common.params),
        docs: { operationId, tag, summary, description },
        ...answering(answer, handle),
      } as unknown as RouteDefinition<Key, Query, Body, Cases>);
    };
  return {
    get: routes('GET'),
    post: routes('POST'),
    put: routes('PUT'),
    patch: routes('PATCH'),
    delete: routes('DELETE'),
  };
}

/** For the keys of merchants and the members of their accounts. */
export const merchantRoutes = <Cases>(tag: string, params?: Common['params']) =>
  routesWith<Cases, 'required'>('required', tag, { params });

interface Asking {
  readonly memberPermission?: MemberPermission;
  readonly testKeysOnly?: true;
}

/**
 * The rule for operators: whatever moves money, or changes access or an account, asks for the password again.
 * For members: whatever spends real money, or gives back what was bought. So each route of operators that
 * changes anything asks, and each of members that takes leave to buy or to fund, unless it says
 * `confirmed: false`.
 */
function asksForPassword(key: KeyRule, method: HttpMethod, described: Asking): boolean | 'live' {
  if (method === 'GET') return false;
  if (key !== 'required') return key === 'session';
  const { memberPermission = permissionOfScope(scopeOf(method, described)), testKeysOnly } = described;
  const isSpending = memberPermission === 'purchase' || memberPermission === 'fund';
  return isSpending && !testKeysOnly && 'live';
}

/** Money into the wallet takes a scope of its own, as it takes a role of its own from members. */
function scopeOf(method: HttpMethod, { memberPermission }: Asking): Scope {
  if (memberPermission === 'fund') return 'fund';
  return method === 'GET' ? 'read' : 'purchase';
}

function paramsIn(path: string, known: Common['params'] = {}) {
  const names = path.match(/(?<=\{)\w+(?=\})/g);
  return names ? Object.fromEntries(names.map((name) => [name, known[name]])) : undefined;
}

function answering(answer: Answers, handle: (input: never) => unknown) {
  if (typeof answer !== 'string' && !isOne(answer)) return { responses: answer, handle };
  const [status, description, schema] = typeof answer === 'string' ? [200, answer, doneSchema] : answer;
  const inEnvelope = schema instanceof z.ZodObject && 'success' in schema.shape;
  const present = presenter(schema);
  return {
    responses: { [status]: { description, schema } },
    async handle(input: never) {
      const result = (await handle(input)) as (object & Cookies) | undefined;
      const data = schema === doneSchema ? { done: true } : result;
      const body = toJson(present(inEnvelope ? { success: true, data } : data));
      return { status, body, cookies: result?.cookies };
    },
  };
}

const isOne = (answer: Exclude<Answers, string>): answer is OneAnswer => Array.isArray(answer);
