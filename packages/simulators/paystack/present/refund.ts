/**
 * Refunds and disputes as the API and the webhooks show them. Amounts are numbers in some events and strings
 * in others, as in the vendor's examples.
 */
import { digestHex } from '../../kit/seeded.ts';
import type { GatewayContext } from '../context.ts';
import type { DisputeRow, RefundRow, TransactionRow } from '../storage.ts';
import { iso, isoOrNull } from '../wire.ts';
import { customerData, INTEGRATION_ID, publicId, statusWord, transactionData } from './transaction.ts';

/** How long the gateway says that a refund takes. */
const EXPECTED_MS = 9 * 86_400_000;
const REFUNDED_BY = 'merchant@sandbox.example';
const STRING_AMOUNT: readonly string[] = ['pending', 'processing', 'processed'];

/** One refund; `transaction` is an id, but the whole transaction in the answer that makes the refund. */
export function refundData(
  context: GatewayContext,
  row: RefundRow,
  transaction: unknown = publicId(context, row.transactionId),
): Record<string, unknown> {
  const createdAt = iso(row.createdAtMs);
  const updatedAt = iso(row.updatedAtMs);
  const isDeducted = row.status !== 'pending' && row.status !== 'failed';
  return {
    id: publicId(context, row.id),
    integration: INTEGRATION_ID,
    domain: context.integration.domain,
    transaction,
    dispute: null,
    settlement: null,
    amount: row.amount,
    deducted_amount: isDeducted ? row.amount : 0,
    fully_deducted: isDeducted,
    currency: row.currency,
    channel: null,
    status: statusWord(context, row.status),
    refunded_by: REFUNDED_BY,
    refunded_at: isoOrNull(row.refundedAtMs),
    expected_at: iso(row.createdAtMs + EXPECTED_MS),
    customer_note: row.customerNote,
    merchant_note: row.merchantNote,
    created_at: createdAt,
    updated_at: updatedAt,
    createdAt,
    updatedAt,
  };
}

/** The notes of a refund that was requested without any. */
export function defaultNotes(reference: string) {
  const customerNote = `Refund for transaction ${reference}`;
  return { customerNote, merchantNote: `${customerNote} by ${REFUNDED_BY}` };
}

/** The processor's own number for a refund; known once the processor has answered. */
function refundReference(row: RefundRow): string | null {
  if (row.status === 'pending' || row.status === 'processing') return null;
  const digest = digestHex(`refund:${row.id}`);
  return row.status === 'processed'
    ? String(BigInt(`0x${digest.slice(0, 10)}`))
    : `TRF_${digest.slice(0, 15)}`;
}

/** The data of refund.pending, refund.processing and so on. */
export function refundEventData(context: GatewayContext, row: RefundRow, transaction: TransactionRow) {
  const { first_name, last_name, email } = customerData(transaction.email);
  const data = {
    status: statusWord(context, row.status),
    transaction_reference: transaction.reference,
    refund_reference: refundReference(row),
    amount: STRING_AMOUNT.includes(row.status) ? String(row.amount) : row.amount,
    currency: row.currency,
    customer: { first_name, last_name, email },
    integration: INTEGRATION_ID,
    domain: context.integration.domain,
  };
  if (row.status !== 'needs-attention') return { ...data, processor: 'instant-transfer' };
  return {
    ...data,
    id: String(publicId(context, row.id)),
    customer_note: row.customerNote,
    merchant_note: row.merchantNote,
  };
}

/** A dispute in lists and in the charge.dispute events; the reference is inside `transaction`. */
export function disputeData(context: GatewayContext, row: DisputeRow, transaction: TransactionRow) {
  return {
    id: publicId(context, row.id),
    refund_amount: row.amount,
    currency: transaction.paidCurrency ?? transaction.currency,
    status: row.status,
    resolution: row.resolution,
    domain: context.integration.domain,
    transaction: { ...transactionData(context, transaction), authorization: {} },
    transaction_reference: null,
    category: 'chargeback',
    customer: customerData(transaction.email),
    bin: '408408',
    last4: '4081',
    dueAt: iso(row.createdAtMs + 86_400_000),
    resolvedAt: isoOrNull(row.resolvedAtMs),
    evidence: null,
    attachments: null,
    note: null,
    history: [{ status: 'pending', by: transaction.email, createdAt: iso(row.createdAtMs) }],
    messages: [
      {
        sender: transaction.email,
        body: 'The customer says that nothing was received',
        createdAt: iso(row.createdAtMs),
      },
    ],
    created_at: iso(row.createdAtMs),
    updated_at: iso(row.updatedAtMs),
  };
}
