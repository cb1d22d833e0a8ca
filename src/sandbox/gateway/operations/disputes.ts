/** GET /dispute: all disputes, or those of one transaction (`transaction` as its id), newest first. */
import type { GatewayContext } from '../context.ts';
import { disputeEventData } from '../present/refund.ts';
import { findTransaction, type ApiAnswer, type ApiRequest } from './operation.ts';
import { pageOf, rangeOf } from './transactions.ts';

/** `/dispute`. */
export function listDisputes(context: GatewayContext, { query }: ApiRequest): ApiAnswer {
  const { perPage, page, skipped } = pageOf(query);
  const { fromMs = 0, toMs = Number.MAX_SAFE_INTEGER } = rangeOf(query);
  const named = query.get('transaction');
  const transaction = named === null ? undefined : findTransaction(context, named);
  const rows = context.refunds
    .disputesBetween(fromMs, toMs)
    .filter((row) => named === null || row.transactionId === transaction?.id)
    .slice(skipped, skipped + perPage);
  return {
    message: 'Disputes retrieved',
    data: rows.map((row) => {
      const of = context.transactions.byId(row.transactionId);
      if (of === undefined) throw new Error(`transaction ${row.transactionId} is gone`);
      return disputeEventData(context, row, of);
    }),
    meta: { skipped, perPage, page },
  };
}
