/**
 * Refunds and disputes. A refund is known by our key in its note alone. "None" is said only after the whole
 * list was read, narrowed or not.
 */
import {
  GatewayUnavailable,
  type GatewayDispute,
  type GatewayOutcome,
  type GatewayRefund,
  type ListedRefund,
  type RefundRequest,
} from '../../payments/port.ts';
import type { DisputeState } from '../../payments/rules.ts';
import {
  alertIfUnseen,
  failedEffect,
  readYes,
  requireMode,
  requireSameReference,
  rowsOf,
  type Context,
} from './answers.ts';
import { findCharge } from './charges.ts';
import { isReference } from './limits.ts';
import { toGatewayRefund, unknown } from './map.ts';
import * as wire from './wire.ts';

/** Far above anything that could have been charged, and far below what a JSON number holds exactly. */
const MAX_AMOUNT_MINOR = 100_000_000_000n;

export async function refund(
  context: Context,
  { reference, amount, refundKey, fence }: RefundRequest,
): Promise<GatewayOutcome<GatewayRefund>> {
  const detail = 'not sent: the gateway does not take this';
  if (!isReference(reference)) return { outcome: 'refused', reason: 'REQUEST_REFUSED', detail };
  if (amount.amountMinor <= 0n || amount.amountMinor > MAX_AMOUNT_MINOR)
    return { outcome: 'refused', reason: 'AMOUNT_NOT_SERVED', detail };
  const body = {
    transaction: reference,
    amount: Number(amount.amountMinor),
    currency: amount.currency,
    merchant_note: refundKey,
  };
  const answer = await context.client.post('/refund', body, fence);
  if (answer.kind !== 'answered') return failedEffect(context, 'refund', answer);
  return readYes(context, 'refund', wire.refund, answer, (row) => {
    if (row.reference !== '') requireSameReference(reference, row.reference);
    requireMode(context, row.domain);
    return { outcome: 'done', value: readRefund(context, row) };
  });
}

function readRefund(context: Context, row: wire.WireRefund): GatewayRefund {
  const found = toGatewayRefund(row);
  alertIfUnseen(context, 'refund status', 'refund', found);
  return found;
}

/** Where several refunds have our note, one that did not fail counts. */
export async function findRefund(
  context: Context,
  { reference, refundKey }: Pick<RefundRequest, 'reference' | 'refundKey'>,
): Promise<GatewayOutcome<GatewayRefund | null>> {
  return searchCharge(context, 'refund', reference, null, async (query) => {
    let failed: wire.WireRefund | undefined;
    for await (const row of rowsOf(context.client, '/refund', wire.refund, query)) {
      if (row.merchant_note !== refundKey) continue;
      if (row.status !== 'failed') return readRefund(context, row);
      failed = row;
    }
    return failed ? readRefund(context, failed) : null;
  });
}

export async function refundsOf(
  context: Context,
  reference: string,
): Promise<GatewayOutcome<readonly ListedRefund[]>> {
  return searchCharge(context, 'refund', reference, [], async (query) => {
    const found: ListedRefund[] = [];
    for await (const row of rowsOf(context.client, '/refund', wire.refund, query))
      found.push({ ...readRefund(context, row), refundKey: row.merchant_note });
    return found;
  });
}

/** Searches a list for rows of one charge; `none` where the gateway holds no such charge. */
async function searchCharge<T>(
  context: Context,
  what: 'refund' | 'dispute',
  reference: string,
  none: T,
  search: (query: { transaction: string }) => Promise<T>,
): Promise<GatewayOutcome<T>> {
  const charge = await findCharge(context, reference);
  if (charge.outcome !== 'done') return charge;
  if (charge.value === null) return { outcome: 'done', value: none };
  const { gatewayId } = charge.value;
  if (gatewayId === '') return unknown(`the charge has no id to search for ${what}s by`);
  try {
    return { outcome: 'done', value: await search({ transaction: gatewayId }) };
  } catch (error) {
    if (error instanceof GatewayUnavailable) return unknown(error.message, error.retryAfterMs);
    throw error;
  }
}

export async function findDisputes(
  context: Context,
  reference: string,
): Promise<GatewayOutcome<readonly GatewayDispute[]>> {
  return searchCharge(context, 'dispute', reference, [], async (query) => {
    const found: GatewayDispute[] = [];
    for await (const { reference: of, ...dispute } of disputes(context, query))
      if (of === reference) found.push(dispute);
    return found.sort((one, other) => Number(one.openedAt) - Number(other.openedAt));
  });
}

export type ListedDispute = GatewayDispute & { readonly reference: string };

/** Those opened in [from, to), of charges that the gateway names. */
export async function* disputesOpened(context: Context, from: Date, to: Date): AsyncGenerator<ListedDispute> {
  const query = { from: from.toISOString(), to: to.toISOString() };
  for await (const dispute of disputes(context, query)) {
    const { openedAt, reference } = dispute;
    const isWithin = openedAt === null || (openedAt >= from && openedAt < to);
    if (isWithin && reference !== '') yield dispute;
  }
}

export async function* disputed(context: Context, from: Date, to: Date): AsyncGenerator<string> {
  for await (const { reference } of disputesOpened(context, from, to)) yield reference;
}

async function* disputes(
  { client }: Context,
  query: Readonly<Record<string, string>>,
): AsyncGenerator<ListedDispute> {
  for await (const row of rowsOf(client, '/dispute', wire.dispute, query)) {
    const { id: disputeId, status, resolution, refund_amount: amountMinor, currency, reference } = row;
    const gatewayStatus = resolution === '' ? status : `${status}: ${resolution}`;
    const amount = amountMinor === null || currency === '' ? null : { amountMinor, currency };
    const state = disputeStateOf(status, resolution);
    yield { disputeId, state, gatewayStatus, amount, openedAt: row.created_at, reference };
  }
}

const OPEN = ['awaiting-merchant-feedback', 'awaiting-bank-feedback', 'pending'];

/** Won: the bank declined the buyer's dispute. Lost: we accepted it, or its time ran out. */
function disputeStateOf(status: string, resolution: string): DisputeState {
  if (OPEN.includes(status)) return 'open';
  if (status !== 'resolved') return 'unknown';
  if (resolution === 'declined') return 'won';
  return resolution === 'merchant-accepted' || resolution === 'auto-accepted' ? 'lost' : 'unknown';
}
