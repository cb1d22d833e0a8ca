/**
 * What the control interface may do to a charge or a refund. A request that makes no sense is a ControlError
 * and changes nothing.
 */
import { z } from 'zod';
import { AMOUNT, checked, ControlError, found, oneOf, whole } from '../../kit/control.ts';
import { abandon, decline, receive, reverse } from '../actions/charge.ts';
import { emitDispute, moveRefund, openDispute, resolveDispute } from '../actions/refund.ts';
import type { GatewayContext } from '../context.ts';
import { CURRENCIES } from '../rules.ts';
import type { DisputeRow, RefundRow, TransactionRow } from '../storage.ts';

const MAX_TIMES = 10;
const REASON = 'must be a text of 1 to 200 characters';
const POSITIVE = whole(1, Number.MAX_SAFE_INTEGER, 'must be a whole number from 1');

const PAY = z.strictObject({
  amountMinor: POSITIVE.optional(),
  currency: oneOf(CURRENCIES).optional(),
  feesMinor: AMOUNT.optional(),
  times: whole(1, MAX_TIMES, `must be a whole number from 1 to ${MAX_TIMES}`).default(1),
});
const FAIL = z.strictObject({ reason: z.string(REASON).min(1, REASON).max(200, REASON).default('Declined') });
const NOTHING = z.strictObject({});
const DISPUTE = z.strictObject({
  action: oneOf(['create', 'remind', 'resolve']).default('create'),
  amountMinor: POSITIVE.optional(),
  resolution: oneOf(['merchant-accepted', 'auto-accepted', 'declined']).default('merchant-accepted'),
});

/** The charge with this reference, or 404. */
export function requireCharge({ transactions }: GatewayContext, reference: string): TransactionRow {
  return found(transactions.find({ reference }), 'no charge with this reference');
}

function refuseWhere(isWrong: boolean, row: TransactionRow, action: string): void {
  if (isWrong) throw new ControlError(409, [`the charge is ${row.status} and cannot be ${action}`]);
}

function openDisputeOf(context: GatewayContext, row: TransactionRow): DisputeRow {
  const open = context.disputes.list({ transactionId: row.id }).find(({ status }) => status !== 'resolved');
  if (open === undefined) throw new ControlError(409, ['the charge has no open dispute']);
  return open;
}

type Change = (context: GatewayContext, row: TransactionRow) => void;

/** `POST /charges/{reference}/{name}`: reads the body, and answers the change. */
export const CHARGE_CHANGES: Record<string, (body: unknown) => Change> = {
  /** Money comes, `times` times. */
  pay: (body) => {
    const { times, ...payment } = checked(PAY, body);
    return (context, before) => {
      refuseWhere(before.status === 'reversed', before, 'paid');
      const { currency = before.paidCurrency } = payment;
      if (before.paidCurrency !== null && currency !== before.paidCurrency) {
        throw new ControlError(409, [`the charge has received ${before.paidCurrency} and takes no other`]);
      }
      let row = before;
      for (let i = 0; i < times; i += 1) row = receive(context, row, payment);
    };
  },
  fail: (body) => {
    const { reason } = checked(FAIL, body);
    return (context, row) => {
      refuseWhere(row.paidAtMs !== null, row, 'failed');
      decline(context, row, reason);
    };
  },
  abandon: (body) => {
    checked(NOTHING, body);
    return (context, row) => {
      refuseWhere(row.paidAtMs !== null, row, 'abandoned');
      abandon(context, row);
    };
  },
  /** What is left of the money is taken back. */
  reverse: (body) => {
    checked(NOTHING, body);
    return (context, row) => {
      refuseWhere(row.status !== 'success', row, 'reversed');
      reverse(context, row);
    };
  },
  dispute: (body) => {
    const { action, amountMinor, resolution } = checked(DISPUTE, body);
    return (context, row) => {
      if (action === 'remind') emitDispute(context, 'remind', openDisputeOf(context, row));
      else if (action === 'resolve') resolveDispute(context, openDisputeOf(context, row), resolution);
      else {
        refuseWhere(row.status !== 'success', row, 'disputed');
        const left = row.received - row.givenBack;
        const amount = amountMinor ?? left;
        if (amount > left) throw new ControlError(400, [`amountMinor must be at most ${left}`]);
        openDispute(context, row, amount);
      }
    };
  },
};

/** `POST /refunds/{id}/{name}`: how the refund ends. */
export const REFUND_ENDS = {
  process: 'processed',
  fail: 'failed',
  'needs-attention': 'needs-attention',
} as const satisfies Record<string, RefundRow['outcome']>;

/** Ends a refund that is under way, also one that a fault holds. */
export function endRefund(context: GatewayContext, id: string, status: RefundRow['outcome']): RefundRow {
  const refund = found(context.refunds.get(Number(id)), 'no refund with this id');
  if (refund.status !== 'pending' && refund.status !== 'processing') {
    throw new ControlError(409, [`the refund is ${refund.status} already`]);
  }
  return context.database.transact(() => moveRefund(context, refund, status));
}
