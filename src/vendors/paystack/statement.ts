/**
 * The vendor's statement, from its lists of transactions and refunds: every line once, none for money that
 * did not move, none of the other mode.
 */
import { z } from 'zod';
import type { StatementLine, PaidCharges } from '../../payments/port.ts';
import type { Client } from './client.ts';
import { isNotFound } from './codes.ts';
import {
  alertIfUnseen,
  isOtherMode,
  pageOf,
  readable,
  requireAnswer,
  rowsOf,
  type Context,
  type Query,
} from './answers.ts';
import { toGatewayCharge, toGatewayRefund } from './map.ts';
import type { Money } from '../../domain/money.ts';
import { disputesOpened, type ListedDispute } from './refunds.ts';
import * as wire from './wire.ts';

const TRANSACTIONS = '/transaction';

/**
 * Charges, then refunds, then reversals: what was taken back of a reversed charge by other ways than refunds.
 * Throws GatewayUnavailable.
 */
export async function* statementOf(context: Context, from: Date, to: Date): AsyncGenerator<StatementLine> {
  const window = windowQuery(from, to);
  const referenceById = new Map<string, string>();
  const reversed: wire.WireTransaction[] = [];
  for await (const row of ofOurMode(context, TRANSACTIONS, wire.transaction, window)) {
    referenceById.set(row.id, row.reference);
    const charge = toGatewayCharge(row);
    alertIfUnseen(context, 'charge status', 'statement', charge);
    if (charge.state === 'reversed') reversed.push(row);
    if (charge.state === 'paid' || charge.state === 'reversed') yield lineOf('charge', row);
  }
  const givenBack = new Map<string, bigint>();
  for await (const row of refunds(context, window)) {
    const refund = toGatewayRefund(row);
    alertIfUnseen(context, 'refund status', 'statement', refund);
    const { id } = row.transaction;
    if (refund.state !== 'failed') givenBack.set(id, (givenBack.get(id) ?? 0n) + row.amount);
    if (refund.state === 'done') yield await refundLine(context.client, row, referenceById);
  }
  for (const charge of reversed) {
    const known = givenBack.get(charge.id) ?? 0n;
    const rest = charge.amount - (known < charge.amount ? await refundedOf(context, charge.id) : known);
    if (rest > 0n) yield reversalLine(charge, rest);
  }
  // A lost dispute of a part leaves its charge paid.
  const isReversed = new Set(reversed.map(({ reference }) => reference));
  for await (const dispute of disputesOpened(context, from, to))
    if (dispute.state === 'lost' && !isReversed.has(dispute.reference) && dispute.amount)
      yield lostLine({ ...dispute, amount: dispute.amount });
}

function lostLine(dispute: ListedDispute & { amount: Money }): StatementLine {
  const { reference, disputeId, amount, openedAt } = dispute;
  const at = openedAt ?? new Date(0);
  const line = withoutFees({
    id: `dispute ${disputeId}`,
    amount: amount.amountMinor,
    currency: amount.currency,
  });
  return { ...line, kind: 'reversal', reference, openedAt: at, at };
}

/** What was opened in [from, to): the vendor includes the last moment. */
function windowQuery(from: Date, to: Date): Query {
  return { from: from.toISOString(), to: new Date(to.getTime() - 1).toISOString() };
}

type Row = Pick<wire.WireTransaction, 'id' | 'reference' | 'domain'>;

async function* ofOurMode<T extends Row>(
  { client, mode }: Context,
  path: string,
  schema: z.ZodType<T>,
  query: Query,
): AsyncGenerator<T> {
  for await (const row of rowsOf(client, path, schema, query)) if (!isOtherMode(row.domain, mode)) yield row;
}

const refunds = (context: Context, query: Query) => ofOurMode(context, '/refund', wire.refund, query);

const withoutFees = ({ id, amount, currency }: Pick<wire.WireRefund, 'id' | 'amount' | 'currency'>) => ({
  gatewayId: id,
  amount: { amountMinor: amount, currency },
  feesMinor: 0n,
  feesOnTopMinor: 0n,
  refundKey: '',
});

function lineOf(kind: 'charge' | 'reversal', charge: wire.WireTransaction): StatementLine {
  const openedAt = charge.created_at ?? charge.paid_at ?? new Date(0);
  return {
    ...withoutFees(charge),
    kind,
    reference: charge.reference,
    feesMinor: charge.fees ?? 0n,
    feesOnTopMinor: toGatewayCharge(charge).feesOnTopMinor,
    openedAt,
    at: charge.paid_at ?? openedAt,
  };
}

/** The fee on top goes last: refunds at our request are of what was asked for. */
function reversalLine(charge: wire.WireTransaction, restMinor: bigint): StatementLine {
  const line = lineOf('reversal', charge);
  const { feesOnTopMinor: onTop } = line;
  return {
    ...line,
    amount: { ...line.amount, amountMinor: restMinor },
    feesMinor: 0n,
    feesOnTopMinor: onTop < restMinor ? onTop : restMinor,
  };
}

/** Lists name the refunded transaction by id only; we ask for one from before the window. */
async function refundLine(
  client: Client,
  refund: wire.WireRefund,
  referenceById: ReadonlyMap<string, string>,
): Promise<StatementLine> {
  const { id } = refund.transaction;
  const reference = refund.reference || (referenceById.get(id) ?? (await referenceOf(client, id)));
  const openedAt = refund.created_at ?? refund.refunded_at ?? new Date(0);
  const at = refund.refunded_at ?? openedAt;
  return { ...withoutFees(refund), kind: 'refund', reference, refundKey: refund.merchant_note, openedAt, at };
}

async function referenceOf(client: Client, transactionId: string): Promise<string> {
  if (transactionId === '') return '';
  const answer = await client.get(`${TRANSACTIONS}/${transactionId}`);
  if (answer.kind === 'failed' && isNotFound(answer)) return '';
  const { data } = requireAnswer('transaction', answer);
  return readable('transaction', wire.transaction, data).reference;
}

/** What refunds of any date gave back of a charge, or are about to. */
async function refundedOf(context: Context, transactionId: string): Promise<bigint> {
  let sum = 0n;
  if (transactionId === '') return sum;
  for await (const row of refunds(context, { transaction: transactionId }))
    if (row.transaction.id === transactionId && toGatewayRefund(row).state !== 'failed') sum += row.amount;
  return sum;
}

export async function paidChargesOf(
  { client, mode }: Context,
  from: Date,
  to: Date,
  page: number,
): Promise<PaidCharges> {
  const query = { status: 'success', ...windowQuery(from, to) };
  const { rows, total, isLast } = await pageOf(client, TRANSACTIONS, query, page);
  const charges = readable(TRANSACTIONS, z.array(wire.transaction), rows);
  const ours = charges.filter(({ domain }) => !isOtherMode(domain, mode));
  return { references: ours.map(({ reference }) => reference), count: rows.length, total, isLast };
}
