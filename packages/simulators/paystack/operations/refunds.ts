/**
 * POST /refund, GET /refund, GET /refund/{id}, POST /refund/retry_with_customer_details/{id}, GET /dispute.
 * Asking for a refund twice makes two: the gateway has no key to recognise a repeat.
 */
import type { GatewayContext } from '../context.ts';
import { emitRefund, moveRefund, planRefund, refundable, transactionOf } from '../actions/refund.ts';
import { GatewayError, invalid, missing, notFound } from '../errors.ts';
import type { GatewayFaults } from '../faults.ts';
import { objectIn, optionalAmount, optionalText, requiredText, type Params } from '../params.ts';
import { defaultNotes, disputeData, refundData } from '../present/refund.ts';
import { transactionData } from '../present/transaction.ts';
import type { RefundRow, TransactionRow } from '../storage.ts';
import { idOf } from '../wire.ts';
import { findTransaction, requireTransaction, type ApiRequest } from './operation.ts';
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

/** The amount to refund; default: what is left. */
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

/** `/refund`: queued; the money leaves later. */
export function createRefund(context: GatewayContext, { body }: ApiRequest) {
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
}

function requireRefund(context: GatewayContext, digits: string): RefundRow {
  const id = /^\d{1,20}$/.test(digits) ? idOf(digits) : Number.NaN;
  const refund = Number.isSafeInteger(id) ? context.refunds.get(id) : undefined;
  if (refund === undefined) throw notFound('Refund not found', 'refund_not_found');
  return refund;
}

/** `/refund/{id}`. */
export function fetchRefund(context: GatewayContext, { id }: ApiRequest) {
  return { message: 'Refund retrieved', data: refundData(context, requireRefund(context, id)) };
}

/** `/refund`: all, or those of one transaction (`transaction` as id or reference), newest first. */
export function listRefunds(context: GatewayContext, { query }: ApiRequest) {
  const { fromMs, toMs, ...meta } = pageOf(query);
  const { skipped, perPage } = meta;
  const named = query.get('transaction') ?? query.get('reference');
  const currency = query.get('currency');
  const found = named === null ? undefined : findTransaction(context, named);
  const transactionId = named === null ? undefined : (found?.id ?? null);
  const where = { transactionId, createdAtMs: { from: fromMs, to: toMs } };
  const rows = context.refunds.list(where, { isNewestFirst: true, limit: perPage, offset: skipped });
  return {
    message: 'Refunds retrieved',
    data: rows
      .filter((row) => currency === null || row.currency === currency)
      .map((row) => refundData(context, row)),
    meta,
  };
}

/**
 * `/refund/retry_with_customer_details/{id}`: the customer's bank account, for a refund that needs attention.
 */
export function retryRefund(context: GatewayContext, { id, body }: ApiRequest) {
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
  const retried: RefundRow = { ...refund, account, outcome: 'processed' };
  const row = context.database.transact(() => {
    const moved = moveRefund(context, retried, 'processing');
    planRefund(context, moved);
    return moved;
  });
  return { message: 'Refund retried and has been queued for processing', data: refundData(context, row) };
}

/** `/dispute`: all, or those of one transaction (`transaction` as its id), newest first. */
export function listDisputes(context: GatewayContext, { query }: ApiRequest) {
  const { fromMs, toMs, ...meta } = pageOf(query);
  const named = query.get('transaction');
  const transactionId = named === null ? undefined : (findTransaction(context, named)?.id ?? null);
  const where = { transactionId, createdAtMs: { from: fromMs, to: toMs } };
  return {
    message: 'Disputes retrieved',
    data: context.disputes
      .list(where, { isNewestFirst: true, limit: meta.perPage, offset: meta.skipped })
      .map((row) => disputeData(context, row, transactionOf(context, row))),
    meta,
  };
}
