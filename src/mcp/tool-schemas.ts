/**
 * The schemas of tools, from the OpenAPI document of their routes. What installs an eSIM is left out of both
 * schemas and answers: agents get the install link instead.
 */
import { NO_INSTALL_DATA } from '../esims/install-data.ts';
import { makeOpenApiDocument } from '../platform/http/docs/openapi.ts';
import { MAX_PAGE_LIMIT, MAX_SEARCH_CHARACTERS } from '../platform/http/limits.ts';
import type { Route } from '../platform/http/route.ts';
import type { Tool } from './tools.ts';

/** As far as we write or read it. */
interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

interface ObjectSchema extends JsonSchema {
  readonly type: 'object';
}

/** Where the route takes an argument; `list`: it chooses items of an answer that is a whole list. */
type Place = 'path' | 'query' | 'body' | 'list';

export interface ToolSchemas {
  readonly input: ObjectSchema;
  readonly output: ObjectSchema;
  readonly places: Readonly<Record<string, Place>>;
  /** The route answers a whole list. */
  readonly isList: boolean;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

type Properties = Readonly<Record<string, JsonSchema>>;

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Properties };
}

const camelCase = (name: string): string =>
  name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** Names of fields in answers that install an eSIM. */
export const INSTALL_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(NO_INSTALL_DATA).map(camelCase),
  'activationCode',
  // Made of the activation code.
  'qrCode',
  'iosInstallUrl',
  'androidInstallUrl',
]);

/** What stands beside answers about one eSIM, from the route that has the link. */
export const LINK_OPERATION = 'getEsimInstall';
export const LINK_FIELDS = ['installUrl', 'installState'] as const;

export const DEFAULT_ITEMS = 20;

/** Of answers that are a whole list, since a list can be longer than a model should read. */
const LIST_FIELDS: Readonly<Record<string, JsonSchema>> = {
  search: {
    type: 'string',
    maxLength: MAX_SEARCH_CHARACTERS,
    description: 'Only items with this text in one of their fields',
  },
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE_LIMIT,
    default: DEFAULT_ITEMS,
    description: 'Items at most',
  },
  page: { type: 'integer', minimum: 1, default: 1, description: 'Page number, from 1' },
};

/** By operation id. */
export function createSchemas(routes: readonly Route[]): (tool: Tool) => ToolSchemas {
  const described = { events: [], examples: {}, version: '', brand: '' };
  const document = JSON.parse(JSON.stringify(makeOpenApiDocument(routes, described))) as Document;
  const operations = new Map(
    Object.values(document.paths)
      .flatMap((path) => Object.values(path))
      .map((operation) => [operation.operationId, operation]),
  );
  const operationOf = (id: string): Operation => {
    const operation = operations.get(id);
    if (!operation) throw new Error(`no route is called ${id}`);
    return operation;
  };
  const { schemas } = document.components;
  const install = bare(answerOf(operationOf(LINK_OPERATION), schemas), schemas).properties ?? {};
  const links = Object.fromEntries(LINK_FIELDS.map((name) => [name, install[name] ?? {}]));
  return (tool) => {
    const answer = answerOf(operationOf(tool.operation), schemas);
    const isList = listOf(answer) !== undefined;
    const taken = argumentsOf(operationOf(tool.takes ?? tool.operation), schemas);
    const properties = { ...taken.properties, ...(isList && LIST_FIELDS) };
    const places = { ...taken.places, ...(isList && placesOf(LIST_FIELDS, 'list')) };
    for (const name of Object.keys(tool.fixed ?? {})) Reflect.deleteProperty(properties, name);
    for (const [name, description] of Object.entries(tool.says ?? {}))
      properties[name] = { ...properties[name], description };
    const input = {
      type: 'object' as const,
      properties,
      required: taken.required,
      additionalProperties: false,
    };
    const beside = tool.linksInstall ? links : {};
    return {
      places,
      isList,
      input: withDefinitions(input, schemas),
      output: withDefinitions(outputOf(answer, beside, schemas), schemas),
    };
  };
}

const placesOf = (properties: object, place: Place): Record<string, Place> =>
  Object.fromEntries(Object.keys(properties).map((name) => [name, place]));

/** Of all parameters in the path and the query, and of the fields of the body. */
function argumentsOf(operation: Operation, schemas: Properties) {
  const parameters = (operation.parameters ?? []).filter((one) => one.in === 'path' || one.in === 'query');
  const named = operation.requestBody?.content['application/json']?.schema;
  const body: JsonSchema = named ? bare(named, schemas) : {};
  const described = parameters.map(({ name, description, schema }) => [
    name,
    description === undefined ? schema : { ...schema, description },
  ]);
  return {
    properties: { ...Object.fromEntries(described), ...body.properties } as Record<string, JsonSchema>,
    required: [...parameters.filter((one) => one.required).map(({ name }) => name), ...(body.required ?? [])],
    places: {
      ...Object.fromEntries(parameters.map((one) => [one.name, one.in as Place])),
      ...placesOf(body.properties ?? {}, 'body'),
    },
  };
}

/** What the route answers when it did what was asked; one of several, where it has several forms. */
function answerOf({ responses }: Operation, schemas: Properties): JsonSchema {
  const forms: readonly JsonSchema[] = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => {
      const schema = content?.['application/json']?.schema;
      return schema ? [schema] : [];
    });
  const [only, ...more] = forms;
  if (!only) throw new Error('a tool stands for a route without an answer');
  return more.length === 0 ? insideEnvelope(only, schemas) : { anyOf: forms };
}

function insideEnvelope(schema: JsonSchema, schemas: Properties): JsonSchema {
  const { properties } = bare(schema, schemas);
  return properties?.['success'] && properties['data'] ? properties['data'] : schema;
}

/** The items of a list; undefined for what is none. */
function listOf(schema: JsonSchema): JsonSchema | undefined {
  if (schema.type === 'array') return schema['items'] as JsonSchema;
  const forms = schema['anyOf'] as readonly JsonSchema[] | undefined;
  const items = forms?.map(listOf);
  return items?.every((one) => one !== undefined) ? { anyOf: items } : undefined;
}

/** An answer of MCP is an object: a list stands in `items`. `beside`: more fields of an object. */
function outputOf(answer: JsonSchema, beside: Properties, schemas: Properties): ObjectSchema {
  const items = listOf(answer);
  if (items) {
    const count = { type: 'integer', description: 'Items that match, on all pages' };
    const properties = { items: { type: 'array', items }, total: count };
    return { type: 'object', properties, required: ['items', 'total'] };
  }
  const { properties, ...object } = bare(answer, schemas);
  const all = { ...properties, ...beside };
  return { ...object, type: 'object', ...(Object.keys(all).length > 0 && { properties: all }) };
}

const REF = '#/components/schemas/';
const nameOf = (schema: JsonSchema): string | undefined =>
  typeof schema['$ref'] === 'string' ? schema['$ref'].slice(REF.length) : undefined;

/** The schema itself, where it is named by reference. */
function bare(schema: JsonSchema, schemas: Properties): JsonSchema {
  const name = nameOf(schema);
  return name === undefined ? schema : (schemas[name] ?? {});
}

/** The schema with what it names, complete in itself, and without what installs an eSIM. */
function withDefinitions(schema: ObjectSchema, schemas: Properties): ObjectSchema {
  const definitions: Record<string, unknown> = {};
  const write = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(write);
    if (typeof value !== 'object' || value === null) return value;
    const name = nameOf(value as JsonSchema);
    if (name !== undefined) {
      if (!(name in definitions)) {
        definitions[name] = {};
        definitions[name] = write(schemas[name]);
      }
      return { $ref: `#/$defs/${name}` };
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, write(withoutInstallFields(key, member))]),
    );
  };
  const written = write(schema) as ObjectSchema;
  return Object.keys(definitions).length === 0 ? written : { ...written, $defs: definitions };
}

function withoutInstallFields(keyword: string, value: unknown): unknown {
  if (keyword === 'required' && Array.isArray(value))
    return value.filter((name) => !INSTALL_FIELDS.has(String(name)));
  if (keyword !== 'properties') return value;
  return Object.fromEntries(Object.entries(value as object).filter(([name]) => !INSTALL_FIELDS.has(name)));
}
