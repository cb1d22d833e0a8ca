/**
 * What the control interface may do to a charge or a refund. Guarantee: a request that makes no sense is a ControlError with every problem
 * named, and nothing is written.
 */
import { AMOUNT, oneOf, type Check } from '../../support/checks.ts';
import { checked, ControlError } from '../../support/control.ts';
import type { GatewayContext } from '../context.ts';
import { abandon, decline, receive, reverse, type Payment } from '../deeds/charge.ts';
import { moveRefund, openDispute, remindDispute, resolveDispute } from '../deeds/refund.ts';
import { CURRENCIES } from '../rules.ts';
import type { DisputeRow, RefundRow, TransactionRow } from '../storage/rows.ts';

const MOST_TIMES = 10;
const TIMES: Check = {
  ok: (value) => Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= MOST_TIMES,
  wants: `a whole number from 1 to ${MOST_TIMES}`,
};
const POSITIVE: Check = {
  ok: (value) => AMOUNT.ok(value) && value !== 0,
  wants: 'a whole number from 1',
};
const REASON: Check = {
  ok: (value) => typeof value === 'string' && value.length > 0 && value.length <= 200,
  wants: 'a text of 1 to 200 characters',
};
const PAY_FIELDS = { amountMinor: POSITIVE, currency: oneOf(CURRENCIES), feesMinor: AMOUNT, times: TIMES };
const RESOLUTIONS = ['merchant-accepted', 'auto-accepted', 'declined'] as const;
const DISPUTE_FIELDS = {
  action: oneOf(['create', 'remind', 'resolve']),
  amountMinor: POSITIVE,
  resolution: oneOf(RESOLUTIONS),
};

/** Does something to the charge with this reference, in one transaction. */
function change(
  context: GatewayContext,
  reference: string,
  deed: (row: TransactionRow) => TransactionRow,
): TransactionRow {
  const row = requireCharge(context, reference);
  return context.database.transact(() => deed(row));
}

/** The charge with this reference, or 404. */
export function requireCharge(context: GatewayContext, reference: string): TransactionRow {
  const row = context.transactions.byReference(reference);
  if (row === undefined) throw new ControlError(404, ['no charge with this reference']);
  return row;
}

function refuseWhere(isWrong: boolean, row: TransactionRow, deed: string): void {
  if (isWrong) throw new ControlError(409, [`the charge is ${row.status} and cannot be ${deed}`]);
}

/** `POST /charges/{reference}/pay`: money comes, `times` times. */
export function payCharge(context: GatewayContext, reference: string, body: unknown): TransactionRow {
  const { times = 1, ...payment } = checked(body, PAY_FIELDS) as Payment & { times?: number };
  return change(context, reference, (before) => {
    refuseWhere(before.status === 'reversed', before, 'paid');
    const { currency } = payment;
    if (currency !== undefined && before.paidCurrency !== null && currency !== before.paidCurrency) {
      throw new ControlError(409, [`the charge has received ${before.paidCurrency} and takes no other`]);
    }
    let row = before;
    for (let i = 0; i < times; i += 1) row = receive(context, row, payment);
    return row;
  });
}

/** `POST /charges/{reference}/fail` with an optional `{reason}`. */
export function failCharge(context: GatewayContext, reference: string, body: unknown): TransactionRow {
  const { reason } = checked(body, { reason: REASON }) as { reason?: string };
  return change(context, reference, (row) => {
    refuseWhere(row.paidAtMs !== null, row, 'failed');
    return decline(context, row, reason ?? 'Declined');
  });
}

/** `POST /charges/{reference}/abandon`. */
export function abandonCharge(context: GatewayContext, reference: string, body: unknown): TransactionRow {
  checked(body, {});
  return change(context, reference, (row) => {
    refuseWhere(row.paidAtMs !== null, row, 'abandoned');
    return abandon(context, row);
  });
}

/** `POST /charges/{reference}/reverse`: what is left of the money is taken back. */
export function reverseCharge(context: GatewayContext, reference: string, body: unknown): TransactionRow {
  checked(body, {});
  return change(context, reference, (row) => {
    refuseWhere(row.status !== 'success', row, 'reversed');
    return reverse(context, row);
  });
}

function openDisputeOf(context: GatewayContext, row: TransactionRow): DisputeRow {
  const open = context.refunds.disputesOf(row.id).find(({ status }) => status !== 'resolved');
  if (open === undefined) throw new ControlError(409, ['the charge has no open dispute']);
  return open;
}

/** `POST /charges/{reference}/dispute` with `{action, amountMinor, resolution}`; opens one when no action is named. */
export function disputeCharge(context: GatewayContext, reference: string, body: unknown): TransactionRow {
  const wanted = checked(body, DISPUTE_FIELDS) as {
    action?: string;
    amountMinor?: number;
    resolution?: (typeof RESOLUTIONS)[number];
  };
  const left = (row: TransactionRow) => row.received - row.givenBack;
  change(context, reference, (row) => {
    if (wanted.action === 'remind') remindDispute(context, openDisputeOf(context, row));
    else if (wanted.action === 'resolve') {
      resolveDispute(context, openDisputeOf(context, row), wanted.resolution ?? 'merchant-accepted');
    } else {
      refuseWhere(row.status !== 'success', row, 'disputed');
      const amount = wanted.amountMinor ?? left(row);
      if (amount > left(row)) throw new ControlError(400, [`amountMinor must be at most ${left(row)}`]);
      openDispute(context, row, amount);
    }
    return row;
  });
  return requireCharge(context, reference);
}

const REFUND_MOVES = { process: 'processed', fail: 'failed', 'needs-attention': 'needs-attention' } as const;
export type RefundMove = keyof typeof REFUND_MOVES;

/** `POST /refunds/{id}/{process|fail|needs-attention}`: ends a refund that is on its way, whatever held it. */
export function endRefund(context: GatewayContext, id: string, move: RefundMove): RefundRow {
  const refund = /^\d{1,15}$/.test(id) ? context.refunds.refundById(Number(id)) : undefined;
  if (refund === undefined) throw new ControlError(404, ['no refund with this id']);
  if (refund.status !== 'pending' && refund.status !== 'processing') {
    throw new ControlError(409, [`the refund is ${refund.status} already`]);
  }
  return context.database.transact(() => moveRefund(context, refund, REFUND_MOVES[move]));
}
