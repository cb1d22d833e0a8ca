/** Routes that answer in one way, in the general envelope: their handlers return the data alone. */
import type { z } from 'zod';
import type { MemberPermission } from '../../domain/member-roles.ts';
import type { Permission } from '../../domain/operator-roles.ts';
import { doneSchema, presenter, type Data } from '../../platform/http/answer-fields.ts';
import { toJson } from '../../platform/http/json.ts';
import { routesFor, type Route, type RouteDefinition, type RouteWords } from '../../platform/http/route.ts';

type Rule = 'session' | 'login' | 'anybody' | 'user' | 'member';

interface PermissionOf {
  readonly member: { readonly memberPermission: MemberPermission };
  readonly session: { readonly permission: Permission | 'own' };
}

type Given = 'key' | 'scope' | 'shapes' | 'permission' | 'memberPermission' | 'responses' | 'docs' | 'handle';

type Described<
  Key extends Rule,
  Query extends z.ZodObject | undefined,
  Body extends z.ZodObject | undefined,
  Cases,
  Answer,
  Result,
> = Omit<RouteDefinition<Key, Query, Body, Cases>, Given> &
  Omit<RouteWords, 'tag'> & {
    readonly answer: Answer;
    readonly handle: (
      input: Parameters<RouteDefinition<Key, Query, Body, Cases>['handle']>[0],
    ) => Promise<Result>;
  } & (Key extends keyof PermissionOf ? PermissionOf[Key] : unknown);

interface Cookies {
  readonly cookies?: readonly string[];
}

/**
 * Defines routes with a key rule and a tag in common. `answering`: the status, what it means, and the schema
 * of what `handle` returns, beside cookies: other fields are not sent. `doing`: for answers without data.
 */
export function routesWith<Cases, Key extends Rule>(key: Key, tag: string) {
  function answering<
    Schema extends z.ZodObject<{ success: z.ZodLiteral<true>; data: z.ZodObject }>,
    Query extends z.ZodObject | undefined = undefined,
    Body extends z.ZodObject | undefined = undefined,
  >({
    answer: [status, description, schema],
    operationId,
    summary,
    description: about,
    handle,
    ...rest
  }: Described<
    Key,
    Query,
    Body,
    Cases,
    readonly [status: number, description: string, schema: Schema],
    Data<Schema> & Cookies
  >): Route<Cases> {
    const present = presenter(schema.shape.data);
    const definition = {
      ...rest,
      key,
      scope: undefined,
      responses: { [status]: { description, schema } },
      docs: { operationId, tag, summary, description: about },
      handle: async (input: Parameters<typeof handle>[0]) => {
        const { cookies, ...data } = await handle(input);
        return { status, body: toJson({ success: true, data: present(data) }), cookies };
      },
    };
    return routesFor<Cases>()<Key, Query, Body>(definition);
  }
  return {
    answering,
    doing: <
      Query extends z.ZodObject | undefined = undefined,
      Body extends z.ZodObject | undefined = undefined,
    >({
      answer,
      handle,
      ...rest
    }: Described<Key, Query, Body, Cases, string, unknown>) =>
      answering<typeof doneSchema, Query, Body>({
        ...rest,
        answer: [200, answer, doneSchema],
        handle: async (input: Parameters<typeof handle>[0]) => {
          const result = (await handle(input)) as Cookies | undefined;
          return { cookies: result?.cookies, done: true };
        },
      } as never),
  };
}
