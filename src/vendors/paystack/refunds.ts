/**
 * Refunds at the vendor, told apart by our key in their note. Guarantee: a refund is found by its note alone, and "none" is said only
 * after the whole list was read.
 */
import {
  GatewayUnavailable,
  type GatewayCharge,
  type GatewayOutcome,
  type PaymentGateway,
  type GatewayRefund,
  type RefundRequest,
} from '../../payments/port.ts';
import {
  alertIfUnseen,
  failedEffect,
  readYes,
  requireMode,
  requireSameReference,
  type Context,
} from './context.ts';
import { isReference } from './limits.ts';
import { rowsOf } from './lists.ts';
import { toGatewayRefund, unknown } from './map.ts';
import { readRefund, type WireRefund } from './wire.ts';

/** Far above anything that could have been charged, and far below what a JSON number holds exactly. */
const MAX_AMOUNT_MINOR = 100_000_000_000n;
const REFUND_STATUS = { what: 'refund status', operation: 'refund' } as const;

type FindCharge = (reference: string) => Promise<GatewayOutcome<GatewayCharge | null>>;

/** Makes the refunds' part of the port. */
export function createRefunds(
  context: Context,
  findCharge: FindCharge,
): Pick<PaymentGateway, 'refund' | 'findRefund'> {
  return {
    refund: (request) => refund(context, request),
    findRefund: async ({ reference, refundKey }) => {
      const charge = await findCharge(reference);
      if (charge.outcome !== 'done') return charge;
      if (charge.value === null) return { outcome: 'done', value: null };
      return findRefund(context, charge.value, refundKey);
    },
  };
}

async function refund(
  context: Context,
  { reference, amount, refundKey }: RefundRequest,
): Promise<GatewayOutcome<GatewayRefund>> {
  const detail = 'not sent: the gateway does not take this';
  if (!isReference(reference)) return { outcome: 'refused', reason: 'REQUEST_REFUSED', detail };
  if (amount.amountMinor <= 0n || amount.amountMinor > MAX_AMOUNT_MINOR)
    return { outcome: 'refused', reason: 'AMOUNT_NOT_SERVED', detail };
  const answer = await context.client.post('/refund', {
    transaction: reference,
    amount: Number(amount.amountMinor),
    currency: amount.currency,
    merchant_note: refundKey,
  });
  if (answer.kind !== 'answered') return failedEffect(context, 'refund', answer);
  return readYes(context, 'refund', () => {
    const wire = readRefund(answer.data);
    if (wire.transactionReference !== '') requireSameReference(reference, wire.transactionReference);
    requireMode(context, wire.domain);
    return done(context, wire);
  });
}

/**
 * Looks through the refunds of one transaction for our note. Where several carry it, one that did not fail counts. A vendor that does not
 * narrow its list by transaction is read to the end as well, which costs time and no wrong answer.
 */
async function findRefund(
  context: Context,
  charge: GatewayCharge,
  refundKey: string,
): Promise<GatewayOutcome<GatewayRefund | null>> {
  if (charge.gatewayId === '') return unknown('the charge has no id to look for refunds by');
  const request = {
    path: '/refund',
    query: { transaction: charge.gatewayId },
    read: readRefund,
    keyOf: (row: WireRefund) => row.id,
  };
  let failed: WireRefund | undefined;
  try {
    for await (const row of rowsOf(context.client, request)) {
      if (row.merchantNote !== refundKey) continue;
      if (row.status !== 'failed') return done(context, row);
      failed = row;
    }
  } catch (error) {
    if (error instanceof GatewayUnavailable) return unknown(error.message, error.retryAfterMs);
    throw error;
  }
  return failed === undefined ? { outcome: 'done', value: null } : done(context, failed);
}

function done(context: Context, wire: WireRefund): GatewayOutcome<GatewayRefund> {
  const look = toGatewayRefund(wire);
  alertIfUnseen(context, REFUND_STATUS, look);
  return { outcome: 'done', value: look };
}
