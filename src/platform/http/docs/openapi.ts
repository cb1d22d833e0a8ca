/**
 * The OpenAPI documents, made from the route table: the schemas and the error rules are those of the running
 * service.
 */
import { OpenApiGeneratorV31, OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../../../domain/errors.ts';
import { ACP_ERROR_TYPES, ACP_VERSION } from '../acp.ts';
import { CSV, NEXT_HEADER } from '../answer-fields.ts';
import { shapeOf, STATUS_OF, type ErrorShape } from '../errors.ts';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS } from '../limits.ts';
import type { HttpMethod, KeyRule, Route } from '../route.ts';
import { errorExamplesOf, type Examples } from './error-examples.ts';

type DocumentConfig = Parameters<OpenApiGeneratorV31['generateDocument']>[0];

const JSON_TYPE = 'application/json';
const SECURITY_SCHEME = 'ApiKey';
const BEARER_SECURITY_SCHEME = 'BearerKey';
const PERSON_SECURITY_SCHEME = 'Session';
const COOKIE_SECURITY_SCHEME = 'SessionCookie';

const DESCRIPTION = `Browse eSIM data packages, buy them, top them up, and read your eSIMs, purchases and wallet.

Amounts are numbers with two decimals. Times are ISO 8601, UTC, with milliseconds. Data volumes are bytes; GB = bytes / 1073741824.
Unknown query parameters and body fields are ignored. A path that does not exist answers 404 \`NOT_FOUND\`, a method that a path does
not take 405 \`METHOD_NOT_ALLOWED\`.`;

const TAGS = [
  { name: 'Catalogue', description: 'Regions and the packages sold in them' },
  { name: 'Purchases', description: 'Buying, topping up, and how purchases stand' },
  { name: 'Returns', description: 'Unused eSIMs that you give back' },
  { name: 'Replacements', description: 'A new eSIM in place of one that was deleted or does not work' },
  { name: 'eSIMs', description: 'What you own' },
  { name: 'Wallet', description: 'What you can spend' },
  { name: 'Papers', description: 'Statements, invoices, receipts, and whom they name' },
  { name: 'Statistics', description: 'What sells, and your own figures' },
  { name: 'Webhooks', description: 'Your endpoints, the messages to them, and each attempt' },
  { name: 'Sandbox', description: 'What happens to a test eSIM, on command; test keys only' },
  {
    name: 'Agentic checkout',
    description: `For agents: the Agentic Commerce Protocol, version ${ACP_VERSION} (docs/ACP.md)`,
  },
  { name: 'Settings', description: 'The exchange rate and this reference, without a key' },
  {
    name: 'Signing in',
    description: 'Users of the dashboard: signing up and in, passwords, the second factor',
  },
  { name: 'Account', description: 'What members manage: the account, colleagues, API keys, recent requests' },
];

/** Codes that a route may refuse with: its own, and those that its key rule, input and method bring along. */
export function errorCodesOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(route.errors);
  const add = (...more: ErrorCode[]): void => more.forEach((code) => codes.add(code));
  add('VALIDATION_ERROR', 'RATE_LIMIT_EXCEEDED', 'INTERNAL_ERROR');
  add('SERVICE_UNAVAILABLE', 'ENVIRONMENT_UNAVAILABLE');
  add('IP_NOT_WHITELISTED', 'REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE');
  add(...AUTHENTICATION_CODES[route.key](route));
  if (route.scope !== undefined || takesRole(route)) add('FORBIDDEN');
  if (takesRole(route)) add('SECOND_FACTOR_REQUIRED');
  if (route.confirmed) add('CONFIRMATION_REQUIRED');
  if (route.body) add('INVALID_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  if (takesIdempotencyKey(route)) add('IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_KEY_IN_USE');
  if (route.protocol === 'acp') {
    add('UNSUPPORTED_API_VERSION');
    if (route.method === 'POST') add('IDEMPOTENCY_KEY_REQUIRED');
  }
  return [...codes];
}

/**
 * What each key rule may refuse with. Where members of an account are let in, their session and their
 * membership are checked.
 */
const AUTHENTICATION_CODES: Readonly<Record<KeyRule, (route: Route) => readonly ErrorCode[]>> = {
  required: ({ keyErrors }) =>
    keyErrors === 'wallet'
      ? ['UNAUTHORIZED', 'SESSION_EXPIRED', 'FORBIDDEN']
      : ['UNAUTHORIZED', 'INVALID_TOKEN', 'SESSION_EXPIRED', 'FORBIDDEN'],
  optional: () => ['INVALID_TOKEN', 'SESSION_EXPIRED', 'FORBIDDEN'],
  public: () => ['INVALID_TOKEN'],
  vendor: () => ['INVALID_TOKEN'],
  session: () => ['UNAUTHORIZED', 'INVALID_TOKEN', 'SESSION_EXPIRED', 'FORBIDDEN'],
  login: () => ['UNAUTHORIZED'],
  anybody: () => ['FORBIDDEN'],
  user: () => ['UNAUTHORIZED', 'SESSION_EXPIRED', 'FORBIDDEN'],
  member: () => ['UNAUTHORIZED', 'SESSION_EXPIRED', 'FORBIDDEN'],
};

const takesRole = ({ permission }: Route): boolean => permission !== undefined && permission !== 'own';

/** What begins purchases and payments of an account; what people do is once by its own rules. */
function takesIdempotencyKey({ method, key }: Route): boolean {
  return (
    method === 'POST' && (key === 'required' || key === 'optional' || key === 'public' || key === 'vendor')
  );
}

/** Of requests, and of answers by their status. */
interface OperationExamples {
  readonly request?: Examples;
  readonly [status: number]: Examples;
}

/** By operation id. `npm run record:examples` writes them from the tests. */
export type ExamplesByOperation = Readonly<Record<string, OperationExamples>>;

/** What we send to webhook endpoints. */
interface DocumentedEvent {
  readonly event: string;
  readonly summary: string;
  readonly when: string;
  readonly body: z.ZodType;
}

/** What the merchants' document says besides its routes. */
export interface Described {
  readonly events: readonly DocumentedEvent[];
  readonly examples: ExamplesByOperation;
  readonly version: string;
  readonly brand: string;
}

/** The merchants' document. */
export function makeOpenApiDocument(
  routes: readonly Route[],
  { events, examples, version, brand }: Described,
): object {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', SECURITY_SCHEME, {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: `\`${brand}_live_…\` for production, \`${brand}_test_…\` for the sandbox. For servers only.`,
  });
  registry.registerComponent('securitySchemes', BEARER_SECURITY_SCHEME, {
    type: 'http',
    scheme: 'bearer',
    description: 'The same API key, as agents send it',
  });
  registry.registerComponent('securitySchemes', COOKIE_SECURITY_SCHEME, {
    type: 'apiKey',
    in: 'cookie',
    name: 'simway_session',
    description:
      'The session of a user of the dashboard, as `signInUser` sets it. Over https its name is `__Host-simway_session`. Under `/account` ' +
      'and `/api` the headers `Simway-Account` and `Simway-Environment` (`live` or `test`) say what the request is about.',
  });
  for (const event of events) registerEvent(registry, event);
  const info = { title: 'eSIM Reseller API', version, description: DESCRIPTION };
  return generateDocument(registry, { routes, examples, info, tags: TAGS });
}

/**
 * The document of everything under /ops. Separate, because the merchants' document is public and kept stable
 * for their programs.
 */
export function makeOpsDocument(contents: Contents): object {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', PERSON_SECURITY_SCHEME, {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of a session, as `signIn` answers it',
  });
  registry.registerComponent('securitySchemes', COOKIE_SECURITY_SCHEME, {
    type: 'apiKey',
    in: 'cookie',
    name: 'simway_session',
    description: 'The session of the dashboard. Over https its name is `__Host-simway_session`',
  });
  return generateDocument(registry, contents);
}

interface Contents extends Pick<DocumentConfig, 'info' | 'tags'> {
  /** Those without `docs` are left out. */
  readonly routes: readonly Route[];
  readonly examples: ExamplesByOperation;
}

function generateDocument(registry: OpenAPIRegistry, { routes, examples, info, tags }: Contents): object {
  for (const route of routes) registerRoute(registry, route, examples[route.docs?.operationId ?? '']);
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: { ...info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/', description: 'This service' }],
    tags,
  });
  sayWidths(document);
  return document;
}

const WIDTHS = { number: 'double', integer: 'int64' } as const;

/** Generators of code take 32 bits where nothing is said: too few for volumes, and inexact for amounts. */
function sayWidths(value: object): void {
  const schema = value as { type?: unknown; enum?: readonly unknown[] };
  if (schema.type === 'number' && schema.enum?.every(Number.isInteger)) schema.type = 'integer';
  for (const [kind, format] of Object.entries(WIDTHS))
    if ([schema.type].flat().includes(kind)) Object.assign(schema, { format });
  for (const [name, inner] of Object.entries(value) as [string, unknown][])
    if (typeof inner === 'object' && inner !== null && !/^examples?$/.test(name)) sayWidths(inner);
}

function registerRoute(
  registry: OpenAPIRegistry,
  route: Route,
  examples: OperationExamples | undefined,
): void {
  const { docs } = route;
  if (!docs) return;
  registry.registerPath({
    method: route.method.toLowerCase() as Lowercase<HttpMethod>,
    path: route.path,
    operationId: docs.operationId,
    tags: [docs.tag],
    summary: docs.summary,
    description: [docs.description, ...confirmationWords(route)].join(' '),
    security: securityOf(route),
    request: {
      params: route.params && paramsSchema(route.params),
      query: route.query,
      body: route.body && {
        // No body is read as an empty object.
        required: !route.body.safeParse({}).success,
        content: {
          [JSON_TYPE]: { schema: route.body, ...namedExamples(examples?.request) },
        },
      },
      headers: headersOf(route),
    },
    responses: {
      ...successResponses(route, examples),
      ...(route.hasETag ? NOT_MODIFIED : {}),
      ...errorResponses(route),
    },
  });
}

function confirmationWords({ confirmed, key, body }: Route): string[] {
  if (!confirmed) return [];
  const who = key === 'required' ? 'A member without an API key' : 'A person';
  const where = confirmed === 'live' ? ' in the live environment' : '';
  const but = body && 'dryRun' in body.shape ? ' A dry run does not ask.' : '';
  return [
    `${who} must have given the password within the last 15 minutes${where}; otherwise \`CONFIRMATION_REQUIRED\`.${but}`,
  ];
}

/** Signatures are explained in docs/WEBHOOKS.md: OpenAPI cannot describe a signature over bytes. */
function registerEvent(registry: OpenAPIRegistry, { event, summary, when, body }: DocumentedEvent): void {
  registry.registerWebhook({
    method: 'post',
    path: event,
    tags: ['Webhooks'],
    summary,
    description: when,
    request: {
      headers: eventHeaders,
      body: { required: true, content: { [JSON_TYPE]: { schema: body } } },
    },
    responses: {
      '2XX': { description: 'Taken. Anything else, or nothing within 15 seconds: it comes again' },
    },
  });
}

const eventHeaders = z.object({
  'webhook-id': z.string().describe('Of the message: the same on every attempt'),
  'webhook-timestamp': z.string().describe('Of the attempt, Unix time in seconds'),
  'webhook-signature': z.string().describe('`v1,` and a signature; several, with blanks between'),
});

function securityOf(route: Route): Record<string, string[]>[] {
  const withKey = { [SECURITY_SCHEME]: [] };
  const withCookie = { [COOKIE_SECURITY_SCHEME]: [] };
  switch (route.key) {
    case 'session':
      return [{ [PERSON_SECURITY_SCHEME]: [] }, withCookie];
    case 'user':
    case 'member':
      return [withCookie];
    case 'required':
      return [...(route.protocol === 'acp' ? [{ [BEARER_SECURITY_SCHEME]: [] }] : []), withKey, withCookie];
    case 'optional':
      return [{}, withKey, withCookie];
    default:
      return [];
  }
}

function paramsSchema(params: NonNullable<Route['params']>): z.ZodObject {
  const fields = Object.entries(params).map(
    ([name, { description, example }]) => [name, z.string().meta({ description, example })] as const,
  );
  return z.object(Object.fromEntries(fields));
}

function headersOf(route: Route): z.ZodObject | undefined {
  if (route.protocol === 'acp') return route.method === 'POST' ? acpWriteHeaders : acpHeaders;
  if (takesIdempotencyKey(route)) return idempotencyHeader;
  return route.hasETag ? etagQueryHeader : undefined;
}

const acpHeaders = z.object({
  'API-Version': z.literal(ACP_VERSION).describe('The version of the protocol'),
});

const acpWriteHeaders = acpHeaders.extend({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(MAX_IDEMPOTENCY_KEY_CHARACTERS)
    .describe('Of this path: the same key and body get the first answer again, for 30 days'),
});

const idempotencyHeader = z.object({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(MAX_IDEMPOTENCY_KEY_CHARACTERS)
    .optional()
    .describe(
      'Makes the request safe to repeat: the same key and body get the first answer again, for 30 days',
    ),
});

const etagQueryHeader = z.object({
  'If-None-Match': z
    .string()
    .optional()
    .describe('The ETag of the answer that you have: 304 while it stands'),
});

function successResponses(route: Route, examples: OperationExamples | undefined) {
  const headers = {
    ...commonHeaders,
    ...(takesIdempotencyKey(route) ? replayedHeader : {}),
    ...(route.hasETag ? etagHeader : {}),
    ...(isFileInParts(route) ? nextHeader : {}),
  };
  return Object.fromEntries(
    Object.entries(route.responses).map(
      ([status, { description, schema, contentType = JSON_TYPE, alsoAs = {} }]) => {
        const forms = Object.entries({ [contentType]: schema, ...alsoAs });
        const named = namedExamples(examples?.[Number(status)]);
        const content = Object.fromEntries(
          forms.map(([type, form]) => [type, { schema: form, ...(type === contentType ? named : {}) }]),
        );
        return [status, { description, headers, content }];
      },
    ),
  );
}

/** As OpenAPI lists them: the name says for which case one is true. */
function namedExamples(examples: Examples = {}) {
  const named = Object.entries(examples).map(([name, value]) => [name, { summary: name, value }] as const);
  return named.length === 0 ? {} : { examples: Object.fromEntries(named) };
}

function errorResponses(route: Route) {
  const byStatus = Map.groupBy(errorCodesOf(route), (code) => STATUS_OF[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const shapes = new Set(codes.flatMap((code) => route.shapes.map((shape) => shapeOf(code, shape))));
      const [first, ...more] = [...shapes].map((shape) => errorSchemas[shape]);
      if (!first) throw new Error(`no body is known for status ${status}`);
      const schema = more.length === 0 ? first : z.union([first, ...more]);
      return [
        String(status),
        {
          description: codes.map((code) => `[\`${code}\`](/docs/errors#${code})`).join(', '),
          headers: errorHeaders(status),
          content: { [JSON_TYPE]: { schema, ...namedExamples(errorExamplesOf(route, codes)) } },
        },
      ];
    }),
  );
}

const code = z
  .enum(ERROR_CODES)
  .meta({ id: 'ErrorCode', description: 'Each code: [/docs/errors](/docs/errors#codes)' });
const message = z.string().describe('For people');
const statusCode = z.number().int();
const failed = z.literal(false);
const more = {
  fields: z
    .array(z.object({ field: z.string(), problem: z.string() }))
    .optional()
    .describe('For `VALIDATION_ERROR`: each wrong field, at most 100'),
  transactionId: z
    .string()
    .optional()
    .describe('Of the purchase or funding that failed, where it was written'),
};

const errorSchemas: Record<ErrorShape | 'authentication', z.ZodType> = {
  base: z
    .object({ success: failed, message, error: z.object({ code, details: z.string(), ...more }) })
    .meta({ id: 'DetailedError' }),
  'top-up': z
    .object({ success: failed, message, statusCode, code, details: z.string().optional(), ...more })
    .meta({ id: 'FlatError' }),
  general: z
    .object({ success: failed, error: z.object({ code, message, ...more }), statusCode })
    .meta({ id: 'GeneralError' }),
  acp: z
    .object({
      type: z.enum(ACP_ERROR_TYPES),
      code: z.string().describe('In small letters: see docs/ACP.md'),
      message,
      param: z.string().optional().describe('JSONPath of what is wrong in the request'),
      supported_versions: z.array(z.string()).optional().describe('Where the API-Version is refused'),
    })
    .meta({ id: 'AcpError' }),
  authentication: z
    .object({ error: code, message, statusCode: z.literal(401) })
    .meta({ id: 'AuthenticationError' }),
};

const header = (type: 'string' | 'integer', description: string) => ({ description, schema: { type } });

const commonHeaders = {
  'X-Request-Id': header('string', 'Names this request in our log'),
  'X-RateLimit-Limit': header('integer', 'Requests allowed in a window of 60 seconds'),
  'X-RateLimit-Remaining': header('integer', 'Requests left in this window'),
  'X-RateLimit-Reset': header('integer', 'End of this window, Unix time in seconds'),
};
const retryAfterHeader = { 'Retry-After': header('integer', 'Seconds to wait before trying again') };
const isFileInParts = ({ query, responses }: Route): boolean =>
  responses[200]?.alsoAs?.[CSV] !== undefined && 'after' in (query?.shape ?? {});
const nextHeader = {
  [NEXT_HEADER]: header('string', 'Of a CSV where more match: the `after` of the next file'),
};
const etagHeader = { ETag: header('string', 'Changes with the body') };
/** Registered separately, since it has no body. */
const NOT_MODIFIED = {
  '304': {
    description: 'What you have still stands; no body',
    headers: { ...commonHeaders, ...etagHeader },
  },
};
const replayedHeader = {
  'Idempotent-Replayed': header('string', '`true` when this is the first answer again'),
};

function errorHeaders(status: number) {
  // The server refuses these before the request is counted.
  if (status === 408 || status === 431) return { 'X-Request-Id': commonHeaders['X-Request-Id'] };
  return status === 429 || status === 503 ? { ...commonHeaders, ...retryAfterHeader } : commonHeaders;
}
