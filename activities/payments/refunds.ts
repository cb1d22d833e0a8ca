/**
 * Refunds at the gateway, one step on at a time. The ask is on record before it is made; the gateway takes a repeat as another refund, so
 * after any doubt only its find-twin decides, once nothing sent earlier can still arrive. One that the gateway will not send is credited to
 * the wallet only where the gateway still has the payment's money: what a bank has taken back is with the buyer already. Where a person has a
 * failed one asked for again, that is an attempt under a key of its own, and the find-twin looks for all of them.
 */
import type { GatewayRefund } from '../../src/payments/port.ts';
import { findClaim, findPayment } from '../../src/payments/store/payments.ts';
import {
  attemptKey,
  attemptKeys,
  beginRefund,
  closeRefundDone,
  closeRefundTakenBack,
  creditRefund,
  findOpenRefunds,
  saveRefundState,
  type RefundRow,
} from '../../src/payments/store/refunds.ts';
import { messagesOf, newPendingMessages, type PendingMessages } from '../../src/webhooks/store/messages.ts';
import type { RefundStand } from '../../workflows/contract.ts';
import type { AttentionReason } from '../../src/domain/states.ts';
import type { ActivityDeps } from '../deps.ts';

/** Longest that a call which was given up may still reach the gateway. */
const UNKNOWN_OUTCOME_MS = 30_000;

/** One run of the step, with the messages that it writes. */
type RefundStepDeps = ActivityDeps & { readonly written: PendingMessages };

/** What became of one refund in this step. */
type Step = 'closed' | 'open' | AttentionReason;

export async function followRefunds(deps: ActivityDeps, transactionId: string): Promise<RefundStand> {
  const moving: RefundStepDeps = { ...deps, written: newPendingMessages() };
  let open = 0;
  let needsPerson: AttentionReason | null = null;
  for (const refund of await findOpenRefunds(deps.db, transactionId)) {
    const step = await moveOn(moving, refund);
    if (step !== 'closed') open += 1;
    if (step !== 'closed' && step !== 'open') needsPerson = step;
  }
  const claim = open === 0 ? await findClaim(deps.db, transactionId) : undefined;
  return { open, needsPerson, ...(claim ? { claim } : {}), ...messagesOf(moving.written) };
}

async function moveOn(deps: RefundStepDeps, refund: RefundRow): Promise<Step> {
  const { reference } = refund;
  const found = await findAttempt(deps, refund);
  if (found === 'unknown') return 'open';
  if (found !== null) return keep(deps, refund, found);
  const refundKey = attemptKey(refund, refund.attempt);
  const now = deps.clock.now();
  if (refund.status === 'STUCK') return stuckUnlessGone(deps, refund, refund.gateway_status ?? '');
  if (refund.asked_at !== null && now.getTime() - refund.asked_at.getTime() < UNKNOWN_OUTCOME_MS)
    return 'open';
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
  return gone ? stuckUnlessGone(deps, refund, asked.detail) : credit(deps, refund, asked.detail);
}

/**
 * The attempt that counts: the newest, or an earlier one that turns out not to have failed. null: none is out, since a person has had each
 * failed one asked for again.
 */
async function findAttempt(
  { gateway }: ActivityDeps,
  refund: RefundRow,
): Promise<GatewayRefund | null | 'unknown'> {
  for (const [before, refundKey] of attemptKeys(refund).entries()) {
    const found = await gateway.findRefund({ reference: refund.reference, refundKey });
    if (found.outcome !== 'done') return 'unknown';
    const isOut = found.value !== null && (before === 0 || found.value.state !== 'failed');
    if (isOut) return found.value;
  }
  return null;
}

async function keep(deps: RefundStepDeps, refund: RefundRow, look: GatewayRefund): Promise<Step> {
  const { refundId, gatewayStatus } = look;
  const refundKey = refund.refund_key;
  switch (look.state) {
    case 'done':
      await closeRefundDone(deps.db, refund, { refundId, gatewayStatus }, deps.written);
      deps.events.refundEnded({ refundKey, end: 'sent back' });
      return 'closed';
    case 'failed':
      return credit(deps, refund, gatewayStatus);
    case 'needs-attention':
      await saveRefundState(deps.db, refund, { status: 'NEEDS_ATTENTION', refundId, gatewayStatus });
      return 'REFUND_NEEDS_ATTENTION';
    case 'pending':
    case 'unknown':
      await saveRefundState(deps.db, refund, { status: 'PENDING', refundId, gatewayStatus });
      return 'open';
  }
}

async function credit(deps: RefundStepDeps, refund: RefundRow, gatewayStatus: string): Promise<Step> {
  const money = await locateMoney(deps, refund);
  // Crediting what a bank has taken back would pay it out of our own pocket.
  if (money === 'unknown') return 'open';
  if (money === 'taken-back') return takenBack(deps, refund);
  const payment = await findPayment(deps.db, refund.reference);
  if (payment && (await creditRefund(deps.db, refund, payment, deps.written))) {
    deps.events.refundEnded({ refundKey: refund.refund_key, end: 'credited to the wallet' });
    return 'closed';
  }
  return stuck(deps, refund, gatewayStatus);
}

/** The gateway will not send it: gone with a payment that was reversed, or for a person to find out. */
async function stuckUnlessGone(deps: ActivityDeps, refund: RefundRow, gatewayStatus: string): Promise<Step> {
  const money = await locateMoney(deps, refund);
  return money === 'taken-back' ? takenBack(deps, refund) : stuck(deps, refund, gatewayStatus);
}

/** Where the payment's money is that this refund has not sent. */
async function locateMoney(
  { gateway }: ActivityDeps,
  { reference }: RefundRow,
): Promise<'with-us' | 'taken-back' | 'unknown'> {
  const found = await gateway.findCharge(reference);
  if (found.outcome !== 'done' || found.value === null) return 'unknown';
  if (found.value.state === 'reversed') return 'taken-back';
  return found.value.state === 'paid' ? 'with-us' : 'unknown';
}

async function takenBack(deps: ActivityDeps, refund: RefundRow): Promise<Step> {
  await closeRefundTakenBack(deps.db, refund);
  deps.events.refundEnded({ refundKey: refund.refund_key, end: 'taken back first' });
  return 'closed';
}

async function stuck(deps: ActivityDeps, refund: RefundRow, gatewayStatus: string): Promise<Step> {
  await saveRefundState(deps.db, refund, {
    status: 'STUCK',
    refundId: refund.gateway_refund_id,
    gatewayStatus,
  });
  return 'REFUND_STUCK';
}
