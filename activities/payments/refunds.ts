/**
 * Refunds at the gateway, one step at a time, and disputes until they are settled. The gateway takes a repeat
 * as another refund, so after an unknown outcome only findRefund decides, once nothing sent earlier can still
 * arrive. Each retry by an operator is an attempt under a key of its own, and we search for all of them.
 */
import type { GatewayRefund } from '../../src/payments/port.ts';
import { refundPauseMs } from '../../src/payments/rules.ts';
import { findDisputeReason, flagMoney } from '../../src/payments/store/payments.ts';
import {
  attemptKey,
  attemptKeys,
  beginRefund,
  closeRefundDone,
  findRefundsToFollow,
  forgetRequest,
  isOurKey,
  LISTED_WITHIN_MS,
  saveRefundState,
  settleUnsentRefund,
  type RefundToFollow,
} from '../../src/payments/store/refunds.ts';
import type { FollowMoneyRequest, StepResult } from '../../workflows/contract.ts';
import type { AttentionReason } from '../../src/domain/states.ts';
import type { ActivityDeps } from '../deps.ts';
import { findSent, sumOf } from './payments.ts';

/** An operator's action ends the wait. A dispute that was settled in another way is noticed within a day. */
const DISPUTE_CHECK_MS = 24 * 3_600_000;

/** What became of one refund in this step. */
type Step = 'closed' | 'open' | AttentionReason;

/**
 * Advances each open refund of a purchase or funding by one step. `done`: nothing is on its way, and no
 * dispute or reversal needs a person.
 */
export async function followMoney(
  deps: ActivityDeps,
  { transactionId, timings }: FollowMoneyRequest,
): Promise<StepResult> {
  const refunds = await findRefundsToFollow(deps.db, transactionId);
  const steps: Step[] = [];
  for (const refund of refunds) {
    const gateway = deps.gateway.forAccount(refund.account_id);
    steps.push(await advance({ ...deps, gateway }, refund));
  }
  const attention = steps.findLast((step) => step !== 'closed' && step !== 'open');
  if (attention && (await flagMoney(deps.db, transactionId, attention)))
    deps.events.purchaseNeedsAttention({ transactionId, reason: attention });
  if (steps.some((step) => step !== 'closed')) {
    const ageMs = Math.min(...refunds.map((refund) => refund.ageMs));
    const waitMs = refundPauseMs(ageMs, attention !== undefined, timings);
    const why = 'for the refund to be sent';
    return { state: 'waiting', waitMs, why, ...(attention ? { attention } : {}) };
  }
  const dispute = await findDisputeReason(deps.db, transactionId);
  if (!dispute) return { state: 'done' };
  const why = 'for a person to settle the dispute';
  return { state: 'waiting', waitMs: DISPUTE_CHECK_MS, why, attention: dispute };
}

async function advance(deps: ActivityDeps, refund: RefundToFollow): Promise<Step> {
  const { reference } = refund;
  // Only the gateway that has the money is asked.
  if (refund.gateway !== deps.gateway.name) return 'open';
  const found = await findAttempt(deps, refund);
  if (found === 'unknown') return 'open';
  if (found !== null) return record(deps, refund, found);
  const refundKey = attemptKey(refund, refund.attempt);
  if (refund.status === 'STUCK') return settleUnsent(deps, refund, refund.gateway_status ?? '', false);
  const begun = await beginRefund(deps.db, refund);
  if (!begun) return 'open';
  const sent = await deps.gateway.refund({
    reference,
    refundKey,
    amount: { amountMinor: refund.amount_minor, currency: refund.currency },
    fence: begun.fence,
  });
  if (sent.outcome === 'unknown') {
    if (sent.notSent) await forgetRequest(deps.db, refund, begun);
    return 'open';
  }
  if (sent.outcome === 'done') return record(deps, refund, sent.value);
  deps.events.refundRefused({ refundKey, reason: sent.reason, detail: sent.detail });
  // An earlier request without an answer may be why it is refused, and the list may show it late.
  // After that a person decides.
  if (refund.status === 'ASKED') {
    if (refund.ageMs < LISTED_WITHIN_MS) return 'open';
    return stick(deps, refund, sent.detail);
  }
  // Money that went back already is not credited as well.
  return settleUnsent(deps, refund, sent.detail, sent.reason !== 'ALREADY_REFUNDED');
}

/** The attempt that counts: the newest, or an earlier one that turns out not to have failed. null: none. */
async function findAttempt(
  { gateway }: ActivityDeps,
  refund: RefundToFollow,
): Promise<GatewayRefund | null | 'unknown'> {
  for (const [before, refundKey] of attemptKeys(refund).entries()) {
    const found = await gateway.findRefund({ reference: refund.reference, refundKey });
    if (found.outcome !== 'done') return 'unknown';
    if (found.value !== null && (before === 0 || found.value.state !== 'failed')) return found.value;
  }
  return null;
}

async function record(deps: ActivityDeps, refund: RefundToFollow, found: GatewayRefund): Promise<Step> {
  const { refundId, gatewayStatus } = found;
  const refundKey = refund.refund_key;
  switch (found.state) {
    case 'done':
      await closeRefundDone(deps.db, refund, { refundId, gatewayStatus });
      deps.events.refundEnded({ refundKey, end: 'sent back' });
      return 'closed';
    case 'failed':
      return settleUnsent(deps, refund, gatewayStatus, true);
    case 'needs-attention': {
      // A bank that has the money has ended what the gateway waits for.
      const terms = { goneMinor: 0n, mayCredit: false };
      if ((await settleUnsentRefund(deps.db, refund, terms)) !== 'refused') return 'open';
      await saveRefundState(deps.db, refund, { status: 'NEEDS_ATTENTION', refundId, gatewayStatus });
      return 'REFUND_NEEDS_ATTENTION';
    }
    case 'pending':
    case 'unknown':
      await saveRefundState(deps.db, refund, { status: 'PENDING', refundId, gatewayStatus });
      return 'open';
  }
}

/**
 * The gateway will not send it. What the buyer has got in another way ends. The rest is credited to the
 * wallet, if `mayCredit` and the gateway still calls it paid, or waits for a person.
 */
async function settleUnsent(
  deps: ActivityDeps,
  refund: RefundToFollow,
  gatewayStatus: string,
  mayCredit: boolean,
): Promise<Step> {
  const { db, events } = deps;
  const gone = await findGone(deps, refund);
  if (gone === 'sent') return 'open';
  if (gone === 'unknown') return mayCredit ? 'open' : stick(deps, refund, gatewayStatus);
  const terms = { goneMinor: gone.goneMinor, mayCredit: mayCredit && gone.isPaid };
  const settled = await settleUnsentRefund(db, refund, terms);
  switch (settled) {
    case 'taken-back':
      events.refundEnded({ refundKey: refund.refund_key, end: 'taken back first' });
      return 'closed';
    case 'credited':
      events.refundEnded({ refundKey: refund.refund_key, end: 'credited to the wallet' });
      return 'closed';
    case 'open':
      return 'open';
    case 'refused':
      return stick(deps, refund, gatewayStatus);
  }
}

/**
 * What went back of the refund's payment at other people's request. The gateway may call a charge reversed of
 * which a part went back, and paid as well: its list of refunds says. `sent`: this refund is in it by now.
 */
async function findGone(
  { gateway }: ActivityDeps,
  refund: RefundToFollow,
): Promise<{ readonly goneMinor: bigint | 'all'; readonly isPaid: boolean } | 'sent' | 'unknown'> {
  const { reference, currency } = refund;
  const found = await gateway.findCharge(reference);
  const charge = found.outcome === 'done' ? found.value : null;
  if (charge?.state !== 'paid' && charge?.state !== 'reversed') return 'unknown';
  const sent = await findSent(gateway, reference);
  if (sent.outcome !== 'done') return 'unknown';
  const ours = attemptKeys(refund);
  if (sent.value.some(({ refundKey }) => ours.includes(refundKey))) return 'sent';
  if (charge.state === 'reversed' && sent.value.length === 0) return { goneMinor: 'all', isPaid: false };
  const ofOthers = sent.value.filter(
    ({ amount, refundKey }) => amount.currency === currency && !isOurKey(reference, refundKey),
  );
  return { goneMinor: sumOf(ofOthers), isPaid: charge.state === 'paid' };
}

/** A person decides. */
async function stick({ db }: ActivityDeps, refund: RefundToFollow, gatewayStatus: string): Promise<Step> {
  const refundId = refund.gateway_refund_id;
  await saveRefundState(db, refund, { status: 'STUCK', refundId, gatewayStatus });
  return 'REFUND_STUCK';
}
