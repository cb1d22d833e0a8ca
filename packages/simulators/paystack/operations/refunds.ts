/** Asking for a refund twice makes two: the gateway has no key to recognise a repeat. */
import type { GatewayContext } from '../context.ts';
import type { RefundRow, TransactionRow } from '../storage.ts';
import { emitRefund, moveRefund, planRefund, refundable, transactionOf } from '../actions/refund.ts';
import {
  GatewayError,
  invalid,
  missing,
  notFound,
  objectIn,
  optionalAmount,
  optionalText,
  requiredText,
  type Params,
} from '../errors.ts';
import type { GatewayFaults } from '../faults.ts';
import { defaultNotes, disputeData, refundData, transactionData } from '../present/transaction.ts';
import { idOf } from '../wire.ts';
import { findTransaction, requireTransaction, type Operations } from './operation.ts';
import { pageOf } from './transactions.ts';

const LEAST_USD_MINOR = 100;
const OUTCOMES: Record<Exclude<GatewayFaults['refund'], 'refuse'>, RefundRow['outcome']> = {
  process: 'processed',
  fail: 'failed',
  'needs-attention': 'needs-attention',
  pending: 'processed',
};

function transactionIn(context: GatewayContext, { transaction = null }: Params): TransactionRow {
  if (transaction === null || transaction === '') throw missing('Transaction is required');
  const named = typeof transaction === 'number' ? String(transaction) : transaction;
  if (typeof named !== 'string') throw invalid('transaction must be a reference or an id');
  return requireTransaction(context, named);
}

function amountIn(context: GatewayContext, params: Params, transaction: TransactionRow): number {
  const currency = transaction.paidCurrency ?? transaction.currency;
  const left = refundable(context, transaction);
  if (transaction.status === 'reversed' || (transaction.paidAtMs !== null && left <= 0)) {
    throw invalid('Transaction has been fully reversed', 'transaction_reversed');
  }
  if (transaction.status !== 'success') {
    throw invalid('Transaction has not been paid', 'transaction_not_paid');
  }
  const amount = optionalAmount(params, 'amount') ?? left;
  if (amount > left) {
    throw invalid('Refund amount cannot be more than what is left of the transaction', 'invalid_amount');
  }
  if (currency === 'USD' && amount < LEAST_USD_MINOR) {
    throw invalid('Cannot refund less than USD 1', 'invalid_amount');
  }
  const wanted = optionalText(params, 'currency');
  if (wanted !== undefined && wanted !== currency) throw invalid(`The transaction is in ${currency}`);
  return amount;
}

function requireRefund(context: GatewayContext, digits: string): RefundRow {
  const id = /^\d{1,20}$/.test(digits) ? idOf(digits) : Number.NaN;
  const refund = Number.isSafeInteger(id) ? context.refunds.get(id) : undefined;
  if (refund === undefined) throw notFound('Refund not found', 'refund_not_found');
  return refund;
}

/** Of a listing: those of the transaction that the query names, if it does; newest first. */
function listingOf(context: GatewayContext, query: URLSearchParams, named: string | null) {
  const { fromMs, toMs, ...meta } = pageOf(query);
  const transactionId = named === null ? undefined : (findTransaction(context, named)?.id ?? null);
  const where = { transactionId, createdAtMs: { from: fromMs, to: toMs } };
  return { where, page: { isNewestFirst: true, limit: meta.perPage, offset: meta.skipped }, meta };
}

export const refunds = {
  /** Queued; the money leaves later. */
  refund: (context, { body }) => {
    const transaction = transactionIn(context, body);
    const mode = context.faults.current.refund;
    if (mode === 'refuse') {
      throw new GatewayError('Insufficient balance to fulfill this refund. Please top up.', {
        code: 'insufficient_balance',
        type: 'processor_error',
      });
    }
    const amount = amountIn(context, body, transaction);
    const notes = defaultNotes(transaction.reference);
    const nowMs = context.now();
    const refund: RefundRow = {
      id: context.refunds.nextId(),
      transactionId: transaction.id,
      amount,
      currency: transaction.paidCurrency ?? transaction.currency,
      status: 'pending',
      outcome: mode === 'process' ? (transaction.refundOutcome ?? 'processed') : OUTCOMES[mode],
      heldBy: mode === 'pending' ? 'fault' : null,
      customerNote: optionalText(body, 'customer_note') ?? notes.customerNote,
      merchantNote: optionalText(body, 'merchant_note') ?? notes.merchantNote,
      account: null,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      refundedAtMs: null,
    };
    context.database.transact(() => {
      context.refunds.put(refund);
      emitRefund(context, refund, transaction);
      if (refund.heldBy === null) planRefund(context, refund);
    });
    return {
      message: 'Refund has been queued for processing',
      data: refundData(context, refund, transactionData(context, transaction)),
    };
  },
  'refund/list': (context, { query }) => {
    const named = query.get('transaction') ?? query.get('reference');
    const { where, page, meta } = listingOf(context, query, named);
    const currency = query.get('currency');
    const rows = context.refunds.list(where, page);
    const wanted = rows.filter((row) => currency === null || row.currency === currency);
    return { message: 'Refunds retrieved', data: wanted.map((row) => refundData(context, row)), meta };
  },
  'refund/fetch': (context, { id }) => ({
    message: 'Refund retrieved',
    data: refundData(context, requireRefund(context, id)),
  }),
  /** The customer's bank account, for a refund that needs attention. */
  'refund/retry': (context, { id, body }) => {
    const refund = requireRefund(context, id);
    const account = objectIn(body, 'refund_account_details');
    if (account === undefined) throw missing('refund_account_details is required');
    for (const name of ['currency', 'account_number', 'bank_id']) requiredText(account, name);
    if (refund.status !== 'needs-attention') {
      throw new GatewayError('Only a refund that needs attention can be retried', {
        code: 'invalid_state',
        status: 422,
      });
    }
    const row = context.database.transact(() => {
      const moved = moveRefund(context, { ...refund, account, outcome: 'processed' }, 'processing');
      planRefund(context, moved);
      return moved;
    });
    const message = 'Refund retried and has been queued for processing';
    return { message, data: refundData(context, row) };
  },
  'dispute/list': (context, { query }) => {
    const { where, page, meta } = listingOf(context, query, query.get('transaction'));
    const rows = context.disputes.list(where, page);
    const data = rows.map((row) => disputeData(context, row, transactionOf(context, row)));
    return { message: 'Disputes retrieved', data, meta };
  },
} satisfies Operations;
