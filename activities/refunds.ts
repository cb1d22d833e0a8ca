/**
 * Refunds at the gateway, one step on at a time. The ask is on record before it is made; the gateway takes a repeat as another refund, so
 * after any doubt only its find-twin decides, once nothing sent earlier can still arrive.
 */
import type { RefundLook } from '../src/ports/payment-gateway.ts';
import { findPayment } from '../src/store/payments.ts';
import {
  beginRefund,
  closeRefundDone,
  creditRefund,
  findOpenRefunds,
  keepRefundState,
  type RefundRow,
} from '../src/store/refunds.ts';
import type { AttentionReason, RefundStand } from '../workflows/contract.ts';
import type { ActivityDeps } from './deps.ts';

/** Longest that a call which was given up may still reach the gateway. */
const DOUBT_MS = 30_000;

/** What became of one refund in this step. */
type Step = 'closed' | 'open' | AttentionReason;

export async function moveRefunds(deps: ActivityDeps, transactionId: string): Promise<RefundStand> {
  let open = 0;
  let needsPerson: AttentionReason | null = null;
  for (const refund of await findOpenRefunds(deps.db, transactionId)) {
    const step = await moveOn(deps, refund);
    if (step !== 'closed') open += 1;
    if (step !== 'closed' && step !== 'open') needsPerson = step;
  }
  return { open, needsPerson };
}

async function moveOn(deps: ActivityDeps, refund: RefundRow): Promise<Step> {
  const { reference, refund_key: refundKey } = refund;
  const found = await deps.gateway.findRefund({ reference, refundKey });
  if (found.outcome !== 'done') return 'open';
  if (found.value !== null) return keep(deps, refund, found.value);
  const now = deps.clock.now();
  if (refund.status === 'STUCK') return 'REFUND_STUCK';
  if (refund.asked_at !== null && now.getTime() - refund.asked_at.getTime() < DOUBT_MS) return 'open';
  if (!(await beginRefund(deps.db, refund, now))) return 'open';
  const asked = await deps.gateway.refund({
    reference,
    refundKey,
    amount: { amountMinor: refund.amount_minor, currency: refund.currency },
  });
  if (asked.outcome === 'unknown') return 'open';
  if (asked.outcome === 'done') return keep(deps, refund, asked.value);
  deps.events.refundRefused({ refundKey, reason: asked.reason, detail: asked.detail });
  // What the gateway says went back already is not ours to give a second time.
  const gone = asked.reason === 'ALREADY_REFUNDED';
  return gone ? stuck(deps, refund, asked.detail) : credit(deps, refund, asked.detail);
}

async function keep(deps: ActivityDeps, refund: RefundRow, look: RefundLook): Promise<Step> {
  const { refundId, gatewayStatus } = look;
  const refundKey = refund.refund_key;
  switch (look.state) {
    case 'done':
      await closeRefundDone(deps.db, refund, { refundId, gatewayStatus });
      deps.events.refundEnded({ refundKey, end: 'sent back' });
      return 'closed';
    case 'failed':
      return credit(deps, refund, gatewayStatus);
    case 'needs-attention':
      await keepRefundState(deps.db, refundKey, { status: 'NEEDS_ATTENTION', refundId, gatewayStatus });
      return 'REFUND_NEEDS_ATTENTION';
    case 'pending':
    case 'unknown':
      await keepRefundState(deps.db, refundKey, { status: 'PENDING', refundId, gatewayStatus });
      return 'open';
  }
}

async function credit(deps: ActivityDeps, refund: RefundRow, gatewayStatus: string): Promise<Step> {
  const payment = await findPayment(deps.db, refund.reference);
  if (payment && (await creditRefund(deps.db, refund, payment))) {
    deps.events.refundEnded({ refundKey: refund.refund_key, end: 'credited to the wallet' });
    return 'closed';
  }
  return stuck(deps, refund, gatewayStatus);
}

async function stuck(deps: ActivityDeps, refund: RefundRow, gatewayStatus: string): Promise<Step> {
  await keepRefundState(deps.db, refund.refund_key, {
    status: 'STUCK',
    refundId: refund.gateway_refund_id,
    gatewayStatus,
  });
  return 'REFUND_STUCK';
}
