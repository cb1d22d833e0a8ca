/**
 * The vendor's statement: what moved, from its lists of transactions and refunds. Guarantee: every line once, none for money that did not
 * move, none of the other mode; or GatewayUnavailable.
 */
import type { StatementLine, PaidCharges } from '../../payments/port.ts';
import type { Client } from './client.ts';
import { isNotFound } from './codes.ts';
import { alertIfUnseen, isOtherMode, type Context } from './context.ts';
import { answeredData, readable, rowsOf, windowQuery, pageOf } from './lists.ts';
import { toGatewayCharge, chargeStateOf, refundStateOf } from './map.ts';
import { readRefund, readTransaction, type WireRefund, type WireTransaction } from './wire.ts';

const CHARGE_STATUS = { what: 'charge status', operation: 'statement' } as const;
const REFUND_STATUS = { what: 'refund status', operation: 'statement' } as const;

/**
 * Charges first, then refunds, then what was taken back by other ways: the rest of a charge that is reversed, where refunds do not make
 * up for all of it. Throws GatewayUnavailable.
 */
export async function* statementOf(context: Context, from: Date, to: Date): AsyncGenerator<StatementLine> {
  const window = windowQuery(from, to);
  const referenceById = new Map<string, string>();
  const reversed: WireTransaction[] = [];
  for await (const charge of transactions(context, window)) {
    referenceById.set(charge.id, charge.reference);
    const state = chargeStateOf(charge.status);
    alertIfUnseen(context, CHARGE_STATUS, { state, gatewayStatus: charge.status });
    if (state === 'reversed') reversed.push(charge);
    if (state === 'paid' || state === 'reversed') yield lineOf('charge', charge);
  }
  const givenBack = new Map<string, bigint>();
  for await (const refund of refunds(context, window)) {
    const state = refundStateOf(refund.status);
    alertIfUnseen(context, REFUND_STATUS, { state, gatewayStatus: refund.status });
    if (state !== 'failed')
      givenBack.set(refund.transactionId, (givenBack.get(refund.transactionId) ?? 0n) + refund.amount);
    if (state === 'done') yield await refundLine(context.client, refund, referenceById);
  }
  for (const charge of reversed) {
    const known = givenBack.get(charge.id) ?? 0n;
    const rest = charge.amount - (known < charge.amount ? await refundedOf(context, charge.id) : known);
    if (rest > 0n) yield reversalLine(charge, rest);
  }
}

type Window = Readonly<Record<string, string>>;

async function* transactions({ client, mode }: Context, window: Window): AsyncGenerator<WireTransaction> {
  const request = { path: '/transaction', query: window, read: readTransaction, keyOf: idOrReference };
  for await (const row of rowsOf(client, request)) if (!isOtherMode(row.domain, mode)) yield row;
}

async function* refunds({ client, mode }: Context, query: Window): AsyncGenerator<WireRefund> {
  const request = { path: '/refund', query, read: readRefund, keyOf: (row: WireRefund) => row.id };
  for await (const row of rowsOf(client, request)) if (!isOtherMode(row.domain, mode)) yield row;
}

function idOrReference({ id, reference }: WireTransaction): string {
  return id === '' ? reference : id;
}

function lineOf(kind: 'charge' | 'reversal', charge: WireTransaction): StatementLine {
  const { reference, amount: amountMinor, currency, fees } = charge;
  const openedAt = charge.createdAt ?? charge.paidAt ?? new Date(0);
  return {
    reference,
    kind,
    amount: { amountMinor, currency },
    feesMinor: fees ?? 0n,
    feesOnTopMinor: toGatewayCharge(charge).feesOnTopMinor,
    gatewayId: charge.id,
    refundKey: '',
    openedAt,
    at: charge.paidAt ?? openedAt,
  };
}

/** The fee on top goes last: refunds at our request are of what was asked for. */
function reversalLine(charge: WireTransaction, restMinor: bigint): StatementLine {
  const line = lineOf('reversal', charge);
  const { feesOnTopMinor: onTop } = line;
  return {
    ...line,
    amount: { ...line.amount, amountMinor: restMinor },
    feesMinor: 0n,
    feesOnTopMinor: onTop < restMinor ? onTop : restMinor,
  };
}

/** Lists name the refunded transaction by id only; one from before the window is asked for. */
async function refundLine(
  client: Client,
  refund: WireRefund,
  referenceById: ReadonlyMap<string, string>,
): Promise<StatementLine> {
  const { amount: amountMinor, currency, transactionId } = refund;
  const reference =
    refund.transactionReference ||
    (referenceById.get(transactionId) ?? (await referenceOf(client, transactionId)));
  const openedAt = refund.createdAt ?? refund.refundedAt ?? new Date(0);
  return {
    reference,
    kind: 'refund',
    amount: { amountMinor, currency },
    feesMinor: 0n,
    feesOnTopMinor: 0n,
    gatewayId: refund.id,
    refundKey: refund.merchantNote,
    openedAt,
    at: refund.refundedAt ?? openedAt,
  };
}

async function referenceOf(client: Client, transactionId: string): Promise<string> {
  if (transactionId === '') return '';
  const answer = await client.get(`/transaction/${transactionId}`);
  if (answer.kind === 'failed' && isNotFound(answer)) return '';
  const data = answeredData('transaction', answer);
  return readable('transaction', () => readTransaction(data)).reference;
}

/** What refunds of any date gave back of a charge, or are about to. */
async function refundedOf(context: Context, transactionId: string): Promise<bigint> {
  let sum = 0n;
  if (transactionId === '') return sum;
  for await (const refund of refunds(context, { transaction: transactionId })) {
    if (refund.transactionId === transactionId && refundStateOf(refund.status) !== 'failed')
      sum += refund.amount;
  }
  return sum;
}

const TRANSACTIONS_PATH = '/transaction';

export async function paidChargesOf(
  { client, mode }: Context,
  from: Date,
  to: Date,
  page: number,
): Promise<PaidCharges> {
  const query = { status: 'success', ...windowQuery(from, to) };
  const { rows, total, isLast } = await pageOf(client, { path: TRANSACTIONS_PATH, query, page });
  const charges = readable(TRANSACTIONS_PATH, () => rows.map(readTransaction));
  const ours = charges.filter(({ domain }) => !isOtherMode(domain, mode));
  return { references: ours.map(({ reference }) => reference), count: rows.length, total, isLast };
}
