/** Differences between our books and others', and the books themselves, as JSON or as CSV for whoever asks for that in Accept. */
import type { Report } from '../books-rules.ts';
import type { OpsInput } from '../../platform/http/route.ts';
import { toJson } from '../../platform/http/json.ts';
import { presentPage } from '../../platform/http/page.ts';
import type { Answer } from '../../platform/http/errors.ts';
import type { PathParameter, Route } from '../../platform/http/route.ts';
import { defineOpsRoute, worldQuery } from '../../platform/http/ops-route.ts';
import {
  presentByMerchant,
  presentDaily,
  presentDifference,
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
const BOOKS = 'Books';
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
      const { page, limit, kind, currency, transactionId } = query;
      const open = await ops.world.listDifferences({
        page,
        limit,
        ...(kind === undefined ? {} : { kind }),
        ...(currency === undefined ? {} : { currency }),
        ...(transactionId === undefined ? {} : { transactionId }),
      });
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
        'It stays closed while the facts are the same. One that is gone closes itself at the next run. No money moves.',
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
      200: { description: 'It has ended', schema: reconciledSchema },
      202: {
        description: 'It takes longer; what it finds is listed when it ends',
        schema: reconcilingSchema,
      },
    },
    docs: {
      operationId: 'reconcile',
      tag: TAG,
      summary: 'Look for differences now',
      description:
        'Compares ledger, payments and purchases with the gateway’s statement and the supplier’s orders: of the time that is named, or ' +
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

const ALSO_AS_CSV = { [CSV]: csvSchema };

function trialBalanceRoute(): Route {
  return defineOpsRoute({
    method: 'GET',
    path: '/ops/books/trial-balance',
    permission: 'books',
    query: worldQuery,
    responses: {
      200: { description: 'Every account', schema: trialBalanceSchema, alsoAs: ALSO_AS_CSV },
    },
    docs: {
      operationId: 'getTrialBalance',
      tag: BOOKS,
      summary: 'Read the trial balance',
      description: 'Every account of the ledger by currency, with sums that net to zero.',
    },
    handle: async ({ ops }) => report(ops, await ops.world.readTrialBalance(), presentTrialBalance),
  });
}

function dailyRoute(): Route {
  return defineOpsRoute({
    method: 'GET',
    path: '/ops/books/daily',
    permission: 'books',
    query: dailyQuery,
    responses: { 200: { description: 'Day by day', schema: dailySchema, alsoAs: ALSO_AS_CSV } },
    docs: {
      operationId: 'getDaily',
      tag: BOOKS,
      summary: 'Read revenue, cost and margin by day',
      description: 'By day (UTC), currency and package type, with totals by currency.',
    },
    handle: async ({ ops, query: { from, to } }) =>
      report(ops, await ops.world.readDaily({ from, to }), presentDaily),
  });
}

function merchantsRoute(): Route {
  return defineOpsRoute({
    method: 'GET',
    path: '/ops/books/merchants',
    permission: 'books',
    query: dailyQuery,
    responses: {
      200: { description: 'Account by account', schema: merchantsSchema, alsoAs: ALSO_AS_CSV },
    },
    docs: {
      operationId: 'getBooksByMerchant',
      tag: BOOKS,
      summary: 'Read revenue, cost and margin by merchant',
      description: 'By account, currency and package type, with totals by currency.',
    },
    handle: async ({ ops, query: { from, to } }) =>
      report(ops, await ops.world.readByMerchant({ from, to }), presentByMerchant),
  });
}

function waitingRoute(): Route {
  return defineOpsRoute({
    method: 'GET',
    path: '/ops/books/waiting',
    permission: 'books',
    query: worldQuery,
    responses: { 200: { description: 'By what it waits for', schema: waitingSchema, alsoAs: ALSO_AS_CSV } },
    docs: {
      operationId: 'getWaitingMoney',
      tag: BOOKS,
      summary: 'Read what money waits for',
      description:
        'Money on hold, on its way back, disputed, taken back, at the gateway, or there by a person’s word.',
    },
    handle: async ({ ops }) => report(ops, await ops.world.readWaiting(), presentWaiting),
  });
}

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
