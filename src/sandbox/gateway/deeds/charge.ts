/**
 * What can happen to a charge: money comes (once, twice, too little, late), it is declined, left, expires, or is taken back.
 * Guarantee: every deed is part of its caller's transaction; a payment is either received, and then on the statement, or returned, and
 * then nowhere. Must not decide when anything happens.
 */
import type { GatewayContext } from '../context.ts';
import { customerData, INTEGRATION_ID, transactionData } from '../present/transaction.ts';
import { feeOf } from '../rules.ts';
import type { Moment, TransactionRow } from '../storage/rows.ts';

export interface Payment {
  /** What comes; without it what was requested, fees on top included. */
  amountMinor?: number;
  currency?: string;
  /** A fee that the buyer bears, inside the amount. */
  feesMinor?: number;
  /** Over the fault of the same name. */
  shortTransfer?: 'settle' | 'return';
}

/** A payment of this share of what was requested. */
export function shareOf(percent: number): (row: TransactionRow) => Payment {
  return ({ requested }) => ({ amountMinor: Math.floor((requested * percent) / 100) });
}

/** The row with one more line in its timeline. */
export function remembered(
  row: TransactionRow,
  type: Moment['type'],
  message: string,
  atMs: number,
): TransactionRow {
  const history = JSON.parse(row.history) as Moment[];
  return { ...row, history: JSON.stringify([...history, { type, message, atMs }]) };
}

/** Writes the row and answers it. */
function saved(context: GatewayContext, row: TransactionRow): TransactionRow {
  context.transactions.update(row);
  return row;
}

interface Coming {
  amount: number;
  currency: string;
  fees: number;
}

/** Why the gateway sends a transfer back by itself; undefined: it keeps it. */
function reasonToReturn(
  context: GatewayContext,
  row: TransactionRow,
  coming: Coming,
  payment: Payment,
): { message: string; messageType: string } | undefined {
  const mode = payment.shortTransfer ?? context.faults.current.shortTransfer;
  if (row.channel !== 'bank_transfer' || mode === 'settle') return undefined;
  if (row.paidAtMs !== null) return { message: 'duplicate transfer', messageType: 'DUPLICATE_TRANSFER' };
  if (row.expiresAtMs !== null && row.expiresAtMs <= context.now()) {
    return { message: 'account has expired', messageType: 'ACCOUNT_EXPIRED' };
  }
  const onTop = payment.feesMinor ?? 0;
  if (coming.currency === row.currency && coming.amount - onTop === row.requested) return undefined;
  return { message: 'incorrect amount sent', messageType: 'INCORRECT_AMOUNT' };
}

function tellRejected(
  context: GatewayContext,
  row: TransactionRow,
  coming: Coming,
  reason: { message: string; messageType: string },
): void {
  const amount = context.faults.current.rejectedAmount === 'minor' ? coming.amount : coming.amount / 100;
  const { email, customer_code, id, risk_action } = customerData(row.email);
  const { domain } = context.integration;
  context.webhooks.emit(
    'bank.transfer.rejected',
    {
      bank_transfer: {
        amount: String(amount),
        message: reason.message,
        message_type: reason.messageType,
        transaction_id: String(row.id),
      },
      customer: {
        first_name: null,
        last_name: null,
        email,
        phone: null,
        metadata: null,
        domain,
        customer_code,
        risk_action,
        id,
        integration: INTEGRATION_ID,
      },
    },
    { reference: row.reference },
  );
}

/**
 * Money comes. A transfer may go back at once, by the rule of the fault `shortTransfer`: a wrong amount, a late one, a second one. What is
 * kept makes the charge a success, whatever it was before, and adds to what came earlier.
 */
export function receive(context: GatewayContext, before: TransactionRow, payment: Payment): TransactionRow {
  const atMs = context.now();
  const currency = payment.currency ?? before.paidCurrency ?? before.currency;
  const amount = payment.amountMinor ?? before.requested + (payment.feesMinor ?? 0);
  const coming = { amount, currency, fees: payment.feesMinor ?? feeOf(amount, currency) };
  const channel = before.channel ?? 'card';
  const reason = reasonToReturn(context, before, coming, payment);
  const line = { transactionId: before.id, ...coming, channel, atMs };
  if (reason !== undefined) {
    context.transactions.insertPayment({ ...line, state: 'returned' });
    tellRejected(context, before, coming, reason);
    return saved(context, remembered(before, 'error', `Transfer sent back: ${reason.message}`, atMs));
  }
  context.transactions.insertPayment({ ...line, state: 'received' });
  context.transactions.insertLine({
    kind: 'charge',
    reference: before.reference,
    amountMinor: amount,
    currency,
    feesMinor: coming.fees,
    atMs,
  });
  const row = saved(context, {
    ...remembered(before, 'success', `Successfully paid with ${channel}`, atMs),
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
  context.webhooks.emit('charge.success', transactionData(context, row), {
    reference: row.reference,
    isSilent,
  });
  return row;
}

/** A try fails; a later one may still succeed. */
export function decline(context: GatewayContext, before: TransactionRow, reason: string): TransactionRow {
  const row = saved(context, {
    ...remembered(before, 'error', reason, context.now()),
    status: 'failed',
    step: null,
    message: reason,
    gatewayResponse: reason,
  });
  if (context.faults.current.chargeFailedEvents) {
    context.webhooks.emit('charge.failed', transactionData(context, row), { reference: row.reference });
  }
  return row;
}

/** The customer goes away without paying, and may come back. */
export function abandon(context: GatewayContext, before: TransactionRow): TransactionRow {
  return saved(context, {
    ...remembered(before, 'error', 'The customer left', context.now()),
    status: 'abandoned',
    step: null,
    gatewayResponse: 'The transaction was not completed',
  });
}

/** The time to pay is over: mobile money fails, a transfer account closes. Nothing happens to what has been paid, failed or left. */
export function expire(context: GatewayContext, row: TransactionRow): TransactionRow {
  if (row.status !== 'pending' && row.status !== 'ongoing') return row;
  if (row.channel === 'mobile_money') return decline(context, row, 'Transaction was not completed in time');
  return saved(context, {
    ...remembered(row, 'error', 'The transfer account has expired', context.now()),
    status: 'abandoned',
    step: null,
    gatewayResponse: 'The transaction was not completed',
  });
}

/** Notes money that left, so that refunds and reversals never exceed what came. All of it gone: reversed. */
export function giveBack(
  context: GatewayContext,
  before: TransactionRow,
  kind: 'refund' | 'reversal',
  amount: number,
): TransactionRow {
  const { reference } = before;
  const currency = before.paidCurrency ?? before.currency;
  const atMs = context.now();
  context.transactions.insertLine({ kind, reference, amountMinor: amount, currency, feesMinor: 0, atMs });
  const givenBack = before.givenBack + amount;
  const isAll = givenBack >= before.received;
  return saved(context, {
    ...remembered(before, 'action', `${kind === 'refund' ? 'Refunded' : 'Reversed'} ${amount}`, atMs),
    givenBack,
    status: isAll ? 'reversed' : before.status,
  });
}

/** Everything that is left of the money is taken back. The gateway sends no event of its own about it. */
export function reverse(context: GatewayContext, before: TransactionRow): TransactionRow {
  return giveBack(context, before, 'reversal', before.received - before.givenBack);
}
