/**
 * GET /transaction, /transaction/verify/{reference}, /transaction/{id}, /transaction/timeline/{id or
 * reference}.
 */
import type { GatewayContext } from '../context.ts';
import { invalid, notFound } from '../errors.ts';
import { pageNumber, timeOf } from '../params.ts';
import { timelineData, transactionData } from '../present/transaction.ts';
import { requireReference, requireTransaction, transactionById, type ApiRequest } from './operation.ts';

const PER_PAGE = 50;
const MAX_PER_PAGE = 1000;
const MAX_PAGES = 1_000_000;

/** `/transaction/verify/{reference}`. */
export function verify(context: GatewayContext, { id }: ApiRequest) {
  const row = requireReference(context, id);
  return { message: 'Verification successful', data: transactionData(context, row) };
}

/** `/transaction/{id}`. */
export function fetchTransaction(context: GatewayContext, { id }: ApiRequest) {
  if (!/^\d+$/.test(id)) throw invalid('Transaction ID should be numeric.');
  const row = transactionById(context, id);
  if (row === undefined) throw notFound('Transaction not found', 'transaction_not_found');
  return { message: 'Transaction retrieved', data: transactionData(context, row) };
}

/** `/transaction/timeline/{id or reference}`. */
export function timeline(context: GatewayContext, { id }: ApiRequest) {
  return { message: 'Timeline retrieved', data: timelineData(requireTransaction(context, id)) };
}

/** Page, size and time of a listing; a `to` that is only a day means its last moment. */
export function pageOf(query: URLSearchParams) {
  const perPage = pageNumber(query, 'perPage', PER_PAGE, MAX_PER_PAGE);
  const page = pageNumber(query, 'page', 1, MAX_PAGES);
  const fromMs = timeOf(query.get('from'), 'from') ?? 0;
  const to = query.get('to');
  const toMs = (timeOf(to, 'to') ?? Number.MAX_SAFE_INTEGER) + (to?.length === 10 ? 86_399_999 : 0);
  return { skipped: (page - 1) * perPage, perPage, page, fromMs, toMs };
}

function filterOf(query: URLSearchParams) {
  const [status, currency, customer] = ['status', 'currency', 'customer'].map(
    (name) => query.get(name) || undefined,
  );
  if (customer !== undefined && !/^\d{1,15}$/.test(customer)) throw invalid('customer must be a number');
  return { status, currency, customerId: customer === undefined ? undefined : Number(customer) };
}

/** `/transaction`: newest first. */
export function listTransactions(context: GatewayContext, { query }: ApiRequest) {
  const { skipped, perPage, page, fromMs, toMs } = pageOf(query);
  const where = { ...filterOf(query), createdAtMs: { from: fromMs, to: toMs } };
  const rows = context.transactions.list(where, { isNewestFirst: true, limit: perPage, offset: skipped });
  const total = context.transactions.count(where);
  return {
    message: 'Transactions retrieved',
    data: rows.map((row) => transactionData(context, row, null)),
    meta: {
      total,
      total_volume: context.transactions.sum('received', where),
      skipped,
      perPage,
      page,
      pageCount: Math.ceil(total / perPage),
      next: null,
      previous: null,
    },
  };
}
