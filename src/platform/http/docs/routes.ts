/** The OpenAPI document and the page that shows it. Public, like everything they say. */
import { z } from 'zod';
import { DomainError } from '../../../domain/errors.ts';
import { toJson } from '../json.ts';
import { defineRoute, type Route } from '../route.ts';
import { makeOpenApiDocument, type DocumentedEvent } from './openapi.ts';
import { join, dirname } from 'node:path';
import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';

const HIDDEN = { key: 'public', scope: undefined, shapes: ['general'], errors: [], docs: undefined } as const;
const FILE_NAME = /^[\w.-]{1,64}$/;
const NOT_FOUND = { code: 'NOT_FOUND', message: 'There is nothing at this path' } as const;

/** `apiRoutes`: everything the document describes. */
export function docsRoutes(
  apiRoutes: readonly Route[],
  events: readonly DocumentedEvent[],
  about: { readonly version: string; readonly brand: string },
): Route[] {
  const openApi = openApiRoute(() => document);
  const document = Buffer.from(toJson(makeOpenApiDocument([...apiRoutes, openApi], events, about)));
  return [openApi, pageRoute(), fileRoute()];
}

function openApiRoute(document: () => Buffer): Route {
  return defineRoute({
    ...HIDDEN,
    method: 'GET',
    path: '/api/openapi.json',
    responses: { 200: { description: 'OpenAPI 3.1', schema: z.record(z.string(), z.unknown()) } },
    docs: {
      operationId: 'getOpenApiDocument',
      tag: 'Settings',
      summary: 'Read this document',
      description: 'The OpenAPI description of this API; `/docs` shows it in a browser.',
    },
    handle: () => Promise.resolve({ status: 200, body: document() }),
  });
}

function pageRoute(): Route {
  const { contentType, body } = docsPage();
  return defineRoute({
    ...HIDDEN,
    method: 'GET',
    path: '/docs',
    responses: { 200: { description: 'The reference page', contentType, schema: z.string() } },
    handle: () => Promise.resolve({ status: 200, body, headers: docsHeaders(contentType) }),
  });
}

function fileRoute(): Route {
  const find = createDocsFiles();
  return defineRoute({
    ...HIDDEN,
    method: 'GET',
    path: '/docs/{file}',
    params: {
      file: {
        description: 'A file of the reference page',
        example: 'swagger-ui.css',
        isPossible: (text) => FILE_NAME.test(text),
        notFound: NOT_FOUND,
      },
    },
    responses: { 200: { description: 'The file', schema: z.string() } },
    async handle({ params }) {
      const file = await find(params['file'] ?? '');
      if (!file) throw new DomainError(NOT_FOUND.code, NOT_FOUND.message);
      return { status: 200, body: file.body, headers: docsHeaders(file.contentType) };
    },
  });
}

export const PACKAGE = 'swagger-ui-dist';

export const START_SCRIPT = `window.addEventListener('load', () => {
  window.ui = SwaggerUIBundle({ url: '/api/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null });
});
`;

export const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>eSIM Reseller API</title>
  <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
  <link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
  <div id="swagger-ui"></div>
  <script src="/docs/swagger-ui-bundle.js"></script>
  <script src="/docs/start.js"></script>
</body>
</html>
`;

/** Swagger UI sets style attributes and inlines its icons as data: images; scripts come from here alone. */
export const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface DocsFile {
  readonly contentType: string;
  readonly body: Buffer;
}

export const FILES_OF_PACKAGE: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

export const ONE_HOUR_SECONDS = 3_600;

/** Headers of the page and of its files. */
export function docsHeaders(contentType: string): Record<string, string> {
  return {
    'Content-Type': contentType,
    'Content-Security-Policy': CONTENT_POLICY,
    'Cache-Control': `public, max-age=${ONE_HOUR_SECONDS}`,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  };
}

export function docsPage(): DocsFile {
  return { contentType: 'text/html; charset=utf-8', body: Buffer.from(PAGE) };
}

/** Reads the page's files on first use and keeps them; `undefined` for any other name. */
export function createDocsFiles(): (name: string) => Promise<DocsFile> | undefined {
  const folder = dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`));
  const loaded = new Map<string, Promise<DocsFile>>();
  loaded.set(
    'start.js',
    Promise.resolve({ contentType: 'text/javascript; charset=utf-8', body: Buffer.from(START_SCRIPT) }),
  );
  return (name) => {
    const known = loaded.get(name);
    if (known) return known;
    const contentType = Object.hasOwn(FILES_OF_PACKAGE, name) ? FILES_OF_PACKAGE[name] : undefined;
    if (contentType === undefined) return undefined;
    const reading = readFile(join(folder, name)).then((body) => ({ contentType, body }));
    // A file that could not be read is tried again by the next request.
    reading.catch(() => loaded.delete(name));
    loaded.set(name, reading);
    return reading;
  };
}
