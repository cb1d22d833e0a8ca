/** Many eSIMs at once. */
import { isId } from '../../domain/ids.ts';
import { toJson } from '../../platform/http/json.ts';
import { MAX_BATCH_BODY_BYTES, MAX_BATCH_JSON_MEMBERS } from '../../platform/http/limits.ts';
import { CHANGE, READ, routesFor, type PathParameter, type Route } from '../../platform/http/route.ts';
import {
  acceptedBatchSchema,
  batchBody,
  batchCsvSchema,
  batchDetailsSchema,
  batchPageSchema,
  batchQuery,
  presentAccepted,
  presentBatchDetails,
  presentBatchPage,
} from './batch-schema.ts';
import type { PurchaseCases } from '../use-cases.ts';

const defineRoute = routesFor<PurchaseCases>();

const TAG = 'Purchases';
const PATH = '/api/esim/orders/batch';

const batchId: PathParameter = {
  description: 'The `batchId` that the order returned',
  example: 'batch-7c9e6679f4a84ba3a2c1f0d3b5e60a11',
  isPossible: (text) => isId('batch', text),
  notFound: { code: 'BATCH_NOT_FOUND', message: 'Batch not found' },
};

const orderRoute = defineRoute({
  ...CHANGE,
  path: PATH,
  body: batchBody,
  bodyLimits: { maxBytes: MAX_BATCH_BODY_BYTES, maxMembers: MAX_BATCH_JSON_MEMBERS },
  errors: ['INSUFFICIENT_BALANCE', 'EMAIL_UNAVAILABLE', 'TOO_MANY_BATCHES', 'EXCHANGE_RATE_UNAVAILABLE'],
  responses: { 202: { description: 'Accepted: every row is bought soon', schema: acceptedBatchSchema } },
  docs: {
    operationId: 'orderBatch',
    tag: TAG,
    summary: 'Order many eSIMs at once',
    description:
      'Up to 500 eSIMs, paid from the wallet, one purchase a row. All rows are checked first: one wrong row, and nothing is ordered. ' +
      'Prices are frozen now. A row with an e-mail address sends the traveller the install link. ' +
      'Send an `Idempotency-Key`, and a repeated request can never order twice.',
  },
  async handle({ cases, principal, body, context, idempotency }) {
    const { rows, maxTotalPrice } = body;
    const command = {
      rows,
      maxTotalPrice: maxTotalPrice && { amountMinor: maxTotalPrice.amount, currency: maxTotalPrice.currency },
      idempotency,
    };
    const accepted = await cases.orderBatch(principal, command, context);
    return { status: 202, body: toJson(presentAccepted(accepted)) };
  },
});

const listRoute = defineRoute({
  ...READ,
  path: PATH,
  query: batchQuery,
  responses: { 200: { description: 'One page, newest first', schema: batchPageSchema } },
  docs: {
    operationId: 'listBatches',
    tag: TAG,
    summary: 'List your batches',
    description: 'Each with its counts by status.',
  },
  async handle({ cases, principal, query }) {
    return { status: 200, body: toJson(presentBatchPage(await cases.listBatches(principal, query))) };
  },
});

const batchRoute = defineRoute({
  ...READ,
  path: `${PATH}/{batchId}`,
  params: { batchId },
  query: batchQuery,
  responses: {
    200: { description: 'The batch, and one page of its rows as they now stand', schema: batchDetailsSchema },
  },
  docs: {
    operationId: 'getBatch',
    tag: TAG,
    summary: 'Read a batch and its rows',
    description: 'Also while it runs. A row’s status is that of its purchase. Only your own can be read.',
  },
  async handle({ cases, principal, params, query }) {
    const found = await cases.getBatch(principal, params['batchId'] ?? '', query);
    return { status: 200, body: toJson(presentBatchDetails(found)) };
  },
});

const csvRoute = defineRoute({
  ...READ,
  path: `${PATH}/{batchId}/csv`,
  params: { batchId },
  responses: {
    200: { description: 'Every row as it now stands', contentType: 'text/csv', schema: batchCsvSchema },
  },
  docs: {
    operationId: 'getBatchCsv',
    tag: TAG,
    summary: 'Read the rows of a batch as CSV',
    description: 'For a spreadsheet: a text that would be read as a formula begins with an apostrophe.',
  },
  async handle({ cases, principal, params }) {
    const id = params['batchId'] ?? '';
    const headers = {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${id}.csv"`,
    };
    return { status: 200, body: await cases.exportBatch(principal, id), headers };
  },
});

export const batchRoutes: readonly Route<PurchaseCases>[] = [orderRoute, listRoute, batchRoute, csvRoute];
