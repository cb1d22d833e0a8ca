// Reads the service's own OpenAPI document and checks answers against it, strictly: an undocumented status or
// field is a failure.
import { z } from 'zod';
import { NEXT_HEADER } from '../../../src/platform/http/answer-fields.ts';
import type { Ask, TestApi, Reply } from './api.ts';

/** Headers of some answers of a route. */
const AT_TIMES: ReadonlySet<string> = new Set(['Idempotent-Replayed', 'Retry-After', NEXT_HEADER]);

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operation: {
    readonly operationId: string;
    readonly summary?: string;
    readonly description?: string;
    readonly tags?: readonly string[];
    readonly security?: readonly Record<string, unknown>[];
    readonly parameters?: readonly Parameter[];
    readonly requestBody?: { readonly content: Record<string, { readonly schema: JsonSchema }> };
    readonly responses: Readonly<Record<string, DocumentedResponse>>;
  };
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

interface DocumentedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation['operation']>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

export type Contract = Awaited<ReturnType<typeof readContract>>;

export async function readContract(
  api: Pick<TestApi, 'ask'>,
  { target = '/api/openapi.json', ...ask }: Ask & { readonly target?: string } = {},
) {
  const document = (await api.ask(target, ask)).json as OpenApiDocument;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const resolve = (schema: JsonSchema): JsonSchema => inline(schema, document) as JsonSchema;
  const compiled = new Map<JsonSchema, z.ZodType>();
  const check = (schema: JsonSchema, value: unknown): string | undefined => {
    let known = compiled.get(schema);
    if (!known) {
      known = z.fromJSONSchema(closed(resolve(schema)) as Parameters<typeof z.fromJSONSchema>[0]);
      compiled.set(schema, known);
    }
    const result = known.safeParse(value);
    return result.success ? undefined : z.prettifyError(result.error);
  };
  return {
    document,
    operations,
    /** The schema with every reference resolved. */
    resolve,
    /** What is wrong with an answer to this operation; undefined when it is as documented. */
    judge(operation: Operation, reply: Reply) {
      const response = operation.operation.responses[String(reply.status)];
      if (!response) return `status ${reply.status} is not documented: ${reply.text.slice(0, 200)}`;
      const isText =
        response.content['application/json'] === undefined ||
        (reply.headers['content-type'] ?? '').startsWith('text/csv');
      const type = response.content['text/html'] ? 'text/html' : 'text/csv';
      const content = response.content[isText ? type : 'application/json'];
      if (!content) return 'neither JSON, CSV nor a page is documented';
      const missing = Object.keys(response.headers ?? {}).filter(
        (name) => !AT_TIMES.has(name) && reply.headers[name.toLowerCase()] === undefined,
      );
      if (missing.length > 0) return `headers missing: ${missing.join(', ')}`;
      return check(content.schema, isText ? reply.text : reply.json);
    },
    /** The same for an answer without an operation: the general error shape or a failed authentication. */
    judgeGeneral(reply: Reply) {
      const name = reply.status === 401 ? 'AuthenticationError' : 'GeneralError';
      const schema = document.components.schemas[name];
      return schema ? check(schema, reply.json) : `no schema ${name}`;
    },
  };
}

/** Follows `$ref`; ours are never circular. */
function inline(node: unknown, document: OpenApiDocument): unknown {
  if (Array.isArray(node)) return node.map((item) => inline(item, document));
  if (typeof node !== 'object' || node === null) return node;
  const reference = (node as { $ref?: unknown }).$ref;
  if (typeof reference === 'string') {
    const name = reference.replace('#/components/schemas/', '');
    const target = document.components.schemas[name];
    if (!target) throw new Error(`unresolved ${reference}`);
    return inline(target, document);
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inline(value, document)]));
}

/** No fields beyond the documented ones. Keywords without an effect on validity are dropped. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === 'example' || key === 'description') continue;
    copy[key] = key === 'properties' ? mapValues(value as object, closed) : closed(value);
  }
  if ('properties' in copy && !('additionalProperties' in copy)) copy['additionalProperties'] = false;
  return copy;
}

function mapValues(object: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
