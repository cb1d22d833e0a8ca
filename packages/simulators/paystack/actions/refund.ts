/** Refunds under way and done never exceed what came; the amount of a failed one may be refunded again. */
import type { GatewayContext } from '../context.ts';
import type { DisputeRow, RefundRow, TransactionRow } from '../storage.ts';
import { disputeData, refundEventData } from '../present/transaction.ts';
import { giveBack } from './charge.ts';

export function refundable(context: GatewayContext, transaction: TransactionRow): number {
  const underWay = context.refunds
    .list({ transactionId: transaction.id })
    .filter(({ status }) => status !== 'processed' && status !== 'failed')
    .reduce((sum, { amount }) => sum + amount, 0);
  return transaction.received - transaction.givenBack - underWay;
}

export function transactionOf(context: GatewayContext, { transactionId }: RefundRow | DisputeRow) {
  const row = context.transactions.get(transactionId);
  if (row === undefined) throw new Error(`transaction ${transactionId} is gone`);
  return row;
}

/** A refund whose money has gone back by another way meanwhile fails. */
export function moveRefund(context: GatewayContext, before: RefundRow, wanted: RefundRow['status']) {
  const nowMs = context.now();
  let transaction = transactionOf(context, before);
  const isCovered = transaction.received - transaction.givenBack >= before.amount;
  const status = wanted === 'processed' && !isCovered ? 'failed' : wanted;
  const isDone = status === 'processed';
  const row: RefundRow = {
    ...before,
    status,
    heldBy: null,
    updatedAtMs: nowMs,
    refundedAtMs: isDone ? nowMs : null,
  };
  context.refunds.put(row);
  if (isDone) transaction = giveBack(context, transaction, 'refund', row.amount);
  emitRefund(context, row, transaction);
  return row;
}

export function emitRefund(context: GatewayContext, row: RefundRow, transaction: TransactionRow): void {
  const data = refundEventData(context, row, transaction);
  context.webhooks.emit(`refund.${row.status}`, transaction.reference, data);
}

export function planRefund(context: GatewayContext, refund: RefundRow): void {
  context.plan('refund', refund.id, context.now() + context.faults.current.refundDelayMs);
}

/** The next step of a refund: to processing, and from there to where it ends. */
export function stepRefund(context: GatewayContext, id: number): void {
  const refund = context.refunds.get(id);
  if (refund === undefined || refund.heldBy !== null) return;
  if (refund.status === 'pending') planRefund(context, moveRefund(context, refund, 'processing'));
  else if (refund.status === 'processing') moveRefund(context, refund, refund.outcome);
}

export function releaseRefunds(context: GatewayContext): void {
  for (const held of context.refunds.list({ heldBy: 'fault' })) {
    const refund = { ...held, heldBy: null };
    context.refunds.put(refund);
    planRefund(context, refund);
  }
}

export function emitDispute(
  context: GatewayContext,
  event: 'create' | 'remind' | 'resolve',
  row: DisputeRow,
): void {
  const transaction = transactionOf(context, row);
  const data = disputeData(context, row, transaction);
  context.webhooks.emit(`charge.dispute.${event}`, transaction.reference, data);
}

/** The customer's bank asks for the money back. */
export function openDispute(context: GatewayContext, transaction: TransactionRow, amount: number): void {
  const nowMs = context.now();
  const dispute = context.disputes.add({
    transactionId: transaction.id,
    amount,
    status: 'awaiting-merchant-feedback',
    resolution: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    resolvedAtMs: null,
  });
  emitDispute(context, 'create', dispute);
}

/** The dispute ends; unless the bank declined it, the money goes back. */
export function resolveDispute(context: GatewayContext, before: DisputeRow, resolution: string): void {
  const nowMs = context.now();
  const dispute: DisputeRow = {
    ...before,
    status: 'resolved',
    resolution,
    updatedAtMs: nowMs,
    resolvedAtMs: nowMs,
  };
  context.disputes.put(dispute);
  const transaction = transactionOf(context, dispute);
  const left = transaction.received - transaction.givenBack;
  if (resolution !== 'declined' && left > 0) {
    giveBack(context, transaction, 'reversal', Math.min(left, dispute.amount));
  }
  emitDispute(context, 'resolve', dispute);
}
