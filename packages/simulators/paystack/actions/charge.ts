/** Each is part of its caller's transaction. A payment is received, and on the statement, or returned. */
import type { GatewayContext } from '../context.ts';
import type { Moment, TransactionRow } from '../storage.ts';
import { INTEGRATION_ID, transactionData, transferCustomer } from '../present/transaction.ts';
import { feeOf } from '../rules.ts';

export interface Payment {
  /** Default: what was requested, with the fees on top. */
  amountMinor?: number | undefined;
  currency?: string | undefined;
  /** A fee that the buyer bears, inside the amount. */
  feesMinor?: number | undefined;
  /** Over the fault of the same name. */
  shortTransfer?: 'settle' | 'return';
}

export function shareOf(percent: number): (row: TransactionRow) => Payment {
  return ({ requested }) => ({ amountMinor: Math.floor((requested * percent) / 100) });
}

export function withMoment(row: TransactionRow, type: Moment['type'], message: string, atMs: number) {
  return { ...row, history: [...row.history, { type, message, atMs }] };
}

/** Why the gateway sends a transfer back by itself; undefined: it keeps it. */
function reasonToReturn(
  context: GatewayContext,
  row: TransactionRow,
  coming: { amount: number; currency: string },
  payment: Payment,
): { message: string; message_type: string } | undefined {
  const mode = payment.shortTransfer ?? context.faults.current.shortTransfer;
  if (row.channel !== 'bank_transfer' || mode === 'settle') return undefined;
  if (row.paidAtMs !== null) return { message: 'duplicate transfer', message_type: 'DUPLICATE_TRANSFER' };
  if (row.expiresAtMs !== null && row.expiresAtMs <= context.now()) {
    return { message: 'account has expired', message_type: 'ACCOUNT_EXPIRED' };
  }
  const onTop = payment.feesMinor ?? 0;
  if (coming.currency === row.currency && coming.amount - onTop === row.requested) return undefined;
  return { message: 'incorrect amount sent', message_type: 'INCORRECT_AMOUNT' };
}

function emitRejected(
  context: GatewayContext,
  row: TransactionRow,
  amountMinor: number,
  reason: { message: string; message_type: string },
): void {
  const amount = String(context.faults.current.rejectedAmount === 'minor' ? amountMinor : amountMinor / 100);
  const { domain } = context.integration;
  context.webhooks.emit('bank.transfer.rejected', row.reference, {
    bank_transfer: { amount, ...reason, transaction_id: String(row.id) },
    customer: { ...transferCustomer(row.email), domain, integration: INTEGRATION_ID },
  });
}

/** By the fault `shortTransfer`, a transfer of a wrong amount, a late or a second one goes back at once. */
export function receive(context: GatewayContext, before: TransactionRow, payment: Payment): TransactionRow {
  const atMs = context.now();
  const currency = payment.currency ?? before.paidCurrency ?? before.currency;
  const amount = payment.amountMinor ?? before.requested + (payment.feesMinor ?? 0);
  const coming = { amount, currency, fees: payment.feesMinor ?? feeOf(amount, currency) };
  const channel = before.channel ?? 'card';
  const reason = reasonToReturn(context, before, coming, payment);
  const line = { transactionId: before.id, ...coming, channel, atMs };
  if (reason !== undefined) {
    context.payments.add({ ...line, state: 'returned' });
    emitRejected(context, before, amount, reason);
    return context.transactions.put(
      withMoment(before, 'error', `Transfer sent back: ${reason.message}`, atMs),
    );
  }
  context.payments.add({ ...line, state: 'received' });
  context.statement.add({
    kind: 'charge',
    reference: before.reference,
    amountMinor: amount,
    currency,
    feesMinor: coming.fees,
    atMs,
  });
  const row = context.transactions.put({
    ...withMoment(before, 'success', `Successfully paid with ${channel}`, atMs),
    status: 'success',
    step: null,
    channel,
    paidCurrency: currency,
    received: before.received + amount,
    fees: before.fees + coming.fees,
    message: null,
    gatewayResponse: channel === 'card' ? 'Successful' : 'Approved',
    paidAtMs: before.paidAtMs ?? atMs,
  });
  const isSilent = row.scenario === 'silent';
  context.webhooks.emit('charge.success', row.reference, transactionData(context, row), isSilent);
  return row;
}

/** An attempt fails; a later one may still succeed. */
export function decline(context: GatewayContext, before: TransactionRow, reason: string): TransactionRow {
  const row = context.transactions.put({
    ...withMoment(before, 'error', reason, context.now()),
    status: 'failed',
    step: null,
    message: reason,
    gatewayResponse: reason,
  });
  if (context.faults.current.chargeFailedEvents) {
    context.webhooks.emit('charge.failed', row.reference, transactionData(context, row));
  }
  return row;
}

/** The customer leaves without paying, and may come back; or the time is over, as `message` says. */
export function abandon(context: GatewayContext, before: TransactionRow, message = 'The customer left') {
  return context.transactions.put({
    ...withMoment(before, 'error', message, context.now()),
    status: 'abandoned',
    step: null,
    gatewayResponse: 'The transaction was not completed',
  });
}

/** Nothing happens to what has been paid, failed or left. */
export function expire(context: GatewayContext, row: TransactionRow): TransactionRow {
  if (row.status !== 'pending' && row.status !== 'ongoing') return row;
  if (row.channel === 'mobile_money') return decline(context, row, 'Transaction was not completed in time');
  return abandon(context, row, 'The transfer account has expired');
}

/** Books money that went back. Once all of it has, the charge is reversed. */
export function giveBack(
  context: GatewayContext,
  before: TransactionRow,
  kind: 'refund' | 'reversal',
  amount: number,
): TransactionRow {
  const { reference } = before;
  const currency = before.paidCurrency ?? before.currency;
  const atMs = context.now();
  context.statement.add({ kind, reference, amountMinor: amount, currency, feesMinor: 0, atMs });
  const givenBack = before.givenBack + amount;
  const isAll = givenBack >= before.received;
  return context.transactions.put({
    ...withMoment(before, 'action', `${kind === 'refund' ? 'Refunded' : 'Reversed'} ${amount}`, atMs),
    givenBack,
    status: isAll ? 'reversed' : before.status,
  });
}

/** The gateway sends no event about it. */
export function reverse(context: GatewayContext, before: TransactionRow): TransactionRow {
  return giveBack(context, before, 'reversal', before.received - before.givenBack);
}
