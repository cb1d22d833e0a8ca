/** The OpenAPI document and the page that shows it. Public, like everything they say. */
import { z } from 'zod';
import { DomainError } from '../../../domain/errors.ts';
import { toJson } from '../json.ts';
import { defineRoute, type Route } from '../route.ts';
import { makeOpenApiDocument } from './openapi.ts';
import { createDocsFiles, docsHeaders, docsPage } from './present.ts';

const HIDDEN = { key: 'public', scope: undefined, shapes: ['general'], errors: [], docs: undefined } as const;
const FILE_NAME = /^[\w.-]{1,64}$/;
const NOT_FOUND = { code: 'NOT_FOUND', message: 'There is nothing at this path' } as const;

/** `apiRoutes`: everything the document describes. */
export function docsRoutes(
  apiRoutes: readonly Route[],
  about: { readonly version: string; readonly brand: string },
): Route[] {
  const openApi = openApiRoute(() => document);
  const document = Buffer.from(toJson(makeOpenApiDocument([...apiRoutes, openApi], about)));
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
