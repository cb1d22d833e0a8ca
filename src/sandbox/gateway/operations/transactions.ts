/**
 * GET /transaction, /transaction/verify/{reference}, /transaction/{id}, /transaction/timeline/{id or reference}. Guarantee: reads only.
 */
import type { GatewayContext } from '../context.ts';
import { invalid, notFound } from '../errors.ts';
import { pageNumber, timeOf } from '../params.ts';
import { timelineData, transactionData } from '../present/transaction.ts';
import type { TransactionFilter } from '../storage/transactions.ts';
import { findTransaction, requireReference, transactionById } from './operation.ts';
import type { ApiAnswer, ApiRequest } from './operation.ts';

const PER_PAGE = 50;
const MOST_PER_PAGE = 1000;
const MOST_PAGES = 1_000_000;

/** `/transaction/verify/{reference}`. */
export function verify(context: GatewayContext, { id }: ApiRequest): ApiAnswer {
  const row = requireReference(context, id);
  return { message: 'Verification successful', data: transactionData(context, row) };
}

/** `/transaction/{id}`. */
export function fetchTransaction(context: GatewayContext, { id }: ApiRequest): ApiAnswer {
  if (!/^\d+$/.test(id)) throw invalid('Transaction ID should be numeric.');
  const row = transactionById(context, id);
  if (row === undefined) throw notFound('Transaction not found', 'transaction_not_found');
  return { message: 'Transaction retrieved', data: transactionData(context, row) };
}

/** `/transaction/timeline/{id or reference}`. */
export function timeline(context: GatewayContext, { id }: ApiRequest): ApiAnswer {
  const row = findTransaction(context, id) ?? requireReference(context, id);
  return { message: 'Timeline retrieved', data: timelineData(row) };
}

/** `from`, `to` as the last moment of a day where only a day is given. */
export function rangeOf(query: URLSearchParams): { fromMs?: number; toMs?: number } {
  const fromMs = timeOf(query.get('from'), 'from');
  const toText = query.get('to');
  const toMs = timeOf(toText, 'to');
  const isDay = toText?.length === 10;
  return {
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(toMs === undefined ? {} : { toMs: isDay ? toMs + 86_399_999 : toMs }),
  };
}

/** Page and size of a listing. */
export function pageOf(query: URLSearchParams): { perPage: number; page: number; skipped: number } {
  const perPage = pageNumber(query, 'perPage', PER_PAGE, MOST_PER_PAGE);
  const page = pageNumber(query, 'page', 1, MOST_PAGES);
  return { perPage, page, skipped: (page - 1) * perPage };
}

function filterOf(query: URLSearchParams): TransactionFilter {
  const status = query.get('status');
  const currency = query.get('currency');
  const customer = query.get('customer');
  const filter: TransactionFilter = { ...rangeOf(query) };
  if (status !== null && status !== '') filter.status = status;
  if (currency !== null && currency !== '') filter.currency = currency;
  if (customer !== null && customer !== '') {
    if (!/^\d{1,15}$/.test(customer)) throw invalid('customer must be a number');
    filter.customerId = Number(customer);
  }
  return filter;
}

/** `/transaction`: newest first. */
export function listTransactions(context: GatewayContext, { query }: ApiRequest): ApiAnswer {
  const { perPage, page, skipped } = pageOf(query);
  const { rows, total, volume } = context.transactions.list(filterOf(query), perPage, skipped);
  return {
    message: 'Transactions retrieved',
    data: rows.map((row) => transactionData(context, row, null)),
    meta: {
      total,
      total_volume: volume,
      skipped,
      perPage,
      page,
      pageCount: Math.ceil(total / perPage),
      next: null,
      previous: null,
    },
  };
}
