/**
 * Refunds at the gateway, one step at a time. The gateway takes a repeat as another refund, so after an unknown outcome only findRefund decides, once
 * nothing sent earlier can still arrive. Each retry by an operator is an attempt under a key of its own, and we search for all of them.
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
import type { RefundState } from '../../workflows/contract.ts';
import type { AttentionReason } from '../../src/domain/states.ts';
import type { ActivityDeps } from '../deps.ts';

/** How long a request whose answer we gave up on may still reach the gateway. */
const UNKNOWN_OUTCOME_MS = 30_000;

type RefundStepDeps = ActivityDeps & { readonly pending: PendingMessages };

/** What became of one refund in this step. */
type Step = 'closed' | 'open' | AttentionReason;

/** Advances each open refund of a purchase or funding by one step. `open`: refunds that are left. */
export async function followRefunds(deps: ActivityDeps, transactionId: string): Promise<RefundState> {
  const pending = newPendingMessages();
  let open = 0;
  let needsPerson: AttentionReason | null = null;
  for (const refund of await findOpenRefunds(deps.db, transactionId)) {
    const gateway = deps.gateway.forAccount(refund.account_id);
    const step = await advance({ ...deps, gateway, pending }, refund);
    if (step !== 'closed') open += 1;
    if (step !== 'closed' && step !== 'open') needsPerson = step;
  }
  const claim = open === 0 ? await findClaim(deps.db, transactionId) : undefined;
  return { open, needsPerson, ...(claim ? { claim } : {}), ...messagesOf(pending) };
}

async function advance(deps: RefundStepDeps, refund: RefundRow): Promise<Step> {
  const { reference } = refund;
  const found = await findAttempt(deps, refund);
  if (found === 'unknown') return 'open';
  if (found !== null) return record(deps, refund, found);
  const refundKey = attemptKey(refund, refund.attempt);
  const now = deps.clock.now();
  if (refund.status === 'STUCK') return settleUnsent(deps, refund, refund.gateway_status ?? '', false);
  if (refund.asked_at !== null && now.getTime() - refund.asked_at.getTime() < UNKNOWN_OUTCOME_MS)
    return 'open';
  if (!(await beginRefund(deps.db, refund, now))) return 'open';
  const asked = await deps.gateway.refund({
    reference,
    refundKey,
    amount: { amountMinor: refund.amount_minor, currency: refund.currency },
  });
  if (asked.outcome === 'unknown') return 'open';
  if (asked.outcome === 'done') return record(deps, refund, asked.value);
  deps.events.refundRefused({ refundKey, reason: asked.reason, detail: asked.detail });
  // Money that went back already is not credited as well.
  return settleUnsent(deps, refund, asked.detail, asked.reason !== 'ALREADY_REFUNDED');
}

/** The attempt that counts: the newest, or an earlier one that turns out not to have failed. null: none. */
async function findAttempt(
  { gateway }: ActivityDeps,
  refund: RefundRow,
): Promise<GatewayRefund | null | 'unknown'> {
  for (const [before, refundKey] of attemptKeys(refund).entries()) {
    const found = await gateway.findRefund({ reference: refund.reference, refundKey });
    if (found.outcome !== 'done') return 'unknown';
    if (found.value !== null && (before === 0 || found.value.state !== 'failed')) return found.value;
  }
  return null;
}

async function record(deps: RefundStepDeps, refund: RefundRow, found: GatewayRefund): Promise<Step> {
  const { refundId, gatewayStatus } = found;
  const refundKey = refund.refund_key;
  switch (found.state) {
    case 'done':
      await closeRefundDone(deps.db, refund, { refundId, gatewayStatus }, deps.pending);
      deps.events.refundEnded({ refundKey, end: 'sent back' });
      return 'closed';
    case 'failed':
      return settleUnsent(deps, refund, gatewayStatus, true);
    case 'needs-attention':
      await saveRefundState(deps.db, refund, { status: 'NEEDS_ATTENTION', refundId, gatewayStatus });
      return 'REFUND_NEEDS_ATTENTION';
    case 'pending':
    case 'unknown':
      await saveRefundState(deps.db, refund, { status: 'PENDING', refundId, gatewayStatus });
      return 'open';
  }
}

/**
 * The gateway will not send it. If a bank has taken the payment back, the buyer has the money and the refund ends. Else it is credited to the
 * wallet, if `mayCredit` and the gateway still has the money, or waits for a person.
 */
async function settleUnsent(
  { db, gateway, events, pending }: RefundStepDeps,
  refund: RefundRow,
  gatewayStatus: string,
  mayCredit: boolean,
): Promise<Step> {
  const { reference, refund_key: refundKey, gateway_refund_id: refundId } = refund;
  const found = await gateway.findCharge(reference);
  const state = found.outcome === 'done' ? found.value?.state : undefined;
  if (state === 'reversed') {
    await closeRefundTakenBack(db, refund);
    events.refundEnded({ refundKey, end: 'taken back first' });
    return 'closed';
  }
  if (mayCredit) {
    // Crediting what a bank has taken back would pay it out of our own pocket.
    if (state !== 'paid') return 'open';
    const payment = await findPayment(db, reference);
    if (payment && (await creditRefund(db, refund, payment, pending))) {
      events.refundEnded({ refundKey, end: 'credited to the wallet' });
      return 'closed';
    }
  }
  await saveRefundState(db, refund, { status: 'STUCK', refundId, gatewayStatus });
  return 'REFUND_STUCK';
}
