import type { z } from 'zod';
import type { Report } from '../books-rules.ts';
import type { OpsInput } from '../../platform/http/route.ts';
import { toJson } from '../../platform/http/json.ts';
import { presentPage } from '../../platform/http/page.ts';
import type { Answer } from '../../platform/http/errors.ts';
import type { PathParameter, Route } from '../../platform/http/route.ts';
import { defineOpsRoute, worldQuery } from '../../platform/http/ops-route.ts';
import {
  presentDifference,
  presentByMerchant,
  presentDaily,
  presentReconciled,
  presentTrialBalance,
  presentWaiting,
} from './present.ts';
import {
  closeBody,
  closedSchema,
  csvSchema,
  dailyQuery,
  dailySchema,
  differencePageSchema,
  differencesQuery,
  merchantsSchema,
  reconcileBody,
  reconciledSchema,
  reconcilingSchema,
  trialBalanceSchema,
  waitingSchema,
} from './schema.ts';

const TAG = 'Reconciliation';
const CSV = 'text/csv';
const ROW_ID = /^\d{1,18}$/;

const differenceId: PathParameter = {
  description: 'The `id` of a difference',
  example: '42',
  isPossible: (text) => ROW_ID.test(text),
  notFound: { code: 'NOT_FOUND', message: 'There is no such difference' },
};

export function booksRoutes(): Route[] {
  return [
    differencesRoute(),
    closeRoute(),
    reconcileRoute(),
    trialBalanceRoute(),
    dailyRoute(),
    merchantsRoute(),
    waitingRoute(),
  ];
}

function differencesRoute(): Route {
  return defineOpsRoute({
    method: 'GET',
    path: '/ops/differences',
    permission: 'reconcile',
    query: differencesQuery,
    responses: { 200: { description: 'One page, oldest first', schema: differencePageSchema } },
    docs: {
      operationId: 'listDifferences',
      tag: TAG,
      summary: 'List open differences',
      description:
        'Between our books, the gateway’s statement and the supplier’s orders and balance, with what either side says.',
    },
    async handle({ ops, query }) {
      const open = await ops.world.listDifferences(query);
      return { status: 200, body: toJson(presentPage(open, presentDifference)) };
    },
  });
}

function closeRoute(): Route {
  return defineOpsRoute({
    method: 'POST',
    path: '/ops/differences/{differenceId}/close',
    permission: 'reconcile',
    params: { differenceId },
    query: worldQuery,
    body: closeBody,
    errors: ['NOT_FOUND'],
    responses: { 200: { description: 'Closed', schema: closedSchema } },
    docs: {
      operationId: 'closeDifference',
      tag: TAG,
      summary: 'Close a difference',
      description:
        'It stays closed while the facts are the same. A difference that is gone is closed by the next run. No money moves.',
    },
    async handle({ ops, params, body }) {
      const id = params['differenceId'] ?? '';
      await ops.world.closeDifference(ops.session, BigInt(id), body.reason);
      return { status: 200, body: toJson({ success: true, data: { id, closed: true } }) };
    },
  });
}

function reconcileRoute(): Route {
  return defineOpsRoute({
    method: 'POST',
    path: '/ops/reconciliations',
    permission: 'reconcile',
    query: worldQuery,
    body: reconcileBody,
    responses: {
      200: { description: 'Finished', schema: reconciledSchema },
      202: {
        description: 'Still running; what it finds is listed when it ends',
        schema: reconcilingSchema,
      },
    },
    docs: {
      operationId: 'reconcile',
      tag: TAG,
      summary: 'Compare the books now',
      description:
        'Compares ledger, payments and purchases with the gateway’s statement and the supplier’s orders: between `from` and `to`, or ' +
        'since the last regular run. Moves no money.',
    },
    async handle({ ops, body: { from, to } }) {
      const range = from && to ? { from, to } : undefined;
      const ended = await ops.world.reconcile(ops.session, range);
      if (ended === 'running')
        return { status: 202, body: toJson({ success: true, data: { status: 'running' } }) };
      return { status: 200, body: toJson(presentReconciled(ended)) };
    },
  });
}

/** What the four reports have in common: JSON, or CSV where Accept asks for it. */
function bookRoute(
  name: string,
  description: string,
  schema: z.ZodType,
  docs: { readonly operationId: string; readonly summary: string; readonly description: string },
) {
  return {
    method: 'GET',
    path: `/ops/books/${name}`,
    permission: 'books',
    responses: { 200: { description, schema, alsoAs: { [CSV]: csvSchema } } },
    docs: { tag: 'Books', ...docs },
  } as const;
}

const trialBalanceRoute = (): Route =>
  defineOpsRoute({
    ...bookRoute('trial-balance', 'Every account', trialBalanceSchema, {
      operationId: 'getTrialBalance',
      summary: 'Read the trial balance',
      description: 'Every account of the ledger by currency, with sums that net to zero.',
    }),
    query: worldQuery,
    handle: async ({ ops }) => report(ops, await ops.world.readTrialBalance(), presentTrialBalance),
  });

const dailyRoute = (): Route =>
  defineOpsRoute({
    ...bookRoute('daily', 'Day by day', dailySchema, {
      operationId: 'getDaily',
      summary: 'Read revenue, cost and margin by day',
      description: 'By day (UTC), currency and package type, with totals by currency.',
    }),
    query: dailyQuery,
    handle: async ({ ops, query }) => report(ops, await ops.world.readDaily(query), presentDaily),
  });

const merchantsRoute = (): Route =>
  defineOpsRoute({
    ...bookRoute('merchants', 'Account by account', merchantsSchema, {
      operationId: 'getBooksByMerchant',
      summary: 'Read revenue, cost and margin by merchant',
      description: 'By account, currency and package type, with totals by currency.',
    }),
    query: dailyQuery,
    handle: async ({ ops, query }) => report(ops, await ops.world.readByMerchant(query), presentByMerchant),
  });

const waitingRoute = (): Route =>
  defineOpsRoute({
    ...bookRoute('waiting', 'By what it waits for', waitingSchema, {
      operationId: 'getWaitingMoney',
      summary: 'Read what money waits for',
      description:
        'Money on hold, on its way back, disputed, taken back, at the gateway, or there by a person’s word.',
    }),
    query: worldQuery,
    handle: async ({ ops }) => report(ops, await ops.world.readWaiting(), presentWaiting),
  });

function report<T extends Report>(
  { preferredType, world }: OpsInput,
  made: T,
  present: (made: T) => object,
): Answer {
  if (preferredType('application/json', CSV) !== CSV) return { status: 200, body: toJson(present(made)) };
  return {
    status: 200,
    body: world.toCsv(made),
    headers: {
      'Content-Type': `${CSV}; charset=utf-8`,
      'Content-Disposition': `attachment; filename="${made.report}.csv"`,
    },
  };
}
