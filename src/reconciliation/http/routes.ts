import type { z } from 'zod';
import type { Report } from '../books.ts';
import { toJson } from '../../platform/http/json.ts';
import { presentPage } from '../../platform/http/page.ts';
import type { PathParameter, Route } from '../../platform/http/route.ts';
import { opsRoutesFor, environmentQuery } from '../../platform/http/ops-route.ts';
import {
  presentDifference,
  presentByMerchant,
  presentDaily,
  presentLedger,
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
  ledgerQuery,
  ledgerSchema,
  merchantsSchema,
  reconcileBody,
  reconciledSchema,
  reconcilingSchema,
  trialBalanceSchema,
  waitingSchema,
} from './schema.ts';
import type { ReconciliationCases } from '../operator-use-cases.ts';

const defineOpsRoute = opsRoutesFor<ReconciliationCases>();

const TAG = 'Reconciliation';
const CSV = 'text/csv';

const differenceId: PathParameter = {
  description: 'The `id` of a difference',
  example: '42',
  isPossible: (text) => /^\d{1,18}$/.test(text),
  notFound: { code: 'NOT_FOUND', message: 'No such difference' },
};

const differencesRoute = defineOpsRoute({
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
      'Between our books, the gateway’s statement and the supplier’s orders and balance, with what each side says.',
  },
  async handle({ cases, query: { id, ...query } }) {
    const listed = await cases.listDifferences({
      ...query,
      id: id === undefined ? undefined : BigInt(id),
    });
    return { status: 200, body: toJson(presentPage(listed, presentDifference)) };
  },
});

const closeRoute = defineOpsRoute({
  method: 'POST',
  path: '/ops/differences/{differenceId}/close',
  permission: 'reconcile',
  params: { differenceId },
  query: environmentQuery,
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
  async handle({ cases, session, params, body }) {
    const id = params['differenceId'] ?? '';
    await cases.closeDifference(session, BigInt(id), body.reason);
    return { status: 200, body: toJson({ success: true, data: { id, closed: true } }) };
  },
});

const reconcileRoute = defineOpsRoute({
  method: 'POST',
  path: '/ops/reconciliations',
  permission: 'reconcile',
  query: environmentQuery,
  body: reconcileBody,
  responses: {
    200: { description: 'Finished', schema: reconciledSchema },
    202: {
      description: 'Still running; its differences are listed when it ends',
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
  async handle({ cases, session, body: { from, to } }) {
    const range = from && to ? { from, to } : undefined;
    const ended = await cases.reconcile(session, range);
    const data =
      ended === 'running'
        ? { status: ended }
        : { status: ended === null ? 'nothing-to-compare' : 'done', run: ended };
    return { status: ended === 'running' ? 202 : 200, body: toJson({ success: true, data }) };
  },
});

/** A report as JSON, or as CSV where Accept asks for it. */
function reportRoute<R extends Report, Query extends z.ZodObject>(
  name: string,
  query: Query,
  response: { readonly description: string; readonly schema: z.ZodType },
  docs: { readonly operationId: string; readonly summary: string; readonly description: string },
  read: (cases: ReconciliationCases, query: z.output<Query>) => Promise<R>,
  present: (report: R) => object,
): Route<ReconciliationCases> {
  return defineOpsRoute({
    method: 'GET',
    path: `/ops/books/${name}`,
    permission: 'books',
    query,
    responses: { 200: { ...response, alsoAs: { [CSV]: csvSchema } } },
    docs: { tag: 'Books', ...docs },
    async handle({ cases, visitor, query: asked }) {
      const report = await read(cases, asked as z.output<Query>);
      if (visitor.preferredType('application/json', CSV) !== CSV)
        return { status: 200, body: toJson({ success: true, data: present(report) }) };
      const headers = {
        'Content-Type': `${CSV}; charset=utf-8`,
        'Content-Disposition': `attachment; filename="${report.report}.csv"`,
      };
      return { status: 200, body: cases.toCsv(report), headers };
    },
  });
}

const ledgerRoute = defineOpsRoute({
  method: 'GET',
  path: '/ops/books/ledger',
  permission: 'books',
  query: ledgerQuery,
  errors: ['NOT_FOUND'],
  responses: { 200: { description: 'The entries', schema: ledgerSchema } },
  docs: {
    operationId: 'getLedger',
    tag: 'Books',
    summary: 'Read ledger entries',
    description:
      'Of accounts newest first, with the balance after each entry; of a purchase or funding in the order of booking, without balances.',
  },
  async handle({ cases, query }) {
    return {
      status: 200,
      body: toJson({ success: true, data: presentLedger(await cases.readLedger(query)) }),
    };
  },
});

export const booksRoutes: readonly Route<ReconciliationCases>[] = [
  ledgerRoute,
  differencesRoute,
  closeRoute,
  reconcileRoute,
  reportRoute(
    'trial-balance',
    environmentQuery,
    { description: 'Every account', schema: trialBalanceSchema },
    {
      operationId: 'getTrialBalance',
      summary: 'Read the trial balance',
      description: 'Every account of the ledger by currency, with sums that net to zero.',
    },
    (cases) => cases.readTrialBalance(),
    presentTrialBalance,
  ),
  reportRoute(
    'daily',
    dailyQuery,
    { description: 'Day by day', schema: dailySchema },
    {
      operationId: 'getDaily',
      summary: 'Read revenue, cost and margin by day',
      description: 'By day (UTC), currency and package type, with totals by currency.',
    },
    (cases, range) => cases.readDaily(range),
    presentDaily,
  ),
  reportRoute(
    'merchants',
    dailyQuery,
    { description: 'Account by account', schema: merchantsSchema },
    {
      operationId: 'getBooksByMerchant',
      summary: 'Read revenue, cost and margin by merchant',
      description: 'By account, currency and package type, with totals by currency.',
    },
    (cases, range) => cases.readByMerchant(range),
    presentByMerchant,
  ),
  reportRoute(
    'waiting',
    environmentQuery,
    { description: 'By what it waits for', schema: waitingSchema },
    {
      operationId: 'getWaitingMoney',
      summary: 'Read what money waits for',
      description:
        'Money on hold, on its way back, disputed, taken back, at the gateway, or booked on a person’s word.',
    },
    (cases) => cases.readWaiting(),
    presentWaiting,
  ),
];
