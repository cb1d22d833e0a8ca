/** A merchant's own eSIMs: the list and one of them. */
import { toJson } from '../../platform/http/json.ts';
import { READ, routesFor, type Route } from '../../platform/http/route.ts';
import { esimId } from './esim-parameter.ts';
import { presentEsim, presentEsimPage } from './present.ts';
import { esimPageSchema, esimSchema, myEsimsQuery } from './schema.ts';
import type { EsimCases } from '../use-cases.ts';

const defineRoute = routesFor<EsimCases>();

const ESIMS = 'eSIMs';

const myEsimsRoute = defineRoute({
  ...READ,
  path: '/api/esim/my-esims',
  shapes: ['base'],
  query: myEsimsQuery,
  responses: { 200: { description: 'One page, newest first', schema: esimPageSchema } },
  docs: {
    operationId: 'listEsims',
    tag: ESIMS,
    summary: 'List your eSIMs',
    description:
      'One page of your eSIM orders, filtered and searched as asked. `nextCursor` continues behind the last of them, ' +
      'however many come in meanwhile.',
  },
  async handle({ cases, principal, query }) {
    const { page, limit, status } = query;
    const [search, after] = [query.search || undefined, query.after || undefined];
    const found = await cases.listEsims(principal, { page, limit, status, search, after });
    return { status: 200, body: toJson(presentEsimPage(found)) };
  },
});

const esimRoute = defineRoute({
  ...READ,
  path: '/api/esim/{esimId}',
  shapes: ['base'],
  params: { esimId },
  errors: ['NOT_YOUR_ESIM'],
  responses: { 200: { description: 'The eSIM order', schema: esimSchema } },
  docs: {
    operationId: 'getEsim',
    tag: ESIMS,
    summary: 'Read one of your eSIMs',
    description:
      'Install data, usage and validity. State and usage are read from the supplier again when our data is old.',
  },
  async handle({ cases, principal, params }) {
    const esim = await cases.getEsim(principal, params['esimId'] ?? '');
    return { status: 200, body: toJson(presentEsim(esim)) };
  },
});

export const esimRoutes: readonly Route<EsimCases>[] = [myEsimsRoute, esimRoute];
