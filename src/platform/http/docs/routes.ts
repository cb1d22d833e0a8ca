/**
 * The OpenAPI document, the page that shows it, and what is at `/`. Public, like everything they say. The
 * pages of text beside it: site.ts.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, dirname } from 'node:path';
import { z } from 'zod';
import { toJson } from '../json.ts';
import { routesFor, type Route } from '../route.ts';
import { linksPage } from './links-page.ts';
import { makeOpenApiDocument, type Described } from './openapi.ts';

const REFERENCE = '/docs/reference';

/** These routes take no use cases. */
const defineRoute = routesFor<unknown>();

const HIDDEN = { key: 'public', scope: undefined, shapes: ['general'], errors: [], docs: undefined } as const;

/** `apiRoutes`: everything the document describes. */
export function docsRoutes(apiRoutes: readonly Route[], described: Described): readonly Route<unknown>[] {
  // Made when first read: it costs more than the rest of an API's start.
  let document: Buffer | undefined;
  const openApi = openApiRoute(
    () => (document ??= Buffer.from(toJson(makeOpenApiDocument([...apiRoutes, openApi], described)))),
  );
  return [startRoute(), openApi, pageRoute(), fileRoute()];
}

function openApiRoute(document: () => Buffer): Route<unknown> {
  return defineRoute({
    ...HIDDEN,
    method: 'GET',
    path: '/api/openapi.json',
    responses: { 200: { description: 'OpenAPI 3.1', schema: z.record(z.string(), z.unknown()) } },
    docs: {
      operationId: 'getOpenApiDocument',
      tag: 'Settings',
      summary: 'Read this document',
      description: 'The OpenAPI description of this API; `/docs/reference` shows it in a browser.',
    },
    handle: () => Promise.resolve({ status: 200, body: document() }),
  });
}

const START_LINKS = {
  documentation: ['/docs', 'Documentation'],
  reference: [REFERENCE, 'API reference'],
  openapi: ['/api/openapi.json', 'OpenAPI document'],
  llms: ['/llms.txt', 'List of the pages, for programs'],
  dashboard: ['/dashboard', 'Dashboard'],
} as const;

/** What somebody finds who has the address of the service alone. */
function startRoute(): Route<unknown> {
  const [json, html] = ['application/json', 'text/html'];
  const page = linksPage('Simway', 'An API for eSIM resellers.', Object.values(START_LINKS));
  const links = Object.fromEntries(Object.entries(START_LINKS).map(([name, [address]]) => [name, address]));
  const headers = { Vary: 'Accept', 'Cache-Control': 'no-cache' };
  const program = { status: 200, body: toJson({ name: 'Simway', links }), headers };
  return defineRoute({
    ...HIDDEN,
    method: 'GET',
    path: '/',
    responses: {
      200: { description: 'Where everything is', schema: z.unknown(), alsoAs: { [html]: z.string() } },
    },
    handle: ({ visitor }) =>
      Promise.resolve(visitor.preferredType(json, html) === html ? { status: 200, ...page } : program),
  });
}

function pageRoute(): Route<unknown> {
  const contentType = 'text/html; charset=utf-8';
  const body = Buffer.from(PAGE);
  return defineRoute({
    ...HIDDEN,
    method: 'GET',
    path: REFERENCE,
    responses: { 200: { description: 'The reference page', contentType, schema: z.string() } },
    handle: () => Promise.resolve({ status: 200, body, headers: docsHeaders(contentType) }),
  });
}

function fileRoute(): Route<unknown> {
  const read = createFileReader();
  return defineRoute({
    ...HIDDEN,
    method: 'GET',
    path: `${REFERENCE}/{file}`,
    params: {
      file: {
        description: 'A file of the reference page',
        example: 'swagger-ui.css',
        isPossible: (text) => Object.hasOwn(FILE_TYPES, text),
        notFound: { code: 'NOT_FOUND', message: 'No such route' },
      },
    },
    responses: { 200: { description: 'The file', schema: z.string() } },
    async handle({ params }) {
      const file = params['file'] ?? '';
      return { status: 200, body: await read(file), headers: docsHeaders(FILE_TYPES[file] ?? '') };
    },
  });
}

const START_SCRIPT = `window.addEventListener('load', () => {
  window.ui = SwaggerUIBundle({ url: '/api/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null });
});
`;

const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>eSIM Reseller API</title>
  <link rel="icon" type="image/png" href="${REFERENCE}/favicon-32x32.png">
  <link rel="stylesheet" href="${REFERENCE}/swagger-ui.css">
</head>
<body>
  <nav><a href="/docs">Documentation</a></nav>
  <div id="swagger-ui"></div>
  <script src="${REFERENCE}/swagger-ui-bundle.js"></script>
  <script src="${REFERENCE}/start.js"></script>
</body>
</html>
`;

/** Swagger UI sets style attributes and inlines its icons as data: images; scripts come from here alone. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const FILE_TYPES: Readonly<Record<string, string>> = {
  'start.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const ONE_HOUR_SECONDS = 3_600;

function docsHeaders(contentType: string): Record<string, string> {
  return {
    'Content-Type': contentType,
    'Content-Security-Policy': CONTENT_POLICY,
    'Cache-Control': `public, max-age=${ONE_HOUR_SECONDS}`,
    'Referrer-Policy': 'no-referrer',
  };
}

/** Reads the page's files on first use and keeps them. */
function createFileReader(): (name: string) => Promise<Buffer> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const loaded = new Map([['start.js', Promise.resolve(Buffer.from(START_SCRIPT))]]);
  return (name) => {
    const reading = loaded.get(name) ?? readFile(join(folder, name));
    loaded.set(name, reading);
    // A file that could not be read is tried again by the next request.
    reading.catch(() => loaded.delete(name));
    return reading;
  };
}
