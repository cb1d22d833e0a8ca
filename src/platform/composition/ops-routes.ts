/**
 * Everything under /ops, and its own OpenAPI document. It is not part of the merchants' document: that one is public and kept stable for their
 * programs, while this one is nobody's business who has not signed in.
 */
import { OpenApiGeneratorV31, OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { PERSON_SECURITY_SCHEME, registerRoute } from '../http/docs/openapi.ts';
import { toJson } from '../http/json.ts';
import type { Route } from '../http/route.ts';
import { booksRoutes } from '../../reconciliation/http/routes.ts';
import { defineOpsRoute } from '../http/ops-route.ts';
import { peopleRoutes } from '../../accounts/http/routes.ts';
import { purchaseRoutes } from '../../operations/http/routes.ts';

const DESCRIPTION = `For the people who operate this service: what is stuck, what happened, putting it right, reconciliation and the books.

Sign in, and send the token as \`Authorization: Bearer …\`. What your role may do is in \`getMe\`. \`world\` names the world that is meant.
Amounts are numbers with two decimals, of \`USD4\` with four.`;

const TAGS = [
  { name: 'Signing in', description: 'Sessions and your own password' },
  { name: 'People', description: 'Who may sign in, and what they may do' },
  { name: 'Purchases', description: 'What is stuck, and what happened' },
  { name: 'Moves', description: 'Putting it right' },
  { name: 'Reconciliation', description: 'Our books beside those of others' },
  { name: 'Books', description: 'What finance wants to know' },
];

export function opsRoutes(about: { readonly version: string }): readonly Route[] {
  // Made when it is first read: most processes are never asked for it.
  let document: Buffer | undefined;
  const routes: readonly Route[] = [
    ...peopleRoutes(),
    ...purchaseRoutes(),
    ...booksRoutes(),
    documentRoute(() => (document ??= Buffer.from(toJson(makeDocument(routes, about))))),
  ];
  return routes;
}

function documentRoute(document: () => Buffer): Route {
  return defineOpsRoute({
    method: 'GET',
    path: '/ops/openapi.json',
    permission: 'own',
    responses: { 200: { description: 'OpenAPI 3.1', schema: z.record(z.string(), z.unknown()) } },
    docs: {
      operationId: 'getOpsDocument',
      tag: 'Signing in',
      summary: 'Read this document',
      description: 'The OpenAPI description of everything under /ops.',
    },
    handle: () => Promise.resolve({ status: 200, body: document() }),
  });
}

function makeDocument(routes: readonly Route[], { version }: { readonly version: string }): object {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', PERSON_SECURITY_SCHEME, {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of a session, as `signIn` answers it',
  });
  for (const route of routes) registerRoute(registry, route);
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'eSIM Reseller Operations API',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: TAGS,
  });
}
