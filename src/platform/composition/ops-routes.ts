/** Everything under /ops, and its OpenAPI document, which only people who have signed in may read. */
import { z } from 'zod';
import { makeOpsDocument } from '../http/docs/openapi.ts';
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

export function opsRoutes({ version }: { readonly version: string }): readonly Route[] {
  const info = { title: 'eSIM Reseller Operations API', version, description: DESCRIPTION };
  // Made on the first request: most processes never get one.
  let document: Buffer | undefined;
  const documentRoute = defineOpsRoute({
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
    handle: () => {
      document ??= Buffer.from(toJson(makeOpsDocument(routes, info, TAGS)));
      return Promise.resolve({ status: 200, body: document });
    },
  });
  const routes: readonly Route[] = [...peopleRoutes(), ...purchaseRoutes(), ...booksRoutes(), documentRoute];
  return routes;
}
