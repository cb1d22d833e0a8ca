/**
 * The life of a refund: pending, processing, then processed, failed or needs-attention; and of a dispute.
 * Guarantee: refunds on the way and done never exceed what came; a failed one is credited back, so its amount may be refunded again.
 */
import type { GatewayContext } from '../context.ts';
import { disputeEventData, refundEventData } from '../present/refund.ts';
import type { DisputeRow, RefundRow, RefundStatus, TransactionRow } from '../storage/rows.ts';
import { giveBack } from './charge.ts';

/** What may still be refunded. */
export function refundable(context: GatewayContext, transaction: TransactionRow): number {
  const onTheWay = context.refunds
    .refundsOf(transaction.id)
    .filter(({ status }) => status !== 'processed' && status !== 'failed')
    .reduce((sum, { amount }) => sum + amount, 0);
  return transaction.received - transaction.givenBack - onTheWay;
}

function transactionOf(context: GatewayContext, id: number): TransactionRow {
  const row = context.transactions.byId(id);
  if (row === undefined) throw new Error(`transaction ${id} is gone`);
  return row;
}

/** Writes a refund's status and tells it. One whose money has gone back by another way meanwhile fails. */
export function moveRefund(context: GatewayContext, before: RefundRow, wanted: RefundStatus): RefundRow {
  const nowMs = context.now();
  let transaction = transactionOf(context, before.transactionId);
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
  context.refunds.updateRefund(row);
  if (isDone) transaction = giveBack(context, transaction, 'refund', row.amount);
  tellRefund(context, row, transaction);
  return row;
}

/** Tells how a refund stands. */
export function tellRefund(context: GatewayContext, row: RefundRow, transaction: TransactionRow): void {
  const data = refundEventData(context, row, transaction);
  context.webhooks.emit(`refund.${row.status}`, data, { reference: transaction.reference });
}

/** Has a refund go on by itself after the usual delay. */
export function planRefund(context: GatewayContext, refund: RefundRow): void {
  context.plan('refund', refund.id, context.now() + context.faults.current.refundDelayMs);
}

/** The next step of a refund: to processing, and from there to where it ends. */
export function stepRefund(context: GatewayContext, id: number): void {
  const refund = context.refunds.refundById(id);
  if (refund === undefined || refund.heldBy !== null) return;
  if (refund.status === 'pending') planRefund(context, moveRefund(context, refund, 'processing'));
  else if (refund.status === 'processing') moveRefund(context, refund, refund.outcome);
}

/** Lets refunds go that the fault `pending` held. */
export function releaseRefunds(context: GatewayContext): void {
  for (const held of context.refunds.heldRefunds()) {
    const refund = { ...held, heldBy: null };
    context.refunds.updateRefund(refund);
    planRefund(context, refund);
  }
}

function tellDispute(context: GatewayContext, event: string, row: DisputeRow): void {
  const transaction = transactionOf(context, row.transactionId);
  const data = disputeEventData(context, row, transaction);
  context.webhooks.emit(`charge.dispute.${event}`, data, { reference: transaction.reference });
}

/** The customer's bank asks for the money back. */
export function openDispute(
  context: GatewayContext,
  transaction: TransactionRow,
  amount: number,
): DisputeRow {
  const nowMs = context.now();
  const dispute: DisputeRow = {
    id: context.refunds.nextDisputeId(),
    transactionId: transaction.id,
    amount,
    status: 'awaiting-merchant-feedback',
    resolution: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    resolvedAtMs: null,
  };
  context.refunds.insertDispute(dispute);
  tellDispute(context, 'create', dispute);
  return dispute;
}

/** The gateway reminds the merchant of an open dispute. */
export function remindDispute(context: GatewayContext, dispute: DisputeRow): void {
  tellDispute(context, 'remind', dispute);
}

/** The dispute ends; unless the bank declined it, the money goes back. */
export function resolveDispute(context: GatewayContext, before: DisputeRow, resolution: string): DisputeRow {
  const nowMs = context.now();
  const dispute: DisputeRow = {
    ...before,
    status: 'resolved',
    resolution,
    updatedAtMs: nowMs,
    resolvedAtMs: nowMs,
  };
  context.refunds.updateDispute(dispute);
  const transaction = transactionOf(context, dispute.transactionId);
  const left = transaction.received - transaction.givenBack;
  if (resolution !== 'declined' && left > 0) {
    giveBack(context, transaction, 'reversal', Math.min(left, dispute.amount));
  }
  tellDispute(context, 'resolve', dispute);
  return dispute;
}
